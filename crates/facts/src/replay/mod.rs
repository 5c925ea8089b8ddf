//! A recording as what can be done again: the steps of each thread, the files and names that they are about, and who waits for
//! whom; and what came of it when it was done.
//!
//! `hotset-replay` makes a plan of a trace, `hotset-sys` does its steps, and `hotset-lab` has it do them in rounds: a
//! [`ReplaySession`].

mod latin1;
mod pattern;
mod plan;
mod session;
mod step;

pub use pattern::{
    PATTERN_MARKS, PatternKind, PatternLane, PatternMark, PatternSide, ReplayPattern,
};
pub use plan::{
    FilePart, FileRole, LeftOut, NameKind, PlanFile, PlanMapping, PlanName, PlanPath, PlanSlot,
    PlanThread, PlanTotals, PlanTransfer, ReplayPlan, Wait,
};
pub use session::{
    Difference, ReplayChange, ReplayFiles, ReplayPages, ReplaySample, ReplaySession, ReplayState,
    ReplayVariant, SinceRecorded, UnfitFile,
};
pub use step::{STEP_BYTES, Step, StepKind};
