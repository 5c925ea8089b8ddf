//! The words of the command line.

use std::collections::HashMap;
use std::path::PathBuf;

use super::Outcome;

const OPTIONS: [&str; 7] =
    ["--dir", "--seed", "--lower", "--operations", "--processes", "--threads", "--without"];

/// What was typed.
pub(super) struct Args {
    job: String,
    options: HashMap<&'static str, String>,
    waits: bool,
}

impl Args {
    pub(super) fn parse(mut words: impl Iterator<Item = String>) -> Outcome<Self> {
        let job = words.next().ok_or("usage: mix prepare|run --dir DIR --seed S [options]")?;
        let mut args = Self { job, options: HashMap::new(), waits: false };
        while let Some(word) = words.next() {
            if word == "--wait" {
                args.waits = true;
            } else if let Some(name) = OPTIONS.into_iter().find(|name| word == *name) {
                let value = words.next().ok_or_else(|| format!("{name} needs a value"))?;
                args.options.insert(name, value);
            } else {
                return Err(format!("unknown option {word}").into());
            }
        }
        Ok(args)
    }

    pub(super) fn job(&self) -> &str {
        &self.job
    }

    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    pub(super) fn dir(&self) -> Outcome<PathBuf> {
        Ok(PathBuf::from(self.options.get("--dir").ok_or("--dir DIR is needed")?))
    }

    /// Where files that are only read are made, if not in `--dir`: the lower layer of an overlay.
    pub(super) fn lower(&self) -> Option<PathBuf> {
        self.options.get("--lower").map(PathBuf::from)
    }

    pub(super) fn seed(&self) -> Outcome<u64> {
        self.number("--seed", 1)
    }

    pub(super) fn number(&self, name: &str, default: u64) -> Outcome<u64> {
        let Some(text) = self.options.get(name) else { return Ok(default) };
        text.parse().map_err(|_| format!("{name} needs a number, not {text}").into())
    }

    /// Names of operations that must not come up.
    pub(super) fn without(&self) -> Vec<&str> {
        let list = self.options.get("--without").map_or("", String::as_str);
        list.split(',').filter(|name| !name.is_empty()).collect()
    }
}
