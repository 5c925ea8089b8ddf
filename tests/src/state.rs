//! Cache states, verified right before use. Hosts that evict idle pages undo them within seconds.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use hotset_sys::cache;

const ATTEMPTS: u32 = 20;

/// Evicts until no page of the file is cached.
pub fn evict_verified(path: &Path) {
    until("the file is evicted", || {
        let change = cache::evict(path).unwrap_or_else(|error| panic!("{error}"));
        (change.cached_after.value() == Some(0)).then_some(())
    });
}

/// Reads until every page of the file is cached and up to date.
pub fn warm_verified(path: &Path) {
    until("the file is cached", || {
        let change = cache::warm(path).unwrap_or_else(|error| panic!("{error}"));
        (change.cached_after.value() == Some(change.pages)).then_some(())
    });
}

/// Tries until `attempt` answers; for runs whose state something else can disturb.
pub fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    for _ in 0..ATTEMPTS {
        if let Some(answer) = attempt() {
            return answer;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("gave up after {ATTEMPTS} attempts until {what}");
}
