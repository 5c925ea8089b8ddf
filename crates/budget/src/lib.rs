//! The text of a budget file, `hotset.toml`.
//!
//! - [`read()`] makes a budget of a text, and refuses what no run could be judged by, with the line and the nearest name.
//! - [`write()`] makes the text of a new check, from limits that `hotset_analysis::check` proposes.
//! - [`update()`] puts new limits into a text that stays otherwise as a person wrote it.
//!
//! The words are `hotset_facts::budget`'s, the names of numbers and rules `hotset-analysis`'s. Whether a run holds a limit is decided
//! there.
//!
//! It must not open files: `cli` hands it text, and says which file that is from.

#![forbid(unsafe_code)]

mod error;
mod nearest;
mod read;
mod update;
mod verify;
mod write;

pub use error::BudgetError;
pub use read::read;
pub use update::{Changed, update};
pub use write::{NewCheck, write};
