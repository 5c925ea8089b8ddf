//! Bytes out of a summary: the terminal report and JSON. Every view is a pure function; none computes a number that
//! another view could compute differently, opens a file or prints.

#![forbid(unsafe_code)]

mod doctor;
mod escape;
mod json;
mod report;
mod table;
#[cfg(test)]
mod testing;
pub mod units;

pub use doctor::{doctor_json, doctor_text};
pub use escape::{escape_bytes, escape_text, shorten_middle};
pub use json::write_profile_json;
pub use report::{Options, render};
