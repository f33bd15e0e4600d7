//! The tools about a realm, and about work in several of its repositories.

use super::{super::body::Body, Call};
use crate::{error::OpError, model::check::Scope, ops};

/// How many imports `realm_status` lists, however they stand.
const MAX_IMPORTS: usize = 30;

pub fn status(call: &Call<'_>) -> Result<Body, OpError> {
    call.paged(20, |page| {
        let (answer, _) =
            ops::realm::status::run(call.ctx, &ops::realm::status::Request { reader: None, page, catch_up: false })?;
        let mut body = Body::of(&answer);
        leave_out_current_imports(&mut body);
        Ok(body)
    })
}

/// Of many imports, those that are as they should be are counted, not listed: they would be on every
/// page, and leave no room for what the page is about.
fn leave_out_current_imports(body: &mut Body) {
    if let Some(serde_json::Value::Array(imports)) = body.fields.get_mut("imports")
        && imports.len() > MAX_IMPORTS
    {
        let all = imports.len();
        imports.retain(|import| import["state"] != "current");
        let current = all - imports.len();
        body.next_steps.push(format!("{current} of {all} imports are current and not listed"));
    }
}

pub fn check(call: &Call<'_>) -> Result<Body, OpError> {
    let wanted = call.arguments.text("scope");
    let subject = match (wanted, call.arguments.flag("worktree")) {
        (Some("published"), _) => ops::realm::check::Subject::Published,
        (_, true) => ops::realm::check::Subject::Worktree,
        (_, false) => ops::realm::check::Subject::Head,
    };
    let scope = if wanted == Some("all") { Scope::Everything } else { Scope::Own };
    let rfc = call.arguments.parsed("rfc")?;
    let request =
        ops::realm::check::Request { reader: None, subject, scope, rfc, ..ops::realm::check::Request::default() };
    let answer = ops::realm::check::run(call.ctx, &request)?;
    let mut body = Body::of(&answer);
    if let (false, Some(repo), Some(serde_json::Value::Array(hashes))) =
        (call.is_full(), &answer.body.current_repo, body.fields.get_mut("schema_hashes"))
        && hashes.len() > 20
    {
        hashes.retain(|one| one["owner"] == repo.as_str());
    }
    Ok(body)
}

pub fn topology(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::realm::topology::Request { domain: call.arguments.parsed("domain")? };
    Ok(Body::of(&ops::realm::topology::run(call.ctx, &request)?))
}

pub fn log(call: &Call<'_>) -> Result<Body, OpError> {
    let wanted = ops::realm::log::Request {
        domain: call.arguments.parsed("domain")?,
        filter: call.arguments.made()?,
        ..Default::default()
    };
    call.paged(50, |page| {
        let answer = ops::realm::log::run(call.ctx, &ops::realm::log::Request { page, ..wanted.clone() })?;
        let mut body = Body::of(&answer);
        if !call.is_full()
            && let Some(serde_json::Value::Array(entries)) = body.fields.get_mut("entries")
        {
            for entry in entries.iter_mut().filter_map(serde_json::Value::as_object_mut) {
                entry.remove("source_commit");
            }
        }
        Ok(body)
    })
}

pub fn list(call: &Call<'_>) -> Result<Body, OpError> {
    Ok(Body::of(&ops::realm::list::run(call.ctx)?))
}

pub fn compare(call: &Call<'_>) -> Result<Body, OpError> {
    let other: crate::model::name::RealmName = call.arguments.needed("other")?;
    call.paged(50, |page| {
        let request = ops::realm::compare::Request { other: other.clone(), page };
        Ok(Body::of(&ops::realm::compare::run(call.ctx, &request)?))
    })
}

pub fn worktree_create(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::worktree::create::Request {
        rfc: call.arguments.needed("rfc")?,
        repos: call.arguments.list("repos")?,
        fetch: false,
        clone: false,
    };
    Ok(Body::of(&ops::worktree::create::run(call.ctx, &request)?))
}

pub fn pr_status(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::pr::status::Request { rfc: call.arguments.parsed("rfc")? };
    Ok(Body::of(&ops::pr::status::run(call.ctx, &request)?))
}
