//! A probe that is ready to run.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::said;
use super::language::Language;
use crate::words::{Word, arguments};

/// A probe with the runtime that runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// What it is called in results: its language, or the name that was given.
    pub name: String,
    /// Its language.
    pub language: Language,
    /// The runtime's version.
    pub version: String,
    /// What is executed: the runtime, or the probe itself where it is compiled.
    pub program: PathBuf,
    /// What was named or found: the compiler, where there is one.
    pub found: PathBuf,
    /// Words for the runtime itself, with which it is usually started.
    pub flags: Vec<OsString>,
    /// Where its sources are, and what was built of them.
    pub place: PathBuf,
    /// Jobs that it can do: `job` or `job:how`.
    pub supports: Vec<String>,
}

/// How a runtime is started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// Words for the runtime itself; none means the usual ones.
    pub flags: Option<Vec<OsString>>,
    /// What stands before the probe on Java's class path.
    pub class_path: Vec<PathBuf>,
}

impl Probe {
    /// Whether it can do a job, in a way.
    pub fn can(&self, job: &str) -> bool {
        self.supports.iter().any(|supported| supported == job)
    }

    /// The words that make it do a job, started as usual: without the packages of the host, so that a start-up takes the least.
    pub fn argv(&self, job: &str, words: &[Word]) -> Vec<OsString> {
        self.argv_with(&Start::default(), job, words)
    }

    /// The same, started in another way.
    pub fn argv_with(&self, start: &Start, job: &str, words: &[Word]) -> Vec<OsString> {
        let mut argv = vec![self.program.clone().into_os_string()];
        argv.extend(start.flags.as_ref().unwrap_or(&self.flags).iter().cloned());
        match self.language {
            Language::C | Language::Go => {}
            Language::Java => {
                let own = self.place.join("probe.jar");
                let path = start.class_path.iter().map(PathBuf::as_path).chain([own.as_path()]);
                let path: Vec<&OsStr> = path.map(Path::as_os_str).collect();
                argv.extend(["-cp".into(), path.join(OsStr::new(":")), "Probe".into()]);
            }
            Language::Python | Language::Ruby | Language::Node => {
                argv.push(self.script(job).into())
            }
        }
        argv.push(job.into());
        argv.extend(arguments(words));
        argv
    }

    /// Does a job at once, and gives back what it says.
    ///
    /// # Errors
    /// As [`said`].
    pub fn ask(&self, start: &Start, job: &str, words: &[Word]) -> Result<Vec<u8>, String> {
        let argv = self.argv_with(start, job, words);
        said(Command::new(&self.program).args(&argv[1..]))
    }

    fn script(&self, job: &str) -> PathBuf {
        self.place.join(match (self.language, job) {
            (Language::Python, "library") => "library.py",
            (Language::Python, _) => "probe.py",
            (Language::Ruby, "library") => "library.rb",
            (Language::Ruby, _) => "probe.rb",
            _ => "probe.js",
        })
    }
}
