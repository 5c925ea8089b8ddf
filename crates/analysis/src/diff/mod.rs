//! Two runs, or two recordings, compared: what came, went, grew and shrank.
//!
//! A [`Side`] is made of a profile or of the records of a trace; both have their counters under the names that they have in JSON.
//! [`compare()`] matches rows by name, then by what is left of a name without hashes, versions, temporary parts and PIDs (`names`),
//! then files by their identity and processes by their program. What one side did not measure is in no difference.

mod caveats;
mod compare;
mod counters;
mod difference;
mod effect;
mod findings;
mod names;
mod profile;
mod rows;
mod side;
mod strip;
mod sums;
#[cfg(test)]
mod tests;
mod trace;

pub use compare::{KindsDiffer, compare};
pub use counters::{Counters, varies};
pub use difference::{
    Brief, Change, ComparedKind, CounterChange, DiffCaveat, DiffCaveatKind, Difference,
    FindingChange, MatchedBy, MatchedRow, NamedRow, NotCompared, RowChange, RowChanges, SideAbout,
    Stripped, Which,
};
pub use side::{Side, SideFinding, SideRow};
pub use strip::Strip;
pub use trace::TraceSide;
