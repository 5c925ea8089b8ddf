//! Call sites of what is observed: stacks become sites (`naming`), and records of sites become sums (`table`), of a whole
//! session (`counting`).

pub(crate) mod counting;
mod naming;
mod table;

pub use naming::Named;
pub(crate) use naming::{Namer, Taken};
pub(crate) use table::SiteTable;

/// Bytes of a stack that are copied, once for each context: with 4,096, chains of `git status` were cut that 8,192 show whole.
pub const STACK_BYTES: u32 = 8_192;
