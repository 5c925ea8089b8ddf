//! A scan of a large file that pushes out pages which are read again later.
//!
//! What it does: counts misses of pages that were read before, unchanged, with a scan of 64 MiB or more of another file in between.
//! Why: what a scan reads once takes the place of what is read often.
//! Advice: POSIX_FADV_DONTNEED behind the scan's position, POSIX_FADV_NOREUSE, or O_DIRECT for the scan alone.
//! False positives: pages evicted by others: a host that evicts idle page cache refuses an answer.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, OperationClass};
use hotset_facts::{Reason, units};

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::{Bits, PAGE, Seen, chunks};

/// Bytes in order from which on reads are a scan (R11's least amount: 64 MiB).
const MIN_SCAN_BYTES: u64 = 64 << 20;
/// Share of the pages of all other reads that were evicted, at least (R15: 3 points of hit ratio).
const MIN_SHARE: f64 = 0.03;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "scan-evicts",
    classes: &[OperationClass::Read],
    watch: || Box::new(ScanEvicts::default()),
};

/// Parts of files, 2 MiB each, that are remembered.
const MOST_PARTS: usize = 1 << 16;

/// Pages of a part that were read in a generation.
#[derive(Debug, Clone, Copy, Default)]
struct Since {
    generation: u64,
    pages: Bits,
}

#[derive(Default)]
struct ScanEvicts {
    /// The file of the scan that went on last.
    last: Option<FileIndex>,
    /// Grows each time that a scan goes on after other reads.
    generation: u64,
    is_interrupted: bool,
    /// Pages that were read since, by file and part.
    since: HashMap<(u32, u64), Since>,
    scan_bytes: u64,
    scans: Blame,
    /// Pages of reads that are no scan.
    pages: u64,
    evicted_pages: u64,
    evicted_ns: u64,
}

impl ScanEvicts {
    /// How many pages of a read are read for the first time since a scan went on.
    fn first_since(&mut self, FileIndex(file): FileIndex, seen: &Seen<'_>) -> u64 {
        let Some(offset) = seen.record.offset.filter(|_| self.last.is_some()) else { return 0 };
        let mut first = 0;
        for (chunk, from, to) in chunks(offset, offset.saturating_add(seen.bytes)) {
            if self.since.len() >= MOST_PARTS && !self.since.contains_key(&(file, chunk)) {
                continue;
            }
            let since = self.since.entry((file, chunk)).or_default();
            if since.generation != self.generation {
                *since = Since { generation: self.generation, pages: Bits::default() };
            }
            first += (to - from) - since.pages.count(from, to);
            since.pages.set(from, to);
        }
        first
    }
}

impl Watch for ScanEvicts {
    fn see(&mut self, seen: &Seen<'_>) {
        let (Some(file), Some(run)) = (seen.record.file, seen.run) else { return };
        if seen.is_direct() || seen.bytes == 0 {
            return;
        }
        if run.bytes() >= MIN_SCAN_BYTES && seen.again.any_bytes == 0 {
            let begins = run.bytes().saturating_sub(seen.bytes) < MIN_SCAN_BYTES;
            let bytes = if begins { run.bytes() } else { seen.bytes };
            if begins {
                // Its first pages were taken for those of others.
                self.pages = self.pages.saturating_sub(bytes.saturating_sub(seen.bytes) / PAGE);
            }
            self.scan_bytes = self.scan_bytes.saturating_add(bytes);
            self.scans.count(seen.record, seen.ns);
            self.generation += u64::from(self.last.is_none() || self.is_interrupted);
            (self.last, self.is_interrupted) = (Some(file), false);
            return;
        }
        self.is_interrupted = true;
        self.pages += seen.record.pages.map_or(0, |pages| u64::from(pages.pages));
        let first = self.first_since(file, seen);
        if seen.again.any_bytes > 0 && self.last.is_some_and(|scanned| scanned != file) {
            let evicted = seen.misses().min(seen.again.any_bytes.div_ceil(PAGE)).min(first);
            self.evicted_pages += evicted;
            if evicted > 0 {
                self.evicted_ns = self.evicted_ns.saturating_add(seen.ns);
            }
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.pages()?;
        end.history()?;
        let share = self.evicted_pages as f64 / self.pages.max(1) as f64;
        if share < MIN_SHARE {
            return Ok(None);
        }
        if end.evicts_idle_cache() {
            return Err(Reason::not_measured("this host evicts idle page cache by itself"));
        }
        let bytes = self.evicted_pages * PAGE;
        let evidence = vec![
            Evidence::count("scanned_bytes", self.scan_bytes),
            Evidence::count("read_again_pages", self.evicted_pages),
            Evidence::real("read_again_percent", 100.0 * share),
            Evidence::count("read_again_ns", self.evicted_ns),
        ];
        Ok(Some(Draft {
            title: format!(
                "Scans of {} evict pages in use: {} read from the device again",
                units::bytes(self.scan_bytes),
                units::bytes(bytes)
            ),
            low_ns: 0,
            high_ns: self.evicted_ns.saturating_sub(end.cached_read_ns(bytes)),
            evidence,
            blame: &self.scans,
            files: None,
            proof: Proof::None("the changes of a replay apply to all files, and here only the scanned ones should change"),
            way: Way::DontNeed,
            advice: "Release what the scan has read (POSIX_FADV_DONTNEED behind its position), mark it with \
                     POSIX_FADV_NOREUSE, read it with O_DIRECT, or run the scan in a control group of its own.".into(),
            risks: Some("The next scan of the same file reads all of it from the device."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::testing::{Script, US};

    /// A hot file, a scan of another, and the hot file again.
    fn scanned(chunks: u64, evicts: bool) -> Script {
        let mut script = Script::new();
        script.file(1 << 30);
        for round in 0..2 {
            for page in 0..200 {
                let offset = page * 8192;
                match evicts || round == 0 {
                    true => script.miss(1, offset, 4096, 150 * US),
                    false => script.read(1, offset, 4096, US),
                };
            }
            (0..chunks * (1 - round)).for_each(|at| {
                script.miss(8, at << 20, 1 << 20, 300 * US);
            });
        }
        script
    }

    #[test]
    fn pages_that_a_scan_pushed_out_are_counted_and_the_scan_is_named() {
        let finding = scanned(100, true).finding("scan-evicts");
        let title = "Scans of 100 MiB evict pages in use: 800 KiB read from the device again";
        assert_eq!(finding.title, title);
        assert_eq!(finding.files[0].file, Some(FileIndex(8)));
        assert_eq!(finding.saving.high_ns, 200 * 150 * US - 13 * 1_600);
        assert!(finding.changes.is_empty() && finding.unproved.is_some());
    }

    #[test]
    fn a_scan_that_leaves_the_others_cached_or_a_short_one_is_no_finding() {
        scanned(100, false).clear("scan-evicts");
        scanned(50, true).clear("scan-evicts");
    }

    /// Without a scan in between, pages that are missed again were evicted by something else.
    #[test]
    fn a_scan_is_to_blame_once() {
        let mut script = scanned(100, true);
        for page in 0..200 {
            script.miss(1, page * 8192, 4096, 150 * US);
        }
        assert!(script.finding("scan-evicts").title.contains("800 KiB"));
    }

    #[test]
    fn a_host_that_evicts_by_itself_does_not_tell() {
        let mut script = scanned(100, true);
        script.host.evicts_idle_cache = true;
        script.untold("scan-evicts");
    }
}
