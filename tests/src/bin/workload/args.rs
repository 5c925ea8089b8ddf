//! The words of the command line. Options with a value, and flags; nothing else is accepted.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Outcome;

const OPTIONS: [&str; 13] = [
    "--file",
    "--file2",
    "--truth",
    "--block",
    "--count",
    "--size-mib",
    "--size-bytes",
    "--passes",
    "--iovecs",
    "--depth",
    "--seed",
    "--dirs",
    "--probe",
];

const FLAGS: [&str; 20] = [
    "--advise-random",
    "--at-position",
    "--fsync",
    "--own-files",
    "--async",
    "--sqpoll",
    "--random",
    "--direct",
    "--fixed",
    "--fixed-file",
    "--fixed-buffer",
    "--write",
    "--replace",
    "--append",
    "--by-flag",
    "--own-ring",
    "--unmapped",
    "--refused",
    "--abandon",
    "--each",
];

/// What was typed.
pub(super) struct Args {
    case: String,
    options: HashMap<&'static str, OsString>,
    flags: HashSet<&'static str>,
}

impl Args {
    pub(super) fn parse(mut words: impl Iterator<Item = OsString>) -> Outcome<Self> {
        let case = words.next().ok_or("usage: workload CASE --file PATH [options]")?;
        let case = case.into_string().map_err(|word| format!("no case {}", word.display()))?;
        let mut args = Self { case, options: HashMap::new(), flags: HashSet::new() };
        while let Some(word) = words.next() {
            if let Some(name) = OPTIONS.into_iter().find(|name| word == *name) {
                let value = words.next().ok_or_else(|| format!("{name} needs a value"))?;
                args.options.insert(name, value);
            } else if let Some(name) = FLAGS.into_iter().find(|name| word == *name) {
                args.flags.insert(name);
            } else {
                return Err(format!("unknown option {}", word.display()).into());
            }
        }
        Ok(args)
    }

    pub(super) fn case(&self) -> &str {
        &self.case
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        debug_assert!(FLAGS.contains(&name), "{name} is not in the list");
        self.flags.contains(name)
    }

    pub(super) fn path(&self, name: &str) -> Outcome<PathBuf> {
        let value = self.options.get(name);
        value.map(PathBuf::from).ok_or_else(|| format!("{} needs {name} PATH", self.case).into())
    }

    pub(super) fn file(&self) -> Outcome<PathBuf> {
        self.path("--file")
    }

    /// Where to ask what is cached, if not at the file itself.
    pub(super) fn probe(&self) -> Option<&Path> {
        self.options.get("--probe").map(Path::new)
    }

    pub(super) fn truth(&self) -> Option<&Path> {
        self.options.get("--truth").map(Path::new)
    }

    /// A number, or nothing where the option was not given.
    pub(super) fn given(&self, name: &str) -> Outcome<Option<u64>> {
        debug_assert!(OPTIONS.contains(&name), "{name} is not in the list");
        let Some(value) = self.options.get(name) else { return Ok(None) };
        let number = value.to_str().and_then(|text| text.parse().ok());
        number
            .map(Some)
            .ok_or_else(|| format!("{name} needs a number, not {}", value.display()).into())
    }

    pub(super) fn number(&self, name: &str, default: u64) -> Outcome<u64> {
        Ok(self.given(name)?.unwrap_or(default))
    }

    /// The bytes of one request; never 0.
    pub(super) fn block(&self, default: u64) -> Outcome<usize> {
        match self.number("--block", default)? {
            0 => Err("--block must be at least 1".into()),
            bytes => Ok(usize::try_from(bytes)?),
        }
    }

    /// Comma-separated paths.
    pub(super) fn dirs(&self) -> Outcome<Vec<PathBuf>> {
        let list = self.options.get("--dirs").ok_or("lookups needs --dirs DIR,DIR,…")?;
        let list = list.to_str().ok_or("--dirs must be UTF-8")?;
        Ok(list.split(',').map(PathBuf::from).collect())
    }
}
