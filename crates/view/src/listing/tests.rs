use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use hotset_analysis::listing::{DirectoryRow, Notes, TotalNumbers};
use hotset_facts::{
    Dev, FileId, ListedFile, ListingTotals, Observed, Reason, Residency, ResidencySource, Skipped,
};

use super::*;
use crate::escape::columns;

const PAGE: u64 = 4096;
const DENIED: Reason = Reason::denied("no write permission");

fn file(path: impl AsRef<OsStr>, size_bytes: u64, cached_pages: u64) -> ListedFile {
    let zero = Observed::Value(0);
    let state = Residency {
        size_bytes,
        pages: size_bytes.div_ceil(PAGE),
        cached_pages,
        dirty_pages: zero,
        writeback_pages: zero,
        evicted_pages: zero,
        recently_evicted_pages: zero,
        source: ResidencySource::Cachestat,
    };
    let id = FileId::new(Dev { major: 8, minor: 1 }, 42);
    let state = Observed::Value(state);
    ListedFile { path: PathBuf::from(path.as_ref()), id, size_bytes, state, cells: Vec::new() }
}

fn unknown(path: &str, size_bytes: u64) -> ListedFile {
    ListedFile { state: Observed::Missing(DENIED), ..file(path, size_bytes, 0) }
}

fn with(mut file: ListedFile, change: impl FnOnce(&mut Residency)) -> ListedFile {
    change(file.state.as_value_mut().expect("a known state"));
    file
}

fn pictured(mut file: ListedFile, cells: &[(u64, u64)]) -> ListedFile {
    file.cells = cells.iter().map(|&(pages, cached)| CacheCell { pages, cached }).collect();
    file
}

/// Every kind of row that there is, with names that mean no good.
fn files() -> Vec<ListedFile> {
    let halves = [(2048, 2048), (2048, 700), (2048, 0), (2048, 1), (2048, 2047)];
    let busy = with(file("/var/lib/postgresql/15/main/base/5/16397", 40 << 20, 4796), |state| {
        state.dirty_pages = Observed::Value(12);
        state.writeback_pages = Observed::Value(3);
        state.evicted_pages = Observed::Value(5000);
        state.recently_evicted_pages = Observed::Value(800);
    });
    vec![
        file("/usr/lib/x86_64-linux-gnu/libc.so.6", 1_922_136, 470),
        pictured(busy, &halves),
        file("/srv/backup/2026-11-20.tar", 8 << 40, 0),
        file("/empty", 0, 0),
        file("/tiny", 12, 1),
        unknown("/etc/hosts", 187),
        with(file("/merged/by-mincore", 9000, 2), |state| {
            *state = Residency::from_mincore(9000, 3, 2);
        }),
        file("/srv/a b,\"c\"\nnew\u{1b}[31m.txt", 4096, 1),
        file(OsStr::from_bytes(b"/srv/\xff\xfe.bin"), 4096, 0),
        file("/日本語/ファイル", 4096, 1),
    ]
}

fn style(width: Option<usize>) -> ListStyle {
    ListStyle { width, ..ListStyle::default() }
}

fn shown(style: ListStyle) -> String {
    let table = ListTable::new(Rows::Files, style);
    let mut out = table.head();
    for file in files() {
        let numbers = RowNumbers::of_file(&file, PAGE);
        out += &table.row(&ListRow { path: &file.path, numbers: &numbers, cells: &file.cells });
    }
    let (total, notes) = total_of(&files(), Skipped::default(), false);
    out + &total_lines(&total, &notes, &style)
}

fn total_of(files: &[ListedFile], skipped: Skipped, partial: bool) -> (TotalNumbers, Notes) {
    let (mut totals, mut notes) = (ListingTotals::default(), Notes::new(true));
    for file in files {
        totals.add(file.size_bytes.div_ceil(PAGE), file.size_bytes, &file.state);
        if let Some(reason) = file.state.reason() {
            notes.add_unknown(&file.path, reason);
        }
    }
    (TotalNumbers::new(&totals, skipped, totals.files, partial, PAGE), notes)
}

fn passed_over() -> Skipped {
    Skipped {
        not_cacheable: 1,
        repeated_links: 3,
        symlinks: 12_000,
        other_file_systems: 2,
        vanished: 1,
    }
}

#[test]
fn the_table_fits_the_terminal() {
    for width in [40, 59, 60, 80, 99, 100, 120, 139, 140, 200] {
        let text = shown(style(Some(width)));
        for line in text.lines().filter(|line| !line.contains(" unknown: ")) {
            let limit = width.max(37 + 12);
            assert!(columns(line) <= limit || line.starts_with("10 files"), "{width}: {line}");
        }
    }
    insta::assert_snapshot!("files_40", shown(style(Some(40))));
    insta::assert_snapshot!("files_80", shown(style(Some(80))));
    insta::assert_snapshot!("files_100", shown(style(Some(100))));
    insta::assert_snapshot!("files_160", shown(style(Some(160))));
    insta::assert_snapshot!("files_pipe", shown(style(None)));
    let all = ListStyle { all_columns: true, ..style(Some(80)) };
    insta::assert_snapshot!("files_80_all_columns", shown(all));
}

#[test]
fn without_utf8_everything_is_ascii() {
    let text = shown(ListStyle { ascii: true, ..style(Some(80)) });
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!("files_80_ascii", text);
}

#[test]
fn colours_change_nothing_else_and_names_paint_nothing() {
    let plain = shown(style(Some(80)));
    assert!(!plain.contains('\u{1b}'));
    let painted = shown(ListStyle { color: true, ..style(Some(80)) });
    assert!(painted.contains("\u{1b}["));
    let mut stripped = String::new();
    for (number, part) in painted.split('\u{1b}').enumerate() {
        let rest = if number == 0 { part } else { part.split_once('m').expect("a style").1 };
        stripped.push_str(rest);
    }
    assert_eq!(stripped, plain);
}

#[test]
fn an_empty_listing_says_so() {
    let (total, notes) = total_of(&[], Skipped::default(), false);
    assert_eq!(
        total_lines(&total, &notes, &style(Some(80))),
        "0 files, 0 B of 0 B cached (nothing to cache)\n"
    );
}

#[test]
fn what_has_no_row_is_counted_below() {
    let (total, mut notes) = total_of(&files(), passed_over(), true);
    let total = TotalNumbers { shown: 3, ..total };
    for number in 0..12 {
        let path = PathBuf::from(format!("/root/\n{number}"));
        notes.add_unreadable(&path, "Permission denied".to_owned());
    }
    insta::assert_snapshot!("below", total_lines(&total, &notes, &style(Some(80))));
    insta::assert_snapshot!("unreadable", unreadable_lines(&notes).join("\n"));
}

#[test]
fn directories_have_files_and_no_bar() {
    let (total, _) = total_of(&files(), Skipped::default(), false);
    let table = ListTable::new(Rows::Directories, style(Some(80)));
    assert_eq!(table.bar_cells(), 0);
    let path = Path::new("/var/lib/postgresql");
    let row = table.row(&ListRow { path, numbers: &total.row, cells: &[] });
    insta::assert_snapshot!("directories_80", table.head() + &row);
}

#[test]
fn csv_starts_with_pcstats_columns_and_quotes() {
    let mut out = csv_head().as_bytes().to_vec();
    for file in files() {
        let numbers = RowNumbers::of_file(&file, PAGE);
        csv_row(&ListRow { path: &file.path, numbers: &numbers, cells: &[] }, false, &mut out);
    }
    assert!(out.windows(8).any(|bytes| bytes == b"/\xff\xfe.bin,"), "raw bytes");
    insta::assert_snapshot!("csv", escape_controls(&out));
    let mut on_terminal = Vec::new();
    let odd = &files()[7];
    let numbers = RowNumbers::of_file(odd, PAGE);
    let row = ListRow { path: &odd.path, numbers: &numbers, cells: &[] };
    csv_row(&row, true, &mut on_terminal);
    let line = String::from_utf8(on_terminal).expect("text");
    assert_eq!(
        line,
        "\"/srv/a b,\"\"c\"\"\\nnew\\x1b[31m.txt\",4096,1,1,100.000,0,0,0,0,cachestat,\n"
    );
}

fn escape_controls(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\u{1b}', "ESC")
}

pub(crate) fn json() -> Vec<u8> {
    let mut out = json_head().as_bytes().to_vec();
    for (number, file) in files().iter().enumerate() {
        json_file(file, &RowNumbers::of_file(file, PAGE), number == 0, &mut out);
    }
    out.extend_from_slice(json_directories().as_bytes());
    let (total, mut notes) = total_of(&files(), passed_over(), true);
    for (number, path) in ["/srv", "/"].iter().enumerate() {
        let row = DirectoryRow { path: path.into(), numbers: total.row };
        json_directory(&row, number == 0, &mut out);
    }
    notes.add_unreadable(Path::new("/root/\n"), "Permission denied".to_owned());
    json_tail(&total, &notes.unreadable, PAGE, &mut out);
    out
}

#[test]
fn json_is_valid_whatever_the_names_and_keeps_every_key() {
    let out = json();
    insta::assert_snapshot!("json", String::from_utf8_lossy(&out));
    let value: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    let errors = crate::wire::schema_tests::refused("hotset.residency/1", &out).expect("a schema");
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(value["files"][8]["path_hex"], "2f7372762ffffe2e62696e");
    assert!(value["files"][5]["cached_pages"].is_null());
}

#[test]
fn a_listing_is_read_back_whole() {
    let out = json();
    let documents = crate::wire::documents(&out).expect("documents");
    let read = crate::wire::read_listing(&documents[0]).expect("a listing");
    assert_eq!(read.files, files());
    assert_eq!((read.skipped, read.page_size_bytes, read.partial), (passed_over(), PAGE, true));
    assert_eq!(read.unreadable[0].path, Path::new("/root/\n"));
    let (total, _) = total_of(&files(), passed_over(), true);
    assert_eq!(read.totals, crate::wire::Sums::from(&total.row));
    assert_eq!(read.directories[1], ("/".into(), read.totals));
}

#[test]
fn an_empty_listing_is_json_too() {
    let mut out = json_head().as_bytes().to_vec();
    out.extend_from_slice(json_directories().as_bytes());
    let (total, notes) = total_of(&[], Skipped::default(), false);
    json_tail(&total, &notes.unreadable, PAGE, &mut out);
    let value: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(value["totals"]["files"], 0);
    assert_eq!(value["totals"]["cached_pages"], 0);
}

#[test]
fn a_map_has_lines_with_offsets() {
    let cells: Vec<(u64, u64)> = (0..150).map(|i| (64, [0, 10, 40, 60, 64][i / 7 % 5])).collect();
    let file = pictured(file("/data/index.db", 150 * 64 * PAGE, 4000), &cells);
    for (name, style) in [
        ("map_80", style(Some(80))),
        ("map_80_ascii", ListStyle { ascii: true, ..style(Some(80)) }),
        ("map_40", style(Some(40))),
    ] {
        let numbers = RowNumbers::of_file(&file, PAGE);
        let row = ListRow { path: &file.path, numbers: &numbers, cells: &file.cells };
        insta::assert_snapshot!(name, map_file(&row, PAGE, &style) + &map_legend(&style));
    }
    let denied = unknown("/etc/hosts", 187);
    let numbers = RowNumbers::of_file(&denied, PAGE);
    let row = ListRow { path: &denied.path, numbers: &numbers, cells: &[] };
    let text = map_file(&row, PAGE, &style(None));
    assert_eq!(text, "/etc/hosts\n          unknown: no write permission\n");
    assert_eq!(map_cells(&style(Some(80))), 8 * 64);
}

#[test]
fn names_alone_are_raw_except_on_a_terminal() {
    let path = Path::new("/a\nb");
    assert_eq!(name_line(path, true, true), b"/a\nb\0");
    assert_eq!(name_line(path, false, false), b"/a\nb\n");
    assert_eq!(name_line(path, false, true), b"/a\\nb\n");
}
