//! The full screen of `hotset top`: what it shows, how it looks, and what a key does.
//!
//! [`App`] is the state; [`draw()`] is a pure function of it; [`App::input`] changes it and says what the program around it
//! has to do. No clock, no file and no terminal here: the program hands in frames and inputs.

mod app;
mod batch;
mod columns;
mod draw;
mod filter;
mod format;
mod input;
mod look;
mod names;
mod when;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use app::{App, Counting, Place, Setup};
pub use batch::{BatchOptions, batch_text};
pub use draw::draw;
pub use input::{Effect, INTERVAL_RANGE_NS, Input, Key, Step};
pub use look::Look;
pub use when::unix_seconds;
