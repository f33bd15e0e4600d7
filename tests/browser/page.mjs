// The checks of the browser suite in headless Chromium: `node page.mjs CHECK URL`, in the folder of the realm. URL logs the
// browser in. If a check fails, so does the process.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [check, link] = process.argv.slice(2);
const load = createRequire(join(process.env.GIT_BLUE_PEERS, 'package.json'));
const { chromium } = load('playwright-core');
const origin = new URL(link).origin;

const PAGES = [
  '/',
  '/r/aperture',
  '/r/aperture?broken=1',
  '/r/aperture/repos/fungal',
  '/r/aperture/repos/aperture?broken=1',
  '/r/aperture/domains/events',
  '/r/aperture/contracts',
  '/r/aperture/contracts?q=nothing+of+the+kind',
  '/r/aperture/contracts/s3-access/s3-permissions',
  '/r/aperture/contracts/events/stack-drift',
  '/r/aperture/contracts/platform/platform-api?from=1.0.0&to=1.1.0',
  '/r/aperture/notifications',
  '/r/aperture/notifications?repo=fungal&state=all',
  '/r/aperture/sessions?ended=1',
];

// The realm before the last version of a contract: a past state is not live.
const PAST = [
  '/r/aperture?at=2026-01-23',
  '/r/aperture/repos/fungal?at=2026-01-23',
  '/r/aperture/domains/s3-access?at=2026-01-23',
  '/r/aperture/contracts?at=2026-01-23',
  '/r/aperture/contracts/s3-access/s3-permissions?at=2026-01-23',
];

// Errors and warnings of the browser.
const complaints = [];

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
  ],
});

let letIn = null;
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, storageState: letIn ?? undefined, ...options });
  // The machine may be busy.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error}`));
  page.on('dialog', (dialog) => { complaints.push(`${page.url()}: a dialog: ${dialog.message()}`); dialog.dismiss(); });
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  if (!letIn) {
    await page.goto(link);
    letIn = await context.storageState();
  }
  return page;
}

const go = async (page, path, status = 200) => {
  const response = await page.goto(origin + path);
  assert.equal(response.status(), status, path);
};
const live = (page) => page.locator('#live[data-state="live"]').waitFor();
const text = (page, selector = 'main') => page.locator(selector).innerText();

const checks = {
  // The demo realm, on every page, without browser errors.
  async shows() {
    const page = await open();
    assert.equal(new URL(page.url()).pathname, '/');
    for (const path of PAGES) {
      await go(page, path);
      await live(page);
      assert.equal(await page.locator('h1').count(), 1, path);
    }
    await go(page, '/');
    await page.getByRole('link', { name: 'aperture' }).click();
    const numbers = await text(page, '.numbers');
    assert.match(numbers, /Repositories\s+3/);
    assert.match(numbers, /Broken imports\s+1/);
    const attention = await text(page, '.attention');
    assert.match(attention, /s3-access\/s3-permissions 2\.0\.0 breaks 1:\s+fungal >=1\.0\.0, <2\.0\.0 cdk\/access_stack\.py\s+1\.0\.0 rejects .*\s+git blue --realm aperture contract impact s3-access\/s3-permissions/);
    assert.match(attention, /Dependency cycle: aperture -\(s3-access\/s3-permissions\)-> fungal -\(events\/deploy-finished\)-> aperture\s+git blue --realm aperture realm topology/);
    assert.match(attention, /events\/stack-drift is deprecated since 0\.9\.0, served until 2027-01-01, replaced by events\/deploy-finished\. 1 repository still imports it: blue\s+git blue --realm aperture contract get events\/deploy-finished/);
    assert.equal(await page.locator('.graph .link.broken').count(), 1);
    assert.equal(await page.locator('.graph .link.behind').count(), 1);
    await page.locator('.attention').getByRole('link', { name: 's3-access/s3-permissions' }).click();
    assert.match(await text(page, '.timeline'), /2\.0\.0 current[^]*read is called input[^]*1\.1\.0[^]*Also writes logs[^]*1\.0\.0/);
    assert.match(await text(page, '.diff'), /schema › required: read → input changed/);
    // The verdict, with its witness beside both schemas.
    assert.match(await text(page, '.verdicts'), /breaks Backwards: 1\.1\.0 rejects this value, which 2\.0\.0 allows/);
    assert.deepEqual(await page.locator('.side figcaption').allInnerTexts(), ['Schema of 1.1.0', 'Schema of 2.0.0']);
    assert.ok(await page.locator('.side').first().locator('mark').count() > 0, 'what offends is marked');
    assert.match(await text(page, '.facts'), /Published\s+.* by [^]* from [0-9a-f]{7}[^]*Against 1\.1\.0\s+breaks backwards/);
    // Each line names the version that introduced it.
    const run = page.locator('.run', { hasText: '"input"' }).first();
    assert.match(await run.innerText(), /^2\.0\.0/);
    assert.match(await run.getAttribute('title'), /^2\.0\.0 of 2026-01-24 by .*, from aperture [0-9a-f]{7}$/);
    await page.getByLabel('From').selectOption('1.0.0');
    await page.getByLabel('to', { exact: true }).selectOption('1.1.0');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.waitForURL(/from=1\.0\.0&to=1\.1\.0/);
    assert.match(await text(page, '.diff'), /value › write: jobs\/\*\/logs\/\* added\s*\+\s*"jobs\/\*\/logs\/\*"/);
    await page.getByRole('link', { name: 'Sessions' }).click();
    assert.match(await text(page), /fungal\s+0042-input-paths/);
  },

  // A repository with its neighbors, from the graph and back.
  async repository() {
    const page = await open();
    await go(page, '/r/aperture');
    await live(page);
    const repo = page.locator('.graph a.repo', { hasText: 'fungal' });
    assert.equal(await repo.count(), 1, 'a repository is drawn once');
    // A focused node highlights its edges.
    const lit = page.locator('.graph .node:has(a.repo[href="/r/aperture/repos/fungal"]) .lit');
    assert.equal(await lit.evaluate((one) => getComputedStyle(one).visibility), 'hidden');
    await repo.focus();
    assert.equal(await lit.evaluate((one) => getComputedStyle(one).visibility), 'visible');
    assert.ok(await lit.locator('use').count() > 2);
    await page.keyboard.press('Enter');
    await page.waitForURL(/repos\/fungal$/);
    assert.match(await text(page, '.numbers'), /Broken imports\s+1/);
    assert.match(await text(page), /Imports[^]*s3-access\/s3-permissions[^]*adapted to 1\.0\.0[^]*2\.0\.0\s+broken[^]*Own contracts[^]*events\/deploy-finished[^]*Pending[^]*aperture changed s3-access\/s3-permissions[^]*Sessions[^]*0042-input-paths/);
    await page.getByLabel('Broken only').check();
    await page.locator('form.choose').getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/broken=1/);
    assert.equal(await page.locator('.graph a.row').count(), 1);
    await page.locator('.graph a', { hasText: 's3-access' }).first().click();
    await page.waitForURL(/domains\/s3-access$/);
    assert.match(await text(page), /2 repositories: aperture, fungal/);
  },

  // A past state: by the form, in every link, and without data of the present.
  async past() {
    const page = await open();
    await go(page, '/r/aperture');
    await page.getByLabel('Show the realm on').fill('2026-01-23');
    await page.locator('.travel').getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/at=2026-01-23$/);
    assert.match(await text(page, '.past'), /History: the realm as of 2026-01-23 23:59/);
    assert.match(await text(page, '.numbers'), /Broken imports\s+0/);
    assert.equal(await page.locator('#live').count(), 0);
    for (const now of ['Pending changes', 'pending', 'Notifications', 'Sessions']) {
      assert.ok(!(await page.locator('body').innerText()).includes(now), now);
    }
    for (const path of PAST) {
      await go(page, path);
      const links = await page.locator('main a, .tabs a, .brand a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
      const lost = links.filter((href) => href.startsWith('/r/') && !href.includes('at=2026-01-23'));
      assert.deepEqual(lost, [], path);
      assert.doesNotMatch(await text(page), /[^<]2\.0\.0/, `${path} knows what came later`);
    }
    assert.match(await text(page, '.timeline'), /1\.1\.0 current/);
    await page.getByRole('link', { name: 'Show the current state' }).click();
    await page.waitForURL(/s3-permissions$/);
    assert.match(await text(page, 'h1'), /2\.0\.0/);
  },

  // The most urgent change comes first, once for all repositories.
  async severity() {
    const page = await open();
    await go(page, '/r/aperture/notifications');
    const headings = await page.locator('main h2').allInnerTexts();
    assert.match(headings[0], /^Imports that broke\s+1$/);
    const ranks = ['Imports that broke', 'Imports that need attention', 'Imports that changed', 'Conflicts', 'Other contracts', 'Bindings'];
    const order = headings.map((heading) => ranks.findIndex((rank) => heading.startsWith(rank)));
    assert.deepEqual(order, [...order].sort());
    assert.match(await text(page, '.feed.bad'), /aperture changed s3-access\/s3-permissions 1\.0\.0 → 2\.0\.0[^]*For fungal · fungal:cdk\/access_stack\.py[^]*git blue review/);
  },

  // A publish and a session: shown without a reload, announced to screen readers, and without losing state.
  async updates() {
    const page = await open();
    await go(page, '/r/aperture');
    await live(page);
    await page.evaluate(() => { window.sameDocument = true; });
    const table = page.locator('#words');
    await table.locator('summary').click();
    const kept = table.getByRole('link', { name: 'platform/platform-api' });
    await kept.focus();
    const file = 'fungal/.blue/contracts/events/deploy-failed.yaml';
    writeFileSync(file, readFileSync(file, 'utf8').replace('version: "1.0.0"', 'version: "1.1.0"'));
    execFileSync('git', ['-C', 'fungal', 'commit', '-qam', 'Say why it failed'], { stdio: 'pipe' });
    await page.locator('main td.version', { hasText: '1.1.0' }).nth(1).waitFor();
    await page.locator('.feed', { hasText: 'deploy-failed 1.0.0 -> 1.1.0' }).waitFor();
    // To a repository that never saw the contract it is new, so that may be announced last.
    assert.match(await text(page, '#news'), /fungal: events\/deploy-failed (1\.0\.0 → )?1\.1\.0/);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'platform/platform-api');
    execFileSync('git', ['blue', '-C', 'blue', 'session', 'start', '--rfc', '0043-live'], { stdio: 'pipe' });
    await page.locator('main td', { hasText: '0043-live' }).waitFor();
    assert.equal(await page.evaluate(() => window.sameDocument), true);
    // Nothing is replaced while in use; pending updates are announced, and applied afterwards.
    await go(page, '/r/aperture/contracts');
    await live(page);
    await page.getByRole('searchbox').fill('half a wo');
    writeFileSync(file, readFileSync(file, 'utf8').replace('version: "1.1.0"', 'version: "1.2.0"'));
    execFileSync('git', ['-C', 'fungal', 'commit', '-qam', 'Say when it failed'], { stdio: 'pipe' });
    await page.locator('#live', { hasText: 'updates when you leave the form' }).waitFor();
    assert.equal(await page.getByRole('searchbox').inputValue(), 'half a wo');
    await page.getByRole('searchbox').blur();
    await page.locator('main tr', { hasText: 'deploy-failed' }).getByText('1.2.0').waitFor();
    await live(page);
    // It says when it is no longer live.
    assert.equal(complaints.length, 0, complaints.join('\n'));
    execFileSync('git', ['blue', 'daemon', 'stop'], { stdio: 'pipe' });
    await page.locator('#live[data-state="stale"]', { hasText: /Not live since/ }).waitFor();
    // A restarted daemon accepts no old cookies.
    execFileSync('git', ['blue', 'daemon', 'start', '--port', new URL(origin).port], { stdio: 'pipe' });
    await page.locator('#live[data-state="stale"]', { hasText: 'Signed out: run git blue daemon open' }).waitFor();
    await go(page, '/r/aperture', 401);
    assert.match(await text(page), /This browser is not signed in[^]*git blue daemon open/);
    complaints.length = 0;
  },

  // Without a script: everything except live updates.
  async plain() {
    await (await open()).close();
    const page = await open({ javaScriptEnabled: false });
    for (const path of [...PAST, ...PAGES]) await go(page, path);
    assert.match(await text(page, '#live'), /Not updating live; reload to see changes/);
    await go(page, '/r/aperture/contracts');
    await page.getByRole('searchbox').fill('DEPLOY fungal');
    await page.getByRole('button', { name: 'Search' }).click();
    assert.match(await text(page), /2 contracts with “DEPLOY fungal”/);
    assert.equal(await page.locator('tbody tr').count(), 2);
    await go(page, '/r/aperture/notifications');
    await page.getByLabel('For').selectOption('fungal');
    await page.locator('main').getByRole('button', { name: 'Show' }).click();
    assert.match(await text(page, 'h1'), /Notifications of fungal/);
    assert.match(await text(page), /aperture changed s3-access\/s3-permissions 1\.0\.0 → 2\.0\.0/);
  },

  // Accessibility: axe finds nothing, everything is reachable by keyboard, nothing is wider than a phone.
  async everybody() {
    const axe = readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8');
    await (await open()).close();
    // Dark and forced colors change only colors.
    const onlyColors = { runOnly: ['color-contrast'] };
    for (const [options, rules] of [
      [{ colorScheme: 'light' }, {}],
      [{ colorScheme: 'dark' }, onlyColors],
      [{ viewport: { width: 360, height: 740 } }, {}],
      [{ forcedColors: 'active' }, onlyColors],
    ]) {
      const page = await open(options);
      await page.context().addInitScript(axe);
      for (const path of [...PAGES, ...PAST, '/r/nowhere']) {
        await page.goto(origin + path);
        if (PAGES.includes(path)) await live(page);
        await page.evaluate(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }));
        const { violations } = await page.evaluate((rules) => window.axe.run(document, rules), rules);
        const found = violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' | ')}`);
        assert.deepEqual(found, [], `${path} ${JSON.stringify(options)}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, `${path} is wider than ${JSON.stringify(options)}`);
      }
      await page.context().close();
    }
    // A missing page is a complaint.
    complaints.splice(0, complaints.length, ...complaints.filter((one) => !one.startsWith(`${origin}/r/nowhere`)));
    const page = await open();
    await go(page, '/r/aperture');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    for (let stop = 0; stop < 60; stop += 1) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const { outlineStyle } = getComputedStyle(document.activeElement);
        // In the graph, the stroke shows the focus.
        const drawn = document.activeElement.closest('svg') && getComputedStyle(document.activeElement.querySelector('rect, text'));
        return { tag: document.activeElement.tagName, outlineStyle: drawn ? drawn.stroke + drawn.textDecorationLine : outlineStyle };
      });
      if (at.tag === 'BODY') return;
      assert.ok(!['none', 'nonenone'].includes(at.outlineStyle), `${at.tag} shows that it has the focus`);
    }
    assert.fail('the focus does not reach the end of the page');
  },

  // Contract text is shown literally and never executed.
  async hostile() {
    const page = await open();
    for (const path of ['/r/aperture', '/r/aperture/repos/fungal', '/r/aperture/domains/events', '/r/aperture/contracts', '/r/aperture/contracts/events/evil', '/r/aperture/notifications', '/r/aperture/notifications?repo=blue']) {
      await go(page, path);
      await live(page);
      assert.equal(await page.locator('main script, main img, main iframe, main [onerror], main [onload]').count(), 0, path);
    }
    await go(page, '/r/aperture/contracts/events/evil');
    const shown = await text(page);
    assert.ok(shown.includes('<script>alert(1)</script>'), shown);
    assert.ok(shown.includes('\\u{202e}') && !shown.includes('\u202e'), shown);
    assert.equal(await page.evaluate(() => document.cookie), '', 'no script reads the cookie');
  },

  // Ten thousand contracts, paged.
  async many() {
    const page = await open();
    const contract = '/r/aperture/contracts/domain-00199/contract-49';
    for (const path of ['/r/aperture', '/r/aperture/repos/blue', '/r/aperture/repos/fungal', '/r/aperture/domains/domain-00199', '/r/aperture/contracts', '/r/aperture/notifications', '/r/aperture/notifications?repo=fungal', contract]) {
      await go(page, path);
      await live(page);
      const bytes = (await (await page.request.get(origin + path)).body()).length;
      const [nodes, paint] = await page.evaluate(() => [document.querySelectorAll('*').length, performance.getEntriesByName('first-contentful-paint')[0]?.startTime]);
      console.log(`measured: ${path}: ${nodes} elements, ${bytes} bytes, first paint after ${Math.round(paint)} ms`);
      assert.ok(bytes < 60_000, `${path} has ${bytes} bytes`);
      assert.ok(nodes < 4000, `${path} has ${nodes} elements`);
    }
    await go(page, '/r/aperture/contracts');
    assert.match(await text(page), /10,001 contracts/);
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.waitForURL(/cursor=/);
    assert.equal(await page.locator('tbody tr').count(), 50);
    await page.getByRole('searchbox').fill('domain-00123 contract-07');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/q=/);
    assert.equal(await page.locator('tbody tr').count(), 1);
    await page.locator('tbody th a').click();
    assert.match(await text(page, 'h1'), /contract-07/);
  },

  // The screenshots of the docs.
  async pictures() {
    await (await open()).close();
    const folder = process.env.PICTURES;
    mkdirSync(folder, { recursive: true });
    const contract = '/r/aperture/contracts/s3-access/s3-permissions';
    for (const [name, path, options] of [
      ['overview', '/r/aperture', { colorScheme: 'light' }],
      ['overview-dark', '/r/aperture', { colorScheme: 'dark' }],
      ['contract', contract, { colorScheme: 'light' }],
      ['contract-narrow', contract, { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
      ['repository', '/r/aperture/repos/fungal', { colorScheme: 'light' }],
    ]) {
      const page = await open({ viewport: { width: 1120, height: 800 }, ...options });
      await go(page, path);
      await live(page);
      // Hide the path of the test's folder.
      await page.evaluate(() => document.querySelectorAll('.repos .path, .where').forEach((one) => { one.textContent = one.textContent.replace(/^.*\//, '/home/ada/'); }));
      // Of a contract, show the changes.
      if (name === 'contract') await page.locator('#changes').evaluate((heading) => heading.scrollIntoView());
      await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
      await page.context().close();
    }
  },
};

try {
  await checks[check]();
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
}
