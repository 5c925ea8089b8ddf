//! Exact curves of least recently used: stack distances in one pass, and from them the hits at any limit (R. Mattson and
//! others, "Evaluation techniques for storage hierarchies", 1970).
//!
//! No kernel has this policy: [`crate::evidence`] says how far off it is.

mod dense;
mod hashed;
mod histogram;
mod slots;
pub(crate) mod stack;
mod sums;
mod uncounted;

pub use dense::DenseStack;
pub use hashed::HashedStack;
pub use histogram::Distances;

use crate::references::{References, RequestKind};

/// The distances of all references. Pages that are removed leave the stack.
pub fn of(references: &References) -> Distances {
    let mut stack = DenseStack::new(references.numbers());
    // References stand one behind the other until a request is none.
    let (mut rest, mut len) = (references.pages(), 0);
    for (request, pages) in references.iter() {
        if request.kind.is_reference() {
            len += pages.len();
            continue;
        }
        stack.touch_all(&rest[..len]);
        if request.kind == RequestKind::Remove {
            pages.iter().for_each(|&page| stack.remove(page));
        }
        rest = &rest[len + pages.len()..];
        len = 0;
    }
    stack.touch_all(&rest[..len]);
    stack.into_distances()
}
