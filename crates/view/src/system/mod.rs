//! What occupies the cache of the whole machine: text, JSON (`hotset.system-cache/1`), CSV.

mod csv;
mod names;
mod rest;
#[cfg(test)]
mod tests;
mod text;

pub use csv::system_csv;
pub use text::{SystemOptions, system_text};

use hotset_analysis::CachePart;
use hotset_facts::PageHolder;

/// The word of each kind in JSON and CSV.
fn holder_word(holder: PageHolder) -> &'static str {
    match holder {
        PageHolder::Regular => "regular",
        PageHolder::Directory => "directory",
        PageHolder::Symlink => "symlink",
        PageHolder::BlockDevice => "block_device",
        PageHolder::Internal => "internal",
    }
}

pub(crate) fn part_word(part: CachePart) -> &'static str {
    match part {
        CachePart::Files => "files",
        CachePart::Deleted => "deleted",
        CachePart::Elsewhere => "elsewhere",
        CachePart::SharedMemory => "shared_memory",
        CachePart::Directories => "directories",
        CachePart::Symlinks => "symlinks",
        CachePart::Internal => "internal",
    }
}
