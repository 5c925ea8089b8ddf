//! Command lines, with a shell and without one. What can't be meant is an error of the kind `InvalidInput`.

use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::command::Invocation;
use crate::program::find_program;

/// What hyperfine calls the default shell.
const DEFAULT: &str = "/bin/sh";

/// A shell and the words before its `-c`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    program: PathBuf,
    words: Vec<OsString>,
    /// As it was typed.
    pub typed: OsString,
}

impl Shell {
    /// The shell of this name or command line; none for `none`.
    ///
    /// # Errors
    /// Where there is no such program.
    pub fn named(typed: &str) -> Result<Option<Self>> {
        let line = match typed {
            "none" => return Ok(None),
            "default" => DEFAULT,
            other => other,
        };
        let words = split(line.as_ref())?;
        if words.is_empty() {
            return Err(invalid("--shell: expected none, default, or a shell such as bash"));
        }
        let found = find_program(&words, std::env::var_os("PATH").as_deref())?;
        Ok(Some(Self { program: found.program, words: found.argv, typed: typed.into() }))
    }

    /// The shell for commands around the measured ones.
    pub fn of_hooks() -> Self {
        Self { program: DEFAULT.into(), words: vec!["sh".into()], typed: "default".into() }
    }

    /// What runs this line.
    pub fn run(&self, line: &OsStr) -> Invocation {
        let last = [OsString::from("-c"), line.to_owned()];
        Invocation {
            program: self.program.clone(),
            argv: self.words.iter().cloned().chain(last).collect(),
        }
    }
}

/// Splits as a shell would.
///
/// # Errors
/// Where a quote is not closed.
pub fn split(line: &OsStr) -> Result<Vec<OsString>> {
    let words = shlex::bytes::split(line.as_bytes())
        .ok_or_else(|| invalid(format!("{}: a quote is not closed", line.display())))?;
    Ok(words.into_iter().map(OsString::from_vec).collect())
}

/// The words as a line that a shell would split into them again.
///
/// # Errors
/// Where a word holds a NUL, which no shell can take.
pub fn join(words: &[OsString]) -> Result<OsString> {
    let line = shlex::bytes::try_join(words.iter().map(|word| word.as_bytes()))
        .map_err(|_| invalid("a word holds a NUL"))?;
    Ok(OsString::from_vec(line))
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, message.into())
}

/// Whether it could be more than a word.
pub fn has_space(word: &OsStr) -> bool {
    word.as_bytes().iter().any(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_splits_as_a_shell_splits_it_and_joins_again() {
        let words = split("grep -r 'a b' \"c\"d".as_ref()).expect("words");
        assert_eq!(words, ["grep", "-r", "a b", "cd"]);
        assert_eq!(split(&join(&words).expect("line")).expect("words"), words);
        let error = split("it's".as_ref()).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn shells_are_found_with_their_options() {
        let refused = |typed| Shell::named(typed).expect_err("refused").kind();
        assert_eq!(Shell::named("none").expect("none"), None);
        let shell = Shell::named("sh -e").expect("sh").expect("a shell");
        let run = shell.run("a; b".as_ref());
        assert!(run.program.ends_with("sh") && run.program.is_absolute());
        assert_eq!(run.argv, ["sh", "-e", "-c", "a; b"]);
        assert_eq!(refused("no-such-shell"), ErrorKind::NotFound);
        assert_eq!(refused(" "), ErrorKind::InvalidInput);
    }
}
