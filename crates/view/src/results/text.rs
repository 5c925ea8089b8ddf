//! Results that are short: the text that their command prints, on a page.

use hotset_analysis::listing::RowNumbers;
use hotset_analysis::system_numbers;

use crate::control::{ControlOptions, control_text};
use crate::escape::escape_path;
use crate::page::{Page, Section, Table};
use crate::units::{bytes, count, percent};
use crate::wire::{self, Document, Listing, ReadError};
use crate::{SystemOptions, doctor_text, restore_text, save_text, system_text};

/// Columns of the text.
const WIDTH: usize = 100;
/// Files of a listing that a page shows.
const FILES: usize = 1_000;

/// The page of a document, if its format is one of these.
pub(super) fn text_page(document: &Document<'_>) -> Result<Option<Page>, ReadError> {
    let (title, text) = match document.schema.as_ref() {
        wire::control::SCHEMA => {
            let read = wire::read_control(document)?;
            let options = ControlOptions { all: true, page_bytes: read.page_size_bytes };
            (read.report.verb.as_str(), control_text(&read.report, &options))
        }
        wire::save::SAVE => ("save", save_text(&wire::read_save(document)?)),
        wire::save::RESTORE => ("restore", restore_text(&wire::read_restore(document)?)),
        wire::doctor::SCHEMA => {
            ("doctor", doctor_text(&wire::read_doctor(document)?, WIDTH, false))
        }
        wire::system::SCHEMA => {
            let cache = wire::read_system(document)?;
            let options = SystemOptions { width: WIDTH, color: false, ascii: false };
            ("ls --system", system_text(&cache, &system_numbers(&cache), &options))
        }
        wire::residency::SCHEMA => {
            return wire::read_listing(document).map(|it| Some(listing(&it)));
        }
        _ => return Ok(None),
    };
    Ok(Some(Page {
        title: title.to_owned(),
        sections: vec![Section { text, ..Section::default() }],
        conditions: vec![("hotset".to_owned(), crate::escape_text(&document.hotset))],
        ..Page::default()
    }))
}

fn listing(listing: &Listing) -> Page {
    let known = |value: hotset_facts::Observed<u64>, text: fn(u64) -> String| match value {
        hotset_facts::Observed::Value(value) => text(value),
        hotset_facts::Observed::Missing(reason) => format!("unknown: {}", reason.detail),
    };
    let file = |file| (file, RowNumbers::of_file(file, listing.page_size_bytes));
    let all = listing.files.len();
    let cut = (all > FILES).then(|| format!("The first {FILES} of {all} files; the JSON has all."));
    Page {
        title: "ls".to_owned(),
        subtitle: format!(
            "{} files, {}",
            count(listing.totals.files),
            bytes(listing.totals.size_bytes)
        ),
        sections: vec![Section {
            question: "How much of each file is cached?".to_owned(),
            table: Table::of(
                "Files, in the order of the listing; dirty and evicted in pages",
                listing.files.iter().take(FILES).map(file),
            )
            .words("File", |(file, _)| escape_path(&file.path))
            .numbers("Size", |(_, row)| bytes(row.size_bytes))
            .numbers("Cached", |(_, row)| known(row.cached_bytes, bytes))
            .numbers("Share", |(_, row)| row.share.map_or_else(String::new, percent))
            .numbers("Dirty", |(_, row)| known(row.dirty_pages, count))
            .numbers("Evicted lately", |(_, row)| known(row.recently_evicted_pages, count))
            .table(),
            notes: cut.into_iter().collect(),
            ..Section::default()
        }],
        ..Page::default()
    }
}
