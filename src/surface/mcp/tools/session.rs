//! The tools about one stretch of work: its session, and what others changed meanwhile.

use super::{super::body::Body, Call};
use crate::{error::OpError, ops, wire::NotificationFilter};

pub fn start(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::session::start::Request { rfc: call.arguments.parsed("active_rfc")? };
    Ok(Body::of(&ops::session::start::run(call.ctx, &request)?))
}

pub fn stop(call: &Call<'_>) -> Result<Body, OpError> {
    Ok(Body::of(&ops::session::stop::run(call.ctx, &ops::session::stop::Request::default())?))
}

pub fn notifications_list(call: &Call<'_>) -> Result<Body, OpError> {
    let filter = match call.arguments.text("state") {
        Some("pending") => NotificationFilter::Pending,
        Some("seen") => NotificationFilter::Seen,
        Some("expired") => NotificationFilter::Expired,
        _ => NotificationFilter::All,
    };
    let (made, kind) = (call.arguments.made()?, call.arguments.parsed("kind")?);
    let wanted =
        ops::notifications::list::Request { reader: call.reader.clone(), filter, made, kind, ..Default::default() };
    call.paged(50, |page| {
        let request = ops::notifications::list::Request { page, ..wanted.clone() };
        Ok(Body::of(&ops::notifications::list::run(call.ctx, &request)?))
    })
}
