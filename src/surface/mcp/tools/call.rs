//! Runs the operation of a tool, and pages its answer.

use serde_json::{Map, Value};

use super::Tool;
use crate::surface::mcp::{
    body::Body,
    paging::{self, Wanted},
    settings::Settings,
    steps::FollowUp,
};
use crate::{
    error::OpError,
    model::name::ReaderName,
    ops::ctx::Ctx,
    surface::arguments::Arguments,
    wire::{AnyAnswer, PageRequest},
};

/// A call of a tool.
pub struct Call<'a> {
    pub tool: &'a Tool,
    /// The context of the operation.
    pub ctx: &'a Ctx,
    /// The arguments, under the names that the operation uses.
    pub arguments: &'a Arguments,
    /// The reader that calls.
    pub reader: &'a ReaderName,
    /// The settings of the server.
    pub settings: &'a Settings,
}

impl Call<'_> {
    /// Runs the operation with these fields as its request.
    ///
    /// # Errors
    /// Returns an error if a value does not parse as its field, or the operation fails.
    pub fn ask(&self, fields: Map<String, Value>) -> Result<Body, OpError> {
        let answer = (self.tool.call.run)(self.ctx, fields).map_err(|error| self.with_own_names(error))?;
        self.body(&*answer)
    }

    /// Returns an error that calls an argument by its name in this tool.
    fn with_own_names(&self, error: OpError) -> OpError {
        let renamed = self.tool.kind.names.iter().find_map(|(name, of)| {
            let problem = error.message.strip_prefix(of)?.strip_prefix(": ")?;
            Some(format!("{name}: {problem}"))
        });
        match renamed {
            Some(message) => OpError { message, ..error },
            None => error,
        }
    }

    /// Converts an answer, and pages its lists. Its next steps become calls of tools that the server offers.
    ///
    /// # Errors
    /// Returns an error if the cursor of the call was made for another answer.
    pub fn body(&self, answer: &dyn AnyAnswer) -> Result<Body, OpError> {
        let follow_up = self.follow_up();
        let next_steps = answer.next_steps().iter().filter_map(|step| follow_up.rewrite(step)).collect();
        match self.tool.kind.lists {
            [] => Ok(Body { next_steps, ..Body::of(answer) }),
            lists => {
                let wanted = Wanted { limit: self.arguments.count("limit"), cursor: self.arguments.text("cursor") };
                paging::page(&answer.to_text(), next_steps, lists, wanted)
            }
        }
    }

    /// Returns how the next steps of this call are rewritten.
    pub fn follow_up(&self) -> FollowUp {
        FollowUp::of(self.settings, |name| self.arguments.text(name))
    }

    /// Returns whether the call asks for full detail.
    pub fn is_full(&self) -> bool {
        self.arguments.text("detail") == Some("full")
    }

    /// Requests a page of `usual` entries, or as many as the client asks for, or as many as fit into a message.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    pub fn paged(
        &self,
        usual: usize,
        ask: impl Fn(Map<String, Value>) -> Result<Body, OpError>,
    ) -> Result<Body, OpError> {
        let mut body = paging::fitting(self.limit(usual)?, |limit| ask(self.fields_with(limit)))?;
        body.suggest_next_page();
        Ok(body)
    }

    /// Returns the request for a page of `usual` entries, or as many as the client asks for.
    ///
    /// # Errors
    /// Returns an error if the page does not parse.
    pub fn page_fields(&self, usual: usize) -> Result<Map<String, Value>, OpError> {
        Ok(self.fields_with(self.limit(usual)?))
    }

    fn limit(&self, usual: usize) -> Result<usize, OpError> {
        Ok(self.arguments.read_as::<PageRequest>()?.limit.unwrap_or(usual).min(1_000))
    }

    fn fields_with(&self, limit: usize) -> Map<String, Value> {
        let mut fields = self.arguments.fields();
        fields.insert("limit".into(), limit.into());
        fields
    }
}
