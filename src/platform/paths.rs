//! Paths, and the variables that contain folders.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// Returns the user's home folder like git: from `HOME` or, on Windows, also from `HOMEDRIVE` and `HOMEPATH`, or
/// `USERPROFILE`.
pub fn home(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| var(name).filter(|value| !value.is_empty());
    let of_windows = || {
        let both = set("HOMEDRIVE").zip(set("HOMEPATH")).map(|(mut drive, path)| {
            drive.push(path);
            drive
        });
        both.filter(|path| Path::new(path).is_dir()).or_else(|| set("USERPROFILE"))
    };
    set("HOME").or_else(|| if cfg!(windows) { of_windows() } else { None }).map(PathBuf::from)
}

/// Returns the folder for temporary files: `TMPDIR`, or on Windows `TEMP` or `TMP`.
pub fn temporary_folder(var: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let (names, otherwise): (&[_], _) =
        if cfg!(windows) { (&["TEMP", "TMP"], r"C:\Windows\Temp") } else { (&["TMPDIR"], "/tmp") };
    names.iter().find_map(|name| var(name)).map_or_else(|| otherwise.into(), PathBuf::from)
}

/// Returns the form in which a variable's name is looked up. Windows treats `Path` and `PATH` as the same.
pub fn variable(name: OsString) -> OsString {
    if cfg!(windows) { name.to_ascii_uppercase() } else { name }
}

/// Converts the decoded path of a `file:` URI to a path. On Windows it must be UTF-8, and has a slash before the
/// drive.
pub fn of_uri(path: Vec<u8>) -> Option<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt as _;
        Some(OsString::from_vec(path).into())
    }
    #[cfg(windows)]
    {
        let path = String::from_utf8(path).ok()?;
        let has_drive = path.as_bytes().get(2) == Some(&b':');
        Some(PathBuf::from(if has_drive { &path[1..] } else { &path }))
    }
}

/// Returns a path in the form that shells expect, with `/` as the separator on Windows too.
pub fn in_shell(path: &Path) -> String {
    let path = path.display().to_string();
    if cfg!(windows) { path.replace('\\', "/") } else { path }
}

/// Returns whether a URL is a Windows path with a drive, such as `C:\x` or `C:/x`, which would otherwise be read as an
/// ssh URL.
pub fn has_drive(url: &str) -> bool {
    cfg!(windows) && matches!(url.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Returns whether a part of a path between slashes is a single name, and not that of git's own folder. This also
/// covers names on systems that ignore case (macOS, Windows) or have other separators and special names (Windows).
pub fn is_name(part: &str) -> bool {
    #[cfg(any(windows, target_os = "macos"))]
    {
        use gix_validate::path::component;
        let options =
            component::Options { protect_windows: cfg!(windows), protect_ntfs: cfg!(windows), protect_hfs: true };
        gix_validate::path::component(part.into(), None, options).is_ok()
    }
    #[cfg(not(any(windows, target_os = "macos")))]
    {
        !matches!(part, "" | "." | ".." | ".git") && !part.contains('/')
    }
}

/// Finds the program for a command name in a folder. On Windows the extension may be omitted.
pub fn program(folder: &Path, word: &OsStr) -> Option<PathBuf> {
    let path = folder.join(word);
    if cfg!(windows) && path.extension().is_none() {
        let endings = ["exe", "com", "cmd", "bat"];
        return endings.iter().map(|ending| path.with_extension(ending)).find(|path| path.is_file());
    }
    Some(path).filter(|path| super::files::is_executable(path))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn home_is_read_from_its_variable() {
        let of = |value: &'static str| home(move |name| (name == "HOME").then(|| value.into()));
        assert_eq!(of("/home/ada"), Some("/home/ada".into()));
        assert_eq!(of(""), None);
        assert_eq!(home(|name| (name == "USERPROFILE").then(|| "/x".into())), None, "that is of Windows alone");
    }

    #[test]
    fn temporary_folder_is_read_from_its_variable() {
        assert_eq!(temporary_folder(|_| None), Path::new("/tmp"));
        assert_eq!(temporary_folder(|name| (name == "TMPDIR").then(|| "/x".into())), Path::new("/x"));
    }

    #[test]
    fn a_program_is_an_executable_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("text"), "").unwrap();
        std::fs::copy("/bin/sh", folder.path().join("sh")).unwrap();
        let found = |word: &str| program(folder.path(), word.as_ref());
        assert_eq!(found("sh"), Some(folder.path().join("sh")));
        assert_eq!((found("text"), found("gone"), found(".")), (None, None, None));
    }

    #[test]
    fn is_name_refuses_paths_and_gits_own_folder() {
        assert!(["a", ".blue", "..a", "a.git", ".gitignore"].into_iter().all(is_name));
        assert!(!["", ".", "..", ".git", "a/b"].into_iter().any(is_name));
    }

    #[test]
    fn a_drive_letter_is_a_host_on_unix() {
        assert!(!has_drive("C:/x"), "on Unix, ssh would go to the host C");
        assert_eq!(in_shell(Path::new(r"/a\b")), r"/a\b");
    }
}
