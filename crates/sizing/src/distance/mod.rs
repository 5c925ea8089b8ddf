//! Exact curves of least recently used: stack distances in one pass, and from them the hits at any limit (R. Mattson and
//! others, "Evaluation techniques for storage hierarchies", 1970).
//!
//! No kernel has this policy: [`crate::evidence`] says how far off it is.

mod dense;
mod hashed;
mod histogram;
mod slots;
pub(crate) mod stack;

pub use dense::DenseStack;
pub use hashed::HashedStack;
pub use histogram::Distances;

use crate::references::{References, RequestKind};

/// The distances of all references. Pages that are removed leave the stack.
pub fn of(references: &References) -> Distances {
    let mut stack = DenseStack::new(references.distinct());
    for (request, pages) in references.iter() {
        match request.kind {
            RequestKind::Remove => pages.iter().for_each(|&page| stack.remove(page)),
            RequestKind::Ahead | RequestKind::Sync => {}
            _ => pages.iter().for_each(|&page| _ = stack.touch(page)),
        }
    }
    stack.into_distances()
}
