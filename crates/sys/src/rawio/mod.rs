//! Timed loops over files with as little as possible between the clock and the system call.
//!
//! Each job is a function from [`Arguments`] to an [`Answer`]. Paths are opened, buffers filled and offsets drawn before
//! the clock is read; the loops are monomorphic. Nothing is subtracted from a time. What the kernel did for a timed part
//! is asked around it, by [`Meter`].

pub mod access;
mod answer;
mod arguments;
mod buffer;
pub mod buffered;
mod clock;
mod memory;
mod meter;
mod open;
pub mod order;
pub mod pattern;
pub mod reread;
pub mod stream;
mod words;

pub use access::{DirectAlignment, direct_alignment};
pub use answer::{Answer, Repetition};
pub use arguments::{Arguments, JobError};
pub use buffer::AlignedBuffer;
pub use clock::clock_pair_ns;
pub use memory::{touch_memory, touching_faults};
pub use meter::{Meter, timed};

/// A job: what a probe can be asked to do, by name.
pub type Job = (&'static str, fn(&Arguments) -> Result<Answer, JobError>);
