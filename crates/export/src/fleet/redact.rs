//! Names of files as hashes, for those that are secret.
//!
//! Each component of a path becomes the beginning of its HMAC-SHA256 by a key: files of one directory still have its hash in common, and
//! equal names equal hashes, but nobody without the key can find out by trying whether a hash is of a name that he thinks of.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use hotset_fleet::Rows;
use ring::hmac::{HMAC_SHA256, Key, sign};
use ring::rand::{SecureRandom, SystemRandom};

use super::findings::list;

/// Bytes of a hash that are kept: among 10 million names, two have the same with a probability of 3 in a million.
const HASH_BYTES: usize = 8;
/// The shortest key: 16 bytes can't be guessed.
const KEY_BYTES: usize = 16;
/// What a key of this host alone is made of.
const OWN_KEY_BYTES: usize = 32;
/// The longest file of a key.
const LONGEST_KEY: u64 = 4096;
/// What is put behind the path of a file whose name is gone.
const DELETED: &str = " (deleted)";

/// Whose key names are hashed by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedactKey {
    /// That of a file, which hosts may share: then they have the same hashes.
    File(PathBuf),
    /// One that is made at random for this host, and kept in its spool.
    OwnOfHost,
}

/// Hashes names.
pub(super) struct Redactor {
    key: Key,
}

impl Redactor {
    /// Reads the key; that of the host is made where it is not there.
    ///
    /// # Errors
    /// Where it can't be read or made, or is too short.
    pub(super) fn new(key: &RedactKey, spool: &Path) -> Result<Self> {
        let own = spool.join("redact.key");
        let file = match key {
            RedactKey::File(file) => file,
            RedactKey::OwnOfHost => {
                if !own.exists() {
                    make(&own).with_context(|| own.display().to_string())?;
                }
                &own
            }
        };
        let bytes = read(file).with_context(|| file.display().to_string())?;
        Ok(Self::by(&bytes))
    }

    fn by(key: &[u8]) -> Self {
        Self { key: Key::new(HMAC_SHA256, key) }
    }

    /// Hashes all names of files in rows.
    pub(super) fn rows(&self, rows: &mut Rows) {
        let mut last: Option<(Arc<str>, Arc<str>)> = None;
        for path in rows.files.iter_mut().filter_map(|row| row.path.as_mut()) {
            // Groups that use the same file have rows of their own.
            let hashed = match &last {
                Some((clear, hashed)) if clear == path => Arc::clone(hashed),
                _ => Arc::from(self.path(path)),
            };
            last = Some((std::mem::replace(path, Arc::clone(&hashed)), hashed));
        }
        for finding in &mut rows.findings {
            finding.path = finding.path.as_deref().map(|path| self.path(path).into());
            // What is no list has no names that could be told from each other: none of it is kept.
            let paths: Vec<String> = serde_json::from_str(&finding.other_paths).unwrap_or_default();
            finding.other_paths = list(paths.iter().map(|path| self.path(path)).collect()).into();
        }
    }

    /// The same path with hashes for names. What is no name stays: slashes, `.` and `..`, and the mark of a file that was deleted.
    fn path(&self, path: &str) -> String {
        let (path, mark) = path.strip_suffix(DELETED).map_or((path, ""), |path| (path, DELETED));
        let parts: Vec<String> = path.split('/').map(|part| self.part(part)).collect();
        parts.join("/") + mark
    }

    fn part(&self, part: &str) -> String {
        if matches!(part, "" | "." | "..") {
            return part.to_owned();
        }
        let hash = sign(&self.key, part.as_bytes());
        hash.as_ref().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }
}

fn make(file: &Path) -> Result<()> {
    let mut key = [0; OWN_KEY_BYTES];
    SystemRandom::new().fill(&mut key).ok().context("the system has no random numbers")?;
    let text: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    if let Some(parent) = file.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    // Another session that makes one at the same time is not overwritten: both then read the same.
    let new = file.with_extension(std::process::id().to_string());
    let mut open =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()?;
    let linked = fs::hard_link(&new, file);
    fs::remove_file(&new)?;
    match linked {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(LONGEST_KEY).read_to_end(&mut bytes)?;
    // Editors end a line.
    let length = bytes.trim_ascii_end().len();
    bytes.truncate(length);
    ensure!(
        bytes.len() >= KEY_BYTES,
        "{} bytes are too few for a key; expected {KEY_BYTES} or more, such as those of `openssl rand -hex 32`",
        bytes.len()
    );
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use hotset_facts::fleet::{FileIntervalRow, FindingRow};
    use hotset_facts::random::Random;

    use super::*;

    fn redactor() -> Redactor {
        Redactor::by(b"0123456789abcdef")
    }

    /// Paths of parts that are awkward.
    fn paths() -> Vec<String> {
        let long = "x".repeat(5_000);
        let parts = [
            "srv",
            "kunde-müller",
            "🚢",
            "a b",
            "..",
            ".",
            "",
            "\u{fffd}",
            &long,
            "x\ny",
            "(deleted)",
            "9f86d081884c7d65",
            ".hidden",
            "t\u{301}",
        ];
        let mut random = Random::new(1);
        let mut some = || {
            let length = 1 + random.below(6);
            let path: Vec<&str> =
                (0..length).map(|_| parts[random.below(parts.len() as u64) as usize]).collect();
            let root = if random.below(2) == 0 { "/" } else { "" };
            let mark = if random.below(4) == 0 { DELETED } else { "" };
            format!("{root}{}{mark}", path.join("/"))
        };
        (0..2_000).map(|_| some()).collect()
    }

    #[test]
    fn no_name_is_left_and_the_shape_stays() {
        let redactor = redactor();
        for path in paths() {
            let hashed = redactor.path(&path);
            let (clear, seen) = (path.trim_end_matches(DELETED), hashed.trim_end_matches(DELETED));
            assert_eq!(path.ends_with(DELETED), hashed.ends_with(DELETED), "{path:?}");
            assert_eq!(clear.split('/').count(), seen.split('/').count(), "{path:?}");
            for (before, after) in clear.split('/').zip(seen.split('/')) {
                if matches!(before, "" | "." | "..") {
                    assert_eq!(before, after);
                } else {
                    assert_eq!(after.len(), 2 * HASH_BYTES, "{path:?}");
                    assert!(after.bytes().all(|byte| byte.is_ascii_hexdigit()));
                    assert_ne!(before, after);
                }
            }
        }
    }

    #[test]
    fn equal_paths_and_no_others_are_equal_afterwards() {
        let redactor = redactor();
        let clear: HashSet<String> = paths().into_iter().collect();
        let hashed: HashSet<String> = clear.iter().map(|path| redactor.path(path)).collect();
        assert_eq!(clear.len(), hashed.len());
        assert!(paths().iter().all(|path| hashed.contains(&redactor.path(path))));
        let child = redactor.path("/srv/a/b");
        assert!(child.starts_with(&(redactor.path("/srv/a") + "/")));
        assert_ne!(child, Redactor::by(b"another key 1234").path("/srv/a/b"));
    }

    #[test]
    fn rows_are_hashed_once_each() {
        let row = |path: Option<&str>| FileIntervalRow {
            path: path.map(Arc::from),
            ..FileIntervalRow::default()
        };
        let files =
            vec![row(Some("/a")), row(Some("/a")), row(None), row(Some("/b")), row(Some("/a"))];
        let mut rows = Rows { files, ..Rows::default() };
        redactor().rows(&mut rows);
        let paths: Vec<_> = rows.files.iter().map(|row| row.path.as_deref()).collect();
        let (a, b) = (redactor().path("/a"), redactor().path("/b"));
        assert_eq!(paths, [Some(&*a), Some(&*a), None, Some(&*b), Some(&*a)]);
    }

    #[test]
    fn paths_of_findings_are_hashed() {
        let mut finding = FindingRow {
            path: Some("/a/b".into()),
            other_paths: r#"["/a \"c\"","/d\n/🚢"]"#.into(),
            ..FindingRow::default()
        };
        finding.title = "stays".into();
        let mut rows =
            Rows { findings: vec![finding.clone(), FindingRow::default()], ..Rows::default() };
        redactor().rows(&mut rows);
        let (one, other) = (redactor().path("/a \"c\""), redactor().path("/d\n/🚢"));
        finding.path = Some(redactor().path("/a/b").into());
        finding.other_paths = format!("[\"{one}\",\"{other}\"]").into();
        assert_eq!(rows.findings[0], finding);
        assert_eq!(
            (rows.findings[1].path.as_deref(), &*rows.findings[1].other_paths),
            (None, "[]")
        );
    }

    #[test]
    fn a_hosts_own_key_is_made_once_and_is_its_own() {
        let spool = std::env::temp_dir().join(format!("hotset-redact-{}", std::process::id()));
        let of = |key: &RedactKey| Redactor::new(key, &spool).map(|made| made.path("/a"));
        let first = of(&RedactKey::OwnOfHost).expect("a key");
        assert_eq!(of(&RedactKey::OwnOfHost).expect("the same"), first);
        let own = spool.join("redact.key");
        assert_eq!(of(&RedactKey::File(own.clone())).expect("by its file"), first);
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&own).expect("a file"));
        assert_eq!(mode & 0o777, 0o600);
        fs::write(&own, "short\n").expect("a file");
        let error = format!("{:#}", of(&RedactKey::File(own)).expect_err("too short"));
        assert!(error.contains("5 bytes are too few") && error.contains("redact.key"), "{error}");
        fs::remove_dir_all(&spool).expect("removed");
    }
}
