//! Files for the tests of listings.

use hotset_facts::{
    CacheCell, Dev, FileId, ListedFile, Observed, Reason, Residency, ResidencySource,
};

/// A file whose state cachestat(2) told, in pages of 4 KiB.
pub(crate) fn file(path: &str, size_bytes: u64, cached_pages: u64) -> ListedFile {
    let zero = Observed::Value(0);
    let state = Residency {
        size_bytes,
        pages: size_bytes.div_ceil(4096),
        cached_pages,
        dirty_pages: zero,
        writeback_pages: zero,
        evicted_pages: zero,
        recently_evicted_pages: zero,
        source: ResidencySource::Cachestat,
    };
    ListedFile {
        path: path.into(),
        id: FileId::new(Dev { major: 8, minor: 1 }, 42),
        size_bytes,
        state: Observed::Value(state),
        cells: Vec::new(),
    }
}

/// A file that nobody may ask about.
pub(crate) fn unknown(path: &str, size_bytes: u64) -> ListedFile {
    let state = Observed::Missing(Reason::denied("no write permission"));
    ListedFile { state, ..file(path, size_bytes, 0) }
}

/// The same file with a change to its state.
pub(crate) fn with(mut file: ListedFile, change: impl FnOnce(&mut Residency)) -> ListedFile {
    if let Some(state) = file.state.as_value_mut() {
        change(state);
    }
    file
}

/// The same file with a picture.
pub(crate) fn pictured(mut file: ListedFile, cells: &[(u64, u64)]) -> ListedFile {
    file.cells = cells.iter().map(|&(pages, cached)| CacheCell { pages, cached }).collect();
    file
}
