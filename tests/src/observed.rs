//! The workload under hotset, from a cache state that was verified, and what its profile says of the measured file.

use std::fs::File;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::PAGE;
use crate::evictions::Evictions;
use crate::flushes::Flushes;
use crate::invariants::assert_invariants;
use crate::json::{file_row, number};
use crate::metadata::MetadataReads;
use crate::run::{HotsetRun, run_hotset};
use crate::scratch::{Scratch, text};
use crate::state::{clean, evict_verified, has_cachestat, until, warm_verified};

/// The state that a file is in when the run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// No page is cached.
    Cold,
    /// Every page is.
    Warm,
    /// Whatever it was.
    AsItIs,
    /// Whatever it was, for a case that can't be run again.
    Once,
}

/// One run, with a row for the measured file.
pub struct Observed {
    /// What hotset wrote with `--json`.
    pub profile: Value,
    /// What the workload wrote with `--truth`.
    pub truth: Value,
    /// Exit status and both streams of hotset.
    pub output: Output,
}

impl Observed {
    /// The row of the file that the truth is about; of the layer's file where a probe was named.
    pub fn row(&self) -> &Value {
        let backing = &self.truth["backing"];
        self.row_of(if backing.is_null() { &self.truth["file"] } else { backing })
    }

    /// The row of the file that was written by a copy.
    pub fn row2(&self) -> &Value {
        self.row_of(&self.truth["file2"])
    }

    /// The row of a file that a truth describes.
    pub fn row_of(&self, file: &Value) -> &Value {
        file_row(&self.profile, file).unwrap_or_else(|| panic!("no row for {file}"))
    }

    /// A count of the measured file's row.
    pub fn seen(&self, pointer: &str) -> u64 {
        number(self.row(), pointer)
    }

    /// A count of the truth.
    pub fn truth(&self, pointer: &str) -> u64 {
        number(&self.truth, pointer)
    }

    /// Compares counts of the row with counts of the truth, by pointer.
    pub fn assert_same(&self, pairs: &[(&str, &str)]) {
        for (seen, truth) in pairs {
            assert_eq!(self.seen(seen), self.truth(truth), "{seen} {truth}: {}", self.both());
        }
    }

    /// Compares the misses with the truth. It knows them where every request began when the one before was over, and
    /// the kernel has cachestat(2); there, it has to.
    pub fn assert_misses(&self, one_at_a_time: bool) {
        let known = one_at_a_time && has_cachestat();
        assert_eq!(!self.truth["pages_missing_before"].is_null(), known, "{}", self.truth);
        if known {
            self.assert_same(&[("/read/misses", "/pages_missing_before")]);
        }
    }

    /// Compares what was written through the cache with the truth: calls, bytes, pages, and what became of these.
    pub fn assert_writes(&self) {
        self.assert_same(&[
            ("/write/calls", "/requests"),
            ("/write/bytes", "/bytes"),
            ("/write/pages", "/pages"),
            ("/write/new_pages", "/new_pages"),
            ("/write/dirtied_pages", "/dirtied_pages"),
        ]);
    }

    /// The same for parts of pages, one request at a time: a page that is not cached has to be read first.
    pub fn assert_writes_in_parts(&self) {
        self.assert_same(&[
            ("/write/calls", "/requests"),
            ("/write/pages", "/pages"),
            ("/write/new_pages", "/new_pages"),
            ("/device/read_bytes", "/block_read_bytes"),
        ]);
        self.assert_counts(&[("/write/misses", self.truth("/block_read_bytes") / PAGE)]);
    }

    /// Compares counts of the row with numbers.
    pub fn assert_counts(&self, wanted: &[(&str, u64)]) {
        for (pointer, wanted) in wanted {
            assert_eq!(self.seen(pointer), *wanted, "{pointer}: {}", self.both());
        }
    }

    /// What was seen, what was true, and what the sensor says it lost, for messages.
    pub fn both(&self) -> String {
        let lost = &self.profile["sensor"]["losses"];
        format!("seen {}\ntrue {}\nlost {lost}", self.row(), self.truth)
    }
}

/// Runs a case under hotset on `file`, again only where the kernel says that something else changed the state. Every profile
/// must hold together, whether its run counts or not.
pub fn observe(scratch: &Scratch, file: &Path, cache: Cache, words: &[&str]) -> Observed {
    observe_files(scratch, file, &[file], cache, words)
}

/// The same where the case reads other files than it names.
pub fn observe_files(
    scratch: &Scratch,
    name: &Path,
    files: &[&Path],
    cache: Cache,
    words: &[&str],
) -> Observed {
    let mut all = vec![words[0], "--file", text(name)];
    all.extend(&words[1..]);
    let named = |option| words.iter().skip_while(|word| **word != option).nth(1).map(Path::new);
    let copy = named("--file2");
    if let Some(copy) = copy {
        // It has its number from now on.
        File::options().append(true).create(true).open(copy).expect("create");
    }
    // Of a file on an overlay, the pages are the layer's.
    let watched: Vec<&Path> = files.iter().copied().chain(named("--probe")).chain(copy).collect();
    until("nothing else changed what is cached", || {
        match cache {
            Cache::Cold => files.iter().for_each(|file| evict_verified(file)),
            Cache::Warm => files.iter().for_each(|file| {
                // Left so by an attempt before.
                clean(file);
                warm_verified(file);
            }),
            Cache::AsItIs | Cache::Once => {}
        }
        let (evictions, flushes) = (Evictions::of(&watched), Flushes::of(&watched));
        let metadata = MetadataReads::beside(&watched);
        let HotsetRun { profile, truth, output } = run_hotset(scratch, &["-q"], &all);
        assert_invariants(&profile);
        let quiet = || {
            evictions.none()
                && metadata.none()
                && undisturbed(&truth, cache)
                && knows_dirtied(&truth, &flushes)
        };
        let counts = cache == Cache::Once || quiet();
        counts.then_some(Observed { profile, truth, output })
    })
}

/// What turned dirty is what is dirty in the end, unless the kernel wrote some back meanwhile: of itself, or for a sync of the
/// file system.
fn knows_dirtied(truth: &Value, flushes: &Flushes) -> bool {
    truth["dirtied_pages"].is_null() || !truth["syncs"].is_null() || flushes.none()
}

/// Whether the file was in its state when the loop began, and kept what the loop touched. Never asks the profile.
fn undisturbed(truth: &Value, cache: Cache) -> bool {
    let (before, after) =
        (number(truth, "/pages_cached_before"), number(truth, "/pages_cached_after"));
    let distinct = number(truth, "/distinct_pages");
    match cache {
        Cache::Cold => before == 0 && (!truth["direct"].is_null() || after >= distinct),
        Cache::Warm => before >= distinct && after == before,
        Cache::AsItIs | Cache::Once => true,
    }
}
