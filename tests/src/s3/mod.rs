//! A real S3 server, and what can go wrong on the way to it.

mod faults;
mod server;

pub use faults::{Fault, Faults};
pub use server::{ACCESS_KEY, ObjectServer, SECRET_KEY};
