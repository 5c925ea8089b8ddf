//! Which files, and which kinds of I/O, tell two commands apart: from what the sensor learned of each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hotset_facts::format::Path;
use hotset_facts::{FileRow, Io, LearnedIo, Observed};
use serde::Serialize;

hotset_facts::words! {
    /// A kind of I/O that is compared.
    #[derive(PartialOrd, Ord)]
    pub enum IoKind {
        /// Buffered read calls.
        ReadCalls = "read_calls",
        /// Bytes that they returned.
        ReadBytes = "read_bytes",
        /// Faults on mappings, minor and major ones.
        Faults = "faults",
        /// Pages that faults brought in.
        MappedPages = "mapped_pages",
        /// Bytes from the device.
        DeviceBytes = "device_bytes",
        /// Buffered write calls.
        WriteCalls = "write_calls",
        /// Bytes written.
        WrittenBytes = "written_bytes",
        /// fsync and the like.
        Syncs = "syncs",
        /// Bytes read past the cache.
        DirectBytes = "direct_bytes",
        /// Nanoseconds in I/O.
        TimeNs = "time_ns",
    }
}

impl IoKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::ReadCalls,
        Self::ReadBytes,
        Self::Faults,
        Self::MappedPages,
        Self::DeviceBytes,
        Self::WriteCalls,
        Self::WrittenBytes,
        Self::Syncs,
        Self::DirectBytes,
        Self::TimeNs,
    ];

    /// How much two runs of one command seldom differ by. Nothing for what a command does whatever is cached: what it asks for.
    /// None for what always differs.
    fn min_difference(self) -> Option<u64> {
        match self {
            Self::Faults => Some(MIN_FAULTS),
            Self::DeviceBytes => Some(MIN_DEVICE_BYTES),
            Self::MappedPages | Self::TimeNs => None,
            _ => Some(0),
        }
    }

    fn of(self, io: &Io) -> Observed<u64> {
        match self {
            Self::ReadCalls => io.read.map(|read| read.calls),
            Self::ReadBytes => io.read.map(|read| read.bytes),
            Self::Faults => io.mmap.faults,
            Self::MappedPages => io.mmap.pages_read,
            Self::DeviceBytes => io.device.read_bytes,
            Self::WriteCalls => io.write.map(|write| write.calls),
            Self::WrittenBytes => io.write.map(|write| write.bytes),
            Self::Syncs => io.sync.map(|sync| sync.calls),
            Self::DirectBytes => io.direct.map(|direct| direct.read_bytes),
            Self::TimeNs => io.time.map(|time| time.total_ns()),
        }
    }
}

/// One kind of I/O on both sides; each known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindDifference {
    /// Which kind.
    pub kind: IoKind,
    /// How much A did.
    pub a: u64,
    /// How much B did.
    pub b: u64,
}

impl KindDifference {
    /// The kinds in which the two differ.
    fn between(a: &Io, b: &Io) -> Vec<Self> {
        let both =
            |kind: IoKind| Some(Self { kind, a: kind.of(a).value()?, b: kind.of(b).value()? });
        IoKind::ALL.into_iter().filter_map(both).filter(|kind| kind.a != kind.b).collect()
    }

    fn weight(&self) -> u64 {
        self.a.abs_diff(self.b)
    }

    /// True where it tells the commands apart, and not only one run from another.
    fn tells_apart(&self) -> bool {
        let (less, more) = (self.a.min(self.b), self.a.max(self.b));
        match self.kind.min_difference() {
            None => false,
            Some(0) => true,
            Some(least) => self.weight() >= least && more / MIN_RATIO >= less,
        }
    }
}

/// Bytes from the device by which two runs of one command seldom differ: others evict, and read-ahead has its own mind.
const MIN_DEVICE_BYTES: u64 = 1 << 20;
/// The same of faults: those of as many bytes, a page each. How many pages a fault maps depends on what is cached around it.
const MIN_FAULTS: u64 = MIN_DEVICE_BYTES / 4096;
/// The same as a ratio.
const MIN_RATIO: u64 = 2;

/// A file that the two commands treat differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileDifference {
    /// Its path.
    #[serde(flatten, with = "Path")]
    pub path: PathBuf,
    /// True if A touched it.
    pub in_a: bool,
    /// True if B touched it.
    pub in_b: bool,
    /// The kinds in which they differ, at least one.
    pub kinds: Vec<KindDifference>,
}

impl FileDifference {
    fn weight_of(&self, wanted: IoKind) -> u64 {
        let kind = self.kinds.iter().find(|found| found.kind == wanted);
        kind.map_or(0, KindDifference::weight)
    }
}

/// How the I/O of two commands differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoDifference {
    /// The command with A's I/O, an index into the session's commands.
    pub command_a: usize,
    /// The same for B.
    pub command_b: usize,
    /// The totals' kinds in which they differ.
    pub totals: Vec<KindDifference>,
    /// The files that differ in more than their time, what differs most in bytes first.
    pub files: Vec<FileDifference>,
}

impl IoDifference {
    /// Of two commands that were learned under the sensor from the same state, by path; files without a known path are in the
    /// totals only.
    pub(crate) fn of(a: (usize, &LearnedIo), b: (usize, &LearnedIo)) -> Self {
        let mut paths: BTreeMap<&PathBuf, (Option<&FileRow>, Option<&FileRow>)> = BTreeMap::new();
        for row in &a.1.files {
            if let Some(path) = row.path.as_value() {
                paths.entry(path).or_default().0 = Some(row);
            }
        }
        for row in &b.1.files {
            if let Some(path) = row.path.as_value() {
                paths.entry(path).or_default().1 = Some(row);
            }
        }
        let io = |row: Option<&FileRow>| row.map_or_else(Io::zero, |row| row.io());
        let mut files: Vec<FileDifference> = paths
            .into_iter()
            .map(|(path, (a, b))| FileDifference {
                path: path.clone(),
                in_a: a.is_some(),
                in_b: b.is_some(),
                kinds: KindDifference::between(&io(a), &io(b)),
            })
            .filter(|file| {
                file.in_a != file.in_b || file.kinds.iter().any(KindDifference::tells_apart)
            })
            .collect();
        files.sort_by_key(|file| {
            let bytes = [IoKind::DeviceBytes, IoKind::ReadBytes, IoKind::WrittenBytes];
            let most = bytes.map(|kind| file.weight_of(kind)).into_iter().max();
            std::cmp::Reverse((most, file.weight_of(IoKind::TimeNs)))
        });
        let mut totals = KindDifference::between(&a.1.totals, &b.1.totals);
        if files.is_empty() && !totals.iter().any(KindDifference::tells_apart) {
            totals.clear();
        }
        Self { command_a: a.0, command_b: b.0, totals, files }
    }

    /// True where nothing tells them apart.
    pub(crate) fn is_empty(&self) -> bool {
        self.totals.is_empty() && self.files.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_file;
    use hotset_facts::ReadIo;

    fn read_once(path: &str, bytes: u64) -> FileRow {
        read_file(path, bytes, ReadIo { calls: 1, bytes, ..ReadIo::default() })
    }

    fn learned(files: Vec<FileRow>) -> LearnedIo {
        let mut totals = Io::zero();
        files.iter().for_each(|file| totals.add(&file.io()));
        LearnedIo { state: hotset_facts::WantedState::Cold, wall_ns: 1, totals, files }
    }

    #[test]
    fn files_of_one_side_and_of_both() {
        let a = learned(vec![read_once("/x", 100), read_once("/same", 7)]);
        let b = learned(vec![read_once("/y", 5_000), read_once("/same", 7)]);
        let found = IoDifference::of((0, &a), (1, &b));
        let paths: Vec<&str> = found.files.iter().filter_map(|file| file.path.to_str()).collect();
        assert_eq!(
            paths,
            ["/y", "/x"],
            "the larger difference first, and none where there is none"
        );
        assert!(found.files[0].in_b && !found.files[0].in_a);
        let bytes = found.totals.iter().find(|kind| kind.kind == IoKind::ReadBytes);
        assert_eq!(bytes.map(|kind| (kind.a, kind.b)), Some((107, 5_007)));
        assert!(found.totals.iter().all(|kind| kind.kind != IoKind::ReadCalls), "two on each side");
    }

    #[test]
    fn what_differs_from_run_to_run_is_no_difference() {
        let a = learned(vec![read_once("/x", 8 << 20)]);
        let with_device = |mib: u64| {
            let mut b = a.clone();
            let device = hotset_facts::DeviceIo {
                read_bytes: Observed::Value(mib << 20),
                ..b.totals.device
            };
            b.totals.device = device;
            b
        };
        let found =
            |a_mib, b_mib| IoDifference::of((0, &with_device(a_mib)), (1, &with_device(b_mib)));
        assert!(found(4, 6).is_empty(), "less than twice as much");
        assert!(!found(4, 8).is_empty());
    }

    #[test]
    fn other_pages_of_a_mapping_are_a_difference() {
        let faulted = |faults: u64| {
            let mut row = read_once("/mapped", 4096);
            row.io.edit(|io| io.mmap.faults = Observed::Value(faults));
            learned(vec![row])
        };
        let found = |a, b| IoDifference::of((0, &faulted(a)), (1, &faulted(b)));
        let many = found(100, 5_000);
        let kind = KindDifference { kind: IoKind::Faults, a: 100, b: 5_000 };
        assert_eq!(
            (many.totals.as_slice(), many.files[0].kinds.as_slice()),
            (&[kind][..], &[kind][..])
        );
        assert!(found(10, 200).is_empty(), "fewer than a MiB has pages");
        assert!(found(3_000, 5_000).is_empty(), "less than twice as many");
        let mut unknown = faulted(100);
        let none = hotset_facts::Reason::unsupported("no fault tracepoint");
        unknown.totals.mmap.faults = Observed::Missing(none);
        unknown.files[0].io.edit(|io| io.mmap.faults = Observed::Missing(none));
        assert!(IoDifference::of((0, &unknown), (1, &faulted(5_000))).is_empty(), "not measured");
    }

    #[test]
    fn equal_commands_do_not_differ() {
        let a = learned(vec![read_once("/x", 100)]);
        let found = IoDifference::of((0, &a), (1, &a));
        assert!(found.files.is_empty() && found.totals.is_empty());
    }
}
