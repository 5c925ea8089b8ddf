//! What the kernel reads ahead of read calls, when pages are missing that were there when it was recorded.
//!
//! After mm/readahead.c and `filemap_read()` of mm/filemap.c, Linux 6.1 and 6.12, for folios of one page. Which pages are read ahead
//! depends on which are cached, so that it differs from limit to limit: a request that finds some of its pages evicted can make the
//! kernel read many that nobody asked for.

mod layout;
mod opens;
mod window;

pub(crate) use layout::{Layout, Reach, Segment};
pub(crate) use opens::{Opened, Opens};
pub(crate) use window::{State, Window};

use crate::evidence::KernelVersion;

/// Whose read-ahead it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadAheadRules {
    /// One function decides about missing and about marked pages (`ondemand_readahead()`): the window moves on where a page is missing at
    /// its end, and one that would be used up at once is enlarged.
    pub(crate) is_common: bool,
    /// Where a call has arrived is known while it goes on, so that a page missing within it makes it a sequential one.
    pub(crate) knows_place_within_calls: bool,
}

impl ReadAheadRules {
    /// The rules of a kernel. Read were the sources of 6.1, 6.6 and 6.12: in 6.12, `page_cache_sync_ra()` has code of its own; in 6.1, `filemap_read()`
    /// keeps how far it has read while it reads, in 6.6 at its end. Where between them it changed was not read.
    pub fn of(kernel: KernelVersion) -> Self {
        Self {
            is_common: kernel < KernelVersion::new(6, 11),
            knows_place_within_calls: (KernelVersion::new(5, 11)..KernelVersion::new(6, 6))
                .contains(&kernel),
        }
    }
}

/// What simulations need of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadAhead {
    pub(crate) rules: ReadAheadRules,
    pub(crate) opens: Opens,
    pub(crate) layout: Layout,
}
