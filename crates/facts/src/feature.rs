//! What a kernel may lack, and what is therefore not measured.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Reason;

/// Something that counting needs, or that was met and could not be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Feature {
    /// Tracepoints for faults on file mappings, and software perf events.
    FileFaults,
    /// Tracepoints of io_uring that carry the request.
    IoUring,
    /// Results of Linux AIO.
    LinuxAio,
    /// A tracepoint for pages that turn dirty.
    DirtyTracepoint,
    /// The tracepoint of requests to the block layer.
    BlockLayer,
    /// System calls of the i386 and x32 ABIs.
    CompatCalls,
    /// copy_file_range(2) on a file system that can share blocks.
    SharedCopies,
    /// Marks of pages that several CPUs change at once.
    MarksAtOnce,
    /// Which subvolume of btrfs a file is in.
    Subvolumes,
    /// Kernel memory for the sensor's tables outside of the memory limit of what is observed.
    FreeTables,
    /// Reads from devices that the kernel held back, and sent later in a thread of its own.
    DelayedReads,
    /// Where the call before on the same file ended.
    CallOrder,
    /// The sensor as a whole.
    Sensor,
    /// The sensor, in the place of which tracing counts lookups, opens and processes.
    Requests,
    /// Calls that tracing counts.
    Tracing,
}

macro_rules! counted {
    ($(
        $(#[$group_doc:meta])*
        $group:ident: $kind:ident $Name:ident $(($($histogram:tt)+))? {
            $($(#[$doc:meta])* $field:ident: $unit:ident $rows:tt $needs:ident $(live $live:tt)?;)*
        }
    )*) => {
        /// Every counter of a run, by group and name, with what it needs.
        const COUNTED: &[(&str, Option<Feature>)] = &[
            $($((concat!(stringify!($group), ".", stringify!($field)), needs!($needs)),)*)*
        ];
    };
}

/// What a counter needs, from its word in the table.
macro_rules! needs {
    (always) => {
        None
    };
    ($feature:ident) => {
        Some($crate::Feature::$feature)
    };
}

pub(crate) use needs;

crate::counters!(counted);

/// What only the sensor counts.
const REQUESTS: [&str; 7] = ["read", "write", "mmap.faults", "direct", "readahead", "sync", "time"];

impl Feature {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::FileFaults,
        Self::IoUring,
        Self::LinuxAio,
        Self::DirtyTracepoint,
        Self::BlockLayer,
        Self::CompatCalls,
        Self::SharedCopies,
        Self::MarksAtOnce,
        Self::Subvolumes,
        Self::FreeTables,
        Self::DelayedReads,
        Self::CallOrder,
        Self::Sensor,
        Self::Requests,
        Self::Tracing,
    ];

    /// What is not counted without it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FileFaults => "faults on file mappings",
            Self::IoUring => "io_uring",
            Self::LinuxAio => "Linux AIO",
            Self::DirtyTracepoint => "dirtied pages",
            Self::BlockLayer => "device bytes",
            Self::CompatCalls => "32-bit system calls",
            Self::SharedCopies => "copy_file_range",
            Self::MarksAtOnce => "read-ahead hits of files that several processes read at once",
            Self::Subvolumes => "subvolumes of btrfs apart",
            Self::FreeTables => "evictions by the memory limit alone",
            Self::DelayedReads => "delayed reads",
            Self::CallOrder => "order of calls",
            Self::Sensor => "file I/O",
            Self::Requests => "requests for pages of files",
            Self::Tracing => "calls seen by tracing",
        }
    }

    /// Why a counter that needs it has no value.
    pub const fn reason(self) -> Reason {
        match self {
            Self::FileFaults => Reason::unsupported(
                "this kernel has no tracepoints for file faults (Linux 6.12), or refuses perf events (`hotset doctor` says which)",
            ),
            Self::IoUring => Reason::unsupported(
                "this kernel's io_uring tracepoints don't carry the request (Linux 6.0)",
            ),
            Self::LinuxAio => Reason::unsupported("its results were not seen"),
            Self::DirtyTracepoint => {
                Reason::unsupported("this kernel has no writeback_dirty_folio tracepoint")
            }
            Self::BlockLayer => {
                Reason::unsupported("this kernel has no block_bio_queue tracepoint")
            }
            Self::CompatCalls => {
                Reason::unsupported("calls of the i386 and x32 ABIs are not decoded")
            }
            Self::SharedCopies => Reason::unsupported(
                "copies on a file system that can share blocks may have copied nothing",
            ),
            Self::Subvolumes => Reason::unsupported(
                "the kernel does not tell the types of btrfs, which its files' subvolumes are read from",
            ),
            Self::MarksAtOnce => Reason::unsupported(
                "this kernel has no atomic operations for marks of pages (Linux 5.12)",
            ),
            Self::FreeTables => Reason::not_measured(
                "hotset's own tables take a part of the memory limit around it",
            ),
            Self::DelayedReads => Reason::not_measured(
                "the kernel held reads back, as a control group's limit has it do, and sent them for nobody",
            ),
            Self::CallOrder => Reason::not_measured(
                "calls on many files are one row: which of them went on where the one before ended is not known",
            ),
            Self::Sensor => Reason::denied("the sensor was not loaded"),
            Self::Requests => {
                Reason::denied("the sensor was not loaded, and tracing does not see it")
            }
            Self::Tracing => Reason::unsupported("tracing did not see all that the command did"),
        }
    }

    /// The names, as JSON has them, of all that has no value without it: counters, or the thing itself.
    pub fn unmeasured(self) -> Vec<&'static str> {
        let counters = COUNTED.iter().filter(|(_, needs)| *needs == Some(self));
        let counters: Vec<_> = counters.map(|(what, _)| *what).collect();
        match self {
            Self::Sensor => [REQUESTS.as_slice(), &["lookups"]].concat(),
            Self::Requests => REQUESTS.to_vec(),
            Self::Tracing => vec!["lookups", "files.opens"],
            _ if counters.is_empty() => vec![self.name()],
            _ => counters,
        }
    }
}

/// One thing that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotMeasured {
    /// What was lacking.
    pub feature: Feature,
    /// Why, with what was lost at run time, and what would help.
    pub reason: String,
}

impl NotMeasured {
    /// A feature that is not there.
    pub fn lacking(feature: Feature) -> Self {
        Self { feature, reason: feature.reason().detail.to_owned() }
    }

    /// The entries of a saved result: [`Feature::unmeasured`] of each with its reason. What this version does not know is passed
    /// over.
    pub fn from_saved<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Self> {
        let entries: Vec<(&str, &str)> = entries.into_iter().collect();
        let mut gaps: Vec<Self> = Vec::new();
        for &(what, reason) in &entries {
            let says =
                |gap: &Self| gap.reason == reason && gap.feature.unmeasured().contains(&what);
            if gaps.iter().any(says) {
                continue;
            }
            let named = |feature: &Feature| feature.unmeasured().contains(&what);
            // Two features that have names in common are told apart by those that one of them has not.
            let whole = |feature: &Feature| {
                let all = feature.unmeasured();
                all.contains(&what) && all.iter().all(|name| entries.contains(&(*name, reason)))
            };
            let all = Feature::ALL.into_iter();
            let known = all.clone().find(whole).or_else(|| all.clone().find(named));
            gaps.extend(known.map(|feature| Self { feature, reason: reason.to_owned() }));
        }
        gaps
    }
}

/// What was not measured as it is written: a counter, or what else could not be measured.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct NotMeasuredKeys {
    /// Its name, e.g. `mmap.faults`.
    what: String,
    /// Why, and what would help.
    reason: String,
}

/// An entry for each name that has no value.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotMeasuredList(Vec<NotMeasuredKeys>);

impl From<&Vec<NotMeasured>> for NotMeasuredList {
    fn from(lacking: &Vec<NotMeasured>) -> Self {
        let entries = |lacking: &NotMeasured| {
            let reason = lacking.reason.clone();
            let keys =
                move |what: &str| NotMeasuredKeys { what: what.to_owned(), reason: reason.clone() };
            lacking.feature.unmeasured().into_iter().map(keys)
        };
        Self(lacking.iter().flat_map(entries).collect())
    }
}

impl From<NotMeasuredList> for Vec<NotMeasured> {
    fn from(NotMeasuredList(all): NotMeasuredList) -> Self {
        NotMeasured::from_saved(all.iter().map(|keys| (keys.what.as_str(), keys.reason.as_str())))
    }
}

crate::format::stands_for!(NotMeasuredList => Vec<NotMeasured>);

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.feature.unmeasured().join(", "), self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_names_every_counter_that_needs_it() {
        let faults = ["mmap.faults", "mmap.minor_faults", "mmap.major_faults", "time.fault_ns"];
        assert_eq!(Feature::FileFaults.unmeasured(), faults);
        assert_eq!(Feature::DirtyTracepoint.unmeasured(), ["write.dirtied_pages"]);
        let device =
            ["read.zeros", "write.misses", "mmap.zeros", "device.read_bytes", "device.write_bytes"];
        assert_eq!(Feature::BlockLayer.unmeasured(), device);
        assert_eq!(Feature::IoUring.unmeasured(), ["io_uring"]);
    }

    #[test]
    fn what_was_saved_is_what_is_read() {
        let counted =
            |reason: &str| NotMeasured { feature: Feature::IoUring, reason: reason.to_owned() };
        let mut gaps: Vec<_> = Feature::ALL.into_iter().map(NotMeasured::lacking).collect();
        gaps.push(counted("3 requests whose file could not be found"));
        let names = |gap: &NotMeasured| {
            let (names, reason) = (gap.feature.unmeasured(), gap.reason.clone());
            names.into_iter().map(move |what| (what, reason.clone())).collect::<Vec<_>>()
        };
        let saved: Vec<_> = gaps.iter().flat_map(names).collect();
        let entries = saved.iter().map(|(what, reason)| (*what, reason.as_str()));
        assert_eq!(NotMeasured::from_saved(entries.chain([("of tomorrow", "")])), gaps);
    }
}
