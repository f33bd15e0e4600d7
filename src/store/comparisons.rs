//! The cache of comparisons of schemas: a file with a line for each, to which every process appends what it compared.
//! Lines have a checksum, so that an incomplete one is ignored. The file can be deleted at any time.

use std::{
    cell::{Cell, OnceCell, RefCell},
    fs::{File, OpenOptions},
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use memchr::{memchr, memchr_iter, memmem};

use crate::{model::verdict::Answers, platform::files};

/// The first line, with the version of the format and that of the engine. Answers of other versions are ignored.
const HEADER: &str = concat!("git-blue-comparisons-1-", env!("GIT_BLUE_ENGINE"), "\n");
/// The size limit of the file, in bytes. Once it is reached, the file starts again with the new answers.
const MAX_SIZE: u64 = 24 << 20;
/// The number of answers that are searched for in the file, before its lines are indexed.
const MAX_SEARCHES: u32 = 8;

/// The comparisons of one store. New ones are written when this is dropped.
#[derive(Debug)]
pub struct Comparisons {
    path: PathBuf,
    known: OnceCell<Known>,
    new: RefCell<Vec<u8>>,
}

/// The lines of the file.
#[derive(Debug, Default)]
struct Known {
    bytes: Vec<u8>,
    searches: Cell<u32>,
    /// The starts of all lines, sorted by key; of equal keys, the newest comes last.
    lines: OnceCell<Vec<usize>>,
}

impl Comparisons {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, known: OnceCell::new(), new: RefCell::default() }
    }

    fn append(&self) -> std::io::Result<()> {
        let new = self.new.borrow();
        if let Some(folder) = self.path.parent() {
            files::make_folder_and_parent(folder)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
        // Another process is writing. What was compared here will be compared again.
        if file.try_lock().is_err() {
            return Ok(());
        }
        if !has_header(&mut file)? || file.metadata()?.len() + new.len() as u64 > MAX_SIZE {
            file.set_len(0)?;
            file.write_all(HEADER.as_bytes())?;
        }
        file.write_all(&new)
    }
}

fn has_header(file: &mut File) -> std::io::Result<bool> {
    let mut start = Vec::new();
    file.rewind()?;
    file.take(HEADER.len() as u64).read_to_end(&mut start)?;
    Ok(start == HEADER.as_bytes())
}

impl Answers for Comparisons {
    fn get(&self, key: &str) -> Option<&[u8]> {
        let known = self.known.get_or_init(|| Known::read(&self.path).unwrap_or_default());
        let (sum, answer) = split(known.find(key)?)?;
        (sum == checksum(key, answer).as_bytes()).then_some(answer)
    }

    fn put(&self, key: &str, answer: &[u8]) {
        let mut new = self.new.borrow_mut();
        new.extend_from_slice(format!("{key} {} ", checksum(key, answer)).as_bytes());
        new.extend_from_slice(answer);
        new.push(b'\n');
    }
}

impl Drop for Comparisons {
    fn drop(&mut self) {
        if !self.new.borrow().is_empty() {
            // Nothing is lost but time if it cannot be written.
            let _ = self.append();
        }
    }
}

impl Known {
    fn read(path: &Path) -> std::io::Result<Self> {
        let mut file = File::open(path)?;
        if !has_header(&mut file)? {
            return Ok(Self::default());
        }
        let size = file.metadata()?.len().min(2 * MAX_SIZE);
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
        // Every line follows a line break.
        bytes.push(b'\n');
        file.take(size).read_to_end(&mut bytes)?;
        Ok(Self { bytes, ..Self::default() })
    }

    /// Returns the newest answer for a key, with its checksum. Most processes need a few answers, for which the lines are
    /// not indexed.
    fn find(&self, key: &str) -> Option<&[u8]> {
        let searches = self.searches.replace(self.searches.get() + 1);
        if searches >= MAX_SEARCHES {
            let lines = self.lines.get_or_init(|| self.sorted());
            let end = lines.partition_point(|start| self.key(*start) <= key.as_bytes());
            let start = *lines[..end].last()?;
            return (self.key(start) == key.as_bytes()).then(|| &self.line(start)[key.len() + 1..]);
        }
        let start = memmem::rfind(&self.bytes, format!("\n{key} ").as_bytes())? + 1;
        Some(&self.line(start)[key.len() + 1..])
    }

    /// Returns the complete lines, sorted by key.
    fn sorted(&self) -> Vec<usize> {
        let breaks: Vec<_> = memchr_iter(b'\n', &self.bytes).collect();
        let mut starts: Vec<_> = breaks.windows(2).map(|pair| pair[0] + 1).collect();
        starts.sort_by_key(|start| self.key(*start));
        starts
    }

    /// Returns the key of the line that starts at `start`.
    fn key(&self, start: usize) -> &[u8] {
        split(self.line(start)).map_or(&[], |(key, _)| key)
    }

    /// Returns the line that starts at `start`, without its line break.
    fn line(&self, start: usize) -> &[u8] {
        let rest = &self.bytes[start..];
        &rest[..memchr(b'\n', rest).unwrap_or(rest.len())]
    }
}

/// Splits at the first space.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == b' ')?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

fn checksum(key: &str, answer: &[u8]) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key.as_bytes());
    hasher.update(answer);
    format!("{:08x}", hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, key: &str, answer: &[u8]) {
        Comparisons::new(path.to_owned()).put(key, answer);
    }

    fn get(path: &Path, key: &str) -> Option<Vec<u8>> {
        Comparisons::new(path.to_owned()).get(key).map(<[u8]>::to_vec)
    }

    #[test]
    fn complete_lines_of_this_version_are_read() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("blue/cache/comparisons");
        assert_eq!(get(&path, "a"), None);
        put(&path, "a", br#"{"x": 1}"#);
        put(&path, "b", "é".as_bytes());
        assert_eq!(get(&path, "a").as_deref(), Some(&br#"{"x": 1}"#[..]));
        assert_eq!(get(&path, "b").as_deref(), Some("é".as_bytes()));
        // A killed writer leaves the start of a line.
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 2]).unwrap();
        assert_eq!(get(&path, "b"), None);
        put(&path, "b", b"1");
        put(&path, "c", b"2");
        assert_eq!(
            [get(&path, "a").is_some(), get(&path, "b").is_some(), get(&path, "c").is_some()],
            [true, false, true]
        );
        // A damaged line, and another version.
        std::fs::write(&path, String::from_utf8_lossy(&std::fs::read(&path).unwrap()).replace("\"x\"", "\"y\""))
            .unwrap();
        assert_eq!((get(&path, "a"), get(&path, "c").is_some()), (None, true));
        std::fs::write(&path, "git-blue-comparisons-0\na 00000000 1\n").unwrap();
        assert_eq!(get(&path, "a"), None);
        put(&path, "d", b"3");
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
    }

    #[test]
    fn the_newest_answers_are_found_without_and_with_an_index() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("comparisons");
        for (key, answer) in [("a", "1"), ("b", "2"), ("a", "3"), ("aa", "4")] {
            put(&path, key, answer.as_bytes());
        }
        let all = Comparisons::new(path);
        for _ in 0..=MAX_SEARCHES {
            let found = ["a", "b", "aa", "c"].map(|key| all.get(key).map(<[u8]>::to_vec));
            assert_eq!(found, [Some(b"3".to_vec()), Some(b"2".to_vec()), Some(b"4".to_vec()), None]);
        }
    }

    #[test]
    fn full_file_starts_again() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("comparisons");
        put(&path, "a", &vec![b'1'; MAX_SIZE as usize - 100]);
        put(&path, "b", &[b'2'; 100]);
        assert_eq!((get(&path, "a"), get(&path, "b").is_some()), (None, true));
    }
}
