//! What the program might do otherwise, as a plan of that: `buffer=64K`, `cached`, `once`.
//!
//! A change is a function from a plan to a plan. Each has its file, which says what the programmer would do and what that
//! risks, and stands once in [`all`]. What a change must keep is the same for all, and `check` says it in one place: every byte
//! that was read is read from the same writer, no later than the program needed it; all is written, every name and size changes
//! as before, and what a sync covered it still covers. Tests hold every change, and every two of them, against that on random
//! plans.

mod ask;
mod buffer;
mod cached;
#[cfg(test)]
mod check;
mod direct;
mod error;
mod hints;
mod io_uring;
mod keep_open;
mod known_paths;
mod map;
mod once;
mod order;
mod packed;
#[cfg(test)]
mod plan_text;
mod positions;
mod pread;
mod prefetch;
mod read_ahead;
mod rewrite;
pub(crate) mod subjects;
mod sync_every;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use hotset_facts::replay::ReplayPlan;

pub use ask::{Argument, Asked, parse};
pub use error::ChangeError;

/// A change that can be asked for.
#[derive(Debug)]
pub struct Change {
    /// What it is asked for by.
    pub name: &'static str,
    /// What stands behind its name and `=`, if anything does.
    pub argument: Option<Argument>,
    /// What it does, on one line of at most 60 characters that begins with a verb.
    pub summary: &'static str,
    /// What the programmer would do.
    pub programmer: &'static str,
    /// What the program risks by it, if anything.
    pub risks: Option<&'static str>,
    /// Whether it leaves syncs out, so that after a crash of the system less may be on the device.
    pub syncs_less: bool,
    pub(crate) make: fn(&ReplayPlan, &Given<'_>) -> Made,
}

/// In which order the files of a plan are best read, lowest first: a number for each of them.
pub type FileOrder<'a> = &'a dyn Fn(&ReplayPlan) -> Vec<u64>;

/// What a change is told.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// Its argument; 0 of a change that has none.
    pub(crate) value: u64,
    /// Asked by a change that orders files by itself. Files without a number come behind the others, in the order of the plan.
    pub(crate) order: FileOrder<'a>,
}

/// A new plan and how many steps of the old one are concerned; or why there is nothing to change.
pub(crate) type Made = Result<(ReplayPlan, u64), String>;

/// All changes, as a list shows them: what a program does with bytes, with files, and when.
const CHANGES: &[Change] = &[
    buffer::CHANGE,
    sync_every::CHANGE,
    once::CHANGE,
    cached::CHANGE,
    direct::CHANGE,
    pread::CHANGE,
    map::CHANGE,
    io_uring::CHANGE,
    hints::SEQUENTIAL,
    hints::RANDOM,
    hints::WILLNEED,
    read_ahead::CHANGE,
    prefetch::CHANGE,
    packed::CHANGE,
    keep_open::CHANGE,
    known_paths::CHANGE,
];

/// All changes, in the order in which a list shows them.
pub fn all() -> &'static [Change] {
    CHANGES
}

/// A plan after changes, and what each of them did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The new plan. What the records came to is as it was.
    pub plan: ReplayPlan,
    /// Each change, in the order in which it was made.
    pub applied: Vec<Applied>,
}

/// What one change did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The change as it was asked for.
    pub what: String,
    /// Steps of all threads before it.
    pub steps_before: u64,
    /// Steps of all threads after it.
    pub steps_after: u64,
    /// Steps of before that became others, or none, or that a new one was put beside.
    pub affected: u64,
}

/// Makes changes one after another, each of the plan that the one before it made; told the order in which files are best read, such as
/// that of their places on the device.
///
/// # Errors
/// [`ChangeError::NotApplicable`] at the first that finds nothing to change.
pub fn apply_ordered(
    plan: &ReplayPlan,
    asked: &[Asked],
    order: FileOrder<'_>,
) -> Result<Changed, ChangeError> {
    let mut changed: Option<ReplayPlan> = None;
    let mut applied = Vec::with_capacity(asked.len());
    for one in asked {
        let before = changed.as_ref().unwrap_or(plan);
        let given = Given { value: one.value(), order };
        let (after, affected) = (one.change().make)(before, &given)
            .map_err(|why| ChangeError::NotApplicable { change: one.to_string(), why })?;
        #[cfg(test)]
        check::guard(one, before, &after);
        applied.push(Applied {
            what: one.to_string(),
            steps_before: before.steps(),
            steps_after: after.steps(),
            affected,
        });
        changed = Some(after);
    }
    Ok(Changed { plan: changed.unwrap_or_else(|| plan.clone()), applied })
}

/// The same where nothing is known of that order.
#[cfg(test)]
pub(crate) fn apply(plan: &ReplayPlan, asked: &[Asked]) -> Result<Changed, ChangeError> {
    apply_ordered(plan, asked, &|_| Vec::new())
}
