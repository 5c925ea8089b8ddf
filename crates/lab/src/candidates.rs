//! Files that a command may use, from whoever told.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use hotset_facts::{FileKind, FileRow, Io, Observed, Unreadable};
use hotset_sys::trace::{Traced, TracedFile};
use hotset_sys::tree::{Found, Selection, Visitor, walk};

/// A file that belongs to a command's set if it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its path, absolute.
    pub path: PathBuf,
    /// The command reads it.
    pub read: bool,
    /// The command maps or executes it.
    pub mapped: bool,
    /// The command writes it.
    pub written: bool,
}

/// The files of a run under the sensor, as far as they still have a name. Those that were only opened are not in it.
pub fn from_rows(rows: &[FileRow]) -> Vec<Candidate> {
    rows.iter()
        .filter(|row| row.kind == FileKind::Regular && !row.deleted)
        .filter_map(|row| {
            let path = row.path.as_value()?.clone();
            let io = row.io();
            let candidate = Candidate {
                path,
                read: reads(&io),
                mapped: some(io.mmap.faults) || some(io.mmap.pages_read),
                written: io.write.as_value().is_some_and(|write| write.calls > 0)
                    || io.direct.as_value().is_some_and(|direct| direct.write_calls > 0),
            };
            (candidate.read || candidate.mapped || candidate.written).then_some(candidate)
        })
        .collect()
}

/// A sensor that can't tell what was read has at least seen the file.
fn reads(io: &Io) -> bool {
    io.read.as_value().is_none_or(|read| read.calls > 0)
        || io.direct.as_value().is_some_and(|direct| direct.read_calls > 0)
        || io.readahead.as_value().is_some_and(|ahead| ahead.pages > 0)
}

fn some(count: Observed<u64>) -> bool {
    count.value().is_some_and(|count| count > 0)
}

/// The files of a traced run. Those that were only looked up are not in it.
pub fn from_traced(traced: &Traced) -> Vec<Candidate> {
    let is_used = |file: &&TracedFile| file.read || file.mapped || file.written;
    let named = traced.files.iter().filter(|file| !file.deleted).filter(is_used);
    named
        .map(|file| Candidate {
            path: file.path.clone(),
            read: file.read,
            mapped: file.mapped,
            written: file.written,
        })
        .collect()
}

/// These files, and all files below these directories, links not followed.
pub fn from_paths(paths: Vec<PathBuf>, stop: &AtomicBool) -> (Vec<Candidate>, Vec<Unreadable>) {
    let selection = Selection {
        roots: paths,
        max_depth: None,
        one_file_system: false,
        follow_links: false,
        min_size_bytes: 0,
        filter: None,
    };
    let walked = walk(&selection, stop, vec![Collector::default()]);
    let mut all = (Vec::new(), Vec::new());
    for visitor in walked.visitors {
        all.0.extend(visitor.candidates);
        all.1.extend(visitor.unreadable);
    }
    all
}

#[derive(Default)]
struct Collector {
    candidates: Vec<Candidate>,
    unreadable: Vec<Unreadable>,
}

impl Visitor for Collector {
    fn file(&mut self, file: &Found<'_>) {
        let path = std::path::absolute(file.path).unwrap_or_else(|_| file.path.to_owned());
        self.candidates.push(Candidate { path, read: true, mapped: false, written: false });
    }

    fn unreadable(&mut self, path: &Path, error: &dyn std::fmt::Display) {
        self.unreadable.push(Unreadable { path: path.to_owned(), reason: error.to_string() });
    }
}
