// Keeps a page up to date: when something changes, fetches the page again and replaces its content.
// Shows whether the page is live, or since when it is not. Every page works without this script.
'use strict';

(() => {
  const live = document.getElementById('live');
  const news = document.getElementById('news');
  const realm = document.body.dataset.realm;
  const hour = () => new Date().toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

  const say = (state, words) => {
    const word = live.querySelector('.word');
    live.dataset.state = state;
    // Do not make screen readers repeat the same words.
    if (word.textContent !== words) word.textContent = words;
  };

  // Shows recent times relative to now; hovering shows the exact time.
  const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  const units = [['day', 86400], ['hour', 3600], ['minute', 60]];
  const tellTimes = () => {
    for (const time of document.querySelectorAll('main time')) {
      const at = new Date(time.dateTime);
      const age = (Date.now() - at) / 1000;
      if (!(age >= 0 && age < 7 * 86400)) continue;
      const [unit, seconds] = units.find(([, seconds]) => age >= seconds) ?? [];
      time.title = at.toLocaleString();
      time.textContent = unit ? ago.format(-Math.floor(age / seconds), unit) : 'just now';
    }
  };

  // Do not replace content while the user fills in a form.
  const isTyping = () => document.activeElement?.closest('main form') != null;

  const keys = (root) => new Set([...root.querySelectorAll('[data-key]')].map((one) => one.dataset.key));

  // The element with the focus, to be found again by its id or as the same link.
  const focused = (main) => {
    const at = document.activeElement;
    if (!at || !main.contains(at) || at === main) return null;
    const same = [...main.querySelectorAll(at.tagName)].filter((one) => one.getAttribute('href') === at.getAttribute('href'));
    return { id: at.id, tag: at.tagName, href: at.getAttribute('href'), nth: same.indexOf(at) };
  };
  const refocus = (main, was) => {
    if (!was) return;
    const same = [...main.querySelectorAll(was.tag)].filter((one) => one.getAttribute('href') === was.href);
    const at = (was.id && document.getElementById(was.id)) || same[was.nth] || main;
    at.focus({ preventScroll: true });
  };

  const replace = (fresh) => {
    const main = document.getElementById('main');
    if (main.innerHTML === fresh.innerHTML) return;
    const before = keys(main);
    const was = focused(main);
    const open = [...main.querySelectorAll('details[open]')].map((one) => one.id);
    const scrolled = [...main.querySelectorAll('.scroll, .canvas')].map((one) => one.scrollLeft);
    main.replaceChildren(...fresh.childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    for (const one of main.querySelectorAll('[data-key]')) {
      if (!before.has(one.dataset.key)) one.classList.add('fresh');
    }
    main.querySelectorAll('.scroll, .canvas').forEach((one, at) => { one.scrollLeft = scrolled[at] ?? 0; });
    refocus(main, was);
    tellTimes();
  };

  let due = null;
  let asking = false;
  let again = false;
  let looked = 0;
  const refresh = async () => {
    due = null;
    // A hidden page is refreshed once it is visible.
    if (asking || document.hidden || isTyping()) {
      again = true;
      if (!asking) say('waiting', document.hidden ? 'Changed' : 'Changed; updates when you leave the form');
      return;
    }
    asking = true;
    again = false;
    looked = Date.now();
    try {
      const response = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-cache' });
      if (response.status === 401) { stale('Signed out: run git blue daemon open'); return; }
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      replace(document.importNode(page.getElementById('main'), true));
      if (source.readyState === EventSource.OPEN) isLive();
    } catch {
      // There was no response, or it was not a page: the server may be busy.
      stale();
      if (source.readyState === EventSource.OPEN) setTimeout(soon, 3000);
    } finally {
      asking = false;
      if (again && !isTyping()) soon();
    }
  };
  // Combines the events of one change, and refreshes at most once a second.
  const soon = () => { due ??= setTimeout(refresh, Math.max(120, looked + 1000 - Date.now())); };
  document.addEventListener('focusout', () => { if (again) soon(); });
  document.addEventListener('visibilitychange', () => { if (again) soon(); });
  // Marking changes as seen elsewhere does not change the realm, so there is no event.
  window.addEventListener('focus', soon);

  let why = null;
  const stale = (words) => {
    why = words ?? why ?? `Not live since ${hour()}`;
    say('stale', why);
  };
  const isLive = () => {
    why = null;
    say('live', 'Live');
  };

  let hiding = null;
  const tell = (words) => {
    news.textContent = words;
    news.classList.add('shown');
    clearTimeout(hiding);
    hiding = setTimeout(() => news.classList.remove('shown'), 8000);
  };

  const sentence = (one) => {
    const what = one.contract ? `${one.domain}/${one.contract}` : one.domain;
    const { old_version: before, new_version: now } = one.changes ?? {};
    return `${one.from_repo}: ${what}${now ? ` ${before ? `${before} → ` : ''}${now}` : ' changed'}`;
  };

  let source = null;
  let wasOpen = false;
  const listen = () => {
    source = new EventSource(realm ? `/events?realm=${encodeURIComponent(realm)}` : '/events');
    source.addEventListener('open', () => {
      // Fetch the changes that were missed while disconnected.
      if (wasOpen || why) soon();
      wasOpen = true;
      isLive();
    });
    source.addEventListener('error', () => {
      stale();
      // A browser reconnects by itself unless it was refused; then the page says why.
      if (source.readyState === EventSource.CLOSED) {
        soon();
        setTimeout(listen, 15000);
      }
    });
    source.addEventListener('notification', (event) => {
      try { tell(sentence(JSON.parse(event.data))); } catch { /* The page shows the change. */ }
      soon();
    });
    for (const name of ['realm', 'session']) source.addEventListener(name, soon);
  };
  addEventListener('pagehide', () => source?.close());
  addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });

  tellTimes();
  setInterval(tellTimes, 30000);
  // A click on a command copies it, if the browser allows that.
  document.addEventListener('click', (event) => {
    const command = event.target.closest?.('.command');
    if (command) navigator.clipboard?.writeText(command.textContent).then(() => tell('Copied'), () => {});
  });
  // An earlier state does not change.
  if (live) {
    say('waiting', 'Connecting…');
    listen();
  }
})();
