//! Bytes out of a summary: the terminal report and JSON. Every view is a pure function; none computes a number that
//! another view could compute differently, opens a file or prints.

#![forbid(unsafe_code)]

pub mod bench;
pub mod control;
mod csv;
mod doctor;
mod escape;
mod json;
pub mod lab;
pub mod listing;
pub mod live;
pub mod metrics;
pub mod page;
mod report;
pub mod results;
mod snapshot;
mod system;
mod table;
#[cfg(test)]
mod testing;
pub mod tui;
pub mod units;
pub mod wire;

pub use doctor::{doctor_json, doctor_text};
pub use escape::{escape_bytes, escape_text, shorten_middle};
pub use report::{Options, render};
pub use snapshot::{restore_json, restore_text, save_json, save_text};
pub use system::{SystemOptions, system_csv, system_json, system_text};
pub use wire::{read_profile, write_profile_json};
