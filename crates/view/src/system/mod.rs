//! What occupies the cache of the whole machine: text, JSON (`hotset.system-cache/1`), CSV.

mod csv;
mod names;
mod rest;
#[cfg(test)]
pub(crate) mod tests;
mod text;

pub use csv::system_csv;
pub use text::{SystemOptions, system_text};
