//! `hotset export`: who scrapes it, who it pushes to, and who may.
//!
//! One program, because most of these tests wait for seconds to pass: together they wait at once.

mod bucket;
mod curves;
mod findings;
mod fleet;
mod kubernetes;
mod lookups;
mod otlp;
mod prometheus;
mod seen;
mod serve;
mod web;
