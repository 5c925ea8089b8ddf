//! The probes of language runtimes: carried in this binary, put where their runtimes can run them, built where they must be.
//!
//! `docs/probes.md` has the contract. What can't be had is a [`LabSkipped`](hotset_facts::LabSkipped) with the way to get it.

mod build;
mod find;
mod language;
mod probe;
#[cfg(test)]
mod tests;

pub use build::{beside, said};
pub use find::{Interpreter, find};
pub use language::Language;
pub use probe::{Probe, Start};
