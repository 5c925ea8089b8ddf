//! Below the files: who holds deleted ones, the file systems, and what `Cached` consists of.

use hotset_analysis::{CachePart, SystemNumbers, file_systems_by_pages};
use hotset_facts::{
    CacheSource, CachedFile, CachedFileSystem, FileSystemKind, MemInfo, SystemCache,
};

use super::names;
use super::text::name;
use crate::escape::{escape_path, escape_text, shorten_path};
use crate::report::screen::Screen;
use crate::table::{Align, INDENT, Table};
use crate::units::{bytes, count, percent};

/// File systems that get a row of their own.
const MAX_FILE_SYSTEMS: usize = 12;
/// Holders that are named.
const MAX_HOLDERS: usize = 3;
/// Unreadable paths that are named.
const MAX_UNREADABLE: usize = 5;

/// Deleted files go only when those go that hold them.
pub(super) fn push_deleted(screen: &mut Screen, cache: &SystemCache) {
    let held: Vec<_> = cache.files.iter().filter(|file| !file.holders.is_empty()).collect();
    if held.is_empty() {
        return;
    }
    let mut table = Table::new(vec![("held by", Align::Left)]);
    for file in &held {
        table.push(vec![holders(file)]);
    }
    let room = table.room_for_names(screen.width);
    let names: Vec<_> = held.iter().map(|file| name(cache, file, room)).collect();
    screen.table("Without a name, but in use", &table, &names);
}

fn holders(file: &CachedFile) -> String {
    let named = file.holders.iter().take(MAX_HOLDERS);
    let mut words: Vec<_> =
        named.map(|holder| format!("{} {}", holder.pid, escape_text(&holder.name))).collect();
    if file.holders.len() > MAX_HOLDERS {
        words.push(format!("{} more", count((file.holders.len() - MAX_HOLDERS) as u64)));
    }
    words.join(", ")
}

pub(super) fn push_file_systems(screen: &mut Screen, cache: &SystemCache) {
    let all = file_systems_by_pages(cache);
    let with_pages: Vec<_> = all.into_iter().filter(|fs| fs.pages.total() > 0).collect();
    if with_pages.is_empty() {
        return;
    }
    let mut table = Table::new(vec![
        ("cached", Align::Right),
        ("files", Align::Right),
        ("deleted", Align::Right),
        ("type", Align::Left),
    ]);
    let size = |pages: u64| bytes(pages * cache.page_size);
    let (shown, beyond) = with_pages.split_at(with_pages.len().min(MAX_FILE_SYSTEMS));
    for fs in shown {
        table.push(vec![
            size(fs.pages.total()),
            count(fs.cached_inodes),
            if fs.deleted_pages > 0 { size(fs.deleted_pages) } else { "-".to_owned() },
            escape_text(&names::type_and_name(fs)),
        ]);
    }
    let room = table.room_for_names(screen.width);
    let names: Vec<_> = shown.iter().map(|fs| shorten_path(&place(fs), room)).collect();
    screen.table("File systems", &table, &names);
    if !beyond.is_empty() {
        let pages = beyond.iter().map(|fs| fs.pages.total()).sum();
        screen.note(&format!("{} more file systems, {}", count(beyond.len() as u64), size(pages)));
    }
}

fn place(fs: &CachedFileSystem) -> String {
    match (&fs.mount_point, fs.kind) {
        (Some(at), _) => escape_path(at),
        (None, FileSystemKind::BlockDevices) => "(block devices)".to_owned(),
        (None, FileSystemKind::SharedMemory) if fs.fs_type == "rootfs" => {
            "(the kernel's first root)".to_owned()
        }
        (None, FileSystemKind::SharedMemory) => "(shared memory, memfd)".to_owned(),
        (None, _) => "(not mounted here)".to_owned(),
    }
}

/// "explains N of M Cached", and what it consists of.
pub(super) fn push_parts(screen: &mut Screen, cache: &SystemCache, numbers: &SystemNumbers) {
    let share = numbers.explained_share.map(|share| format!(" ({})", percent(share)));
    screen.line("");
    screen.title(&format!(
        "Explains {} of {} Cached{}",
        bytes(numbers.explained_bytes),
        bytes(numbers.cached_bytes),
        share.unwrap_or_default()
    ));
    let deleted: u64 = cache
        .file_systems
        .iter()
        .filter(|fs| fs.kind == FileSystemKind::Ordinary)
        .map(|fs| fs.deleted_files)
        .sum();
    let mut lines = Vec::new();
    for (part, size) in numbers.parts.iter().filter(|(_, size)| *size > 0) {
        let words = match part {
            CachePart::Files => "files on file systems mounted here".to_owned(),
            CachePart::Deleted if deleted == 1 => "1 deleted file that is still in use".to_owned(),
            CachePart::Deleted => format!("{} deleted files that are still in use", count(deleted)),
            CachePart::Elsewhere => "files on file systems that are not mounted here".to_owned(),
            CachePart::SharedMemory => "tmpfs and shared memory".to_owned(),
            CachePart::Directories => "directories".to_owned(),
            CachePart::Symlinks => "symbolic links".to_owned(),
            CachePart::Internal => "file systems' own inodes (metadata)".to_owned(),
        };
        lines.push((*size, words));
    }
    if numbers.unexplained_bytes > 0 {
        let words = match cache.source {
            CacheSource::Walk => "not found: what a walk can't see, see below",
            CacheSource::InodeList => "not found: changed meanwhile, or of no inode",
        };
        lines.push((numbers.unexplained_bytes, words.to_owned()));
    }
    push_sums(screen, &lines);
    push_beside(screen, cache, numbers);
}

/// What the kernel counts beside `Cached`.
fn push_beside(screen: &mut Screen, cache: &SystemCache, numbers: &SystemNumbers) {
    let mut beside = Vec::new();
    if cache.source == CacheSource::InodeList {
        beside.push((
            numbers.block_device_bytes,
            format!("block devices (the kernel says {} Buffers)", bytes(numbers.buffers_bytes)),
        ));
    } else {
        beside.push((numbers.buffers_bytes, "block devices (Buffers)".to_owned()));
    }
    let MemInfo { swap_cached_bytes, .. } = cache.after;
    if swap_cached_bytes > 0 {
        beside.push((swap_cached_bytes, "swap cache".to_owned()));
    }
    if numbers.huge_page_bytes > 0 {
        beside.push((numbers.huge_page_bytes, "huge pages of hugetlbfs".to_owned()));
    }
    screen.line("Not included in Cached:");
    push_sums(screen, &beside);
}

fn push_sums(screen: &mut Screen, lines: &[(u64, String)]) {
    let widest = lines.iter().map(|(size, _)| bytes(*size).len()).max().unwrap_or(0);
    for (size, words) in lines {
        screen.line(&format!("{:INDENT$}{:>widest$}  {words}", "", bytes(*size)));
    }
}

/// What these numbers are less than the whole for.
pub(super) fn push_gaps(screen: &mut Screen, cache: &SystemCache, numbers: &SystemNumbers) {
    let mut gaps = Vec::new();
    if let Some(why) = &cache.fallback {
        gaps.push(format!("Found by a walk over the mounted file systems: {}.", escape_text(why)));
    }
    if cache.source == CacheSource::Walk {
        gaps.push(
            "A walk does not see deleted files, other mount namespaces, shared memory without a name, directories and \
             metadata."
                .to_owned(),
        );
    }
    if cache.interrupted {
        gaps.push("Stopped before its end: this is a part.".to_owned());
    }
    gaps.extend(cache.gap.map(|reason| format!("Not all file systems: {}.", reason.detail)));
    for fs in cache.file_systems.iter().filter(|_| !cache.interrupted) {
        if let Some(gap) = fs.gap {
            gaps.push(format!("{}: only a part: {}.", place(fs), gap.detail));
        }
    }
    if cache.unknown_files > 0 {
        gaps.push(format!(
            "{} files: unknown, the kernel tells only owners, writers and root.",
            count(cache.unknown_files)
        ));
    }
    for unreadable in cache.unreadable.iter().take(MAX_UNREADABLE) {
        let (path, reason) = (escape_path(&unreadable.path), escape_text(&unreadable.reason));
        gaps.push(format!("Not read: {path}: {reason}"));
    }
    if cache.unreadable_count > MAX_UNREADABLE as u64 {
        let more = cache.unreadable_count - MAX_UNREADABLE as u64;
        gaps.push(format!("{} more paths were not read.", count(more)));
    }
    if numbers.drift_bytes * 100 > numbers.cached_bytes {
        gaps.push(format!("Cached changed by {} meanwhile.", bytes(numbers.drift_bytes)));
    }
    if !gaps.is_empty() {
        screen.line("");
        gaps.iter().for_each(|gap| screen.note(gap));
    }
}
