//! A call of a tool: what it asks, and pages of what it is answered.

use serde_json::{Map, Value};

use super::Tool;
use crate::surface::mcp::{body::Body, settings::Settings, size_limit::MAX_BODY, steps::for_client};
use crate::{
    error::OpError,
    model::name::ReaderName,
    ops::ctx::Ctx,
    surface::arguments::Arguments,
    wire::{Answered, PageRequest},
};

/// A call, ready to run.
pub struct Call<'a> {
    /// What is called.
    pub tool: &'a Tool,
    /// What operations work with.
    pub ctx: &'a Ctx,
    /// The arguments, as the operation names them.
    pub arguments: &'a Arguments,
    /// The reader that asks.
    pub reader: &'a ReaderName,
    /// What the server was started with.
    pub settings: &'a Settings,
}

impl Call<'_> {
    /// Runs the operation on the arguments.
    ///
    /// # Errors
    /// Returns an error if an argument names nothing of its kind, or the operation fails.
    pub fn ask(&self, fields: Map<String, Value>) -> Result<Body, OpError> {
        Ok(self.body(&*(self.tool.call.run)(self.ctx, fields)?))
    }

    /// Returns an answer, its next steps as calls of tools that the server offers.
    pub fn body(&self, answer: &dyn Answered) -> Body {
        let steps = answer.next_steps().iter().map(|step| for_client(step, !self.settings.read_only)).collect();
        Body { next_steps: steps, ..Body::of(answer) }
    }

    /// Returns whether everything is wanted.
    pub fn is_full(&self) -> bool {
        self.arguments.text("detail") == Some("full")
    }

    /// Asks for a page of `usual` entries, or as many as the client says, and for a smaller one while it does not
    /// fit a message: by as much smaller as it is too large, because each costs as much as the first.
    ///
    /// # Errors
    /// Returns an error if asking fails.
    pub fn paged(
        &self,
        usual: usize,
        ask: impl Fn(Map<String, Value>) -> Result<Body, OpError>,
    ) -> Result<Body, OpError> {
        let mut limit = self.arguments.read_as::<PageRequest>()?.limit.unwrap_or(usual).min(1_000);
        loop {
            let mut fields = self.arguments.fields();
            fields.insert("limit".into(), limit.into());
            let mut body = ask(fields)?;
            if body.fits() || limit == 1 {
                if let Some(cursor) = body.fields.get("next_cursor").and_then(Value::as_str) {
                    body.next_steps.push(format!("call again with cursor {cursor}: what follows").into());
                }
                return Ok(body);
            }
            limit = (limit * MAX_BODY / body.weight()).clamp(1, limit - 1);
        }
    }
}
