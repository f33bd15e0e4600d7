//! A call of a tool: what it asks, and pages of what it is answered.

use serde::Serialize;

use crate::surface::mcp::{arguments::Arguments, body::Body, settings::Settings, size_limit::MAX_BODY, steps::Step};
use crate::{
    error::OpError,
    model::name::{ContractRef, ReaderName},
    ops::ctx::Ctx,
    wire::{Answer, PageRequest},
};

/// A call, ready to run.
pub struct Call<'a> {
    /// What operations work with.
    pub ctx: &'a Ctx,
    /// The arguments.
    pub arguments: &'a Arguments,
    /// Who asks.
    pub reader: &'a ReaderName,
    /// What the server was started with.
    pub settings: &'a Settings,
}

impl Call<'_> {
    /// Returns an answer, its next steps as calls of tools that the server offers.
    pub fn body<T: Serialize>(&self, answer: &Answer<T>) -> Body {
        let steps = answer.next_steps.iter().map(|line| Step::of(line, !self.settings.read_only)).collect();
        Body { next_steps: steps, ..Body::of(answer) }
    }

    /// Returns whether everything is wanted.
    pub fn is_full(&self) -> bool {
        self.arguments.text("detail") == Some("full")
    }

    /// Returns the contract that it names.
    ///
    /// # Errors
    /// Where it names none.
    pub fn contract(&self) -> Result<ContractRef, OpError> {
        Ok(ContractRef { domain: self.arguments.needed("domain")?, contract: self.arguments.needed("contract")? })
    }

    /// Asks for a page, and for a smaller one while it does not fit a message: by as much smaller as
    /// it is too large, because each costs as much as the first.
    ///
    /// # Errors
    /// Where asking fails.
    pub fn paged(&self, usual: usize, ask: impl Fn(PageRequest) -> Result<Body, OpError>) -> Result<Body, OpError> {
        let mut limit = self.arguments.count("limit").unwrap_or(usual).min(1_000);
        loop {
            let mut body =
                ask(PageRequest { limit: Some(limit), cursor: self.arguments.text("cursor").map(str::to_owned) })?;
            if body.fits() || limit == 1 {
                if let Some(cursor) = body.fields.get("next_cursor").and_then(serde_json::Value::as_str) {
                    body.next_steps.push(format!("call again with cursor {cursor}: what follows").into());
                }
                return Ok(body);
            }
            limit = (limit * MAX_BODY / body.weight()).clamp(1, limit - 1);
        }
    }
}
