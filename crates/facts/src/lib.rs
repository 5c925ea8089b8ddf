//! Facts: the vocabulary that every other crate shares.
//!
//! A fact is what was measured, with its losses and the reasons of what is missing: identities of files and processes,
//! counters, profiles of runs, sessions of benchmarks and experiments, the host that they were measured on. [`Observed`] is
//! the value or the [`Reason`] why there is none; a value that could not be measured is never zero.
//!
//! Beside them stand two small tools that every crate shares: [`units`], the one home of numbers as people read them, and
//! [`random`], the one generator.
//!
//! A fact is also its format: it derives how it is written as JSON and read back, and its names and doc comments are the
//! committed schema's. A second declaration would hold nothing more, and double every change. Which facts make a document, and what is
//! written beside them, is `hotset-view`'s. What is written row by row ([`Profile`], [`ListedFile`]) or with numbers that follow
//! from it ([`ControlReport`], [`SystemCache`], [`LabSession`], [`RestoreReport`]) is not whole without it: serde skips these
//! fields here, and `hotset_view::wire` writes them.
//!
//! It must not do I/O, print or interpret: ratios and findings are `hotset-analysis`'s.

#![forbid(unsafe_code)]

mod bench;
pub mod budget;
mod control;
mod costs;
mod counters;
mod curves;
mod environment;
mod feature;
pub mod fleet;
pub mod format;
mod ids;
mod io;
mod lab;
mod limited;
mod listing;
mod live;
mod lookup;
pub mod message;
mod named;
mod observed;
mod packed;
mod page_split;
mod profile;
pub mod random;
pub mod replay;
mod residency;
mod snapshot;
mod support;
mod system;
pub mod trace;
mod unevictable;
pub mod units;
mod varint;

pub use bench::{
    Baseline, BaselineCondition, BaselineSample, BaselineSession, BenchCommand, BenchRun,
    BenchSession, Condition, ConditionRole, Decision, FileSet, HostIdentity, LearnedBy, LearnedIo,
    OtherPrograms, Percent, Progress, SetMember, StateReached, StopReason, StuckPages, Timer,
    WantedState, Warmup,
};
pub use control::{
    ControlNote, ControlReport, ControlTotals, ControlVerb, ControlledFile, Followed, NotCached,
};
pub use costs::CostTable;
pub use curves::{CurveCounts, GroupCurve, LiveCurves, SampledNeed};
pub use environment::{Environment, Filesystem};
pub use feature::{Feature, NotMeasured};
pub use ids::{Dev, FileId, Pid};
pub use io::{
    DeviceIo, DirectIo, HISTOGRAM_BOUNDS, Io, MmapIo, ReadIo, ReadaheadIo, SizeHistogram, SyncIo,
    TimeIo, WriteIo,
};
pub use lab::{
    CountedBy, DoubtCode, FactValue, Factor, FilledBy, LabBaseline, LabBaselineCell,
    LabBaselineSample, LabBaselineSession, LabCell, LabConditions, LabDoubt, LabFact, LabSample,
    LabSession, LabSize, LabSkipped, LabUnit, Level, TWIN,
};
pub use limited::LimitedRun;
pub use listing::{ListedFile, ListingTotals, Skipped, Unreadable};
pub use live::{
    Counter, HostMemory, Interval, LIVE, LiveCounters, LiveFile, LiveIo, LiveLookups, LiveLosses,
    LiveProcess, LiveRow, Pressure, Unit,
};
pub use lookup::{FailedLookup, LookupCounters, Lookups};
pub use named::NamedCounter;
pub use observed::{Observed, Reason, ReasonKind};
pub use packed::{PackedIo, PackedLiveIo};
pub use page_split::PageSplit;
pub use profile::{
    CallSites, Command, ExitStatus, FileKind, FileRow, ProcessRow, Profile, Sensor, SensorLevel,
    SensorLosses, SiteContexts, SiteIo, SiteRow, Target,
};
pub use residency::{CacheCell, PageRange, Residency, ResidencySource};
pub use snapshot::{NamedFew, RestoreReport, RestoreStop, SaveReport};
pub use support::{Capability, Support, Verdict};
pub use system::{
    CacheSource, CachedFile, CachedFileSystem, FileSystemKind, Holder, MemInfo, PageHolder,
    PagesByHolder, SystemCache,
};
pub use unevictable::{FileHolder, Stayed, Unevictable};
