//! What occupies the cache of the whole machine: text, JSON (`hotset.system-cache/1`), CSV.

mod csv;
mod json;
mod names;
mod rest;
#[cfg(test)]
mod tests;
mod text;

pub use csv::system_csv;
pub use json::system_json;
pub use text::{SystemOptions, system_text};

use hotset_analysis::CachePart;
use hotset_facts::{CacheSource, FileSystemKind, PageHolder};

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

fn kind_word(kind: FileSystemKind) -> &'static str {
    match kind {
        FileSystemKind::Ordinary => "ordinary",
        FileSystemKind::SharedMemory => "shared_memory",
        FileSystemKind::BlockDevices => "block_devices",
        FileSystemKind::HugePages => "huge_pages",
    }
}

fn source_word(source: CacheSource) -> &'static str {
    match source {
        CacheSource::InodeList => "inode_list",
        CacheSource::Walk => "walk",
    }
}

fn part_word(part: CachePart) -> &'static str {
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
