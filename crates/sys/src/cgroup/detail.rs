//! All that a control group's memory is used for and what becomes of it, by its path: more files than [`super::GroupUsage`] reads.

use std::path::Path;

use super::Hierarchies;
use super::limited::counter;
use super::parse_limit;
use super::usage::{GroupUsage, STAT, usage_in};
use crate::proc::pressure;

/// The memory of a control group with those below it, in bytes. Counters began when the group was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupDetail {
    /// What there is of every group.
    pub usage: GroupUsage,
    /// `memory.max`, or the limit of version 1; none without one.
    pub max_bytes: Option<u64>,
    /// `memory.high`; none without one, and with version 1.
    pub high_bytes: Option<u64>,
    /// What is not reclaimed while others have more: the larger of `memory.low` and `memory.min`; none without one, and with version 1.
    pub low_bytes: Option<u64>,
    /// What of the file cache is mapped into processes, with shared memory that is.
    pub mapped_bytes: Option<u64>,
    /// Anonymous memory.
    pub anon_bytes: Option<u64>,
    /// Shared memory and tmpfs.
    pub shmem_bytes: Option<u64>,
    /// Memory of the kernel that it can't drop; none before Linux 5.18.
    pub kernel_bytes: Option<u64>,
    /// Processes that were killed because the limit left too little.
    pub oom_kills: Option<u64>,
    /// Nanoseconds in which some task waited for memory; none with version 1, and without PSI.
    pub memory_some_ns: Option<u64>,
    /// The same for I/O.
    pub io_some_ns: Option<u64>,
}

impl Hierarchies {
    /// What the memory of the group `path` is used for, as /proc/PID/cgroup has it; `None` where the kernel does not account it.
    pub fn detail(&self, path: &str) -> Option<GroupDetail> {
        let (dir, is_v2) = self.find(Path::new(path), |dir| dir.join(STAT).is_file())?;
        detail_in(&dir, is_v2).filter(|_| path != "/")
    }
}

fn detail_in(dir: &Path, is_v2: bool) -> Option<GroupDetail> {
    let usage = usage_in(dir, is_v2)?;
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).ok();
    let limit = |name: &str| parse_limit(&read(name)?);
    let stat = read(STAT)?;
    let of = |v2: &str, v1: &str| counter(&stat, if is_v2 { v2 } else { v1 });
    let stall = |name: &str| pressure::parse(read(name)?.as_bytes()).ok()?.some_ns.value();
    // What can be dropped of the kernel's memory is no need of the group's.
    let kernel = of("kernel", "").zip(of("slab_reclaimable", ""));
    let events = if is_v2 { "memory.events" } else { "memory.oom_control" };
    Some(GroupDetail {
        usage,
        max_bytes: limit(if is_v2 { "memory.max" } else { "memory.limit_in_bytes" }),
        high_bytes: limit("memory.high"),
        low_bytes: limit("memory.low").max(limit("memory.min")).filter(|&low| low > 0),
        mapped_bytes: of("file_mapped", "total_mapped_file"),
        anon_bytes: of("anon", "total_rss"),
        shmem_bytes: of("shmem", "total_shmem"),
        kernel_bytes: kernel.map(|(kernel, droppable)| kernel.saturating_sub(droppable)),
        oom_kills: read(events).and_then(|text| counter(&text, "oom_kill")),
        memory_some_ns: stall("memory.pressure"),
        io_some_ns: stall("io.pressure"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read_and_what_they_lack_is_missing() {
        let dir = std::env::temp_dir().join(format!("hotset-detail-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("mkdir");
        let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("write");
        write(
            "memory.stat",
            "anon 5000\nshmem 100\nfile_mapped 40\nkernel 900\nslab_reclaimable 300\ntotal_rss 6000\ntotal_shmem 7\n",
        );
        for (name, text) in [
            ("memory.current", "9000\n"),
            ("memory.max", "30000\n"),
            ("memory.high", "max\n"),
            ("memory.low", "0\n"),
            ("memory.min", "10\n"),
            ("memory.events", "oom 3\noom_kill 2\n"),
            ("memory.pressure", "some avg10=0.00 total=12\nfull avg10=0.00 total=1\n"),
            ("memory.usage_in_bytes", "9100\n"),
            ("memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory.oom_control", "oom_kill_disable 0\noom_kill 5\n"),
        ] {
            write(name, text);
        }
        let v2 = detail_in(&dir, true).expect("v2");
        let v1 = detail_in(&dir, false).expect("v1");
        std::fs::remove_dir_all(&dir).expect("cleanup");
        assert_eq!((v2.max_bytes, v2.high_bytes, v2.low_bytes), (Some(30_000), None, Some(10)));
        assert_eq!((v2.anon_bytes, v2.shmem_bytes), (Some(5_000), Some(100)));
        assert_eq!((v2.mapped_bytes, v1.mapped_bytes), (Some(40), None));
        assert_eq!((v2.kernel_bytes, v2.oom_kills), (Some(600), Some(2)));
        assert_eq!((v2.memory_some_ns, v2.io_some_ns), (Some(12_000), None));
        assert_eq!((v1.max_bytes, v1.anon_bytes, v1.shmem_bytes), (None, Some(6_000), Some(7)));
        assert_eq!((v1.kernel_bytes, v1.oom_kills), (None, Some(5)));
    }
}
