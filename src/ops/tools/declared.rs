//! Commands that the user declared as tools for MCP clients: `blue.mcp.tool.<name>.command` in the user's own git
//! configuration. The configuration of a repository or realm is never read, because these commands are executed.

use std::{path::PathBuf, time::Duration};

use crate::{
    env::Env,
    error::OpError,
    machine::user_config::{self, Values, boolean},
    platform::files,
};

/// The maximum number of tools that may be declared, since a client reads the list of all of them.
const MAX_TOOLS: usize = 20;
/// The maximum length of a name that clients accept.
const MAX_NAME: usize = 64;
/// The maximum length of a description.
const MAX_ABOUT: usize = 500;
/// The default time limit of a command.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum time limit, in seconds.
const MAX_TIMEOUT: u64 = 3_600;

/// A command that is declared as a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTool {
    /// Its name.
    pub name: String,
    /// The tool's description.
    pub about: String,
    /// The absolute path of the program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Whether the user declares that the command changes nothing.
    pub is_read_only: bool,
    /// The time limit.
    pub timeout: Duration,
    /// Variables that are passed to the command although their names suggest secrets.
    pub passed: Vec<String>,
}

/// The declared tools, and the problems with those that cannot be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// The usable tools, in the order of the configuration.
    pub tools: Vec<DeclaredTool>,
    /// The tools that cannot be offered, with the reasons.
    pub problems: Vec<String>,
}

/// Returns the declared tools. An invalid one is reported, and does not hide the others.
///
/// # Errors
/// Returns an error if the user's configuration cannot be read.
pub fn of(env: &Env) -> Result<Declared, OpError> {
    let mut declared = Declared::default();
    for (name, values) in user_config::subsections(env.vars(), "mcp.tool.")? {
        match tool(env, &name, &values) {
            Ok(_) if declared.tools.len() == MAX_TOOLS => {
                declared.problems.push(format!("blue.mcp.tool.{name}: there are {MAX_TOOLS} tools already"));
            }
            Ok(tool) => declared.tools.push(tool),
            Err(problem) => declared.problems.push(format!("blue.mcp.tool.{name}: {problem}")),
        }
    }
    Ok(declared)
}

fn tool(env: &Env, name: &str, values: &Values) -> Result<DeclaredTool, String> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_letter) {
        return Err(format!("a tool's name is 1 to {MAX_NAME} characters: a-z, A-Z, 0-9, _ and -"));
    }
    // The short names of operations are reserved too.
    let is_taken = |operation: &crate::ops::Operation| {
        [Some(operation.name), operation.name.strip_prefix("realm_")].contains(&Some(name))
    };
    if crate::ops::TABLE.iter().any(is_taken) {
        return Err("its name is reserved".into());
    }
    let known = ["command", "description", "env", "readonly", "timeout"];
    if let Some(key) = values.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("unknown key {key}; the keys are command, description, env, readOnly, timeout"));
    }
    let mut words = words(values.get("command").ok_or("it has no command")?)?.into_iter();
    let program = program(env, &words.next().ok_or("its command is empty")?)?;
    let about = values.get("description").map_or_else(|| format!("Runs {}", program.display()), Clone::clone);
    if about.len() > MAX_ABOUT {
        return Err(format!("its description is longer than {MAX_ABOUT} bytes"));
    }
    let is_read_only = match values.get("readonly") {
        None => false,
        Some(value) => boolean(value).ok_or("readOnly is true or false")?,
    };
    let timeout = match values.get("timeout") {
        None => TIMEOUT,
        Some(text) => match text.parse() {
            Ok(seconds @ 1..=MAX_TIMEOUT) => Duration::from_secs(seconds),
            _ => return Err(format!("timeout is a number of seconds from 1 to {MAX_TIMEOUT}")),
        },
    };
    let passed = variables(values.get("env").map_or("", String::as_str))?;
    let arguments = words.collect();
    Ok(DeclaredTool { name: name.to_owned(), about, program, arguments, is_read_only, timeout, passed })
}

/// Parses a list of variable names.
fn variables(text: &str) -> Result<Vec<String>, String> {
    let is_name = |name: &str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.chars().all(is_letter) && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    let names: Vec<_> = text.split([' ', '\t', ',']).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    match names.iter().find(|name| !is_name(name)) {
        Some(name) => Err(format!("env lists variable names, and {name:?} is not one")),
        None => Ok(names),
    }
}

/// Splits a command into words at white space. Quotes and backslashes work as in a shell and in git aliases; nothing
/// else is special.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) = (Vec::new(), None, None);
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\'', None) | ('"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => {
                word.get_or_insert_default().push(characters.next().ok_or("its command ends with a backslash")?);
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("its command has a quote that does not end".into());
    }
    words.extend(word);
    Ok(words)
}

/// Returns the path of a program. A path that depends on the current folder is refused: the program runs in the user's
/// repositories, so their content would decide which program runs.
fn program(env: &Env, word: &str) -> Result<PathBuf, String> {
    let path = match word.strip_prefix("~/") {
        Some(rest) => env.home().ok_or("HOME is not set")?.join(rest),
        None => PathBuf::from(word),
    };
    if path.is_absolute() {
        return if files::is_executable(&path) {
            Ok(path)
        } else {
            Err(format!("{} is not a program", path.display()))
        };
    }
    if word.contains(std::path::is_separator) {
        return Err(format!("{word} is a relative path; write an absolute path, or ~/…"));
    }
    env.program(word).ok_or_else(|| format!("{word} is not on PATH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_into_words() {
        for (text, expected) in [
            ("a b  c", Ok(vec!["a", "b", "c"])),
            ("  a\t'b  c' ", Ok(vec!["a", "b  c"])),
            (r#"a "b \" c"'d' '' \ e"#, Ok(vec!["a", "b \" cd", "", " e"])),
            ("a 'b\\' $HOME ; *", Ok(vec!["a", "b\\", "$HOME", ";", "*"])),
            ("", Ok(vec![])),
            ("a 'b", Err("its command has a quote that does not end")),
            ("a \\", Err("its command ends with a backslash")),
        ] {
            let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(words(text), expected.map_err(str::to_owned), "{text}");
        }
    }

    fn of_config(config: &str) -> Declared {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, config).unwrap();
        let vars = [("GIT_CONFIG_GLOBAL".into(), file.into()), ("PATH".into(), "relative:/usr/bin:/bin".into())];
        of(&Env::isolated("/", vars)).unwrap()
    }

    #[test]
    fn valid_declarations_are_offered() {
        let declared = of_config(
            "[blue \"mcp.tool.lint\"]\n\tcommand = sh -c 'exit 0'\n\tdescription = Lints\n\treadOnly\n\ttimeout = \
                5\n\tenv = GH_TOKEN, AWS_PROFILE\n[blue \"mcp.tool.other\"]\n\tcommand = /bin/sh\n",
        );
        assert_eq!(declared.problems, [""; 0]);
        let [lint, other] = &declared.tools[..] else { panic!("{declared:?}") };
        assert!(lint.program.is_absolute() && lint.program.ends_with("sh"), "{lint:?}");
        assert_eq!((&*lint.about, lint.is_read_only, lint.timeout.as_secs()), ("Lints", true, 5));
        assert_eq!(lint.arguments, ["-c", "exit 0"]);
        assert_eq!(lint.passed, ["GH_TOKEN", "AWS_PROFILE"]);
        assert_eq!((&*other.about, other.is_read_only, other.timeout), ("Runs /bin/sh", false, TIMEOUT));
    }

    #[test]
    fn invalid_declarations_are_reported() {
        for (name, keys, problem) in [
            ("a b", "command = sh", "a tool's name is"),
            ("realm_status", "command = sh", "its name is reserved"),
            ("a", "description = x", "it has no command"),
            ("a", "command = \"\"", "its command is empty"),
            ("a", "command = ./run", "is a relative path"),
            ("a", "command = no-such-program-anywhere", "is not on PATH"),
            ("a", "command = /etc/passwd", "is not a program"),
            ("a", "command = sh\n\ttimeout = 0", "timeout is a number"),
            ("a", "command = sh\n\treadOnly = maybe", "readOnly is true or false"),
            ("a", "command = sh\n\tenv = A=b", "env lists variable names"),
            ("a", "command = sh\n\tshell = yes", "unknown key shell"),
        ] {
            let declared = of_config(&format!("[blue \"mcp.tool.{name}\"]\n\t{keys}\n"));
            assert!(declared.tools.is_empty() && declared.problems[0].contains(problem), "{declared:?}");
        }
    }
}
