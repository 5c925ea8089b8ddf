//! Which rows are shown, and what "all is cached" means.

use hotset_facts::{ListedFile, Observed};

/// A filter by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// Wholly cached; empty files are.
    Cached,
    /// Some pages, not all.
    Partial,
    /// No page, of at least one.
    Uncached,
}

impl Only {
    /// Whether a file is of that state. One whose state is unknown is of none.
    pub fn admits(self, file: &ListedFile) -> bool {
        let Observed::Value(state) = &file.state else { return false };
        match self {
            Self::Cached => state.cached_pages >= state.pages,
            Self::Partial => state.cached_pages > 0 && state.cached_pages < state.pages,
            Self::Uncached => state.cached_pages == 0 && state.pages > 0,
        }
    }
}

/// Whether every page of a file is known to be cached. An empty file lacks none; an unknown one may.
pub fn all_cached(file: &ListedFile) -> bool {
    Only::Cached.admits(file)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{file, unknown};
    use super::*;

    #[test]
    fn each_known_file_is_of_exactly_one_state() {
        let files = [file("/a", 0, 0), file("/b", 9000, 0), file("/c", 9000, 2), file("/d", 9, 1)];
        let wanted = [Only::Cached, Only::Uncached, Only::Partial, Only::Cached];
        for (file, wanted) in files.iter().zip(wanted) {
            let states = [Only::Cached, Only::Partial, Only::Uncached];
            let of: Vec<Only> = states.into_iter().filter(|only| only.admits(file)).collect();
            assert_eq!(of, [wanted], "{}", file.path.display());
            assert_eq!(all_cached(file), wanted == Only::Cached);
        }
    }

    #[test]
    fn an_unknown_file_is_of_no_state_and_not_all_cached() {
        for size in [0, 4096] {
            let file = unknown("/a", size);
            assert!(![Only::Cached, Only::Partial, Only::Uncached].iter().any(|o| o.admits(&file)));
            assert!(!all_cached(&file));
        }
    }
}
