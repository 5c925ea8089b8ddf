//! What a job was asked to do: `key=value` words.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Why a job could not be done.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A word is missing, or can't be meant.
    #[error("{0}")]
    Argument(String),
    /// A call failed.
    #[error("{}: {call} failed: {error}", path.display())]
    Call {
        /// The file.
        path: PathBuf,
        /// The call.
        call: &'static str,
        /// The kernel's answer.
        error: io::Error,
    },
    /// It did not do what it was asked: a short read, another byte than was written.
    #[error("{}: {what}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What was expected, and what came.
        what: String,
    },
}

impl JobError {
    /// A call that failed on a file.
    pub fn call(path: &Path, call: &'static str, error: impl Into<io::Error>) -> Self {
        Self::Call { path: path.to_owned(), call, error: error.into() }
    }

    /// Something else than expected.
    pub fn wrong(path: &Path, what: impl Into<String>) -> Self {
        Self::Wrong { path: path.to_owned(), what: what.into() }
    }
}

/// The words of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments(Vec<(String, OsString)>);

impl Arguments {
    /// From `key=value` words; values may hold anything.
    ///
    /// # Errors
    /// Names the word that has no `=`.
    pub fn parse(words: &[OsString]) -> Result<Self, JobError> {
        let each = words.iter().map(|word| {
            let bytes = word.as_bytes();
            let equals = bytes.iter().position(|&byte| byte == b'=');
            let split = equals.and_then(|at| {
                let key = std::str::from_utf8(&bytes[..at]).ok()?;
                Some((key.to_owned(), OsStr::from_bytes(&bytes[at + 1..]).to_owned()))
            });
            split.ok_or_else(|| {
                JobError::Argument(format!("{}: expected key=value", word.display()))
            })
        });
        each.collect::<Result<_, _>>().map(Self)
    }

    /// Whether this word was given.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn get(&self, key: &str) -> Option<&OsStr> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_os_str())
    }

    fn required(&self, key: &str) -> Result<&OsStr, JobError> {
        self.get(key).ok_or_else(|| JobError::Argument(format!("{key}= is missing")))
    }

    /// A path.
    ///
    /// # Errors
    /// Where it is missing.
    pub fn path(&self, key: &str) -> Result<PathBuf, JobError> {
        self.required(key).map(PathBuf::from)
    }

    /// A word.
    ///
    /// # Errors
    /// Where it is missing or no text.
    pub fn text(&self, key: &str) -> Result<&str, JobError> {
        let value = self.required(key)?;
        value.to_str().ok_or_else(|| JobError::Argument(format!("{key}= is no text")))
    }

    /// A number.
    ///
    /// # Errors
    /// Where it is missing or none.
    pub fn number<T: FromStr>(&self, key: &str) -> Result<T, JobError> {
        let text = self.text(key)?;
        text.parse().map_err(|_| JobError::Argument(format!("{key}={text}: expected a number")))
    }

    /// A number, or this one where it is not given.
    ///
    /// # Errors
    /// Where it is given and none.
    pub fn number_or<T: FromStr>(&self, key: &str, default: T) -> Result<T, JobError> {
        if self.has(key) { self.number(key) } else { Ok(default) }
    }

    /// The numbers of the repetitions that are asked for by `count`; each but the first comes after a pause of `sleep_ms`, none
    /// where that isn't given.
    ///
    /// # Errors
    /// Where a word is missing or none.
    pub(super) fn repetitions(&self) -> Result<impl Iterator<Item = u32> + use<>, JobError> {
        let count: u32 = self.number("count")?;
        let pause = Duration::from_millis(self.number_or("sleep_ms", 0)?);
        Ok((0..count).inspect(move |&at| {
            if at > 0 && !pause.is_zero() {
                std::thread::sleep(pause);
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_their_first_equals_sign() {
        let words: Vec<OsString> = ["size=4096", "file=/a=b c"].map(OsString::from).into();
        let arguments = Arguments::parse(&words).expect("words");
        assert_eq!(arguments.number::<u64>("size").expect("number"), 4096);
        assert_eq!(arguments.path("file").expect("path"), Path::new("/a=b c"));
        assert_eq!(arguments.number_or("depth", 1).expect("default"), 1);
        assert!(arguments.number::<u8>("size").expect_err("range").to_string().contains("4096"));
        assert!(arguments.text("order").expect_err("missing").to_string().contains("order="));
        assert!(Arguments::parse(&["x".into()]).is_err());
    }
}
