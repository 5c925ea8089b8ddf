//! How much is read.

use std::path::PathBuf;
use std::time::Duration;

use hotset_facts::LabSize;
use hotset_facts::units::bytes;
use hotset_lab::experiment::Rounds;

use super::cells::{OWN, PATTERN};
use super::own::Own;
use crate::Request;

/// Sizes and counts of a session.
pub(super) struct Amounts {
    /// Sizes of files that are read.
    pub(super) sizes_bytes: Vec<u64>,
    /// Sizes of documents that are parsed.
    pub(super) documents_bytes: Vec<u64>,
    /// The user's own file, which is the only one then.
    own_file: Option<Own>,
    /// The user's own document, which is the only one then.
    pub(super) own_document: Option<Own>,
    /// Between two reads of a process.
    pub(super) pause: Duration,
    pub(super) rounds: Rounds,
    /// Reads in a process, where that isn't too much.
    most: u32,
    /// Whether that was asked for by name: then it is never too much.
    exactly: bool,
    /// Bytes that one process reads at most.
    process_bytes: u64,
    /// Only what the answers need.
    pub(super) is_quick: bool,
    /// Memory that nobody uses.
    free_bytes: u64,
}

/// A file that is read.
pub(super) struct ReadFile {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// The level of `contents`: generated, or the user's own.
    pub(super) contents: &'static str,
}

/// The article's document.
const DOCUMENT_BYTES: u64 = 145 << 10;

/// The first read and as many more as have a median.
const LEAST: u32 = 4;

/// The same in other languages, each of which reads every file, where reads are long: one more than the first.
const LEAST_OF_PROGRAM: u32 = 2;

/// What a process parses at least, in bytes, unless the count of its reads is less.
const LEAST_PARSED_BYTES: u64 = 8 << 20;

impl Amounts {
    pub(super) fn of(request: &Request) -> Result<Self, String> {
        let options = &request.options;
        let documents = |more: &[u64]| [&[DOCUMENT_BYTES], more].concat();
        let (large, documents_bytes, most, process_bytes, budget_s) = match request.size {
            LabSize::Quick => (16 << 20, documents(&[]), 20, 64 << 20, None),
            LabSize::Default => (1 << 30, documents(&[4 << 20]), 100, 2 << 30, Some(300)),
            LabSize::Full => (1 << 30, documents(&[1 << 20, 16 << 20]), 100, 10 << 30, Some(2400)),
        };
        let mut sizes_bytes = options.sizes_bytes.clone();
        if sizes_bytes.is_empty() {
            sizes_bytes = match request.size {
                LabSize::Quick => vec![1 << 10, large],
                LabSize::Default | LabSize::Full => vec![1 << 10, 1 << 20, large],
            };
        }
        if sizes_bytes.contains(&0) {
            return Err("--sizes 0: an empty file holds nothing to read".to_owned());
        }
        sizes_bytes.sort_unstable();
        sizes_bytes.dedup();
        let own = |option, path: &Option<PathBuf>| {
            path.as_deref().map(|path| Own::of(option, path)).transpose()
        };
        let own_file = own("--file", &options.file)?;
        let own_document = own("--document", &options.document)?;
        if let Some(own) = &own_file {
            sizes_bytes = vec![own.bytes];
        }
        let exactly = options.count.is_some();
        let most = options.count.unwrap_or(most);
        if most < 2 {
            return Err(format!(
                "--count {most}: expected at least 2, a first read and a later one"
            ));
        }
        let memory = hotset_sys::proc::meminfo::now();
        let amounts = Self {
            sizes_bytes,
            documents_bytes,
            own_file,
            own_document,
            pause: options.sleep.unwrap_or_default(),
            rounds: request.rounds_of_size(15, budget_s),
            most,
            exactly,
            process_bytes,
            is_quick: request.size == LabSize::Quick,
            free_bytes: memory.map_or(u64::MAX, |info| info.free_bytes + info.cached_bytes),
        };
        amounts.require_fitting(&options.sizes_bytes)?;
        if let Some(own) = &amounts.own_document {
            own.require_json("--document")?;
        }
        Ok(amounts)
    }

    /// Refuses what was asked for and is too large for this host.
    fn require_fitting(&self, sizes_bytes: &[u64]) -> Result<(), String> {
        let own =
            |option: &'static str, own: &Option<Own>| own.as_ref().map(|own| (option, own.bytes));
        let sizes = sizes_bytes.iter().map(|&bytes| ("--sizes", bytes));
        let mut asked =
            sizes.chain(own("--file", &self.own_file)).chain(own("--document", &self.own_document));
        match asked.find(|(_, bytes)| self.too_large(*bytes)) {
            Some((option, bytes)) => Err(self.refusal(option, bytes)),
            None => Ok(()),
        }
    }

    /// The files that are read.
    pub(super) fn files(&self, request: &Request) -> Vec<ReadFile> {
        if let Some(Own { path, bytes }) = self.own_file.clone() {
            return vec![ReadFile { path, bytes, contents: OWN }];
        }
        let fitting = self.sizes_bytes.iter().filter(|&&bytes| !self.too_large(bytes));
        let made = |&bytes: &u64| ReadFile {
            path: request.path(&format!("read-{bytes}")),
            bytes,
            contents: PATTERN,
        };
        fitting.map(made).collect()
    }

    /// What was asked for is not left out in silence.
    fn refusal(&self, option: &str, asked: u64) -> String {
        let (asked, most) = (bytes(asked), bytes(self.free_bytes / 4));
        format!(
            "{option}: {asked} is too large for this host: expected up to {most}, a quarter of free memory and page cache"
        )
    }

    /// Reads in a process of a file of this size: fewer of large files, unless the count was asked for.
    pub(super) fn count(&self, bytes: u64) -> u32 {
        self.fitting(self.process_bytes / bytes, LEAST)
    }

    /// The same of a process of another language.
    pub(super) fn count_of_program(&self, bytes: u64) -> u32 {
        self.fitting(self.process_bytes / bytes, LEAST_OF_PROGRAM)
    }

    fn fitting(&self, count: u64, least: u32) -> u32 {
        let fitting = u32::try_from(count).unwrap_or(u32::MAX);
        if self.exactly { self.most } else { self.most.min(fitting.max(least)) }
    }

    /// Parses in a process of a document of this size: parsing takes many times as long as reading.
    pub(super) fn parses(&self, bytes: u64) -> u32 {
        let most_bytes = (self.process_bytes / 128).max(LEAST_PARSED_BYTES);
        self.fitting(most_bytes / bytes, LEAST)
    }

    /// The file in the cache and the memory that it is read into must not push each other out.
    pub(super) fn too_large(&self, bytes: u64) -> bool {
        bytes.saturating_mul(2) > self.free_bytes / 2
    }
}
