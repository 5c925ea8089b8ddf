//! The words of the command line.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

use hotset_sizing_runs::runs::Set;

use super::Outcome;

const OPTIONS: [&str; 10] = [
    "--file",
    "--kernel",
    "--csv",
    "--dir",
    "--name",
    "--worker",
    "--hotset",
    "--results",
    "--set",
    "--high",
];

/// What was typed: a job, options with values.
pub(super) struct Args {
    job: String,
    options: HashMap<&'static str, OsString>,
}

impl Args {
    pub(super) fn parse(mut words: impl Iterator<Item = OsString>) -> Outcome<Self> {
        let job = words.next().ok_or("usage: sizing JOB [options]")?;
        let job = job.into_string().map_err(|word| format!("no job {}", word.display()))?;
        let mut args = Self { job, options: HashMap::new() };
        while let Some(word) = words.next() {
            if let Some(name) = OPTIONS.into_iter().find(|name| word == *name) {
                let value = words.next().ok_or_else(|| format!("{name} needs a value"))?;
                args.options.insert(name, value);
            } else {
                return Err(format!("unknown option {}", word.display()).into());
            }
        }
        Ok(args)
    }

    pub(super) fn job(&self) -> &str {
        &self.job
    }

    /// The set of cases of `--set`.
    pub(super) fn set(&self) -> Outcome<Set> {
        let name = self.text("--set")?;
        Set::named(name)
            .ok_or_else(|| format!("--set needs short, high, wide or full, not \"{name}\"").into())
    }

    pub(super) fn text(&self, name: &str) -> Outcome<&str> {
        debug_assert!(OPTIONS.contains(&name), "{name} is not in the list");
        let value = self.options.get(name).and_then(|value| value.to_str());
        value.ok_or_else(|| format!("{} needs {name} VALUE", self.job).into())
    }

    /// A number, or nothing where the option was not given.
    pub(super) fn number(&self, name: &str) -> Outcome<Option<u32>> {
        if !self.options.contains_key(name) {
            return Ok(None);
        }
        let text = self.text(name)?;
        let number = text.parse().map_err(|_| format!("{name} needs a number, not \"{text}\""));
        Ok(Some(number?))
    }

    pub(super) fn path(&self, name: &str) -> Outcome<PathBuf> {
        self.text(name).map(PathBuf::from)
    }
}
