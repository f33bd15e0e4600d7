//! Runs slow calls on separate threads. They report progress, and stop when they are cancelled.

use std::{future::Future, time::Duration};

use rmcp::{RoleServer, model::ProgressNotificationParam, service::RequestContext};

use super::{
    Server,
    calls::{answer, opened},
};
use crate::{
    error::{ErrorCode, OpError},
    ops::progress::{RequestProgress, cancelled},
    surface::{
        arguments::Arguments,
        mcp::{
            body::Body,
            open::Project,
            tools::{Call, Tool},
        },
    },
};

/// The interval of progress reports.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// Cancels the work when it is dropped.
struct CancelOnDrop(RequestProgress);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Server {
    /// Runs a slow tool in a project.
    ///
    /// # Errors
    /// Returns an error if the operation fails or is cancelled.
    pub async fn run_in_background(
        &self,
        tool: &'static Tool,
        arguments: &Arguments,
        project: &Project,
        context: &RequestContext<RoleServer>,
    ) -> Result<Body, OpError> {
        let (settings, arguments, project) = (self.settings.clone(), arguments.clone(), project.clone());
        let reader = self.client(context).reader.clone();
        let progress = RequestProgress::default();
        let own = progress.clone();
        let work = tokio::task::spawn_blocking(move || {
            own.check()?;
            let ctx = opened(&settings, &project, &arguments)?;
            ctx.progress.replace(own);
            answer(&Call { tool, ctx: &ctx, arguments: &arguments, reader: &reader, settings: &settings })
        });
        let abort = work.abort_handle();
        let work = async {
            work.await.unwrap_or_else(|error| Err(OpError::cannot(ErrorCode::Io, format!("{}: {error}", tool.name()))))
        };
        // Work that has not started on a thread does not need to start.
        followed(&progress, context, work).await.inspect_err(|_| abort.abort())
    }
}

/// Waits for work and reports its progress. If the request is cancelled or dropped, so is the work.
async fn followed(
    progress: &RequestProgress,
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<Body, OpError>>,
) -> Result<Body, OpError> {
    let _end = CancelOnDrop(progress.clone());
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Err(cancelled()),
        done = work => done,
        () = reports(progress, context) => unreachable!("it goes on until the work is done"),
    }
}

/// Reports the progress of the work to a client that asked for it.
async fn reports(progress: &RequestProgress, context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return std::future::pending().await };
    let mut told = None;
    loop {
        tokio::time::sleep(REPORT_EVERY).await;
        let (done, total) = progress.so_far();
        // The protocol requires each progress value to be larger than the last.
        if told.is_some_and(|told| told >= done) {
            continue;
        }
        told = Some(done);
        let report = ProgressNotificationParam::new(token.clone(), done as f64);
        let report = if total > 0 { report.with_total(total as f64) } else { report };
        // A client that disconnected needs no report.
        let _ = context.peer.notify_progress(report).await;
    }
}
