//! The page of a listing by `hotset ls`.

use std::path::PathBuf;

use hotset_analysis::listing::RowNumbers;
use hotset_facts::Observed;

use super::doubts;
use crate::escape::{escape_path, escape_text};
use crate::listing::skipped_words;
use crate::page::{Page, Section, Table};
use crate::units::{bytes, count, percent, plural};
use crate::wire::{Listing, Sums};

/// Rows that a table shows.
const ROWS: usize = 1_000;

/// The page of a listing that this version of hotset made.
pub(super) fn listing_page(listing: &Listing, version: &str) -> Page {
    let totals = &listing.totals;
    let cached = known(memory(totals.cached_pages, listing), bytes);
    let mut sections = Vec::new();
    if !listing.files.is_empty() || listing.directories.is_empty() {
        sections.push(files(listing));
    }
    if !listing.directories.is_empty() {
        sections.push(directories(listing));
    }
    if let Some(section) = sections.last_mut() {
        section.notes.extend(passed_over(listing));
    }
    Page {
        title: "ls".to_owned(),
        subtitle: format!(
            "{}, {}; cached: {cached}",
            plural(totals.files, "file"),
            bytes(totals.size_bytes),
        ),
        sections,
        conditions: vec![("hotset".to_owned(), escape_text(version))],
        doubts: doubts::of_listing(listing),
        ..Page::default()
    }
}

fn files(listing: &Listing) -> Section {
    let row = |file| (file, RowNumbers::of_file(file, listing.page_size_bytes));
    let (rows, all) = (listing.files.len(), listing.totals.files);
    let cut = (rows > ROWS).then(|| format!("The first {ROWS} of {rows} rows; the JSON has all."));
    let some = ((rows as u64) < all).then(|| {
        format!("The listing has rows of {} of {}.", count(rows as u64), plural(all, "file"))
    });
    Section {
        question: "How much of each file is cached?".to_owned(),
        table: Table::of(
            "Files, in the order of the listing; dirty and evicted in pages",
            listing.files.iter().take(ROWS).map(row),
        )
        .words("File", |(file, _)| escape_path(&file.path))
        .numbers("Size", |(_, row)| bytes(row.size_bytes))
        .numbers("Cached", |(_, row)| known(row.cached_bytes, bytes))
        .numbers("Share", |(_, row)| row.share.map_or_else(String::new, percent))
        .numbers("Dirty", |(_, row)| known(row.dirty_pages, count))
        .numbers("Evicted lately", |(_, row)| known(row.recently_evicted_pages, count))
        .table(),
        notes: some.into_iter().chain(cut).collect(),
        ..Section::default()
    }
}

fn directories(listing: &Listing) -> Section {
    type Row = (PathBuf, Sums);
    let pages = |of: fn(&Sums) -> Observed<u64>| move |(_, sums): &&Row| known(of(sums), count);
    let rows = listing.directories.len();
    let cut = (rows > ROWS).then(|| format!("The first {ROWS} of {rows} rows; the JSON has all."));
    Section {
        question: "How much is cached below each directory?".to_owned(),
        table: Table::of(
            "Directories, in the order of the listing; dirty and evicted in pages",
            listing.directories.iter().take(ROWS),
        )
        .words("Directory", |(path, _)| escape_path(path))
        .numbers("Files", |(_, sums)| count(sums.files))
        .numbers("Size", |(_, sums)| bytes(sums.size_bytes))
        .numbers("Cached", |(_, sums)| known(memory(sums.cached_pages, listing), bytes))
        .numbers("Dirty", pages(|sums| sums.dirty_pages))
        .numbers("Evicted lately", pages(|sums| sums.recently_evicted_pages))
        .table(),
        notes: cut.into_iter().collect(),
        ..Section::default()
    }
}

fn memory(pages: Observed<u64>, listing: &Listing) -> Observed<u64> {
    pages.map(|pages| pages.saturating_mul(listing.page_size_bytes))
}

fn known(value: Observed<u64>, text: fn(u64) -> String) -> String {
    match value {
        Observed::Value(value) => text(value),
        Observed::Missing(reason) => format!("unknown: {}", escape_text(reason.detail)),
    }
}

/// What the listing passed over, if anything.
fn passed_over(listing: &Listing) -> Option<String> {
    let words = skipped_words(&listing.skipped);
    (!words.is_empty()).then(|| format!("Skipped: {}", words.join(", ")))
}
