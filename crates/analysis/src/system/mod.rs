//! What the cache of a machine consists of, and how much of it is explained.

use std::cmp::Reverse;

use hotset_facts::{
    CachedFile, CachedFileSystem, FileSystemKind, Observed, PageHolder, Residency, SystemCache,
};

use crate::listing::SortKey;
use crate::numbers::share;

hotset_facts::words! {
    /// What a part of `Cached` is.
    pub enum CachePart {
        /// Regular files with a name, on file systems that are mounted here.
        Files = "files",
        /// Regular files without a name, which something holds open or mapped.
        Deleted = "deleted",
        /// Files on file systems that are not mounted here: other mount namespaces, lazy unmounts.
        Elsewhere = "elsewhere",
        /// tmpfs, shared memory, memfd.
        SharedMemory = "shared_memory",
        /// Folders, whose entries are cached as pages.
        Directories = "directories",
        /// Symbolic links.
        Symlinks = "symlinks",
        /// File systems' own inodes.
        Internal = "internal",
    }
}

impl CachePart {
    /// All parts, in the order in which people are told of them.
    pub const ALL: [Self; 7] = [
        Self::Files,
        Self::Deleted,
        Self::Elsewhere,
        Self::SharedMemory,
        Self::Directories,
        Self::Symlinks,
        Self::Internal,
    ];
}

/// Numbers over a [`SystemCache`]. In bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemNumbers {
    /// `Cached` of /proc/meminfo: the mean of before and after.
    pub cached_bytes: u64,
    /// `Shmem`, likewise.
    pub shmem_bytes: u64,
    /// `Buffers`, likewise.
    pub buffers_bytes: u64,
    /// By how much `Cached` changed while it was looked at.
    pub drift_bytes: u64,
    /// What was found of `Cached`.
    pub explained_bytes: u64,
    /// Its share of `Cached`, not above 1; `None` where nothing is cached.
    pub explained_share: Option<f64>,
    /// What of `Cached` was not found; 0 where more was found than the mean says.
    pub unexplained_bytes: u64,
    /// Every part of what was found, in the order of [`CachePart::ALL`].
    pub parts: [(CachePart, u64); 7],
    /// Pages of block devices that were found: what `Buffers` counts.
    pub block_device_bytes: u64,
    /// Reserved huge pages in use by files, which neither count has.
    pub huge_page_bytes: u64,
    /// Files (and other inodes) with pages that are not listed.
    pub unlisted_files: u64,
    /// Their pages, block devices and huge pages included.
    pub unlisted_bytes: u64,
}

/// Numbers over one listed file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CachedFileNumbers {
    /// Its cached bytes, whole pages.
    pub cached_bytes: u64,
    /// The cached share of its pages, not above 1; `None` for what has no size of its own.
    pub file_share: Option<f64>,
    /// Its share of all cached pages of the machine, those of block devices included.
    pub cache_share: Option<f64>,
    /// Its dirty bytes.
    pub dirty_bytes: Observed<u64>,
    /// Its bytes that were cached once and evicted.
    pub evicted_bytes: Observed<u64>,
}

/// Adds up what the cache consists of.
pub fn system_numbers(cache: &SystemCache) -> SystemNumbers {
    let mean = |of: fn(&hotset_facts::MemInfo) -> u64| of(&cache.before).midpoint(of(&cache.after));
    let cached_bytes = mean(|info| info.cached_bytes);
    let parts = CachePart::ALL.map(|part| {
        let pages: u64 = cache.file_systems.iter().map(|fs| part_of(fs, part)).sum();
        (part, pages * cache.page_size)
    });
    let explained_bytes = parts.iter().map(|(_, bytes)| bytes).sum();
    let total = |kind: FileSystemKind| {
        let of_kind = cache.file_systems.iter().filter(|fs| fs.kind == kind);
        of_kind.map(|fs| fs.pages.total()).sum::<u64>() * cache.page_size
    };
    let seen: u64 = cache.file_systems.iter().map(|fs| fs.pages.total()).sum();
    let inodes: u64 = cache.file_systems.iter().map(|fs| fs.cached_inodes).sum();
    let listed: u64 = cache.files.iter().map(|file| file.cached_pages).sum();
    SystemNumbers {
        cached_bytes,
        shmem_bytes: mean(|info| info.shmem_bytes),
        buffers_bytes: mean(|info| info.buffers_bytes),
        drift_bytes: cache.before.cached_bytes.abs_diff(cache.after.cached_bytes),
        explained_bytes,
        explained_share: share(explained_bytes, cached_bytes).map(|share| share.min(1.0)),
        unexplained_bytes: cached_bytes.saturating_sub(explained_bytes),
        parts,
        block_device_bytes: total(FileSystemKind::BlockDevices),
        huge_page_bytes: total(FileSystemKind::HugePages),
        unlisted_files: inodes.saturating_sub(cache.files.len() as u64),
        unlisted_bytes: seen.saturating_sub(listed) * cache.page_size,
    }
}

/// Pages of a file system that belong to a part.
fn part_of(fs: &CachedFileSystem, part: CachePart) -> u64 {
    let ordinary = match fs.kind {
        FileSystemKind::SharedMemory => {
            return if part == CachePart::SharedMemory { fs.pages.total() } else { 0 };
        }
        FileSystemKind::BlockDevices | FileSystemKind::HugePages => return 0,
        FileSystemKind::Ordinary => &fs.pages,
    };
    let named = ordinary.regular.saturating_sub(fs.deleted_pages);
    match part {
        CachePart::Files if fs.mount_point.is_some() => named,
        CachePart::Elsewhere if fs.mount_point.is_none() => named,
        CachePart::Deleted => fs.deleted_pages,
        CachePart::Directories => ordinary.directories,
        CachePart::Symlinks => ordinary.symlinks,
        // A device node's pages are the device's; on another file system than theirs it has none.
        CachePart::Internal => ordinary.internal + ordinary.block_devices,
        CachePart::Files | CachePart::Elsewhere | CachePart::SharedMemory => 0,
    }
}

/// Numbers over one of the cache's files.
pub fn cached_file_numbers(
    cache: &SystemCache,
    numbers: &SystemNumbers,
    file: &CachedFile,
) -> CachedFileNumbers {
    let cached_bytes = file.cached_pages * cache.page_size;
    let spanned = file.size_bytes.div_ceil(cache.page_size.max(1)) * cache.page_size;
    let sized = matches!(file.holder, PageHolder::Regular | PageHolder::BlockDevice);
    let bytes = |of: fn(&Residency) -> Observed<u64>| match &file.state {
        Observed::Value(state) => of(state).map(|pages| pages * cache.page_size),
        Observed::Missing(reason) => Observed::Missing(*reason),
    };
    CachedFileNumbers {
        cached_bytes,
        // Some file systems keep pages of their own beyond the end (fs-verity).
        file_share: share(cached_bytes, spanned).filter(|_| sized).map(|share| share.min(1.0)),
        cache_share: share(cached_bytes, numbers.cached_bytes + numbers.buffers_bytes),
        dirty_bytes: bytes(|state| state.dirty_pages),
        evicted_bytes: bytes(|state| state.evicted_pages),
    }
}

/// Puts the listed files in order, or the other way round.
pub fn sort_cached_files(cache: &mut SystemCache, order: SortKey, reversed: bool) {
    let page = cache.page_size.max(1);
    let rank = |file: &CachedFile| match order {
        SortKey::Name => None,
        SortKey::Cached => Some(file.cached_pages.into()),
        SortKey::Size => Some(file.size_bytes.into()),
        // Millionths order as well as a fraction would, and have an order.
        SortKey::Percent => {
            let pages = u128::from(file.size_bytes.div_ceil(page).max(1));
            Some(u128::from(file.cached_pages) * 1_000_000 / pages)
        }
        SortKey::Dirty => state(file, |state| state.dirty_pages).map(u128::from),
        SortKey::Evicted => state(file, |state| state.evicted_pages).map(u128::from),
    };
    let largest_first = |file: &CachedFile| match order {
        SortKey::Percent => Reverse(file.cached_pages),
        _ => Reverse(0),
    };
    cache.files.sort_by_cached_key(|file| {
        (Reverse(rank(file)), largest_first(file), file.path.as_value().cloned(), file.id)
    });
    if reversed {
        cache.files.reverse();
    }
}

fn state(file: &CachedFile, of: fn(&Residency) -> Observed<u64>) -> Option<u64> {
    file.state.as_value().and_then(|state| of(state).value())
}

/// The file systems, those with most pages first.
pub fn file_systems_by_pages(cache: &SystemCache) -> Vec<&CachedFileSystem> {
    let mut all: Vec<_> = cache.file_systems.iter().collect();
    all.sort_by_key(|fs| (Reverse(fs.pages.total()), fs.dev));
    all
}

#[cfg(test)]
mod tests;
