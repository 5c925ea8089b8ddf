//! Results that are short: the text that their command prints, on a page.

use hotset_analysis::system_numbers;

use super::listing::listing_page;
use crate::bench::baseline_text;
use crate::control::{ControlOptions, control_text};
use crate::lab::lab_baseline_text;
use crate::page::{Page, Section};
use crate::wire::{self, Document, ReadError};
use crate::{SystemOptions, doctor_text, restore_text, save_text, system_text};

/// Columns of the text.
const WIDTH: usize = 100;

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
        wire::baseline::SCHEMA => ("baseline", baseline_text(&wire::read_baseline(document)?)),
        wire::lab_baseline::SCHEMA => {
            ("lab baseline", lab_baseline_text(&wire::read_lab_baseline(document)?))
        }
        wire::doctor::SCHEMA => {
            ("doctor", doctor_text(&wire::read_doctor(document)?, WIDTH, false))
        }
        wire::system::SCHEMA => {
            let cache = wire::read_system(document)?;
            let options = SystemOptions { width: WIDTH, color: false, ascii: false };
            ("ls --system", system_text(&cache, &system_numbers(&cache), &options))
        }
        wire::residency::SCHEMA => {
            let listing = wire::read_listing(document)?;
            return Ok(Some(listing_page(&listing, &document.hotset)));
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
