use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use hotset_analysis::listing::{Direction, Only, Order, RowKind, SortKey};
use hotset_tests::undisturbed;

use super::*;
use crate::testing::{GO, ScratchDir, evict_now, warm_now};

/// Keeps the names of files, a line each; reads only so many bytes.
struct Names {
    printed: Mutex<Vec<u8>>,
    reads: usize,
}

impl Names {
    fn new(reads: usize) -> Self {
        Self { printed: Mutex::new(Vec::new()), reads }
    }

    fn sorted(self) -> Vec<String> {
        let text = String::from_utf8(self.printed.into_inner().expect("rows")).expect("text");
        let mut names: Vec<String> = text.lines().map(str::to_owned).collect();
        names.sort();
        names
    }
}

fn name(path: &Path) -> &[u8] {
    path.file_name().map_or(b"", |name| name.as_bytes())
}

impl RowSink for Names {
    fn push(&self, file: &ListedFile, rows: &mut Vec<u8>) {
        rows.extend_from_slice(name(&file.path));
        rows.push(b'\n');
    }

    fn print(&self, rows: &[u8]) -> bool {
        let mut printed = self.printed.lock().expect("rows");
        printed.extend_from_slice(rows);
        printed.len() <= self.reads
    }
}

fn options(selection: Selection) -> ListOptions {
    ListOptions {
        selection,
        processes: None,
        rows: RowChoice::default(),
        cells: Cells::default(),
        asks_if_cached: false,
        name_all_unreadable: false,
        threads: 2,
    }
}

/// Of a file that is cached, one that is not, and one of which half is.
fn of_three(mut attempt: impl FnMut(&ScratchDir)) {
    let scratch = ScratchDir::new();
    let page = hotset_sys::page_size();
    let paths = [("cached", 2), ("cold", 1), ("half", 4)]
        .map(|(name, pages)| scratch.file(name, pages * page));
    let [cached, cold, half] = &paths;
    undisturbed(&paths, || {
        warm_now(cached);
        evict_now(cold);
        evict_now(half);
        let file = std::fs::File::open(half).expect("open");
        let range = hotset_facts::PageRange { first: 0, count: 2 };
        hotset_sys::cache::fetch(&file, range).expect("fetch");
        hotset_sys::cache::settle(&file, range).expect("settle");
        attempt(&scratch);
    });
}

#[test]
fn rows_come_as_they_are_found_and_the_total_counts_all() {
    of_three(|scratch| {
        let sink = Names::new(usize::MAX);
        let mut choice = options(scratch.selection());
        let listing = list(&choice, &GO, &sink);
        assert_eq!(
            (listing.totals.files, listing.totals.cached_pages, listing.totals.pages),
            (3, 4, 7)
        );
        assert_eq!((listing.shown, listing.all_cached, listing.interrupted), (3, false, false));
        assert_eq!(sink.sorted(), ["cached", "cold", "half"]);
        choice.rows.only = Some(Only::Partial);
        let sink = Names::new(usize::MAX);
        let listing = list(&choice, &GO, &sink);
        assert_eq!((listing.shown, listing.totals.files), (1, 3), "the total still counts all");
        assert_eq!(sink.sorted(), ["half"]);
    });
}

#[test]
fn rows_with_an_order_are_kept() {
    of_three(|scratch| {
        let order = Some(Order { key: SortKey::Percent, direction: Direction::Usual });
        let rows = RowChoice { order, top: Some(2), ..RowChoice::default() };
        let (options, sink) = (ListOptions { rows, ..options(scratch.selection()) }, Names::new(0));
        let mut listing = list(&options, &GO, &sink);
        assert_eq!((listing.shown, sink.sorted().len()), (0, 0));
        let mut names = Vec::new();
        listing.kept.files(&rows, |file| names.push(name(&file.path).to_vec()));
        assert_eq!(names, [b"cached".to_vec(), b"half".to_vec()]);
    });
}

#[test]
fn cells_are_looked_up_where_the_state_does_not_say_it_all() {
    of_three(|scratch| {
        let order = Some(Order { key: SortKey::Name, direction: Direction::Usual });
        let rows = RowChoice { order, ..RowChoice::default() };
        let cells = |of_every_file| {
            let cells = Cells { count: 2, of_every_file };
            let options = ListOptions { rows, cells, ..options(scratch.selection()) };
            let mut listing = list(&options, &GO, &Names::new(0));
            let mut cells = Vec::new();
            listing.kept.files(&rows, |file| {
                cells.push(file.cells.iter().map(|cell| cell.cached).collect::<Vec<_>>());
            });
            cells
        };
        assert_eq!(cells(false), [vec![], vec![], vec![2, 0]]);
        assert_eq!(cells(true), [vec![1, 1], vec![0], vec![2, 0]]);
    });
}

#[test]
fn one_file_answers_whether_all_is_cached() {
    of_three(|scratch| {
        let asked = |name: &str| {
            let stop = AtomicBool::new(false);
            let roots = vec![scratch.path().join(name)];
            let mut options = options(Selection { roots, ..Selection::default() });
            options.rows.rows = RowKind::None;
            options.asks_if_cached = true;
            let listing = list(&options, &stop, &Names::new(0));
            assert!(!listing.interrupted, "an answer is no interrupt");
            (listing.all_cached, listing.notes.unreadable_count, stop.into_inner())
        };
        assert_eq!(asked("cached"), (true, 0, false));
        assert_eq!(asked("half"), (false, 0, true));
        assert_eq!(asked("no such"), (true, 1, true));
    });
}

#[test]
fn a_reader_that_goes_away_ends_it_and_a_stop_is_told() {
    of_three(|scratch| {
        let stop = AtomicBool::new(false);
        let listing = list(&options(scratch.selection()), &stop, &Names::new(0));
        assert!(!listing.interrupted && stop.load(Ordering::Relaxed));
        let listing = list(&options(scratch.selection()), &stop, &Names::new(usize::MAX));
        assert!(listing.interrupted, "it was stopped before it began");
    });
}

#[test]
fn the_files_of_a_process_are_those_that_it_has_open() {
    of_three(|scratch| {
        let input = std::fs::File::open(scratch.path().join("half")).expect("open");
        let mut sleep =
            Command::new("sleep").arg("60").stdin(Stdio::from(input)).spawn().expect("sleep");
        let selection = Selection { roots: vec!["/".into()], ..Selection::default() };
        let processes = Some(Processes::one(sleep.id()));
        let sink = Names::new(usize::MAX);
        let listing = list(&ListOptions { processes, ..options(selection) }, &GO, &sink);
        sleep.kill().and_then(|()| sleep.wait()).expect("ended");
        let names = sink.sorted();
        assert!(
            names.contains(&"half".to_owned()) && !names.contains(&"cold".to_owned()),
            "{names:?}"
        );
        assert_eq!(listing.totals.files, names.len() as u64);
        // It has ended: that is a mistake where it was named.
        let processes = Some(Processes::one(sleep.id()));
        let selection = Selection { roots: vec!["/".into()], ..Selection::default() };
        let gone = list(&ListOptions { processes, ..options(selection) }, &GO, &Names::new(0));
        assert_eq!((gone.totals.files, gone.notes.unreadable_count), (0, 1));
    });
}
