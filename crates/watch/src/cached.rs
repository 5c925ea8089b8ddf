//! The files that have most pages in the cache of this host, whoever read them.

use std::sync::atomic::AtomicBool;

use hotset_facts::{CachedFile, FileSystemKind, PageHolder};
use hotset_observe::inodes::{InodeScan, Request, scan};

/// Files that are looked at. Those that are mapped, deleted or no regular files are not handed out.
const LOOKED_AT: usize = 300;
/// Smaller files are not looked for.
const SMALLEST_BYTES: u64 = 1 << 20;

/// Regular files of at least 1 MiB that no process has mapped, with a name and on a file system whose pages are copies, those with most pages
/// first: by the kernel's own list of inodes, with programs that run once.
///
/// # Errors
/// Where the kernel has no such list for us: it is older than 6.2, or refuses.
pub fn largest_unmapped_files() -> Result<Vec<CachedFile>, String> {
    let request = Request { top: LOOKED_AT, min_size_bytes: SMALLEST_BYTES };
    let found = scan(&request, &AtomicBool::new(false)).map_err(|error| error.to_string())?;
    let InodeScan { file_systems, mut files, .. } = found;
    files.retain(|file| {
        let of = file_systems.get(file.file_system);
        file.holder == PageHolder::Regular
            && file.mapped == Some(false)
            && !file.deleted
            && of.is_some_and(|of| of.kind == FileSystemKind::Ordinary)
    });
    Ok(files)
}
