//! The books of a thread: what it did to each file.

use std::collections::BTreeMap;

use hotset_tests::PAGE;
use hotset_tests::books::{Books, Counts, Line, pages_in};

use super::worker::Handle;

/// A file, by what fstat(2) says of it: `major:minor`, and the inode number.
pub(super) type FileId = (String, u64);

/// What a thread, or all threads of a process, did.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    files: BTreeMap<FileId, Counts>,
    /// All that is of no single file.
    books: Books,
}

impl Ledger {
    pub(super) fn read(&mut self, of: &Handle, offset: u64, bytes: usize) {
        let counts = self.counts(of);
        let to = if of.direct { &mut counts.direct_read } else { &mut counts.read };
        to.count(offset, bytes as u64);
        if offset + bytes as u64 <= PAGE {
            self.small(of);
        }
    }

    /// The first page of a file was used. One that others cut off may have been small a moment ago.
    pub(super) fn small(&mut self, of: &Handle) {
        let size = rustix::fs::fstat(&of.file).map_or(0, |stat| stat.st_size.unsigned_abs());
        if of.volatile || size <= PAGE {
            self.counts(of).small += 1;
        }
    }

    /// A request of a ring, or of Linux AIO, is about to write there. The page of an end before it is filled up with zeros, and
    /// brought in first: it counts as read ahead.
    pub(super) fn fill_up(&mut self, of: &Handle, offset: u64) {
        if offset >= PAGE {
            self.small(of);
        }
    }

    /// A read is about to ask for this.
    pub(super) fn ask(&mut self, of: &Handle, offset: u64, bytes: usize) {
        if of.direct {
            self.counts(of).direct_asked += PAGE * pages_in(offset, bytes as u64);
        }
    }

    /// The same of a ring.
    pub(super) fn ask_ring(&mut self, of: &Handle, offset: u64, bytes: usize) {
        self.ask(of, offset, bytes);
        if of.direct {
            self.books.ring_direct_asked += PAGE * pages_in(offset, bytes as u64);
        }
    }

    /// So many ends of a range are about to be filled with zeros: the page of each is brought in first.
    pub(super) fn edges(&mut self, of: &Handle, ends: u64) {
        self.small(of);
        self.counts(of).edges += ends;
    }

    /// A read moved less than it asked for, or nothing.
    pub(super) fn cut<E>(&mut self, of: &Handle, asked: usize, moved: &Result<usize, E>) {
        let rest = asked - moved.as_ref().map_or(0, |moved| asked.min(*moved));
        // It may begin in the middle of a page.
        self.counts(of).cut += if rest == 0 { 0 } else { (rest as u64).div_ceil(PAGE) + 1 };
    }

    pub(super) fn write(&mut self, of: &Handle, offset: u64, bytes: usize) {
        let counts = self.counts(of);
        let to = if of.direct { &mut counts.direct_write } else { &mut counts.write };
        to.count(offset, bytes as u64);
    }

    /// The result of a ring's read.
    pub(super) fn read_by_ring(&mut self, of: &Handle, offset: u64, bytes: usize) {
        self.read(of, offset, bytes);
        if of.direct {
            self.books.ring_direct_read += bytes as u64;
        }
    }

    /// Whether it succeeded or not: hotset counts what the program asked for.
    pub(super) fn sync(&mut self, of: &Handle) {
        self.counts(of).syncs += 1;
    }

    pub(super) fn other_sync(&mut self) {
        self.books.other_syncs += 1;
    }

    pub(super) fn lookup(&mut self, failed: bool) {
        self.books.lookups += 1;
        self.books.failed_lookups += u64::from(failed);
    }

    pub(super) fn may_do(&mut self, operation: &str) {
        self.books.done.entry(operation.to_owned()).or_default();
    }

    pub(super) fn done(&mut self, operation: &str) {
        *self.books.done.entry(operation.to_owned()).or_default() += 1;
    }

    pub(super) fn majors(&mut self, operation: &str, faults: u64) {
        if faults > 0 {
            *self.books.majors_by_operation.entry(operation.to_owned()).or_default() += faults;
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (id, counts) in other.files {
            *self.files.entry(id).or_default() += counts;
        }
        let (sum, more) = (&mut self.books, other.books);
        sum.other_syncs += more.other_syncs;
        sum.lookups += more.lookups;
        sum.failed_lookups += more.failed_lookups;
        sum.ring_direct_read += more.ring_direct_read;
        sum.ring_direct_asked += more.ring_direct_asked;
        for (name, times) in more.done {
            *sum.done.entry(name).or_default() += times;
        }
        for (name, faults) in more.majors_by_operation {
            *sum.majors_by_operation.entry(name).or_default() += faults;
        }
    }

    /// Of this process.
    pub(super) fn books(self) -> Books {
        let line = |((dev, ino), counts)| Line { dev, ino, counts };
        Books {
            pid: std::process::id().into(),
            files: self.files.into_iter().map(line).collect(),
            ..self.books
        }
    }

    fn counts(&mut self, of: &Handle) -> &mut Counts {
        self.files.entry(of.id.clone()).or_default()
    }
}
