//! Bytes out of facts and summaries: the terminal's reports and screens, JSON, CSV, HTML pages, metrics.
//!
//! Every view is a pure function of what it is handed: same input, same bytes. Formats that are read back are read here,
//! too, and what they hold takes the same road as a fresh result.
//!
//! It must not compute a number that another view could compute differently: that is `hotset-analysis`'s. It must not open a
//! file, read a clock, start a thread or print; `clippy.toml` forbids the calls.

#![forbid(unsafe_code)]

pub mod baseline;
pub mod bench;
pub mod check;
pub mod control;
mod csv;
pub mod diff;
mod doctor;
mod escape;
pub mod explain;

pub mod fleet;
pub mod lab;
pub mod listing;
pub mod live;
pub mod metrics;
pub mod page;
pub mod record;
pub mod replay;
mod report;
pub mod results;
mod sites;
pub mod size;
mod snapshot;
mod system;
mod table;
#[cfg(test)]
mod testing;
pub mod trace;
pub mod tui;
pub mod wire;

pub use hotset_facts::units;

pub use doctor::doctor_text;
pub use escape::{escape_bytes, escape_text, shorten_middle};
pub use report::{Options, render};
pub use snapshot::{restore_text, save_text};
pub use system::{SystemOptions, system_csv, system_text};
pub use wire::{
    doctor_json, read_profile, restore_json, save_json, system_json, write_profile_json,
};
