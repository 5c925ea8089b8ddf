//! Rows for a spreadsheet. The first columns are named and measured as pcstat has them.

use hotset_analysis::{SystemNumbers, cached_file_numbers};
use hotset_facts::{Observed, SystemCache};

use super::names;
use crate::csv::push_field;

const TITLES: &str = "Name,Size,Pages,Cached,Percent,Dirty,Evicted,Kind,Deleted,Device,Inode\n";

/// The listed files as CSV (RFC 4180, but with plain line feeds). Names are raw bytes.
pub fn system_csv(cache: &SystemCache, numbers: &SystemNumbers) -> Vec<u8> {
    let mut out = TITLES.as_bytes().to_vec();
    for file in &cache.files {
        let Some(fs) = cache.file_systems.get(file.file_system) else { continue };
        let derived = cached_file_numbers(cache, numbers, file);
        push_field(&mut out, &names::of_file(file, fs).0);
        let pages = file.size_bytes.div_ceil(cache.page_size.max(1));
        let percent = derived.file_share.map_or_else(String::new, |s| format!("{:.3}", 100.0 * s));
        let (dirty, evicted) = match &file.state {
            Observed::Value(state) => (number(state.dirty_pages), number(state.evicted_pages)),
            Observed::Missing(_) => (String::new(), String::new()),
        };
        out.extend_from_slice(
            format!(
                ",{},{pages},{},{percent},{dirty},{evicted},{},{},{},{}\n",
                file.size_bytes,
                file.cached_pages,
                file.holder.as_str(),
                file.deleted,
                file.id.dev,
                file.id.ino
            )
            .as_bytes(),
        );
    }
    out
}

fn number(value: Observed<u64>) -> String {
    value.value().map_or_else(String::new, |value| value.to_string())
}
