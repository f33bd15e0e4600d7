//! The tools for sessions, where they do more than call their operations.

use super::{super::body::Body, Call};
use crate::{
    error::OpError,
    ops::{notifications::list, operation},
};

pub fn notifications_list(call: &Call<'_>) -> Result<Body, OpError> {
    call.paged(50, |fields| {
        let request = list::Request { reader: call.reader.clone(), ..operation::read(fields)? };
        call.body(&list::run(call.ctx, &request)?)
    })
}
