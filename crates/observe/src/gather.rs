//! Rows summed into files and processes, a file at a time, within a bound.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use hotset_facts::{Feature, FileId, FileKind, FileRow, Io, Observed, ReadaheadIo, Reason};
use hotset_sys::proc::mountinfo::Mount;

use crate::choose;
use crate::collector::Collector;
use crate::convert::{io_of, io_of_many};
use crate::names::{kind_of, path_by_id};
use crate::record::{File, FileKey, Row, RowKey, bytes_of};

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
    files: Vec<Gathered>,
    /// Files that keep a row of their own.
    bound: usize,
    /// Who used each file, one after the other.
    owners: Vec<u32>,
    others: Option<FileRow>,
    /// Who used a file that is among the others.
    of_others: HashSet<u32>,
    processes: HashMap<u32, Io>,
    /// Reads and writes of which nobody knows whether they went on where the one before ended.
    pub(crate) unordered_calls: u64,
}

struct Gathered {
    row: FileRow,
    /// Its part of `owners`.
    owners: Range<usize>,
}

impl<'a> Gather<'a> {
    pub(crate) fn new(
        collector: &'a Collector,
        missing: &'a [Feature],
        mounts: &'a [Mount],
        states: HashMap<FileKey, File>,
        own: Option<u32>,
        bound: usize,
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
            bound,
            owners: Vec::new(),
            others: None,
            of_others: HashSet::new(),
            processes: HashMap::new(),
            unordered_calls: 0,
        }
    }

    /// Takes one row; those of one file must come together.
    pub(crate) fn row(&mut self, key: RowKey, row: &Row) {
        // Between marking and spawning this process is followed too; that is not the command's.
        if self.own == Some(key.owner) {
            return;
        }
        let others = key.file == FileKey::NONE;
        let io = if others { io_of_many } else { io_of }(row, self.missing);
        if key.owner != 0 {
            self.processes.entry(key.owner).or_insert(self.zero).add(&io);
        }
        if others {
            self.unordered_calls += row.read_calls + row.write_calls;
            let counted = Row { owner: 0, file: FileKey::NONE, ..*row };
            if bytes_of(&counted).iter().any(|byte| *byte != 0) {
                self.fold(io, row.opens);
                self.of_others.extend(Some(key.owner).filter(|owner| *owner != 0));
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
            self.owners.push(key.owner);
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
        let end = self.owners.len();
        let owners = end.saturating_sub(file.processes as usize)..end;
        self.files.push(Gathered { row: file, owners });
        if self.files.len() >= 2 * self.bound.max(1) {
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

    /// Keeps the files that matter most and folds the rest into one row.
    fn prune(&mut self) {
        for Gathered { row, owners } in
            choose::split_off(&mut self.files, self.bound, |file| &file.row)
        {
            self.fold(row.io(), row.opens.value().unwrap_or(0));
            self.of_others.extend(self.owners.get(owners).unwrap_or_default());
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
    }

    /// The files, costliest first, and the counters of each process by its owner.
    pub(crate) fn finish(mut self) -> (Vec<FileRow>, HashMap<u32, Io>) {
        self.close();
        self.prune();
        let mut files: Vec<FileRow> = self.files.into_iter().map(|file| file.row).collect();
        files.sort_by_cached_key(|file| std::cmp::Reverse(choose::cost(file)));
        if let Some(mut others) = self.others {
            others.processes = self.of_others.len().try_into().unwrap_or(u32::MAX);
            files.push(others);
        }
        (files, self.processes)
    }
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
        let mut gather = Gather::new(&collector, &[], &[], states, None, 10);
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

    #[test]
    fn who_matters_by_some_counter_keeps_a_row_and_the_rest_is_one_sum() {
        const FILES: u64 = 500;
        let collector = Collector::default();
        let mut gather = Gather::new(&collector, &[], &[], HashMap::new(), None, 50);
        for ino in 1..=FILES {
            let file = FileKey { dev: 1, ino, ..FileKey::NONE };
            let row = Row { read_calls: 1, read_bytes: ino, opens: 1, ..zeroed() };
            // These cost least by all that is read.
            let row = match ino {
                1 => Row { sync_calls: 1, sync_ns: 1, ..row },
                2 => Row { direct_write_calls: 1, direct_write_bytes: 1, ..row },
                _ => row,
            };
            gather.row(RowKey { file, owner: 7 + (ino % 3) as u32, pad: 0 }, &row);
        }
        // What one of them did beyond the table of rows.
        let beyond = RowKey { file: FileKey::NONE, owner: 7, pad: 0 };
        gather.row(beyond, &Row { read_calls: 1, read_bytes: 1_000, opens: 1, ..zeroed() });
        let (files, processes) = gather.finish();
        assert_eq!(files.len(), 51);
        let others = files.last().expect("others");
        assert_eq!((others.kind, others.processes), (FileKind::Others, 3));
        let named = |ino: u64| files.iter().any(|file| file.id.ino == ino);
        assert!(named(1) && named(2) && named(FILES) && !named(3));
        let bytes = |io: Io| io.read.value().map_or(0, |read| read.bytes);
        let all = FILES * (FILES + 1) / 2 + 1_000;
        assert_eq!(files.iter().map(|file| bytes(file.io())).sum::<u64>(), all);
        assert_eq!(processes.values().map(|io| bytes(*io)).sum::<u64>(), all);
        let opens: u64 = files.iter().filter_map(|file| file.opens.value()).sum();
        assert_eq!(opens, FILES + 1);
    }
}
