//! Delivers one event to one receiver, with a single attempt and within a time limit.

use std::{process::Command, time::Duration};

use super::{
    program,
    receiver::{Channel, Chat, Receiver},
    text,
};
use crate::{
    env::Env,
    forge::{Message, post},
    ops::ctx::Ctx,
    platform::{paths, process},
    wire::Event,
};

/// The default time limit for one attempt.
const LIMIT: Duration = Duration::from_secs(15);
/// The folders where git looks for a sendmail that is not in PATH.
const SENDMAIL: [&str; 2] = ["/usr/sbin", "/usr/lib"];

/// Delivers the event.
///
/// # Errors
/// Returns the reason why it was not delivered.
pub fn deliver(ctx: &Ctx, receiver: &Receiver, event: &Event) -> Result<(), String> {
    let env = &ctx.env;
    let limit = env.forge_timeout().unwrap_or(LIMIT);
    let json = || serde_json::to_string(event).map_err(|error| error.to_string());
    match &receiver.channel {
        Channel::Webhook(url) => {
            let body = json()?;
            let message =
                Message { content_type: "application/cloudevents+json; charset=utf-8", ..message(env, event, &body) };
            post(url, &message, receiver.secret(env)?.as_ref(), limit)
        }
        Channel::Chat(chat, url) => {
            let body = serde_json::json!({ "text": chat_text(*chat, event) }).to_string();
            let secret = receiver.secret(env)?;
            let (url, key) = match (url, &secret) {
                (Some(url), key) => (url.as_str(), key.as_ref()),
                (None, Some(url)) => (url.expose(), None),
                (None, None) => return Err("it has no URL".to_owned()),
            };
            post(url, &message(env, event, &body), key, limit)
        }
        Channel::Email(addresses) => {
            let elsewhere = || SENDMAIL.iter().find_map(|folder| paths::program(folder.as_ref(), "sendmail".as_ref()));
            let program = env.program("sendmail").or_else(elsewhere).ok_or("sendmail is not installed")?;
            let args: Vec<&str> = ["-i", "--"].into_iter().chain(addresses.iter().map(String::as_str)).collect();
            program::run(env, Command::new(program), &args, &mail(ctx, addresses, event), limit)
        }
        Channel::Command(command) => program::run(env, process::shell(), &["-c", command], &(json()? + "\n"), limit),
    }
}

fn message<'a>(env: &Env, event: &'a Event, body: &'a str) -> Message<'a> {
    Message { id: &event.id, time: env.now().as_second(), content_type: "application/json", body }
}

/// Returns the text for a chat. Names and versions contain no character that Slack or Mattermost read as markup.
fn chat_text(chat: Chat, event: &Event) -> String {
    let (bold, dot) = match chat {
        Chat::Slack => ("*", "• "),
        Chat::Mattermost => ("**", "- "),
    };
    let place = event.subject.as_ref().map_or(event.data.realm.as_str(), |domain| domain.as_str());
    let lines = text::lines(event).into_iter().map(|line| format!("{dot}{}", line.replace("->", "→")));
    format!("{bold}{place}{bold}\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Returns an email. Its Message-ID is derived from the event, so that mail programs can recognize a second copy.
fn mail(ctx: &Ctx, addresses: &[String], event: &Event) -> String {
    let from = ctx.signature().ok().map(|one| one.email).filter(|email| email.chars().all(|c| c.is_ascii_graphic()));
    let from = from.map(|email| format!("From: git blue <{email}>\n")).unwrap_or_default();
    let date = ctx.env.now_here().strftime("%a, %d %b %Y %H:%M:%S %z").to_string();
    let lines = text::lines(event).join("\n");
    let commit = event.data.commit.map(|commit| format!(", commit {}", commit.short())).unwrap_or_default();
    format!(
        "{from}To: {}\nSubject: [{}] {}\nDate: {date}\nMessage-ID: <{}@git-blue.invalid>\nAuto-Submitted: \
            auto-generated\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n{lines}\n\n-- \nRealm \
            {}{commit}\n",
        addresses.join(", "),
        event.data.realm,
        text::subject(event),
        event.id,
        event.data.realm,
    )
}
