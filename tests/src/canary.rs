//! Does something evict page cache here? What a test may hold against hotset hangs on that.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::PAGE;
use crate::pageflags::resident_pages;
use crate::scratch::Scratch;
use crate::state::warm_verified;

/// Enough that a process that evicts files at random hardly misses all of them.
const FILES: usize = 8;

/// Files that are cached and that nobody touches any more. A quiet host leaves them there.
pub struct Canary {
    files: Vec<PathBuf>,
}

impl Canary {
    /// Makes and caches them.
    pub fn new(scratch: &Scratch) -> Self {
        let files: Vec<PathBuf> =
            (0..FILES).map(|index| scratch.path(&format!("canary{index}"))).collect();
        // An attempt before this one may have made them: syncs are slow where others write.
        files.iter().filter(|file| !file.exists()).for_each(|file| write_through(file));
        files.iter().for_each(|file| warm_verified(file));
        Self { files }
    }

    /// Whether all of them are still cached: nothing was evicted here meanwhile that a test has to allow for.
    pub fn lives(&self) -> bool {
        self.files.iter().all(|file| resident_pages(file).iter().all(|page| *page))
    }
}

/// A small file, on disk: dirty pages can't be evicted.
fn write_through(path: &Path) {
    let mut file = File::create(path).expect("create");
    file.write_all(&[7; 4 * PAGE as usize]).expect("write");
    file.sync_all().expect("fsync");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{evict_verified, until};

    #[test]
    fn one_file_that_was_evicted_is_enough() {
        let scratch = Scratch::new("canary");
        let canary = until("nothing is evicted for a moment", || {
            Some(Canary::new(&scratch)).filter(Canary::lives)
        });
        evict_verified(&canary.files[FILES - 1]);
        assert!(!canary.lives());
    }
}
