//! Rows summed into files and processes, a file at a time, within a bound.

use std::collections::HashMap;

use hotset_facts::{Feature, FileId, FileKind, FileRow, Io, Observed, ReadaheadIo, Reason};
use hotset_sys::proc::mountinfo::Mount;

use crate::collector::Collector;
use crate::convert::io_of;
use crate::names::{kind_of, path_by_id};
use crate::record::{File, FileKey, Row, RowKey, bytes_of};

/// Files that are told apart in a report; the cheapest beyond it are summed up in one row.
const MAX_FILE_ROWS: usize = 30_000;

const NAME_LOST: Reason = Reason::lost("the record of its name did not fit into the ring");
const NOT_MOUNTED: Reason = Reason::not_measured("not mounted where hotset looks");
const NO_FILE: Reason = Reason::not_measured("it is no file");
const MANY_FILES: Reason = Reason::not_measured("many files in one row");

/// Sums rows into files and processes, a file at a time.
pub(crate) struct Gather<'a> {
    collector: &'a Collector,
    /// What the kernel lacks.
    missing: &'a [Feature],
    /// Nothing counted; what the kernel can't count is missing.
    zero: Io,
    mounts: &'a [Mount],
    states: HashMap<FileKey, File>,
    /// What this process itself does, by its owner.
    own: Option<u32>,
    /// The file whose rows are being summed, and the sum so far.
    current: Option<(FileKey, FileRow, Io)>,
    /// Pages that each owner read ahead of it.
    ahead: Vec<(u64, u32)>,
    files: Vec<FileRow>,
    others: Option<FileRow>,
    processes: HashMap<u32, Io>,
}

impl<'a> Gather<'a> {
    pub(crate) fn new(
        collector: &'a Collector,
        missing: &'a [Feature],
        mounts: &'a [Mount],
        states: HashMap<FileKey, File>,
        own: Option<u32>,
    ) -> Self {
        Self {
            collector,
            missing,
            zero: Io::zero().without(missing),
            mounts,
            states,
            own,
            current: None,
            ahead: Vec::new(),
            files: Vec::new(),
            others: None,
            processes: HashMap::new(),
        }
    }

    /// Takes one row; those of one file must come together.
    pub(crate) fn row(&mut self, key: RowKey, row: &Row) {
        // Between marking and spawning this process is followed too; that is not the command's.
        if self.own == Some(key.owner) {
            return;
        }
        let io = io_of(row, self.missing);
        if key.owner != 0 {
            self.processes.entry(key.owner).or_insert(self.zero).add(&io);
        }
        if key.file == FileKey::NONE {
            let counted = Row { owner: 0, file: FileKey::NONE, ..*row };
            if bytes_of(&counted).iter().any(|byte| *byte != 0) {
                self.fold(io, row.opens);
            }
            return;
        }
        if self.current.as_ref().is_none_or(|(current, ..)| *current != key.file) {
            self.close();
            self.current = Some((key.file, self.open(key.file), self.zero));
        }
        if let Some((_, file, sum)) = &mut self.current {
            sum.add(&io);
            file.opens = file.opens.map(|opens| opens + row.opens);
            file.processes += 1;
        }
        if row.ra_pages > 0 {
            self.ahead.push((row.ra_pages, key.owner));
        }
    }

    fn open(&self, key: FileKey) -> FileRow {
        let named = self.collector.files.get(&key);
        let kind = kind_of(key, named.map_or(0, |named| named.mode));
        let whole = matches!(kind, FileKind::FileSystem | FileKind::AllFileSystems);
        let mut file = FileRow::new(key.id(), if whole { NOT_MOUNTED } else { NAME_LOST });
        file.kind = kind;
        file.opens = Observed::Value(0);
        file.evicted_pages = Observed::Value(0);
        file.dropped_pages = Observed::Value(0);
        file.dropped_by_run_pages = Observed::Value(0);
        if let Some(named) = named {
            if let Some(path) = self.collector.path(&key, self.mounts) {
                file.path = Observed::Value(path);
            }
            file.deleted = named.deleted;
            file.size_bytes = Observed::Value(named.size_bytes);
            file.cached_before = Observed::Value(named.cached_pages);
        }
        if let Some(path) = path_by_id(kind, key.id(), self.mounts) {
            file.path = Observed::Value(path);
        }
        if kind == FileKind::Directory || whole {
            file.size_bytes = Observed::Missing(NO_FILE);
            file.cached_before = Observed::Missing(NO_FILE);
            file.cached_after = Observed::Missing(NO_FILE);
        }
        file
    }

    fn close(&mut self) {
        let Some((key, mut file, mut io)) = self.current.take() else { return };
        if let Some(state) = self.states.get(&key) {
            file.evicted_pages = Observed::Value(state.evicted);
            file.dropped_pages = Observed::Value(state.dropped);
            file.dropped_by_run_pages = Observed::Value(state.dropped_by_run);
            self.share_waste(state.wasted, &mut io);
        }
        self.ahead.clear();
        file.io = io.into();
        self.files.push(file);
        if self.files.len() >= 2 * MAX_FILE_ROWS {
            self.prune();
        }
    }

    /// Waste belongs to a file. Of its processes, those that read most ahead caused most of it, and none more than it read
    /// ahead: what a call read ahead that never returned, as of a process that was killed, is in neither number.
    fn share_waste(&mut self, wasted: u64, file: &mut Io) {
        let mut left = wasted;
        self.ahead.sort_unstable_by_key(|(pages, owner)| (std::cmp::Reverse(*pages), *owner));
        for (pages, owner) in &self.ahead {
            let wasted = ReadaheadIo { pages: 0, wasted_pages: left.min(*pages) };
            left -= wasted.wasted_pages;
            for io in self.processes.get_mut(owner).into_iter().chain([&mut *file]) {
                if let Some(readahead) = io.readahead.as_value_mut() {
                    readahead.add(&wasted);
                }
            }
        }
    }

    /// Keeps the costliest files and folds the rest into one row.
    fn prune(&mut self) {
        if self.files.len() <= MAX_FILE_ROWS {
            return;
        }
        self.files.select_nth_unstable_by_key(MAX_FILE_ROWS, |file| std::cmp::Reverse(cost(file)));
        for file in self.files.split_off(MAX_FILE_ROWS) {
            self.fold(file.io(), file.opens.value().unwrap_or(0));
        }
    }

    fn fold(&mut self, io: Io, opens: u64) {
        let zero = self.zero;
        let others = self.others.get_or_insert_with(|| {
            let mut others = FileRow::new(FileId::default(), MANY_FILES);
            others.kind = FileKind::Others;
            others.io = zero.into();
            others.opens = Observed::Value(0);
            others
        });
        others.io.edit(|sum| sum.add(&io));
        others.opens = others.opens.map(|sum| sum + opens);
        others.processes += 1;
    }

    /// The files, costliest first, and the counters of each process by its owner.
    pub(crate) fn finish(mut self) -> (Vec<FileRow>, HashMap<u32, Io>) {
        self.close();
        self.prune();
        self.files.sort_by_cached_key(|file| std::cmp::Reverse(cost(file)));
        self.files.extend(self.others);
        (self.files, self.processes)
    }
}

/// What a file cost: pages from the device first, then time, then bytes.
fn cost(file: &FileRow) -> (u64, u64, u64) {
    let io = file.io();
    let read = io.read.value().unwrap_or_default();
    let write = io.write.value().unwrap_or_default();
    let time = io.time.value().unwrap_or_default();
    let faulted = io.mmap.pages_read.value().unwrap_or(0);
    (read.split().from_device + faulted, time.total_ns(), read.bytes + write.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::zeroed;

    #[test]
    fn waste_is_that_of_who_read_ahead_and_never_more() {
        let collector = Collector::default();
        let state = File { wasted: 96, ..zeroed() };
        let file = FileKey { dev: 1, ino: 2, ..FileKey::NONE };
        let states = HashMap::from([(file, state)]);
        let mut gather = Gather::new(&collector, &[], &[], states, None);
        for (owner, ra_pages) in [(7, 10), (8, 50), (9, 0)] {
            let key = RowKey { file, owner, pad: 0 };
            gather.row(key, &Row { read_calls: 1, ra_pages, ..zeroed() });
        }
        let (files, processes) = gather.finish();
        let wasted = |io: &Io| io.readahead.value().unwrap().wasted_pages;
        assert_eq!(files.iter().map(|file| wasted(&file.io())).collect::<Vec<_>>(), [60]);
        let of = |owner: u32| wasted(&processes[&owner]);
        assert_eq!((of(7), of(8), of(9)), (10, 50, 0));
    }
}
