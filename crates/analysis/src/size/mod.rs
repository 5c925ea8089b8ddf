//! How much memory a program needs: what its files' pages are worth at other limits, and what it holds beside.
//!
//! [`Collector`] reads the records of a recording once, and makes references to pages of them. [`size()`] simulates these at many
//! limits by the policy of the kernel ([`hotset_sizing`]), and finds the limit from which on more memory brings hardly anything,
//! and the one below which the program mostly waits.

mod asked;
mod bounds;
mod collect;
mod limits;
mod need;
mod sampled;
mod search;
mod summary;
#[cfg(test)]
mod tests;
mod verified;

pub use hotset_sizing::evidence::{
    Access, COMPARED_KERNELS, Caveat, Condition, KernelVersion, Prediction, of_lru, predictor,
};
pub use hotset_sizing::{PAGE_BYTES, PolicyKind, TooMany};

pub use asked::{SizeAsked, SizeHost, other_page_bytes, version};
pub use collect::{Collected, Collector, Seen};
pub use limits::SizeLimit;
pub use need::{Must, Recommended};
pub use sampled::{Sampled, size_sampled};
pub use summary::{SizeSummary, TooLittle, size, size_at};
pub use verified::{VerifiedLimit, limits_to_verify};
