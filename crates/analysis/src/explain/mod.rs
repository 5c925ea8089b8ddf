//! What a recording alone tells of a program's I/O that could be spared: findings, which a replay with a change then proves.
//!
//! [`Explainer`] reads the records once, in batches, and forgets them. `seen` works out for each record what came before it: how
//! its thread got there, whether it goes on where the last request ended, which of its bytes were read or written before. Each
//! rule has a file, is handed that, and answers at the end. All tables are bounded.

mod blame;
mod end;
mod explainer;
mod finding;
mod how;
mod language;
mod proof;
mod rules;
mod seen;
mod settings;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use end::USUAL_COSTS;
pub use explainer::Explainer;
pub use finding::{Explanation, FileShare, TraceFinding, TraceSiteShare};
pub use language::Language;
pub use proof::{Attempt, Explained, Proof, ProvedFinding, explained};
pub use rules::{EXPLAIN_RULES, ExplainRule};
pub use settings::Setting;
