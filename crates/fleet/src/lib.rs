//! The tables of a fleet, on their way from a host to where a fleet is asked about.
//!
//! Rows of an interval are put into a journal and synced; when their period has ended they become one Parquet file a table, whose name
//! says whose they are, and which is delivered to a directory or a bucket. What can't be delivered waits in a bounded spool.
//!
//! It must not sample, read arguments, or print, and whoever hands rows over never waits: not for a disk, nor for a network.

#![forbid(unsafe_code)]

mod encode;
mod place;
mod rows;
mod sink;
mod spool;
mod store;
#[cfg(test)]
mod tests;

pub use encode::encode;
pub use place::{Period, micros};
pub use rows::Rows;
pub use sink::{Complete, Say, Sink, SinkNumbers, SinkOptions};
pub use store::{Directory, Store};
