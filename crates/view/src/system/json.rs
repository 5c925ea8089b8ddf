//! `hotset.system-cache/1`: one JSON object. The schema is `schema/system-cache-1.schema.json`.

use std::borrow::Cow;

use hotset_analysis::{SystemNumbers, cached_file_numbers, file_systems_by_pages};
use hotset_facts::{CachedFile, CachedFileSystem, Holder, MemInfo, Observed, SystemCache};
use serde::Serialize;

use super::{holder_word, kind_word, part_word, source_word};
use crate::json::{path_keys, to_line};

/// The same as a line of JSON. A number that is not known is `null`; no key is ever left out.
pub fn system_json(cache: &SystemCache, numbers: &SystemNumbers) -> Vec<u8> {
    to_line(&SystemCacheV1 {
        schema: "hotset.system-cache/1",
        hotset: env!("CARGO_PKG_VERSION"),
        source: source_word(cache.source),
        fallback_reason: cache.fallback.as_deref(),
        complete: cache.gap.is_none()
            && !cache.interrupted
            && cache.unreadable_count == 0
            && cache.unknown_files == 0
            && cache.file_systems.iter().all(|fs| fs.gap.is_none()),
        interrupted: cache.interrupted,
        page_size_bytes: cache.page_size,
        files: cache.files.iter().map(|file| FileV1::new(cache, numbers, file)).collect(),
        unlisted: UnlistedV1 {
            files: numbers.unlisted_files,
            cached_bytes: numbers.unlisted_bytes,
        },
        file_systems: file_systems_by_pages(cache).into_iter().map(FileSystemV1::new).collect(),
        totals: TotalsV1::new(numbers),
        meminfo: [&cache.before, &cache.after].map(MemInfoV1::new),
        gap: cache.gap.map(|reason| reason.to_string()),
        unknown_files: cache.unknown_files,
        unreadable_count: cache.unreadable_count,
        unreadable: cache
            .unreadable
            .iter()
            .map(|one| {
                let (path, path_hex) = path_keys(&one.path);
                UnreadableV1 { path, path_hex, reason: &one.reason }
            })
            .collect(),
    })
}

#[derive(Serialize)]
struct SystemCacheV1<'a> {
    schema: &'static str,
    hotset: &'static str,
    source: &'static str,
    fallback_reason: Option<&'a str>,
    complete: bool,
    interrupted: bool,
    page_size_bytes: u64,
    files: Vec<FileV1<'a>>,
    unlisted: UnlistedV1,
    file_systems: Vec<FileSystemV1<'a>>,
    totals: TotalsV1,
    /// Before and after.
    meminfo: [MemInfoV1; 2],
    gap: Option<String>,
    unknown_files: u64,
    unreadable_count: u64,
    unreadable: Vec<UnreadableV1<'a>>,
}

#[derive(Serialize)]
struct UnlistedV1 {
    files: u64,
    cached_bytes: u64,
}

#[derive(Serialize)]
struct UnreadableV1<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    reason: &'a str,
}

#[derive(Serialize)]
struct HolderV1<'a> {
    pid: u32,
    name: &'a str,
}

impl<'a> From<&'a Holder> for HolderV1<'a> {
    fn from(holder: &'a Holder) -> Self {
        Self { pid: holder.pid, name: &holder.name }
    }
}

#[derive(Serialize)]
struct FileV1<'a> {
    path: Option<Cow<'a, str>>,
    path_hex: Option<String>,
    path_reason: Option<String>,
    reachable: bool,
    deleted: bool,
    kind: &'static str,
    dev: String,
    ino: u64,
    device: Option<String>,
    size_bytes: u64,
    cached_pages: u64,
    file_share: Option<f64>,
    cache_share: Option<f64>,
    dirty_pages: Option<u64>,
    writeback_pages: Option<u64>,
    evicted_pages: Option<u64>,
    recently_evicted_pages: Option<u64>,
    state_reason: Option<String>,
    holders: Vec<HolderV1<'a>>,
}

impl<'a> FileV1<'a> {
    fn new(cache: &SystemCache, numbers: &SystemNumbers, file: &'a CachedFile) -> Self {
        let derived = cached_file_numbers(cache, numbers, file);
        let (path, path_hex) = match file.path.as_value().map(|path| path_keys(path)) {
            Some((path, hex)) => (Some(path), hex),
            None => (None, None),
        };
        let state = file.state.as_value();
        let page_count = |of: fn(&hotset_facts::Residency) -> Observed<u64>| {
            state.and_then(|state| of(state).value())
        };
        Self {
            path,
            path_hex,
            path_reason: file.path.reason().map(|reason| reason.to_string()),
            reachable: file.reachable,
            deleted: file.deleted,
            kind: holder_word(file.holder),
            dev: file.id.dev.to_string(),
            ino: file.id.ino,
            device: file.device.map(|device| device.to_string()),
            size_bytes: file.size_bytes,
            cached_pages: file.cached_pages,
            file_share: derived.file_share,
            cache_share: derived.cache_share,
            dirty_pages: page_count(|state| state.dirty_pages),
            writeback_pages: page_count(|state| state.writeback_pages),
            evicted_pages: page_count(|state| state.evicted_pages),
            recently_evicted_pages: page_count(|state| state.recently_evicted_pages),
            state_reason: file.state.reason().map(|reason| reason.to_string()),
            holders: file.holders.iter().map(HolderV1::from).collect(),
        }
    }
}

#[derive(Serialize)]
struct FileSystemV1<'a> {
    dev: String,
    #[serde(rename = "type")]
    fs_type: &'a str,
    name: &'a str,
    kind: &'static str,
    mount: Option<Cow<'a, str>>,
    mount_hex: Option<String>,
    inodes: u64,
    cached_inodes: u64,
    pages: PagesV1,
    deleted_files: u64,
    deleted_pages: u64,
    gap: Option<String>,
}

#[derive(Serialize)]
struct PagesV1 {
    regular: u64,
    directories: u64,
    symlinks: u64,
    block_devices: u64,
    internal: u64,
}

impl<'a> FileSystemV1<'a> {
    fn new(fs: &'a CachedFileSystem) -> Self {
        let (mount, mount_hex) = match fs.mount_point.as_deref().map(path_keys) {
            Some((mount, hex)) => (Some(mount), hex),
            None => (None, None),
        };
        let pages = &fs.pages;
        Self {
            dev: fs.dev.to_string(),
            fs_type: &fs.fs_type,
            name: &fs.name,
            kind: kind_word(fs.kind),
            mount,
            mount_hex,
            inodes: fs.inodes,
            cached_inodes: fs.cached_inodes,
            pages: PagesV1 {
                regular: pages.regular,
                directories: pages.directories,
                symlinks: pages.symlinks,
                block_devices: pages.block_devices,
                internal: pages.internal,
            },
            deleted_files: fs.deleted_files,
            deleted_pages: fs.deleted_pages,
            gap: fs.gap.map(|reason| reason.to_string()),
        }
    }
}

#[derive(Serialize)]
struct TotalsV1 {
    cached_bytes: u64,
    shmem_bytes: u64,
    buffers_bytes: u64,
    drift_bytes: u64,
    explained_bytes: u64,
    explained_share: Option<f64>,
    unexplained_bytes: u64,
    parts: serde_json::Map<String, serde_json::Value>,
    block_device_bytes: u64,
    huge_page_bytes: u64,
}

impl TotalsV1 {
    fn new(numbers: &SystemNumbers) -> Self {
        let parts = numbers.parts.iter();
        Self {
            cached_bytes: numbers.cached_bytes,
            shmem_bytes: numbers.shmem_bytes,
            buffers_bytes: numbers.buffers_bytes,
            drift_bytes: numbers.drift_bytes,
            explained_bytes: numbers.explained_bytes,
            explained_share: numbers.explained_share,
            unexplained_bytes: numbers.unexplained_bytes,
            parts: parts.map(|(part, size)| (part_word(*part).into(), (*size).into())).collect(),
            block_device_bytes: numbers.block_device_bytes,
            huge_page_bytes: numbers.huge_page_bytes,
        }
    }
}

#[derive(Serialize)]
struct MemInfoV1 {
    total_bytes: u64,
    free_bytes: u64,
    cached_bytes: u64,
    buffers_bytes: u64,
    shmem_bytes: u64,
    swap_cached_bytes: u64,
    dirty_bytes: u64,
    writeback_bytes: u64,
    mapped_bytes: u64,
    unevictable_bytes: u64,
}

impl MemInfoV1 {
    fn new(info: &MemInfo) -> Self {
        Self {
            total_bytes: info.total_bytes,
            free_bytes: info.free_bytes,
            cached_bytes: info.cached_bytes,
            buffers_bytes: info.buffers_bytes,
            shmem_bytes: info.shmem_bytes,
            swap_cached_bytes: info.swap_cached_bytes,
            dirty_bytes: info.dirty_bytes,
            writeback_bytes: info.writeback_bytes,
            mapped_bytes: info.mapped_bytes,
            unevictable_bytes: info.unevictable_bytes,
        }
    }
}
