//! Walking watched paths, in a thread of its own and in a bounded way.

use std::collections::HashSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use hotset_sys::cache::Prober;
use hotset_sys::tree::{Found, Selection, Visitor, walk};
use hotset_view::metrics::WatchedNumbers;

use crate::shared::lock;

/// Files that one walk looks at, at most.
const MAX_FILES: u64 = 1_000_000;
/// How long one walk may take.
const MAX_TIME: Duration = Duration::from_secs(30);

/// The last walk of each path, and when it ended.
type Walks = Vec<Option<(WatchedNumbers, Instant)>>;

/// What the last walks found, in the order of the paths; a path that was not walked yet is not there.
#[derive(Clone)]
pub(super) struct Watched {
    found: Arc<Mutex<Walks>>,
    limit: Duration,
}

impl Watched {
    /// Begins to walk these paths, each at most every `interval`. No path, no thread; a path that is there twice is walked
    /// once, for no two series may have the same labels.
    pub(super) fn start(mut paths: Vec<PathBuf>, interval: Duration) -> Result<Self> {
        let mut seen = HashSet::new();
        paths.retain(|path| seen.insert(label(path)));
        let round = MAX_TIME.saturating_mul(u32::try_from(paths.len()).unwrap_or(u32::MAX));
        // Two rounds may be late; then something hangs, as a file system does whose server is gone.
        let limit = interval.max(round).saturating_mul(2).saturating_add(round);
        let watched = Self { found: Arc::new(Mutex::new(vec![None; paths.len()])), limit };
        if !paths.is_empty() {
            let mine = watched.clone();
            std::thread::Builder::new()
                .name("hotset-watch".to_owned())
                .spawn(move || mine.run(&paths, interval))
                .context("the thread that walks watched paths")?;
        }
        Ok(watched)
    }

    /// What is known and not too old.
    pub(super) fn numbers(&self) -> Vec<WatchedNumbers> {
        let found = lock(&self.found);
        let fresh = found.iter().flatten().filter(|(_, at)| at.elapsed() <= self.limit);
        fresh.map(|(numbers, _)| numbers.clone()).collect()
    }

    fn run(&self, paths: &[PathBuf], interval: Duration) {
        loop {
            let begun = Instant::now();
            for (at, path) in paths.iter().enumerate() {
                let numbers = look(path, MAX_FILES, MAX_TIME);
                if let Some(place) = lock(&self.found).get_mut(at) {
                    *place = Some((numbers, Instant::now()));
                }
            }
            std::thread::sleep(interval.saturating_sub(begun.elapsed()));
        }
    }
}

/// One walk, by one thread.
fn look(path: &Path, max_files: u64, max_time: Duration) -> WatchedNumbers {
    let (begun, stop) = (Instant::now(), AtomicBool::new(false));
    let selection =
        Selection { roots: vec![path.to_owned()], one_file_system: true, ..Selection::default() };
    let looker = ResidencyVisitor {
        prober: Prober::new(),
        stop: &stop,
        left: max_files,
        until: begun + max_time,
        numbers: nothing(path),
    };
    let walked = walk(&selection, &stop, vec![looker]);
    let looker = walked.visitors.into_iter().next();
    let mut numbers = looker.map_or_else(|| nothing(path), |looker| looker.numbers);
    numbers.complete = !walked.interrupted;
    numbers.walk_ns = hotset_facts::units::nanos(begun.elapsed());
    numbers.at = SystemTime::now();
    numbers
}

/// The path as a label: two that differ only in bytes that are no UTF-8 look the same.
fn label(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn nothing(path: &Path) -> WatchedNumbers {
    WatchedNumbers {
        path: label(path),
        files: 0,
        unknown: 0,
        size_bytes: 0,
        cached_bytes: 0,
        dirty_bytes: Some(0),
        complete: false,
        walk_ns: 0,
        at: SystemTime::UNIX_EPOCH,
    }
}

struct ResidencyVisitor<'a> {
    prober: Prober,
    stop: &'a AtomicBool,
    left: u64,
    until: Instant,
    numbers: WatchedNumbers,
}

impl ResidencyVisitor<'_> {
    fn count(&mut self) {
        if self.left == 0 || Instant::now() >= self.until {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.left = self.left.saturating_sub(1);
    }
}

impl Visitor for ResidencyVisitor<'_> {
    fn file(&mut self, found: &Found<'_>) {
        self.count();
        let page_bytes = hotset_sys::page_size();
        let numbers = &mut self.numbers;
        match self.prober.residency(found) {
            Ok(state) => {
                numbers.files += 1;
                numbers.size_bytes += state.size_bytes;
                numbers.cached_bytes += state.cached_pages * page_bytes;
                let dirty = state.dirty_pages.value().map(|pages| pages * page_bytes);
                numbers.dirty_bytes = numbers.dirty_bytes.zip(dirty).map(|(sum, more)| sum + more);
            }
            Err(_) => numbers.unknown += 1,
        }
    }

    fn unreadable(&mut self, _: &Path, _: &dyn Display) {
        self.count();
        self.numbers.unknown += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with three files, two of them of a page each.
    fn directory(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("hotset-watch-{name}-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("below")).expect("a directory");
        for (name, bytes) in [("a", 1), ("below/b", 4096), ("c", 0)] {
            std::fs::write(dir.join(name), vec![7; bytes]).expect("a file");
        }
        dir
    }

    #[test]
    fn a_directory_is_one_series() {
        let dir = directory("one");
        let numbers = look(&dir, MAX_FILES, MAX_TIME);
        std::fs::remove_dir_all(&dir).expect("removed");
        assert_eq!((numbers.files, numbers.unknown, numbers.size_bytes), (3, 0, 4097));
        assert_eq!(numbers.cached_bytes, 2 * hotset_sys::page_size());
        assert!(numbers.complete);
    }

    #[test]
    fn a_walk_that_reached_its_bound_says_so() {
        let dir = directory("bound");
        let (few, late) = (look(&dir, 1, MAX_TIME), look(&dir, MAX_FILES, Duration::ZERO));
        std::fs::remove_dir_all(&dir).expect("removed");
        assert!(!few.complete && few.files < 3, "{few:?}");
        assert!(!late.complete && late.files < 3, "{late:?}");
    }

    #[test]
    fn a_path_that_is_there_twice_is_one_series_and_an_old_walk_is_none() {
        let dir = directory("twice");
        let watched = Watched::start(vec![dir.clone(), dir.clone()], Duration::from_secs(3600));
        let watched = watched.expect("a thread");
        while watched.numbers().is_empty() {
            std::thread::yield_now();
        }
        std::fs::remove_dir_all(&dir).expect("removed");
        assert_eq!(watched.numbers().len(), 1);
        // As if nothing had come since.
        assert!(Watched { limit: Duration::ZERO, ..watched }.numbers().is_empty());
    }

    #[test]
    fn what_is_not_there_is_unknown_and_no_zero() {
        let numbers = look(Path::new("/no/such/path"), MAX_FILES, MAX_TIME);
        assert_eq!((numbers.files, numbers.unknown), (0, 1));
    }
}
