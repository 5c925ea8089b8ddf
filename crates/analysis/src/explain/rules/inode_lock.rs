//! Threads that write to one file and wait for each other.
//!
//! What it does: compares how long writes take that end while others of the same file are under way with those that are alone.
//! Why: the kernel holds a lock on the inode during a buffered write; with N threads, each waits for the others.
//! Advice: a file for each thread, larger writes, or one thread that writes.
//! False positives: a device that is busy (direct writes and O_SYNC are left out); more threads than CPUs.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, OperationClass, RecordFlags};
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Writes that others were under way with, at least.
const MIN_WRITES: u64 = 100;
/// Writes that were alone, at least, to say what one takes; else it is what a write of that size costs on this host.
const MIN_ALONE: u64 = 10;
/// Of each other write under way, the part of a write's time that one takes longer, at least. All of it is R36's "N x single".
const MIN_GROWTH: f64 = 0.5;
/// Share of the wall time that is spent waiting (R36: 10 %).
const MIN_SHARE: f64 = 0.10;
/// Writes of a file that are remembered: more threads than that are not told apart.
const RECENT: usize = 16;
/// Files that are told apart.
const MOST_FILES: usize = 1 << 12;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "inode-lock",
    classes: &[OperationClass::Write],
    watch: || Box::new(InodeLock::default()),
};

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    writes: u64,
    ns: u64,
    bytes: u64,
    others: u64,
}

impl Sum {
    fn mean_ns(&self) -> f64 {
        self.ns as f64 / self.writes.max(1) as f64
    }
}

#[derive(Default)]
struct File {
    /// Thread and end of the writes before.
    recent: [Option<(u32, u64)>; RECENT],
    next: usize,
    alone: Sum,
    together: Sum,
}

#[derive(Default)]
struct InodeLock {
    files: HashMap<u32, File>,
    blame: Blame,
}

impl Watch for InodeLock {
    fn see(&mut self, seen: &Seen<'_>) {
        let (Some(FileIndex(file)), Some(tid)) = (seen.record.file, seen.record.tid) else {
            return;
        };
        let is_durable = seen.record.flags.has(RecordFlags::SYNC) || seen.is_direct();
        let has_room = self.files.len() < MOST_FILES || self.files.contains_key(&file);
        if is_durable || !has_room || seen.record.duration_ns.is_none() {
            return;
        }
        let row = self.files.entry(file).or_default();
        // Records come in the order in which they ended: these are the ones that went before it in a queue.
        let start_ns = seen.record.start_ns;
        let before =
            row.recent.iter().flatten().filter(|(other, end)| *other != tid && *end > start_ns);
        let others = before.count() as u64;
        let sum = if others == 0 { &mut row.alone } else { &mut row.together };
        sum.writes += 1;
        sum.ns = sum.ns.saturating_add(seen.ns);
        sum.bytes = sum.bytes.saturating_add(seen.bytes);
        sum.others += others;
        if let Some(slot) = row.recent.get_mut(row.next % RECENT) {
            *slot = Some((tid, seen.end_ns));
        }
        row.next = (row.next + 1) % RECENT;
        if others > 0 {
            self.blame.count(seen.record, seen.ns);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        let (mut sum, mut waited_ns, mut single_ns) = (Sum::default(), 0.0, 0.0);
        for File { alone, together, .. } in self.files.values() {
            if together.writes < MIN_WRITES {
                continue;
            }
            let bytes = together.bytes as f64 / together.writes as f64;
            let cost = end.costs().write_ns(bytes);
            let single = if alone.writes >= MIN_ALONE { alone.mean_ns() } else { cost };
            let others = together.others as f64 / together.writes as f64;
            if together.mean_ns() >= single * (1.0 + MIN_GROWTH * others) {
                sum.writes += together.writes;
                sum.ns = sum.ns.saturating_add(together.ns);
                sum.others += together.others;
                waited_ns += (together.mean_ns() - single) * together.writes as f64;
                single_ns += single * together.writes as f64;
            }
        }
        let waited_ns = waited_ns as u64;
        let share = end.saving(waited_ns, waited_ns).high_of_wall.unwrap_or(0.0);
        if sum.writes == 0 || share < MIN_SHARE {
            return Ok(None);
        }
        let evidence = vec![
            Evidence::count("contended_writes", sum.writes),
            Evidence::real("mean_writes_before", sum.others as f64 / sum.writes as f64),
            Evidence::real("mean_contended_ns", sum.mean_ns()),
            Evidence::real("mean_alone_ns", single_ns / sum.writes as f64),
            Evidence::count("lock_wait_ns", waited_ns),
        ];
        Ok(Some(Draft {
            title: format!(
                "{} writes wait for other threads' writes to the same file",
                units::count(sum.writes)
            ),
            low_ns: 0,
            high_ns: waited_ns,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::None("a replay keeps the order of writes to one file, and with it the lock"),
            way: Way::Plain,
            advice: "Give each thread a file of its own, hand all writes to one thread, or write larger blocks.".into(),
            risks: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::testing::{Script, US};

    /// Four threads write at the same time; each takes as long as `duration` says of its place.
    fn writers(duration: impl Fn(u64) -> u64) -> Script {
        let mut script = Script::new();
        for round in 0..500 {
            let now = script.now;
            for place in 0..4 {
                (script.tid, script.now) = (place as u32 + 1, now);
                script.write(1, (round * 4 + place) * 65_536, 65_536, duration(place));
            }
            script.now = now + 50 * US;
        }
        script
    }

    #[test]
    fn writes_that_take_longer_the_more_are_before_them_wait_for_a_lock() {
        let finding = writers(|place| 10 * US * (place + 1)).finding("inode-lock");
        assert_eq!(finding.title, "1,500 writes wait for other threads' writes to the same file");
        // 500 times 10, 20 and 30 µs more than 10 µs; the run ends 25 ms after it began.
        assert!((24_900_000..=30_000_000).contains(&finding.saving.high_ns), "{finding:?}");
        assert!(finding.unproved.is_some() && finding.changes.is_empty());
    }

    #[test]
    fn writes_at_the_same_time_that_take_no_longer_wait_for_nothing() {
        writers(|place| 10 * US + place).clear("inode-lock");
        let mut durable = writers(|place| 10 * US * (place + 1));
        durable.records().iter_mut().for_each(|record| record.flags = RecordFlags::SYNC);
        durable.clear("inode-lock");
        let mut apart = writers(|place| 10 * US * (place + 1));
        apart.records().iter_mut().for_each(|record| {
            record.file = record.tid.map(FileIndex);
        });
        apart.clear("inode-lock");
    }
}
