//! Cold reads that wait one after another although they may be independent.
//!
//! What it does: counts reads out of order that wait for the device, while hardly any other read is under way.
//! Why: a device serves 32 reads in about the time of one; a thread that waits for each uses a small part of it.
//! Advice: many reads in flight (io_uring, threads), or tell the kernel ahead what will be read.
//! False positives: each read's place follows from the bytes of the one before (a tree, a linked list). A recording cannot tell.

use std::collections::HashMap;

use hotset_facts::trace::OperationClass;
use hotset_facts::units;

use super::strided_scan::MIN_STEPS;
use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Reads from which on it is a habit. R32 asks for 1,000; a hundred of a disk pass the gate too.
const MIN_READS: u64 = 100;
/// A read that takes less did not wait for a device (R32: 20 µs).
const MIN_WAIT_NS: u64 = 20_000;
/// Reads under way on average, below which they wait one after another (R05: 1.5).
const MAX_IN_FLIGHT: f64 = 1.5;
/// Reads that the advice keeps under way.
const DEPTH: u64 = 32;
/// Reads of a file, below which opening the next file is what each waits for.
const FEW_PER_FILE: u64 = 4;
/// Threads that are told apart.
const MOST_THREADS: usize = 1 << 12;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "serial-reads",
    classes: &[OperationClass::Read],
    watch: || Box::new(SerialReads::default()),
};

#[derive(Default)]
struct SerialReads {
    blame: Blame,
    /// When the last of them ended, and how long any of them was under way.
    end_ns: u64,
    busy_ns: u64,
    threads: HashMap<u32, u64>,
}

impl Watch for SerialReads {
    fn see(&mut self, seen: &Seen<'_>) {
        let in_order = seen.run.is_some_and(|run| run.follows() || run.steps >= MIN_STEPS);
        if !seen.waits_to_read() || in_order || seen.ns < MIN_WAIT_NS {
            return;
        }
        self.blame.count(seen.record, seen.ns);
        // Records come nearly in the order in which they ended.
        let from = seen.record.start_ns.max(self.end_ns);
        self.busy_ns = self.busy_ns.saturating_add(seen.end_ns.saturating_sub(from));
        self.end_ns = self.end_ns.max(seen.end_ns);
        if let Some(tid) = seen.record.tid
            && (self.threads.len() < MOST_THREADS || self.threads.contains_key(&tid))
        {
            *self.threads.entry(tid).or_default() += 1;
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.pages()?;
        let Blame { records: reads, time_ns: ns, .. } = self.blame;
        let in_flight = ns as f64 / self.busy_ns.max(1) as f64;
        let of_one_thread = self.threads.values().copied().max().unwrap_or(0);
        if of_one_thread < MIN_READS || in_flight >= MAX_IN_FLIGHT {
            return Ok(None);
        }
        let is_scattered = reads < self.blame.file_count().saturating_mul(FEW_PER_FILE);
        let proof = if is_scattered { &["prefetch"] } else { &["io_uring=32"] };
        let title = format!(
            "{} reads wait for the device one after another, {} each",
            units::count(reads),
            units::duration(ns / reads.max(1))
        );
        let evidence = vec![
            Evidence::count("waiting_reads", reads),
            Evidence::count("waiting_ns", ns),
            Evidence::real("mean_in_flight_reads", in_flight),
            Evidence::count("threads", self.threads.len() as u64),
        ];
        Ok(Some(Draft {
            title,
            low_ns: 0,
            high_ns: ns - ns / DEPTH,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(proof),
            way: if is_scattered { Way::WillNeed } else { Way::InFlight },
            advice: "If the reads are independent, keep up to 32 of them in flight (io_uring, or threads), or call \
                     posix_fadvise(POSIX_FADV_WILLNEED) for what comes next. If each follows from the bytes of the one before, \
                     nothing is gained.".into(),
            risks: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{Script, US};
    use hotset_facts::random::Random;

    fn places() -> impl Iterator<Item = u64> {
        (0..400).map(|at| Random::at(at) % 100_000 * 4096)
    }

    fn lookups(threads: u32) -> Script {
        let mut script = Script::new();
        for offset in places() {
            let now = script.now;
            for tid in 1..=threads {
                (script.tid, script.now) = (tid, now);
                script.miss(1, offset + u64::from(tid) * 8192, 4096, 90 * US);
            }
        }
        script
    }

    #[test]
    fn random_misses_of_one_thread_wait_one_after_another() {
        let finding = lookups(1).finding("serial-reads");
        assert_eq!(finding.title, "400 reads wait for the device one after another, 90.0 µs each");
        assert_eq!(finding.changes, ["io_uring=32"]);
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (0, 36_000_000 - 1_125_000));
        assert!(finding.advice.starts_with("If the reads are independent"));
    }

    #[test]
    fn reads_in_flight_hits_and_scans_are_no_finding() {
        lookups(2).clear("serial-reads");
        let mut hits = Script::new();
        let mut scan = Script::new();
        for (at, offset) in (0..).zip(places()) {
            hits.read(1, offset, 4096, 90 * US);
            scan.miss(1, at * 4096, 4096, 90 * US);
        }
        hits.clear("serial-reads");
        scan.clear("serial-reads");
    }

    #[test]
    fn one_read_of_each_of_many_files_is_prefetched() {
        let mut script = Script::new();
        for file in 0..200 {
            script.file(4096);
            script.miss(8 + file, 0, 4096, 90 * US);
        }
        assert_eq!(script.finding("serial-reads").changes, ["prefetch"]);
    }

    #[test]
    fn an_import_does_not_tell() {
        let mut script = lookups(1);
        for record in script.records() {
            (record.pages, record.flags) = (None, Default::default());
        }
        assert!(script.untold("serial-reads").detail.contains("cached"));
    }
}
