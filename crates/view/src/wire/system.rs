//! `hotset.system-cache/1`: what occupies the page cache of the whole machine, by `hotset ls --system`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hotset_analysis::{SystemNumbers, cached_file_numbers, file_systems_by_pages};
use hotset_facts::{
    CacheSource, CachedFile, CachedFileSystem, Dev, FileId, FileSystemKind, Holder, MemInfo,
    Observed, PageHolder, PagesByHolder, Reason, Residency, ResidencySource, SystemCache,
    Unreadable,
};
use serde::{Deserialize, Serialize};

use super::adapt::{List, Maybe, Owned, Wire as _, remote};
use super::environment::{Device, FileIdDef};
use super::observed::{Null, ReasonDef};
use super::path::{ObservedPath, OptionalMount, UnreadableDef};
use super::residency::SourceDef;
use super::{Document, Envelope, ReadError};
use crate::system::part_word;

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.system-cache/1";

/// One line of JSON, schema `hotset.system-cache/1`.
pub fn system_json(cache: &SystemCache, numbers: &SystemNumbers) -> Vec<u8> {
    let file_systems = file_systems_by_pages(cache).into_iter();
    let whole = Whole {
        cache,
        complete: cache.gap.is_none()
            && !cache.interrupted
            && cache.unreadable_count == 0
            && cache.unknown_files == 0
            && cache.file_systems.iter().all(|fs| fs.gap.is_none()),
        files: cache.files.iter().map(|file| FileKeys::new(cache, numbers, file)).collect(),
        unlisted: Unlisted { files: numbers.unlisted_files, cached_bytes: numbers.unlisted_bytes },
        file_systems: file_systems.map(|file_system| FileSystemKeys { file_system }).collect(),
        totals: Totals::from(numbers),
    };
    Envelope::new(SCHEMA, whole).to_line()
}

/// What [`system_json`] wrote; its file systems have the order that they had there.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_system(document: &Document<'_>) -> Result<SystemCache, ReadError> {
    let Owned::<CacheDef>(mut cache) = document.read(SCHEMA)?;
    for (at, file) in cache.files.iter_mut().enumerate() {
        let place = cache.file_systems.iter().position(|fs| fs.dev == file.id.dev);
        file.file_system = place.ok_or_else(|| {
            let text = format!("\"{}\"; expected the number of a file system", file.id.dev);
            ReadError::at(format!("files[{at}].dev"), text)
        })?;
    }
    Ok(cache)
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole<'a> {
    #[serde(flatten, with = "CacheDef")]
    cache: &'a SystemCache,
    /// Everything that is cached was looked at.
    complete: bool,
    /// The files with most pages.
    files: Vec<FileKeys<'a>>,
    /// What is cached and not among them.
    unlisted: Unlisted,
    /// All file systems with pages, or with a gap; most pages first.
    file_systems: Vec<FileSystemKeys<'a>>,
    /// What the kernel's own counts are made of.
    totals: Totals,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SystemCache")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CacheDef {
    #[serde(with = "CacheSourceDef")]
    source: CacheSource,
    /// Why the better source was not used; null where it was.
    #[serde(rename = "fallback_reason")]
    fallback: Option<String>,
    /// Bytes of a base page.
    #[serde(rename = "page_size_bytes")]
    page_size: u64,
    #[serde(with = "List::<FileSystemDef>", skip_serializing)]
    file_systems: Vec<CachedFileSystem>,
    #[serde(with = "List::<FileDef>", skip_serializing)]
    files: Vec<CachedFile>,
    /// Why the list of file systems is not whole; null where it is.
    #[serde(with = "Maybe::<ReasonDef>")]
    gap: Option<Reason>,
    /// What could not be looked at, by name; only a walk has such.
    #[serde(with = "List::<UnreadableDef>")]
    unreadable: Vec<Unreadable>,
    /// How many there were of these.
    unreadable_count: u64,
    /// Files whose state nobody may tell; only a walk has such.
    unknown_files: u64,
    /// It was stopped before its end.
    interrupted: bool,
    /// The kernel's counts right before.
    #[serde(with = "MemInfoDef", rename = "meminfo_before")]
    before: MemInfo,
    /// And right after.
    #[serde(with = "MemInfoDef", rename = "meminfo_after")]
    after: MemInfo,
}

/// Who told what is cached: the kernel's own lists, or a walk over what is mounted.
#[derive(Serialize, Deserialize)]
#[serde(remote = "CacheSource", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum CacheSourceDef {
    InodeList,
    Walk,
}

/// /proc/meminfo, as far as it is about the cache.
#[derive(Serialize, Deserialize)]
#[serde(remote = "MemInfo")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MemInfoDef {
    /// Memory that the kernel manages.
    total_bytes: u64,
    /// Memory that nothing uses.
    free_bytes: u64,
    /// Pages of files, those of block devices and of the swap cache left out; shared memory is in it.
    cached_bytes: u64,
    /// Pages of block devices.
    buffers_bytes: u64,
    /// Shared memory and tmpfs.
    shmem_bytes: u64,
    /// Pages in the swap cache.
    swap_cached_bytes: u64,
    /// Waiting to be written back.
    dirty_bytes: u64,
    /// Being written back.
    writeback_bytes: u64,
    /// Mapped by processes.
    mapped_bytes: u64,
    /// Locked, or else not to be evicted.
    unevictable_bytes: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Unlisted {
    files: u64,
    cached_bytes: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileKeys<'a> {
    #[serde(flatten, with = "FileDef")]
    file: &'a CachedFile,
    /// The share of the file that is cached, 0 to 1; null for an empty one.
    file_share: Option<f64>,
    /// Its share of all that is cached, 0 to 1; null where nothing is.
    cache_share: Option<f64>,
}

impl<'a> FileKeys<'a> {
    fn new(cache: &SystemCache, numbers: &SystemNumbers, file: &'a CachedFile) -> Self {
        let derived = cached_file_numbers(cache, numbers, file);
        Self { file, file_share: derived.file_share, cache_share: derived.cache_share }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CachedFile")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileDef {
    /// As seen from here; the last one where it is deleted. Where its file system is not mounted here, the path within it.
    #[serde(flatten, with = "ObservedPath")]
    path: Observed<PathBuf>,
    /// The path leads to it from here.
    reachable: bool,
    /// It has no name any more.
    deleted: bool,
    /// What kind of thing holds the pages.
    #[serde(with = "PageHolderDef", rename = "kind")]
    holder: PageHolder,
    #[serde(flatten, with = "FileIdDef")]
    id: FileId,
    #[serde(skip)]
    file_system: usize,
    /// The device's number, where it is a block device.
    #[serde(with = "Maybe::<Device>")]
    device: Option<Dev>,
    /// Its size.
    size_bytes: u64,
    /// Its pages in the cache.
    cached_pages: u64,
    /// What cachestat(2) adds to it, for those that could be opened.
    #[serde(with = "Null::<ResidencyDef>")]
    state: Observed<Residency>,
    /// Processes that hold it, where it is deleted and somebody looked.
    #[serde(with = "List::<HolderDef>")]
    holders: Vec<Holder>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PageHolder", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum PageHolderDef {
    Regular,
    Directory,
    Symlink,
    BlockDevice,
    Internal,
}

/// The cache state of a file, in base pages.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Residency")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ResidencyDef {
    /// Its size when it was asked.
    size_bytes: u64,
    /// Pages that the size spans.
    pages: u64,
    /// Pages in the cache.
    cached_pages: u64,
    /// Dirty pages.
    #[serde(with = "Null::<u64>")]
    dirty_pages: Observed<u64>,
    /// Pages being written back.
    #[serde(with = "Null::<u64>")]
    writeback_pages: Observed<u64>,
    /// Pages that were cached once and evicted.
    #[serde(with = "Null::<u64>")]
    evicted_pages: Observed<u64>,
    /// Pages among them evicted lately.
    #[serde(with = "Null::<u64>")]
    recently_evicted_pages: Observed<u64>,
    /// Which system call answered.
    #[serde(with = "SourceDef")]
    source: ResidencySource,
}

/// A process that has a file open or mapped.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Holder")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HolderDef {
    pid: u32,
    /// The name of its program.
    name: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileSystemKeys<'a> {
    #[serde(flatten, with = "FileSystemDef")]
    file_system: &'a CachedFileSystem,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CachedFileSystem")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileSystemDef {
    /// Its device number.
    #[serde(with = "Device")]
    dev: Dev,
    /// Its type, e.g. `ext4`.
    #[serde(rename = "type")]
    fs_type: String,
    /// What the kernel calls it: a device's name, or the type again.
    name: String,
    /// What its pages are to the kernel's own counts.
    #[serde(with = "FileSystemKindDef")]
    kind: FileSystemKind,
    #[serde(flatten, with = "OptionalMount")]
    mount_point: Option<PathBuf>,
    /// Inodes in memory, or files that a walk asked about.
    inodes: u64,
    /// Inodes among them with pages.
    cached_inodes: u64,
    /// Their pages, by what holds them.
    #[serde(with = "PagesDef")]
    pages: PagesByHolder,
    /// Files without a name, which something holds open.
    deleted_files: u64,
    /// Their pages.
    deleted_pages: u64,
    /// Why these numbers are less than the whole; null where they are not.
    #[serde(with = "Maybe::<ReasonDef>")]
    gap: Option<Reason>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FileSystemKind", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum FileSystemKindDef {
    Ordinary,
    SharedMemory,
    BlockDevices,
    HugePages,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PagesByHolder")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PagesDef {
    regular: u64,
    directories: u64,
    symlinks: u64,
    block_devices: u64,
    internal: u64,
}

/// What the kernel's own counts are made of.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Totals {
    /// `Cached` of /proc/meminfo, in the middle.
    cached_bytes: u64,
    /// `Shmem`, a part of it.
    shmem_bytes: u64,
    /// `Buffers`.
    buffers_bytes: u64,
    /// How much these changed meanwhile.
    drift_bytes: u64,
    /// What was found.
    explained_bytes: u64,
    /// As a share of what is cached, 0 to 1; null where nothing is.
    explained_share: Option<f64>,
    /// What was not found.
    unexplained_bytes: u64,
    /// Bytes by what holds them.
    parts: BTreeMap<&'static str, u64>,
    /// Pages of block devices.
    block_device_bytes: u64,
    /// Reserved huge pages of files.
    huge_page_bytes: u64,
}

impl From<&SystemNumbers> for Totals {
    fn from(numbers: &SystemNumbers) -> Self {
        Self {
            cached_bytes: numbers.cached_bytes,
            shmem_bytes: numbers.shmem_bytes,
            buffers_bytes: numbers.buffers_bytes,
            drift_bytes: numbers.drift_bytes,
            explained_bytes: numbers.explained_bytes,
            explained_share: numbers.explained_share,
            unexplained_bytes: numbers.unexplained_bytes,
            parts: numbers.parts.iter().map(|(part, size)| (part_word(*part), *size)).collect(),
            block_device_bytes: numbers.block_device_bytes,
            huge_page_bytes: numbers.huge_page_bytes,
        }
    }
}

remote!(
    CacheDef => SystemCache, MemInfoDef => MemInfo, FileDef => CachedFile,
    ResidencyDef => Residency, HolderDef => Holder, FileSystemDef => CachedFileSystem,
);
