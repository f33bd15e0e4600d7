//! End-to-end tests of the program with git, isolated from the machine.
//!
//! These are slow compared with tests of the library, so each covers a promise to users; edge cases are tested beside
//! the code. Snapshots show stdout, stderr and exit code; plain assertions state the promise.

mod file_modes;
mod github;
mod github_git;
#[path = "../testutils/hub.rs"]
mod hub;

#[path = "../testutils/daemon.rs"]
#[allow(dead_code, reason = "not every suite sends its own requests")]
mod daemon;
#[path = "../testutils/left_out.rs"]
mod left_out;
#[allow(dead_code, reason = "the tests of the daemon use more of it")]
#[path = "../testutils/receiver.rs"]
mod receiver;
#[path = "../testutils/running.rs"]
mod running;
#[path = "../testutils/schemas.rs"]
mod schemas;
#[path = "../testutils/wait.rs"]
mod wait;

#[path = "../testutils/world.rs"]
mod world;

mod adapted;
mod advice;
mod answer_schemas;
mod append_only;
mod arrivals;
mod as_of;
mod authoring;
mod automatic_versions;
mod background_sync;
mod binding_conflicts;
mod bootstrap;
mod bump;
mod check_base;
mod check_break;
mod check_published;
mod check_rules;
mod check_scope;
mod claude;
mod clones_behind;
mod commit_links;
mod committed_files;
mod comparison_reports;
mod comparisons;
mod compat;
mod compat_inputs;
mod completions;
mod concurrent_edits;
mod concurrent_publications;
mod conventions;
mod damage;
mod damaged_refs;
mod drafts;
mod dubious_ownership;
mod editing;
mod editor_schemas;
mod expects;
mod expects_files;
mod first_hour;
mod forge_failures;
mod found_like_git;
mod history;
mod hook_failures;
mod hook_matrix;
mod hooks;
mod impacts;
mod init;
mod joining;
mod keyword_warnings;
mod large_numbers;
mod locate;
mod many_changes;
mod merge_orders;
mod merge_steps;
mod merge_steps_elsewhere;
mod missing_files;
mod missing_objects;
mod moved_realms;
mod next_steps;
mod next_steps_quoting;
mod no_command;
mod notification_breaks;
mod notification_expiry;
mod notification_offers;
mod notification_texts;
mod notifications;
mod notify;
mod notify_changes;
mod notify_forge;
mod notify_forge_answers;
mod notify_forge_pulls;
mod notify_names;
mod notify_receivers;
mod other_realm;
mod own_contracts;
mod ownership;
mod pre_push;
mod prepare;
mod prime;
mod publish_policy;
mod publishing;
mod publishing_branch;
mod publishing_with_sync;
mod pull_comment;
mod pull_requests;
mod read_only_clones;
mod referenced_files;
mod removals;
mod removed_config;
mod renames;
mod reports;
mod retired_contracts;
mod review;
mod rewritten_history;
mod rfc_files;
mod rollbacks;
mod schema_budget;
mod scripts;
mod sessions;
mod shallow;
mod sparse;
mod sync;
mod sync_conflicts;
mod sync_hostile;
mod teamwork;
mod terminal;
mod transfer_races;
mod transfers;
mod two_machines;
mod upkeep;
mod values;
mod verdicts;
mod watch;
mod wire;
mod withdrawn_versions;
mod worktree_removal;
mod worktrees;
