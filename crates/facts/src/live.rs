//! What happened on a host in one interval, as `stat`, `top` and `export` see it.
//!
//! Counts are of one interval, not since the start. Identities hold for a whole session: with PID reuse, the new
//! process is another [`LiveProcess`], so that two processes are never mixed.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::feature::needs;
use crate::format::Path;
use crate::{
    Dev, Feature, FileId, FileKind, LiveCurves, MemInfo, NotMeasured, Observed, PackedLiveIo,
    PageSplit, Pid,
};

crate::words! {
    /// In what a counter counts.
    pub enum Unit {
        /// What its name says.
        Count = "count",
        /// A number of bytes.
        Bytes = "bytes",
        /// Base pages, whatever the folio size.
        Pages = "pages",
        /// A time in nanoseconds.
        Nanoseconds = "ns",
    }
}

/// What a counter of an interval is.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    /// Its name among the fields of [`LiveIo`].
    pub name: &'static str,
    /// Its name as a metric, behind the prefix and without `_total`.
    pub metric: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// What it counts, in a few words.
    pub help: &'static str,
    /// What of the kernel it needs.
    pub needs: Option<Feature>,
    /// Its value.
    pub of: fn(&LiveIo) -> u64,
}

impl Counter {
    /// What keeps it from being counted, among what is not measured.
    pub fn gap<'a>(&self, not_measured: &'a [NotMeasured]) -> Option<&'a NotMeasured> {
        not_measured.iter().find(|gap| Some(gap.feature) == self.needs)
    }

    /// Its value, missing where it is not measured.
    pub fn observed(&self, io: &LiveIo, not_measured: &[NotMeasured]) -> Observed<u64> {
        match self.gap(not_measured) {
            Some(gap) => Observed::Missing(gap.feature.reason()),
            None => Observed::Value((self.of)(io)),
        }
    }
}

macro_rules! live_counters {
    ($(
        $(#[$group_doc:meta])*
        $group:ident: $kind:ident $Name:ident $(($($histogram:tt)+))? {
            $(
                $(#[$doc:meta])*
                $field:ident: $unit:ident $rows:tt $needs:ident
                $(live [$live:ident $(and $more:tt)? $metric:literal $help:literal])?;
            )*
        }
    )*) => {
        /// What was counted in one interval. Pages are base pages, whatever the folio size.
        /// Written by name, without those that are 0.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct LiveIo {
            $($($(
                #[doc = $help]
                #[serde(skip_serializing_if = "is_zero")]
                pub $live: u64,
            )?)*)*
        }

        impl<'de> Visitor<'de> for LiveIoVisitor {
            type Value = LiveIo;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("counters by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LiveIo, A::Error> {
                let mut io = LiveIo::ZERO;
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        $($($(stringify!($live) => io.$live = map.next_value()?,)?)*)*
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(io)
            }
        }

        /// What each counter of a [`LiveIo`] is, in the field of its name.
        #[derive(Debug, Clone, Copy)]
        pub struct LiveCounters {
            $($($(#[doc = $help] pub $live: Counter,)?)*)*
        }

        /// What each counter of an interval is.
        pub const LIVE: LiveCounters = LiveCounters {
            $($($($live: Counter {
                name: stringify!($live),
                metric: $metric,
                unit: Unit::$unit,
                help: $help,
                needs: needs!($needs),
                of: |io| io.$live,
            },)?)*)*
        };

        impl LiveIo {
            /// Nothing counted.
            pub const ZERO: Self = Self { $($($($live: 0,)?)*)* };

            /// All counters, in a fixed order.
            pub const COUNTERS: &'static [Counter] = &[$($($(LIVE.$live,)?)*)*];

            /// Shows each counter, in the same order.
            pub(crate) fn each(&mut self, mut visit: impl FnMut(&mut u64)) {
                $($($(visit(&mut self.$live);)?)*)*
            }

            /// Each counter of both, combined.
            pub fn zip_with(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
                Self { $($($($live: f(self.$live, other.$live),)?)*)* }
            }
        }
    };
}

crate::counters!(live_counters);

/// Reads counters by their names; those that are left out are 0. A derive would take a list for them too, an empty one for
/// nothing counted.
struct LiveIoVisitor;

impl<'de> Deserialize<'de> for LiveIo {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(LiveIoVisitor)
    }
}

/// Whether a counter is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference to the field")]
fn is_zero(counter: &u64) -> bool {
    *counter == 0
}

impl LiveIo {
    /// Adds `other` to these counters.
    pub fn add(&mut self, other: &Self) {
        *self = self.zip_with(other, u64::saturating_add);
    }

    /// The requested pages by where they were.
    pub fn split(&self) -> PageSplit {
        PageSplit::of(self.read_pages, self.read_misses, self.readahead_hits, self.read_zeros)
    }

    /// Bytes of direct reads and writes.
    pub fn direct_bytes(&self) -> u64 {
        self.direct_read_bytes.saturating_add(self.direct_write_bytes)
    }

    /// Whether nothing was counted.
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }
}

/// A process as a session knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveProcess {
    /// Unique in the session: with PID reuse, the new process gets another one.
    pub id: u32,
    /// Its PID in the initial PID namespace.
    pub pid: Pid,
    /// The PID of its parent.
    pub ppid: Observed<Pid>,
    /// The user that it runs as.
    pub uid: Observed<u32>,
    /// The name of its program, at most 15 bytes.
    pub comm: Arc<str>,
    /// Its control group, the path below the root of the hierarchy that accounts memory: `/system.slice/ssh.service`.
    pub cgroup: Observed<Arc<str>>,
    /// It ended in this interval: the session will not show it again.
    pub ended: bool,
}

/// A file as a session knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::format::about("path", "A path that leads to it as some process used it; null where names are not collected.")))]
pub struct LiveFile {
    /// Its identity. A `FileId` of zeros stands for what has no file at hand, such as msync(2).
    #[serde(flatten)]
    pub id: FileId,
    /// What it is.
    pub kind: FileKind,
    /// A path that leads to it as some process used it; missing where names are not collected.
    #[serde(flatten, with = "Path::<Observed<String>>")]
    pub path: Observed<Arc<PathBuf>>,
    /// Its name is gone.
    pub deleted: bool,
    /// The device by which its file system is mounted: on btrfs not that of its subvolume. Not in a recording.
    #[serde(skip)]
    pub mounted: Dev,
}

/// What one process did to one file in one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveRow {
    /// The process, by its place in `processes`.
    pub process: u32,
    /// The file, by its place in `files`.
    pub file: u32,
    /// What was counted.
    pub io: PackedLiveIo,
}

/// Path lookups of the processes of a control group in one interval: open, stat, access and the like, by any of their threads or
/// by io_uring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveLookups {
    /// The control group; none for processes whose group is not known, and for those that the table has no room for.
    pub cgroup: Option<Arc<str>>,
    /// Calls that resolve a path.
    pub calls: u64,
    /// Calls that ended in ENOENT or ENOTDIR.
    pub failed: u64,
}

/// What got lost since the session began. Each counts how often it happened, and not pages.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveLosses {
    /// Requests that were counted, but for nobody: the tables of rows or processes were full.
    pub unattributed: u64,
    /// Names and process events that did not fit into the ring, or were not understood.
    pub events: u64,
    /// Page ranges whose origin could not be kept: some read-ahead hits count as from cache.
    pub origins: u64,
    /// Tasks that could not be followed: what they did is not counted.
    pub tasks: u64,
    /// Requests of io_uring or Linux AIO that could not be followed.
    pub requests: u64,
    /// Programs that the kernel skipped: what they would have seen is not counted.
    pub skipped_programs: u64,
    /// System calls that were not decoded: of the 32-bit ABIs, and copies on a file system that may have shared blocks.
    pub calls: u64,
}

impl LiveLosses {
    /// Whether the counts are too low, and not only less well attributed.
    pub fn damage_counts(&self) -> bool {
        self.tasks | self.requests | self.skipped_programs | self.calls != 0
    }
}

/// What the host says of its memory at the end of an interval, and what it did during it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostMemory {
    /// /proc/meminfo at the end.
    pub memory: Observed<MemInfo>,
    /// Pages of files that were read back after they had been evicted (`workingset_refault_file`), in the interval.
    pub refaulted_pages: Observed<u64>,
    /// Pages of files that reclaim took (`pgsteal_file`, which lacks what DAMON pages out), in the interval.
    pub reclaimed_pages: Observed<u64>,
    /// Pages that were written back (`nr_written`), in the interval.
    pub written_back_pages: Observed<u64>,
    /// Pressure stall information.
    #[serde(flatten)]
    pub pressure: Pressure,
}

/// Time in an interval in which tasks waited (PSI), in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pressure {
    /// Some task waited for memory.
    pub memory_some_ns: Observed<u64>,
    /// All tasks that could have run waited for memory.
    pub memory_full_ns: Observed<u64>,
    /// Some task waited for I/O.
    pub io_some_ns: Observed<u64>,
    /// All tasks that could have run waited for I/O.
    pub io_full_ns: Observed<u64>,
    /// Some task waited for a CPU.
    pub cpu_some_ns: Observed<u64>,
}

/// Everything that a session says about one interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// When it ended.
    pub at: SystemTime,
    /// When it ended, in nanoseconds of the monotonic clock since the session began.
    pub ended_after_ns: u64,
    /// How long it was, in nanoseconds of the monotonic clock.
    pub length_ns: u64,
    /// Who did something in it, or ended in it.
    pub processes: Vec<LiveProcess>,
    /// What was used in it: files, or the file systems that they are on where files are not told apart.
    pub files: Vec<LiveFile>,
    /// What each of these processes did to each of these files; rows without a count are left out.
    pub rows: Vec<LiveRow>,
    /// Pairs of process and file that did something: as many as `rows`, where files are told apart.
    pub active_rows: u64,
    /// What was counted for nobody: a table was full, or who it belongs to had ended.
    pub others: LiveIo,
    /// Pages that left the cache but for truncation and unlinking.
    pub evicted_pages: Observed<u64>,
    /// The host.
    pub host: HostMemory,
    /// Losses since the session began.
    pub losses: LiveLosses,
    /// References of control groups to pages, where they were asked for.
    pub curves: Option<LiveCurves>,
    /// Path lookups by control group, where they were asked for.
    pub lookups: Option<Vec<LiveLookups>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counters_are_written_by_name_and_zeros_left_out() -> Result<(), serde_json::Error> {
        let io = LiveIo { read_pages: 7, sync_calls: 1, ..LiveIo::ZERO };
        let json = serde_json::to_value(io)?;
        assert_eq!(json, json!({"read_pages": 7, "sync_calls": 1}));
        assert_eq!(serde_json::from_value::<LiveIo>(json)?, io);
        let newer = json!({"read_pages": 7, "sync_calls": 1, "counted_tomorrow": [9]});
        assert_eq!(serde_json::from_value::<LiveIo>(newer)?, io, "a later version has more");
        Ok(())
    }

    #[test]
    fn what_is_no_map_of_counters_is_an_error() {
        for wrong in [json!([]), json!([7]), json!(null), json!({"read_pages": -1})] {
            assert!(serde_json::from_value::<LiveIo>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
