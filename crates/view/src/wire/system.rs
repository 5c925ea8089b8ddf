//! `hotset.system-cache/1`: what occupies the page cache of the whole machine, by `hotset ls --system`.

use std::collections::BTreeMap;

use hotset_analysis::{SystemNumbers, cached_file_numbers, file_systems_by_pages};
use hotset_facts::{CachedFile, CachedFileSystem, SystemCache};
use serde::Serialize;

use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.system-cache/1";

/// One line of JSON, schema `hotset.system-cache/1`.
pub fn system_json(cache: &SystemCache, numbers: &SystemNumbers) -> Vec<u8> {
    let whole = Whole {
        cache,
        complete: cache.gap.is_none()
            && !cache.interrupted
            && cache.unreadable_count == 0
            && cache.unknown_files == 0
            && cache.file_systems.iter().all(|fs| fs.gap.is_none()),
        files: cache.files.iter().map(|file| FileKeys::new(cache, numbers, file)).collect(),
        unlisted: Unlisted { files: numbers.unlisted_files, cached_bytes: numbers.unlisted_bytes },
        file_systems: file_systems_by_pages(cache),
        totals: Totals::from(numbers),
    };
    Envelope::new(SCHEMA, whole).to_line()
}

/// What [`system_json`] wrote; its file systems have the order that they had there.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_system(document: &Document<'_>) -> Result<SystemCache, ReadError> {
    let mut cache: SystemCache = document.read(SCHEMA)?;
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
    #[serde(flatten)]
    cache: &'a SystemCache,
    /// Everything that is cached was looked at.
    complete: bool,
    /// The files with most pages.
    files: Vec<FileKeys<'a>>,
    /// What is cached and not among them.
    unlisted: Unlisted,
    /// All file systems with pages, or with a gap; most pages first.
    file_systems: Vec<&'a CachedFileSystem>,
    /// What the kernel's own counts are made of.
    totals: Totals,
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
    #[serde(flatten)]
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
            parts: numbers.parts.iter().map(|(part, size)| (part.as_str(), *size)).collect(),
            block_device_bytes: numbers.block_device_bytes,
            huge_page_bytes: numbers.huge_page_bytes,
        }
    }
}
