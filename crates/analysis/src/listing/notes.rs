//! What stands below the rows: files whose state nobody knows, and paths without a row.

use std::path::{Path, PathBuf};

use hotset_facts::{Reason, Unreadable};

/// Names that a person is given of each kind; the rest is a count.
pub const NAMED: usize = 10;

/// Files with the same reason for an unknown state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Why the kernel doesn't tell.
    pub reason: Reason,
    /// How many files.
    pub files: u64,
    /// The first of them.
    pub first: Vec<PathBuf>,
}

/// What a listing could not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// Unknown states by reason.
    pub unknown: Vec<Unknown>,
    /// Paths without a row: all where all are kept, else the first ones.
    pub unreadable: Vec<Unreadable>,
    /// How many there are.
    pub unreadable_count: u64,
    keep_all: bool,
}

impl Notes {
    /// Keeps every unreadable path, or only as many as are named.
    pub fn new(keep_all: bool) -> Self {
        Self { keep_all, ..Self::default() }
    }

    /// Notes a file whose state is unknown.
    pub fn add_unknown(&mut self, path: &Path, reason: Reason) {
        let kind = self.kind(reason);
        kind.files += 1;
        if kind.first.len() < NAMED {
            kind.first.push(path.to_path_buf());
        }
    }

    /// Notes a path without a row.
    pub fn add_unreadable(&mut self, path: &Path, reason: String) {
        self.unreadable_count += 1;
        if self.keep_all || self.unreadable.len() < NAMED {
            self.unreadable.push(Unreadable { path: path.to_path_buf(), reason });
        }
    }

    /// Adds what another thread noted.
    pub fn merge(&mut self, other: Self) {
        for unknown in other.unknown {
            let kind = self.kind(unknown.reason);
            kind.files += unknown.files;
            kind.first.extend(unknown.first);
            kind.first.truncate(NAMED);
        }
        self.unreadable_count += other.unreadable_count;
        self.unreadable.extend(other.unreadable);
        if !self.keep_all {
            self.unreadable.truncate(NAMED);
        }
    }

    fn kind(&mut self, reason: Reason) -> &mut Unknown {
        let known = self.unknown.iter().position(|unknown| unknown.reason == reason);
        let at = known.unwrap_or_else(|| {
            self.unknown.push(Unknown { reason, files: 0, first: Vec::new() });
            self.unknown.len() - 1
        });
        &mut self.unknown[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_named_and_all_are_counted() {
        let (denied, odd) = (Reason::denied("no write permission"), Reason::unsupported("odd"));
        let (mut a, mut b) = (Notes::new(false), Notes::new(false));
        for number in 0..25 {
            let path = PathBuf::from(format!("/{number}"));
            let half = if number % 2 == 0 { &mut a } else { &mut b };
            half.add_unknown(&path, if number == 3 { odd } else { denied });
            half.add_unreadable(&path, "Permission denied".to_owned());
        }
        a.merge(b);
        assert_eq!((a.unreadable_count, a.unreadable.len()), (25, NAMED));
        let counts: Vec<_> = a.unknown.iter().map(|u| (u.reason, u.files, u.first.len())).collect();
        assert_eq!(counts, [(denied, 24, NAMED), (odd, 1, 1)]);
    }

    #[test]
    fn for_machines_all_are_kept() {
        let mut notes = Notes::new(true);
        for _ in 0..2 {
            let mut part = Notes::new(true);
            (0..30).for_each(|_| part.add_unreadable(Path::new("/x"), String::new()));
            notes.merge(part);
        }
        assert_eq!(notes.unreadable.len(), 60);
    }
}
