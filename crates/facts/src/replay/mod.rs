//! A recording as what can be done again: the steps of each thread, the files and names that they are about, and who waits for
//! whom.
//!
//! `hotset-replay` makes a plan of a trace, and `hotset-sys` does its steps.

mod plan;
mod step;

pub use plan::{
    FileRole, LeftOut, NameKind, PlanFile, PlanMapping, PlanName, PlanPath, PlanSlot, PlanThread,
    PlanTotals, ReplayPlan, Wait,
};
pub use step::{STEP_BYTES, Step, StepKind};
