//! Offers the skill of the Claude Code plugin to every MCP client, as in SEP-2640 (the skills extension): a manifest
//! of each skill, and its files as resources.

use std::sync::LazyLock;

use rmcp::model::{JsonObject, Resource, ResourceContents, Skill, SkillFrontmatter, SkillResource, SkillResources};

/// The text of the skill, as it is installed for Claude Code.
const TEXT: &str = include_str!("../../../plugin/skills/contracts/SKILL.md");
/// The URI of the skill.
pub const URI: &str = "skill://git-blue/contracts/SKILL.md";
/// The MIME type of the skill.
const MIME: &str = "text/markdown";

pub static SKILLS: LazyLock<[Skill; 1]> = LazyLock::new(|| {
    let files = SkillResources::Files(vec![SkillResource::from_bytes(URI, TEXT.as_bytes())]);
    [Skill::new(URI, frontmatter(), files)]
});

/// Parses every field of the front matter: the lines between the first two lines of dashes.
fn frontmatter() -> SkillFrontmatter {
    let yaml = TEXT.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or("", |(yaml, _)| yaml);
    let mut fields: JsonObject =
        serde_saphyr::from_str(yaml).unwrap_or_else(|error| unreachable!("it is this project's own: {error}"));
    let mut text = |name| fields.remove(name).and_then(|text| Some(text.as_str()?.to_owned())).unwrap_or_default();
    let front = SkillFrontmatter::new(text("name"), text("description"));
    fields.into_iter().fold(front, |front, (name, value)| front.with_field(name, value))
}

/// Returns the files of all skills for `resources/list`.
pub fn resources() -> impl Iterator<Item = Resource> {
    SKILLS.iter().map(|skill| {
        let SkillFrontmatter { name, description, .. } = &skill.frontmatter;
        Resource::new(skill.uri.clone(), name).with_description(description).with_mime_type(MIME)
    })
}

/// Reads a file of a skill, if there is one with this URI.
pub fn read(uri: &str) -> Option<ResourceContents> {
    (uri == URI).then(|| ResourceContents::text(TEXT, uri).with_mime_type(MIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_matches_the_file() {
        let [skill] = &*SKILLS;
        skill.validate().unwrap();
        assert!(skill.frontmatter.description.starts_with("Work with contracts between git repositories"));
        let SkillResources::Files(files) = &skill.resources else { panic!("{skill:?}") };
        files[0].verify(TEXT.as_bytes()).unwrap();
    }
}
