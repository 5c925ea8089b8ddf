//! The walker on real trees.

mod adverse;
mod shapes;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use hotset_facts::{Observed, Skipped};

use super::{Found, Selection, Visitor, walk};
use crate::cache::Prober;

/// A directory that vanishes with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("hotset-tree-{}-{serial}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("scratch directory");
        Self(path)
    }

    fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("mkdir");
        std::fs::write(&path, b"x").expect("write");
        path
    }

    fn selection(&self) -> Selection {
        Selection { roots: vec![self.0.clone()], ..Selection::default() }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The library's own goes as deep as there are descriptors.
        let removed = Command::new("rm").arg("-rf").arg(&self.0).status();
        let failed = std::thread::panicking();
        assert!(failed || removed.expect("rm").success(), "{} stays", self.0.display());
    }
}

fn run(program: &str, arguments: &[&std::ffi::OsStr]) {
    let status = Command::new(program).args(arguments).status().expect("start");
    assert!(status.success(), "{program} {arguments:?}: {status}");
}

#[derive(Default)]
struct Collector {
    files: Vec<PathBuf>,
    unreadable: Vec<(PathBuf, String)>,
    unknown: usize,
    prober: Prober,
}

impl Visitor for Collector {
    fn file(&mut self, file: &Found<'_>) {
        self.files.push(file.path.to_owned());
        self.unknown += usize::from(matches!(self.prober.state(file), Observed::Missing(_)));
    }

    fn unreadable(&mut self, path: &Path, error: &dyn fmt::Display) {
        self.unreadable.push((path.to_owned(), error.to_string()));
    }
}

/// What a walk found, in order of path.
struct Outcome {
    files: Vec<PathBuf>,
    unreadable: Vec<(PathBuf, String)>,
    unknown: usize,
    skipped: Skipped,
    interrupted: bool,
    busy_threads: usize,
}

fn look(selection: &Selection, threads: usize) -> Outcome {
    let visitors = (0..threads).map(|_| Collector::default()).collect();
    let walked = walk(selection, &AtomicBool::new(false), visitors);
    let mut outcome = Outcome {
        files: Vec::new(),
        unreadable: Vec::new(),
        unknown: 0,
        skipped: walked.skipped,
        interrupted: walked.interrupted,
        busy_threads: 0,
    };
    for visitor in walked.visitors {
        outcome.busy_threads += usize::from(!visitor.files.is_empty());
        outcome.files.extend(visitor.files);
        outcome.unreadable.extend(visitor.unreadable);
        outcome.unknown += visitor.unknown;
    }
    outcome.files.sort();
    outcome
}

/// Each path with the number of times it was found, where that is not once.
fn not_once(files: &[PathBuf]) -> HashMap<&PathBuf, usize> {
    let mut times = HashMap::new();
    files.iter().for_each(|file| *times.entry(file).or_insert(0) += 1);
    times.retain(|_, count| *count != 1);
    times
}
