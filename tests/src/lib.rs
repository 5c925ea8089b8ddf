//! Helpers for the tests of the whole: where the programs are, how to run them, and how to read what they wrote.
//!
//! Truth comes from the `workload` program, which asks the kernel and never hotset. A helper that can't do its part
//! panics with the reason: a test that can't run must not pass.

pub mod json;
pub mod programs;
pub mod run;
pub mod scratch;
pub mod state;

pub use json::{bytes_of, file_row, number, process_row};
pub use programs::{hotset, workload};
pub use run::{HotsetRun, measure, prepare, run_hotset};
pub use scratch::Scratch;
pub use state::{evict_verified, until, warm_verified};
