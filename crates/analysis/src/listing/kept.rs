//! Which rows a listing has, and what is kept of the files until they can be printed.

use std::path::{Path, PathBuf};

use hotset_facts::ListedFile;

use super::arena::{Arena, sorted};
use super::order::Order;
use super::rollup::{DirectoryRow, RollUp};
use super::select::Only;
use super::top::Top;

/// Which rows, in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowChoice {
    /// The order; none where rows come as they are found.
    pub order: Option<Order>,
    /// How many at most.
    pub top: Option<usize>,
    /// Only files in this state.
    pub only: Option<Only>,
    /// What has a row.
    pub rows: RowKind,
    /// Levels below a root whose directories have rows of their own.
    pub depth: Option<u32>,
}

/// What has a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowKind {
    /// Each file.
    #[default]
    Files,
    /// Each directory, with all the files below it.
    Directories,
    /// Nothing: only the total counts.
    None,
}

/// What one thread keeps of the files that it finds.
#[derive(Debug)]
pub enum RowStore {
    /// Nothing: there are no rows, or each is printed at once.
    Nothing,
    /// All files.
    All(Arena),
    /// The first of an order.
    Top(Top),
    /// Sums of directories.
    Directories(RollUp),
}

impl RowChoice {
    /// What a thread begins with.
    pub fn keep(&self, page_bytes: u64) -> RowStore {
        match (self.rows, self.order, self.top) {
            (RowKind::None, ..) | (RowKind::Files, None, _) => RowStore::Nothing,
            (RowKind::Directories, ..) => {
                RowStore::Directories(RollUp::new(page_bytes, self.depth))
            }
            (RowKind::Files, Some(order), Some(top)) => RowStore::Top(Top::new(order, top)),
            (RowKind::Files, Some(_), None) => RowStore::All(Arena::default()),
        }
    }

    /// True where the row of each file is printed as soon as it is found.
    pub fn is_streamed(&self) -> bool {
        self.rows == RowKind::Files && self.order.is_none()
    }

    /// Whether this file belongs to the rows, as far as its state goes.
    pub fn admits(&self, file: &ListedFile) -> bool {
        self.rows != RowKind::None && self.only.is_none_or(|only| only.admits(file))
    }
}

impl RowStore {
    /// Whether a file would be kept: for callers to whom making a row costs something.
    pub fn wants(&self, file: &ListedFile) -> bool {
        match self {
            Self::Top(top) => top.wants(file),
            Self::Nothing | Self::All(_) | Self::Directories(_) => true,
        }
    }

    /// Keeps a file that was found below (or as) the root of this number.
    pub fn push(&mut self, number: usize, root: &Path, file: &ListedFile) {
        match self {
            Self::Nothing => {}
            Self::All(arena) => arena.push(file),
            Self::Top(top) => top.push(file.clone()),
            Self::Directories(roll_up) => roll_up.add(number, root, file),
        }
    }
}

/// The rows that all threads kept, in order.
#[derive(Debug, Default)]
pub struct KeptRows {
    all: Vec<Arena>,
    top: Option<Top>,
    directories: Option<RollUp>,
}

impl KeptRows {
    /// Adds what a thread kept.
    pub fn merge(&mut self, part: RowStore) {
        match part {
            RowStore::Nothing => {}
            RowStore::All(arena) => self.all.push(arena),
            RowStore::Top(part) => match &mut self.top {
                Some(top) => top.merge(part),
                None => self.top = Some(part),
            },
            RowStore::Directories(part) => match &mut self.directories {
                Some(directories) => directories.merge(part),
                None => self.directories = Some(part),
            },
        }
    }

    /// Hands on each file, the first of the order first.
    pub fn files(&mut self, choice: &RowChoice, mut each: impl FnMut(&ListedFile)) {
        if let Some(order) = choice.order {
            sorted(&self.all, order).for_each(|file| each(&file));
        }
        let top = self.top.take().map(Top::into_rows).unwrap_or_default();
        top.iter().for_each(each);
    }

    /// The directories that have rows; nothing where files have.
    pub fn directories(
        &mut self,
        choice: &RowChoice,
        roots: &[PathBuf],
    ) -> Option<Vec<DirectoryRow>> {
        let mut rows = self.directories.take()?.into_rows(roots, choice.order);
        rows.truncate(choice.top.unwrap_or(usize::MAX));
        Some(rows)
    }
}

/// Whether a listing comes to a good end: every path could be read and, where that is the question, everything is cached.
pub fn is_met(asks_if_cached: bool, all_cached: bool, unreadable: u64) -> bool {
    unreadable == 0 && (all_cached || !asks_if_cached)
}

#[cfg(test)]
mod tests {
    use super::super::order::{Direction, SortKey};
    use super::super::testing::{file, unknown};
    use super::*;

    const PAGE: u64 = 4096;
    const BY_CACHED: Option<Order> =
        Some(Order { key: SortKey::Cached, direction: Direction::Usual });

    fn files() -> Vec<ListedFile> {
        vec![
            file("/r/a/1", 9 * PAGE, 3),
            file("/r/b/2", 9 * PAGE, 9),
            file("/r/b/3", 9 * PAGE, 0),
            unknown("/r/4", PAGE),
        ]
    }

    /// The rows that two threads keep, by path, and whether they are directories.
    fn rows(choice: RowChoice) -> (Vec<String>, bool) {
        let mut parts = [choice.keep(PAGE), choice.keep(PAGE)];
        for (at, file) in files().iter().enumerate().filter(|(_, file)| choice.admits(file)) {
            let part = &mut parts[at % 2];
            if part.wants(file) {
                part.push(0, Path::new("/r"), file);
            }
        }
        let mut kept = KeptRows::default();
        parts.into_iter().for_each(|part| kept.merge(part));
        let mut paths = Vec::new();
        kept.files(&choice, |file| paths.push(file.path.display().to_string()));
        let directories = kept.directories(&choice, &["/r".into()]);
        let is_directories = directories.is_some();
        paths.extend(directories.into_iter().flatten().map(|row| row.path.display().to_string()));
        (paths, is_directories)
    }

    #[test]
    fn an_order_keeps_files_and_a_top_only_its_first() {
        let ordered = RowChoice { order: BY_CACHED, ..RowChoice::default() };
        let all = ["/r/b/2", "/r/a/1", "/r/b/3", "/r/4"].map(str::to_owned);
        assert_eq!(rows(ordered), (all.to_vec(), false));
        let top = RowChoice { top: Some(2), ..ordered };
        assert_eq!(rows(top), (all[..2].to_vec(), false));
        assert_eq!(rows(RowChoice { top: Some(0), ..ordered }), (Vec::new(), false));
        let only = RowChoice { only: Some(Only::Uncached), ..ordered };
        assert_eq!(rows(only), (vec!["/r/b/3".to_owned()], false));
    }

    #[test]
    fn without_an_order_rows_are_printed_at_once_and_none_is_kept() {
        let streamed = RowChoice::default();
        assert!(streamed.is_streamed() && rows(streamed).0.is_empty());
        for kept in [
            RowChoice { order: BY_CACHED, ..streamed },
            RowChoice { rows: RowKind::Directories, ..streamed },
            RowChoice { rows: RowKind::None, ..streamed },
        ] {
            assert!(!kept.is_streamed(), "{kept:?}");
        }
    }

    #[test]
    fn directories_have_rows_down_to_their_depth_and_the_first_of_the_order() {
        let all = RowChoice { rows: RowKind::Directories, ..RowChoice::default() };
        assert_eq!(rows(all), (["/r/a", "/r/b", "/r"].map(str::to_owned).to_vec(), true));
        let flat = RowChoice { depth: Some(0), ..all };
        assert_eq!(rows(flat).0, ["/r"]);
        let first = RowChoice { order: BY_CACHED, top: Some(2), ..all };
        assert_eq!(rows(first).0, ["/r", "/r/b"]);
        let uncached = RowChoice { only: Some(Only::Uncached), ..all };
        assert_eq!(rows(uncached).0, ["/r/b", "/r"], "only files of that state are summed up");
    }

    #[test]
    fn a_total_alone_has_no_rows_whatever_the_order() {
        let total = RowChoice { rows: RowKind::None, order: BY_CACHED, ..RowChoice::default() };
        assert!(matches!(total.keep(PAGE), RowStore::Nothing));
        assert!(files().iter().all(|file| !total.admits(file)));
    }

    #[test]
    fn what_can_not_be_read_is_no_good_end_whatever_was_asked() {
        assert!(is_met(false, false, 0) && is_met(true, true, 0));
        assert!(!is_met(true, false, 0), "that was the question");
        assert!(!is_met(false, true, 1) && !is_met(true, true, 1));
    }
}
