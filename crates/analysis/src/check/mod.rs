//! A run beside a budget: which limits it holds, which it breaks, and what makes the numbers that are too large.

mod judge;
mod learn;
mod numbers;
mod parts;
mod sites;
#[cfg(test)]
mod tests;
mod verdict;

pub use judge::{Judged, Matches, rule_of};
pub use learn::{LeftOut, Proposal, Proposed, WithoutShared, propose};
pub use numbers::Number;
pub use verdict::{
    Attempt, CheckOutcome, CheckReport, CheckResult, JudgedFinding, JudgedLimit, LimitOf,
    LimitVerdict, Part, PartKind, SitePart,
};
