//! What the page cache holds of a file, and how to change that.

mod cells;
pub mod control;
pub mod evict;
pub mod fetch;
pub mod holders;
pub mod open;
pub mod pin;
mod populate;
mod prober;
pub mod ranges;
mod raw;
pub mod residency;
mod stacked;
pub mod warm;

pub use cells::cells;
pub use control::{ByteSpan, CacheChange, ControlError};
pub use evict::{
    Dirty, Evicted, drop_everything, evict, evict_fd, evict_span, may_drop_everything,
};
pub use fetch::{fetch, settle};
pub use holders::{Holders, holders};
pub use open::{open_quietly, require_cacheable};
pub use pin::{LockLimit, Pin, lock_limit};
pub use prober::Prober;
pub use ranges::{ranges, visit_ranges};
pub(crate) use raw::last_errno;
pub use raw::{CacheStat, cachestat};
pub(crate) use residency::size_of;
pub use residency::{ResidencyCause, ResidencyError, cached_pages_in, residency, residency_at};
pub use stacked::{hides_pages, is_in_memory, seen_pages};
pub use warm::{Supervisor, Warmed, warm, warm_fd, warm_span};
