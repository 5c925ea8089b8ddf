//! What the page cache holds of a file, and how to change that.

pub mod control;
pub mod open;
mod raw;
pub mod residency;
mod stacked;

pub use control::{CacheChange, ControlError, evict, evict_fd, warm, warm_fd};
pub use open::open_quietly;
pub use raw::{CacheStat, cachestat};
pub use residency::{ResidencyCause, ResidencyError, cached_pages_in, residency, residency_at};
pub use stacked::hides_pages;
