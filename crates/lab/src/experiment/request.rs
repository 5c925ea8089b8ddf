//! What an experiment is asked to be.

use std::path::PathBuf;
use std::time::Duration;

use hotset_facts::{LabSize, LabSkipped};

use super::place::Place;
use crate::probes::{Interpreter, Language, Probe, cache_directory, find};

/// What a plan is made of: the size, where its files go, and what was asked for by name. An option that an experiment
/// doesn't know is refused by the command line, not here.
#[derive(Debug, Clone)]
pub struct Request {
    /// How much is measured.
    pub size: LabSize,
    /// The directory for its files, and what the file system there can do.
    pub place: Place,
    /// What was asked for.
    pub options: Options,
}

impl Request {
    /// A path in the scratch directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.directory.join(name)
    }

    /// The probes of those of these languages that the host has, by their usual names or by `--interpreter`; and the others,
    /// with the way to get them.
    pub fn probes(&self, languages: &[Language]) -> (Vec<Probe>, Vec<LabSkipped>) {
        let named: Vec<Interpreter> = (self.options.interpreters.iter().cloned())
            .map(|(name, path)| Interpreter { name, path })
            .collect();
        let cache = cache_directory().unwrap_or_else(|| self.path("probes"));
        find(languages, &named, &cache)
    }
}

/// What may be asked for instead of what a size says. Empty or `None`: what the size says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `--sizes`: sizes in bytes.
    pub sizes_bytes: Vec<u64>,
    /// `--count`: repetitions in one process.
    pub count: Option<u32>,
    /// `--sleep`: between repetitions.
    pub sleep: Option<Duration>,
    /// `--block`: bytes an operation.
    pub blocks_bytes: Vec<u64>,
    /// `--size`: of the file.
    pub file_bytes: Option<u64>,
    /// `--methods`: ways of reading.
    pub methods: Vec<String>,
    /// `--interpreter NAME=PATH`.
    pub interpreters: Vec<(String, PathBuf)>,
    /// `--library`: what is loaded.
    pub library: Option<String>,
    /// `--runtime`: by what.
    pub runtime: Option<String>,
    /// `--rounds`: exactly so many.
    pub rounds: Option<u32>,
    /// `--device`: a file to read from.
    pub device: Option<PathBuf>,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(
    /// Names what was asked for and what would be right.
    pub String,
);
