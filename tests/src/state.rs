//! Cache states, verified right before use. Hosts that evict idle pages undo them within seconds.

use std::fmt::{Debug, Display};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use hotset_sys::cache;

use crate::pageflags::resident_pages;

/// A condition is tried this often, and for this long: a busy host needs seconds for what is otherwise at once.
const ATTEMPTS: u32 = 20;
const TIMEOUT: Duration = Duration::from_secs(10);

/// Whether the kernel has cachestat(2), without which nobody knows what was cached right before a request.
pub fn has_cachestat() -> bool {
    let file = File::open("/proc/self/exe").expect("open");
    cache::cachestat(&file, 0, 1) != Err(rustix::io::Errno::NOSYS)
}

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

/// Writes back what is dirty of the file, which is none of anybody's counts: what is dirty already does not turn dirty again.
pub fn clean(path: &Path) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    match rustix::fs::fsync(&file) {
        // File systems that are never written have nothing to write back, and say so.
        Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::ROFS) => {}
        Err(errno) => panic!("fsync {}: {errno}", path.display()),
    }
}

/// Evicts the file and reads the pages that `wanted` names, each alone, until they and no others are cached.
pub fn scatter_verified(path: &Path, wanted: impl Fn(usize) -> bool) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).expect("fadvise");
    until("the wanted pages are cached, and no others", || {
        evict_verified(path);
        let pages = resident_pages(path).len();
        for page in (0..pages).filter(|page| wanted(*page)) {
            let mut byte = [0];
            file.read_exact_at(&mut byte, page as u64 * rustix::param::page_size() as u64)
                .expect("read");
        }
        resident_pages(path)
            .iter()
            .enumerate()
            .all(|(page, here)| *here == wanted(page))
            .then_some(())
    });
}

/// Tries until `attempt` answers; for runs whose state something else can disturb.
pub fn until<T>(what: &str, attempt: impl FnMut() -> Option<T>) -> T {
    until_within(TIMEOUT, what, attempt)
}

/// The same for what may take so long, such as a delivery that is repeated after ever longer pauses.
pub fn until_within<T>(limit: Duration, what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    tries(limit, what, || attempt().ok_or_else(|| "no answer".to_owned()))
}

/// The same for attempts that say what they saw instead, which is what the last one fails with.
pub fn until_ok<T>(what: &str, attempt: impl FnMut() -> Result<T, String>) -> T {
    tries(TIMEOUT, what, attempt)
}

fn tries<T>(limit: Duration, what: &str, mut attempt: impl FnMut() -> Result<T, String>) -> T {
    let started = Instant::now();
    let (mut attempts, mut last) = (0, String::new());
    while attempts < ATTEMPTS || started.elapsed() < limit {
        match attempt() {
            Ok(answer) => return answer,
            Err(seen) => last = seen,
        }
        attempts += 1;
        sleep(Duration::from_millis(50));
    }
    panic!("gave up after {attempts} attempts until {what}: {last}");
}

/// What an attempt saw is what was wanted; else both, and what it rests on.
pub fn is_same<A: PartialEq<B> + Debug, B: Debug>(
    seen: A,
    wanted: B,
    from: &dyn Display,
) -> Result<(), String> {
    if seen == wanted { Ok(()) } else { Err(format!("{seen:?}, and wanted is {wanted:?}; {from}")) }
}
