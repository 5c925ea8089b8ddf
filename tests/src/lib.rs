//! Helpers for the tests of the whole: where the programs are, how to run them, and how to read what they wrote.
//!
//! Truth comes from the `workload` program, which asks the kernel and never hotset. A helper that can't do its part
//! panics with the reason: a test that can't run must not pass.

pub mod invariants;
pub mod json;
pub mod mounted;
pub mod observed;
pub mod programs;
pub mod run;
pub mod scratch;
pub mod state;

pub use invariants::assert_invariants;
pub use json::{bytes_of, file_row, number, process_row, row_at};
pub use mounted::Mounted;
pub use observed::{Cache, Observed, observe, observe_files};
pub use programs::{hotset, workload};
pub use run::{HotsetRun, measure, prepare, profile_of, read_json, run_hotset, stderr};
pub use scratch::Scratch;
pub use state::{evict_verified, until, warm_verified};
