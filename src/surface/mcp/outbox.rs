//! Holds finished answers until they are written, and adds pending notifications to them. This is the only place that
//! adds them, for every tool.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::model::{CallToolResult, ContentBlock, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use serde_json::{Map, Value};

use super::{
    body::{Body, Room, to_string},
    idle_projects::IdleProjects,
    open::{Project, open},
    size_limit::{ENVELOPE, MAX_MESSAGE, message_bytes},
    steps::FollowUp,
};
use crate::{
    env::Env,
    error::{ErrorCode, NextStep, OpError},
    model::{name::ReaderName, text::count},
    ops::{
        inboxes::{
            self,
            deliver::Tips,
            inbox::{self, Receipt},
            pending::NotificationBatch,
        },
        repos::joined,
    },
    surface::{escape::escape_in_json, locked::locked},
    wire::Notification,
};

/// The interval at which recording notifications as seen is retried while another process holds the lock.
pub const AGAIN: Duration = Duration::from_millis(100);

/// The number of bytes that are reserved for the next steps of notifications.
const ROOM_FOR_STEPS: usize = 2_400;

/// The finished answers by the id of their request.
#[derive(Debug, Default)]
pub struct FinishedAnswers(Mutex<HashMap<RequestId, Answer>>);

/// An answer, and the reader whose notifications are added to it.
#[derive(Debug)]
pub struct Answer {
    /// The answer.
    pub body: Body,
    /// Finds the notifications to add; `None` for tools without notifications.
    pub source: Option<NotificationSource>,
    /// Whether it is a review, or suggests one.
    pub is_review: bool,
}

/// Finds the pending notifications of one reader in one project.
#[derive(Debug, Clone)]
pub struct NotificationSource {
    /// The environment.
    pub env: Env,
    /// The project.
    pub project: Project,
    /// The reader.
    pub reader: ReaderName,
    /// Rewrites the next steps for the notifications.
    pub follow_up: FollowUp,
    /// Whether the notifications are recorded as seen.
    pub marks: bool,
    /// The projects in which nothing was pending when last checked.
    pub idle: Arc<IdleProjects>,
}

/// Notifications in an answer, to be recorded as seen once the answer has been written.
#[derive(Debug)]
pub struct SentNotifications {
    source: NotificationSource,
    receipt: Receipt,
    tips: Tips,
    is_all: bool,
}

impl FinishedAnswers {
    /// Stores the answer to a request.
    pub fn put(&self, id: RequestId, answer: Answer) {
        locked(&self.0).insert(id, answer);
    }

    /// Takes the answer to a request.
    pub fn take(&self, id: &RequestId) -> Option<Answer> {
        locked(&self.0).remove(id)
    }
}

impl Answer {
    /// Returns the line to write instead of `message`, and the notifications to record as seen after that. No
    /// notifications are added unless `may_tell` is set; they stay pending.
    pub fn finish(self, message: &ServerJsonRpcMessage, may_tell: bool) -> (Vec<u8>, Option<SentNotifications>) {
        let JsonRpcMessage::Response(response) = message else { unreachable!("only results are stored") };
        let is_versioned = match &response.result {
            ServerResult::CallToolResult(result) => result.result_type.is_some(),
            _ => false,
        };
        let (fields, told) = self.add_notifications(may_tell);
        let json = to_string(&fields);
        let result_type = if is_versioned { r#""resultType":"complete","# } else { "" };
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{{result_type}"content":[{{"type":"text","text":{}}}],"structuredContent":{json},"isError":false}}}}{}"#,
            to_string(&response.id),
            to_string(&escape_in_json(&json)),
            "\n"
        );
        (line.into_bytes(), told)
    }

    /// Returns the result for another layer to write, and the notifications; otherwise like [`Self::finish`].
    pub fn result(self, may_tell: bool) -> (CallToolResult, Option<SentNotifications>) {
        let (fields, told) = self.add_notifications(may_tell);
        let text = ContentBlock::text(escape_in_json(&to_string(&fields)));
        let mut result = CallToolResult::success(vec![text]);
        result.structured_content = Some(Value::Object(fields));
        (result, told)
    }

    /// Returns the fields of the answer, and the notifications among them.
    fn add_notifications(self, may_tell: bool) -> (Map<String, Value>, Option<SentNotifications>) {
        let Self { mut body, source, is_review } = self;
        let mut told = None;
        if let Some(source) = source {
            let room = || {
                let taken = message_bytes(&to_string(&body.fields)) + message_bytes(&to_string(&body.next_steps));
                MAX_MESSAGE.saturating_sub(ENVELOPE + taken + ROOM_FOR_STEPS)
            };
            let looked = if may_tell { Some(source.pending(room)) } else { None };
            // If notifications cannot be read, they stay pending, and the answer is sent without them.
            let unread = |error: &OpError| tracing::warn!(%error, "cannot read the pending notifications");
            let telling = looked.and_then(|looked| looked.inspect_err(unread).ok()).flatten();
            let (notifications, more) =
                telling.as_ref().map_or((&[][..], 0), |(telling, _)| (&telling.notifications[..], telling.more));
            let bindings = telling.as_ref().and_then(|(telling, _)| telling.bindings_changed.clone());
            let steps = steps(notifications, more, is_review, &source.follow_up);
            let mut listed: Vec<_> = notifications.iter().map(|one| serde_json::json!(one)).collect();
            if let [only] = &mut listed[..] {
                let room = room();
                body.cut_item(only, room, "/notifications/0", "notifications_list returns what was cut");
            }
            body.fields.insert("notifications".into(), listed.into());
            if bindings.is_some() {
                body.fields.insert("bindings_changed".into(), serde_json::json!(bindings));
            }
            body.fields.insert("more_notifications".into(), more.into());
            body.next_steps.splice(0..0, steps);
            if let Some((telling, tips)) = telling.filter(|_| source.marks) {
                let is_all = telling.more == 0;
                told = Some(SentNotifications { is_all, receipt: telling.receipt, source, tips });
            }
        }
        body.fields.insert("next_steps".into(), serde_json::json!(body.next_steps));
        (body.fields, told)
    }
}

impl NotificationSource {
    /// Returns the notifications to deliver, up to `room` bytes, and the tips that decided them. Returns `None`
    /// if nothing is pending.
    fn pending(&self, room: impl Fn() -> usize) -> Result<Option<(NotificationBatch, Tips)>, OpError> {
        let ctx = open(&self.env, &self.project)?;
        let Ok(acting) = ctx.acting_repo() else { return Ok(None) };
        // Notifications that cannot be recorded as seen would come with every answer.
        if !joined::is_joined(&ctx.home, acting) {
            return Ok(None);
        }
        let is_quiet = |tips: &Tips| self.idle.is_unchanged(&self.project, tips);
        let mut left = None;
        // The first one is always sent, shortened if necessary; otherwise it would block the others forever.
        let fits = |one: &Notification| {
            let is_first = left.is_none();
            left.get_or_insert_with(|| Room(room())).takes(one) || is_first
        };
        inboxes::deliver::due_since(&ctx, acting, &self.reader, is_quiet, fits)
    }
}

impl SentNotifications {
    /// Records the notifications as seen. Returns false if another process holds the lock, so that this must be
    /// retried. After other errors it returns true, and the notifications will be shown again.
    pub fn is_settled(&self) -> bool {
        match self.record() {
            Err(error) if error.code == ErrorCode::Locked => return false,
            Err(error) => tracing::warn!(error = error.message, "not recorded as seen"),
            Ok(()) => {}
        }
        true
    }

    fn record(&self) -> Result<(), OpError> {
        let NotificationSource { env, project, reader, idle, .. } = &self.source;
        let ctx = open(env, project)?;
        let Ok(acting) = ctx.require_reader() else { return Ok(()) };
        inbox::record(acting.store, acting.repo, reader, &self.receipt, || ctx.env.now_here())?;
        if self.is_all {
            // Record the domain tips from when these were all the pending notifications, with the current inbox tips.
            idle.record(project.clone(), self.tips.clone().after_delivery(acting, reader)?);
        }
        Ok(())
    }
}

/// Returns the next steps for the notifications of an answer.
fn steps(notifications: &[Notification], more: usize, is_review: bool, follow_up: &FollowUp) -> Vec<NextStep> {
    let mut steps = Vec::new();
    let mine: Vec<_> = notifications.iter().filter(|one| one.is_to_review()).collect();
    if let Some(first) = mine.first().filter(|_| !is_review) {
        let names = first.contract.as_ref().map(|contract| format!("{}/{contract}", first.domain)).unwrap_or_default();
        let others = if mine.len() > 1 { format!(" and {} more", mine.len() - 1) } else { String::new() };
        let line = format!(
            "git blue review  # {names}{others}: show whether it breaks this repository, and where to \
            edit"
        );
        steps.extend(follow_up.rewrite(&line.into()));
    }
    if more > 0 {
        let what = count(more, "more change is pending", "more changes are pending");
        steps.push(format!("{what} and will come with the next answers").into());
    }
    steps
}
