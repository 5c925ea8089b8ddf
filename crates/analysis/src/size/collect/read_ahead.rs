//! How much the kernel reads ahead of each file, as it was set when it was recorded.

use std::collections::HashMap;

use hotset_facts::trace::{RecordFlags, TraceFile, TraceHead, TraceRecord};
use hotset_facts::{Dev, FileKind};
use hotset_sizing::{PAGE_BYTES, ReadAheadRules};

use super::{Collector, SizeHost};

const KIB: u64 = 1024;
/// Advice that changes nothing about how a file is read ahead.
const OTHERS: [RecordFlags; 3] =
    [RecordFlags::WILLNEED, RecordFlags::DONTNEED, RecordFlags::NOREUSE];

/// What a program said of an open file description (posix_fadvise(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Random,
    Sequential,
}

/// The windows of read-ahead; none where it is not simulated.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// Of each file system, in pages.
    pages: HashMap<Dev, u64>,
    patterns: HashMap<u64, Pattern>,
}

impl Windows {
    fn of_host(head: &TraceHead) -> Self {
        let filesystems = head.environment.iter().flat_map(|host| &host.filesystems);
        let pages = filesystems.filter_map(|filesystem| {
            let kib = filesystem.read_ahead_kb.value()?;
            Some((filesystem.dev, kib * KIB / PAGE_BYTES))
        });
        Self { pages: pages.collect(), patterns: HashMap::new() }
    }

    /// Pages that are read ahead of reads through a description at most; none where that is not known.
    pub(super) fn of(&self, file: &TraceFile, description: u64) -> Option<u32> {
        let of_device = *self.pages.get(&file.id?.dev)?;
        if file.kind != FileKind::Regular {
            return None;
        }
        let pages = match self.patterns.get(&description) {
            None => of_device,
            Some(Pattern::Random) => 0,
            Some(Pattern::Sequential) => of_device * 2,
        };
        u32::try_from(pages).ok()
    }

    /// Takes what a program says of a description.
    pub(super) fn advise(&mut self, record: &TraceRecord) {
        let Some(description) = record.description else { return };
        let pattern = if record.flags.has(RecordFlags::RANDOM) {
            Pattern::Random
        } else if record.flags.has(RecordFlags::SEQUENTIAL) {
            Pattern::Sequential
        } else {
            // POSIX_FADV_NORMAL has no flag.
            if !OTHERS.iter().any(|&other| record.flags.has(other)) {
                self.patterns.remove(&description);
            }
            return;
        };
        self.patterns.insert(description, pattern);
    }

    /// A description is closed, and its number may be used again.
    pub(super) fn close(&mut self, description: u64) {
        self.patterns.remove(&description);
    }
}

impl<'a> Collector<'a> {
    /// Simulates what read calls read ahead at each limit, instead of what the recording says. Before any record is taken.
    pub fn follow_read_ahead(&mut self, head: &TraceHead, host: Option<SizeHost>) {
        let Some(host) = host else { return };
        self.windows = Windows::of_host(head);
        if !self.windows.pages.is_empty() {
            self.builder.simulate_read_ahead(ReadAheadRules::of(host.kernel));
        }
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{FileIndex, Operation, TraceLists};
    use hotset_facts::{FileId, Filesystem, Observed, Reason};
    use hotset_sizing::evidence::KernelVersion;
    use hotset_sizing::{Costs, PolicyKind, simulate};

    use super::*;
    use crate::explain::testing::{Script, US};
    use crate::trace::testing::head;

    const PAGE: u64 = PAGE_BYTES;
    const DEV: Dev = Dev { major: 8, minor: 1 };
    const HOST: SizeHost = SizeHost { kernel: KernelVersion::new(6, 12), multi_gen_lru: false };

    /// A host that reads so many KiB ahead of files on its only file system.
    fn host(read_ahead_kb: Observed<u64>) -> TraceHead {
        let mut head = head();
        let environment = head.environment.as_mut().expect("a host");
        let filesystem = Filesystem {
            mount: "/".into(),
            fs_type: "ext4".to_owned(),
            device: "/dev/sda1".to_owned(),
            dev: DEV,
            options: String::new(),
            read_ahead_kb,
        };
        environment.filesystems = vec![filesystem];
        head
    }

    fn on_disk(lists: &mut TraceLists) {
        for (ino, file) in (0..).zip(&mut lists.files) {
            file.id = Some(FileId { dev: DEV, ino, generation: None });
            file.size_bytes = Some(1000 * PAGE);
        }
    }

    /// Pages that the device reads with room for all: asked for, and ahead.
    fn read(script: &mut Script, head: &TraceHead, host: Option<SizeHost>) -> (u64, u64) {
        on_disk(&mut script.lists);
        let mut collector = Collector::new(&script.lists, host);
        collector.follow_read_ahead(head, host);
        collector.add(&script.batch()).expect("there is room");
        let references = collector.finish().references;
        let costs = Costs { hit_ns: 0, miss_ns: 0 };
        let outcome = simulate(&references, PolicyKind::Lru, &[5000], &costs, 1)[0];
        (outcome.misses, outcome.ahead)
    }

    /// The first four pages of a file, of which a recording says that 30 more were read ahead.
    fn first_pages() -> Script {
        let mut script = Script::new();
        script.file(1000 * PAGE);
        script.miss(1, 0, 4 * PAGE, US).pages.as_mut().expect("pages").read_ahead = 30;
        script
    }

    #[test]
    fn what_is_read_ahead_is_simulated_where_the_host_tells_how_much() {
        let mut script = first_pages();
        let known = host(Observed::Value(128));
        assert_eq!(read(&mut script, &known, Some(HOST)), (4, 4), "the first window");
        assert_eq!(read(&mut script, &known, None), (4, 30), "as recorded");
        let unknown = host(Observed::Missing(Reason::unsupported("no block device")));
        assert_eq!(read(&mut script, &unknown, Some(HOST)), (4, 30));
        script.lists.files.iter_mut().for_each(|file| file.kind = FileKind::BlockDevice);
        assert_eq!(read(&mut script, &known, Some(HOST)), (4, 30), "no file of the file system");
    }

    #[test]
    fn a_program_that_says_how_it_reads_is_heard() {
        let known = host(Observed::Value(128));
        let advised = |flags: &[RecordFlags]| {
            let mut script = Script::new();
            script.file(1000 * PAGE);
            for &flags in flags {
                script.call(Operation::Fadvise, 1, US).flags = flags;
            }
            script.miss(1, 0, 32 * PAGE, US);
            script.read(1, 32 * PAGE, PAGE, US);
            read(&mut script, &known, Some(HOST))
        };
        let (random, normal) = (RecordFlags::RANDOM, RecordFlags::NONE);
        // Half of the request is in the first window, and makes it read the next.
        assert_eq!(advised(&[]), (33, 63));
        assert_eq!(advised(&[RecordFlags::SEQUENTIAL]), (33, 95));
        assert_eq!(advised(&[random]), (33, 0));
        assert_eq!(advised(&[random, RecordFlags::WILLNEED]), (33, 0));
        assert_eq!(advised(&[random, normal]), (33, 63));
        // It is said of a description, which is closed.
        let mut script = Script::new();
        script.file(1000 * PAGE);
        script.call(Operation::Fadvise, 1, US).flags = random;
        script.call(Operation::Close, 1, US);
        script.miss(1, 0, 4 * PAGE, US);
        assert_eq!(read(&mut script, &known, Some(HOST)), (4, 4));
        assert_eq!(script.lists.file(FileIndex(1)).map(|file| file.kind), Some(FileKind::Regular));
    }
}
