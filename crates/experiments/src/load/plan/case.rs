//! One thing that a runtime does, before it is a cell.

use std::ffi::OsString;
use std::path::PathBuf;

use hotset_facts::{Factor, LabSize, LabUnit, WantedState};
use hotset_lab::Word;
use hotset_lab::experiment::{CellPlan, Expects, ProbeCommand, name, number};
use hotset_lab::probes::{Probe, Start};

use super::files::{Files, Set};

/// What a sample is allowed to need to be cold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cold {
    /// The state makes no difference: nothing of the files is read.
    No,
    /// All its files are read.
    Whole,
    /// Only what is needed of its files is read.
    Partly,
}

/// All that cases do, as it is typed and named in results.
pub(super) const WHAT: [&str; 10] = [
    "load_empty",
    "load_class",
    "load_one",
    "read_empty",
    "read_class",
    "read_one",
    "exists",
    "lookup",
    "compile_one",
    "search",
];

/// A case: what is done, and with which files.
#[derive(Debug, Clone)]
pub(super) struct Case {
    what: &'static str,
    how: &'static str,
    directories: Option<u64>,
    job: &'static str,
    words: Vec<Word>,
    start: Start,
    files: Vec<PathBuf>,
    operations: u64,
    cold: Cold,
    quick: bool,
}

impl Case {
    /// Modules loaded: `how` is the word of the table, `by` that of the probe.
    pub(super) fn load(
        what: &'static str,
        (how, by): (&'static str, &str),
        files: &Files,
        (directory, set): (&str, Set),
        read: Vec<PathBuf>,
    ) -> Self {
        let words = set.words(files.directory(directory), by);
        Self::new(what, how, "load", words, set.count).with(read, Cold::Whole)
    }

    /// Files read whole.
    pub(super) fn read(
        what: &'static str,
        how: &'static str,
        files: &Files,
        (directory, set, suffix): (&str, Set, &str),
    ) -> Self {
        let mut words = set.words(files.directory(directory), how);
        words.push(("suffix", suffix.into()));
        let read = files.of(directory, set, suffix);
        Self::new(what, how, "readall", words, set.count).with(read, Cold::Whole)
    }

    /// Files asked for, 20 times.
    pub(super) fn exists(files: &Files, which: (&str, Set, &str)) -> Self {
        Self::asked("exists", files, which, TIMES)
    }

    /// Files asked for once, as a search for them would.
    pub(super) fn lookup(files: &Files, which: (&str, Set, &str)) -> Self {
        Self::asked("lookup", files, which, 1)
    }

    fn asked(
        what: &'static str,
        files: &Files,
        (directory, set, suffix): (&str, Set, &str),
        times: usize,
    ) -> Self {
        let mut words = set.words(files.directory(directory), "stat");
        words.retain(|(key, _)| *key != "how");
        words.extend([("suffix", suffix.into()), ("times", times.to_string().into())]);
        Self::new(what, "stat", "exists", words, set.count * times)
            .with(files.of(directory, set, suffix), Cold::No)
    }

    /// A source that was read before is compiled.
    pub(super) fn compile(files: &Files, (directory, set): (&str, Set), source: &str) -> Self {
        let words = set.words(files.directory(directory), "source");
        let read = files.of(directory, set, source);
        Self::new("compile_one", "source", "compile", words, set.count).with(read, Cold::No)
    }

    fn new(
        what: &'static str,
        how: &'static str,
        job: &'static str,
        words: Vec<Word>,
        operations: usize,
    ) -> Self {
        Self {
            what,
            how,
            directories: None,
            job,
            words,
            start: Start::default(),
            files: Vec::new(),
            operations: operations as u64,
            cold: Cold::No,
            quick: false,
        }
    }

    fn with(mut self, files: Vec<PathBuf>, cold: Cold) -> Self {
        (self.files, self.cold) = (files, cold);
        self
    }

    /// Behind so many empty directories of the search path. Its own files are warm: the search is what is asked about.
    pub(super) fn behind(mut self, directories: u64, files: &Files) -> Self {
        let before = files.directory("path").into_os_string();
        self.words
            .extend([("before", before), ("directories", OsString::from(directories.to_string()))]);
        self.directories = Some(directories);
        self.cold = Cold::No;
        self
    }

    /// Started in another way than usual.
    pub(super) fn started(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Cold, it reads only some of its files.
    pub(super) fn reads_partly(mut self) -> Self {
        self.cold = Cold::Partly;
        self
    }

    /// Part of the quick size.
    pub(super) fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    /// What the probe has to be able to do.
    pub(super) fn needs(&self) -> String {
        let how = self.words.iter().find(|(key, _)| *key == "how");
        match how {
            Some((_, how)) if self.job != "compile" => {
                format!("{}:{}", self.job, how.to_string_lossy())
            }
            _ => self.job.to_owned(),
        }
    }

    /// How it is done: the word of the table.
    pub(super) fn how(&self) -> &'static str {
        self.how
    }

    /// Whether another start than the usual one was asked for, and this runtime's usual one is the same.
    pub(super) fn only_starts_as_usual(&self, probe: &Probe) -> bool {
        self.start.flags.as_ref() == Some(&probe.flags)
    }

    /// Whether a session has it: what was asked for, else what the size has.
    pub(super) fn is_in(&self, size: LabSize, asked: &[String]) -> bool {
        match asked {
            [] => self.quick || size != LabSize::Quick,
            _ => asked.iter().any(|what| what == self.what),
        }
    }

    /// Its cells: warm, and cold where that makes a difference.
    pub(super) fn cells(&self, probe: &Probe, size: LabSize) -> Vec<CellPlan> {
        let mut cells = vec![self.cell(probe, WantedState::Warm, Expects::warm())];
        let bytes = bytes_of(&self.files);
        // Of what nobody prepared, as it is there after a deployment.
        let is_plain = matches!(self.how, "source" | "require" | "classes" | "dlopen");
        let wanted = size != LabSize::Quick || self.what == "load_class" && is_plain;
        match self.cold {
            Cold::Whole if wanted => {
                // A file is read as it is needed, and many calls lie between: system time says nothing of the pages.
                let expects = Expects { inserted_pages: None, ..Expects::cold(bytes) };
                cells.push(self.cell(probe, WantedState::Cold, expects));
            }
            Cold::Partly if wanted => {
                // How much is not known beforehand; that none came would mean that something else was loaded.
                let some = Some(hotset_sys::page_size());
                let expects = Expects { min_device_bytes: some, ..Expects::default() };
                cells.push(self.cell(probe, WantedState::Cold, expects));
            }
            _ => {}
        }
        cells
    }

    fn cell(&self, probe: &Probe, state: WantedState, expects: Expects) -> CellPlan {
        let argv = probe.argv_with(&self.start, self.job, &self.words);
        let mut cell =
            CellPlan::new(self.factors(probe, state), state, ProbeCommand::Program { argv });
        cell.unit = LabUnit::Nanoseconds;
        cell.files = self.files.clone();
        cell.expects = Expects { operations: Some(self.operations), ..expects };
        if self.job == "readall" {
            cell.expects.bytes = Some(bytes_of(&self.files));
        }
        if self.job == "exists" {
            let places = self.directories.unwrap_or(0) + 1;
            cell.expects.calls = vec![("exists", self.operations * places)];
        }
        cell
    }

    fn factors(&self, probe: &Probe, state: WantedState) -> Vec<Factor> {
        let mut factors = vec![
            name("runtime", probe.name.clone()),
            name("what", self.what),
            name("how", self.how),
        ];
        factors.extend(self.directories.map(|directories| number("directories", directories)));
        factors.push(name("state", if state == WantedState::Warm { "warm" } else { "cold" }));
        factors
    }
}

fn bytes_of(files: &[PathBuf]) -> u64 {
    files.iter().filter_map(|path| Some(path.metadata().ok()?.len())).sum()
}

/// As often every file is asked for: the article's.
const TIMES: usize = 20;
