//! What `check` says: for a terminal, as JUnit XML, as TAP, and for GitHub.

mod github;
mod junit;
mod tap;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use crate::wire::check_json;
pub use github::{annotations, step_summary};
pub use junit::junit;
pub use tap::tap;
pub use text::{changed_lines, render_check};
