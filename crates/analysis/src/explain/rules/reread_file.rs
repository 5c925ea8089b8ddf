//! The same bytes of an unchanged file read again by the same process, and parsed again.
//!
//! What it does: counts bytes that a process reads although it read them before and nobody has written them since, and the
//! thread's own time between its last read of them and its next request, where it reads the file in order from the beginning.
//! Why: the call costs little, but what is made of the bytes is made again: 71 times the whole run in one measured program.
//! Advice: keep what came of the file; read it again when its modification time or size changes.
//! False positives: own time that belongs to something else, which the upper bound therefore is "at most"; a database that leaves
//! caching to the page cache on purpose.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, OperationClass};
use hotset_facts::units;

use super::{ALL, Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Times that a file's bytes are read from which on it is a habit (R06: 10). Below, I/O alone has to pass the gate.
const MIN_TIMES: f64 = 10.0;
/// Own time, as a multiple of the I/O before it, from which on what is made of the bytes costs more than they do (R07: 5).
const PARSE_TIMES: f64 = 5.0;
/// A read is one of bytes read before from this share on.
const AGAIN_SHARE: f64 = 0.9;
/// Own time for a byte of text, at most: PyYAML's loader in Python, the slowest parser in wide use, took 8.9 µs a byte.
const MAX_OWN_NS_PER_BYTE: u64 = 10_000;
/// Files that are told apart.
const MOST_FILES: usize = 1 << 16;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule =
    ExplainRule { id: "reread-file", classes: ALL, watch: || Box::new(RereadFile::default()) };

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    bytes: u64,
    again_bytes: u64,
    again_ns: u64,
    own_ns: u64,
}

impl Row {
    /// How often its bytes were read on average.
    fn times(&self) -> f64 {
        self.bytes as f64 / self.bytes.saturating_sub(self.again_bytes).max(1) as f64
    }
}

#[derive(Default)]
struct RereadFile {
    files: HashMap<u32, Row>,
    blame: Blame,
}

impl RereadFile {
    fn row(&mut self, FileIndex(file): FileIndex) -> Option<&mut Row> {
        let has_room = self.files.len() < MOST_FILES || self.files.contains_key(&file);
        has_room.then(|| self.files.entry(file).or_default())
    }
}

impl Watch for RereadFile {
    fn see(&mut self, seen: &Seen<'_>) {
        // Of a file that is read here and there, own time belongs to the search and not to the bytes.
        if let Some(data) = seen.data
            && data.from_start
            && data.again_bytes as f64 >= AGAIN_SHARE * data.bytes as f64
            && let Some(row) = data.file.and_then(|file| self.row(file))
        {
            let most = data.bytes.saturating_mul(MAX_OWN_NS_PER_BYTE);
            row.own_ns = row.own_ns.saturating_add(seen.own_ns.min(most));
        }
        let is_read = seen.record.class == OperationClass::Read && seen.bytes > 0;
        if !is_read || seen.is_direct() || seen.again.is_lost {
            return;
        }
        let again = seen.again.process_bytes.min(seen.bytes);
        let ns = (seen.ns as f64 * again as f64 / seen.bytes as f64) as u64;
        if let Some(row) = seen.record.file.and_then(|file| self.row(file)) {
            row.bytes = row.bytes.saturating_add(seen.bytes);
            row.again_bytes = row.again_bytes.saturating_add(again);
            row.again_ns = row.again_ns.saturating_add(ns);
        }
        if again > 0 {
            self.blame.count(seen.record, ns);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.history()?;
        let (mut sum, mut own_ns, mut most) = (Row::default(), 0_u64, 0.0_f64);
        for row in self.files.values().filter(|row| row.again_bytes > 0) {
            sum.again_bytes = sum.again_bytes.saturating_add(row.again_bytes);
            sum.again_ns = sum.again_ns.saturating_add(row.again_ns);
            most = most.max(row.times());
            if row.times() >= MIN_TIMES {
                own_ns = own_ns.saturating_add(row.own_ns);
            }
        }
        if sum.again_bytes == 0 {
            return Ok(None);
        }
        let parses = own_ns as f64 >= PARSE_TIMES * sum.again_ns as f64;
        let verb = if parses { "read and parsed" } else { "read" };
        let title = format!(
            "{} {verb} again, unchanged, by the same process; up to {} times",
            units::bytes(sum.again_bytes),
            units::count(most.round() as u64)
        );
        let evidence = vec![
            Evidence::count("reread_bytes", sum.again_bytes),
            Evidence::count("reread_calls", self.blame.records),
            Evidence::real("most_times", most),
            Evidence::count("reread_ns", sum.again_ns),
            Evidence::count("own_time_after_ns", own_ns),
        ];
        Ok(Some(Draft {
            title,
            low_ns: sum.again_ns,
            high_ns: sum.again_ns.saturating_add(own_ns),
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(&["once"]),
            way: Way::Keep,
            advice: "Keep what was made of the file in memory; read it again only when its modification time or size \
                     changes. The upper bound includes the program's own time after each read.".into(),
            risks: Some(
                "A change that another program makes to the file goes unnoticed unless the program checks for it.",
            ),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{MS, Script, US};
    use hotset_facts::trace::{Gap, Operation};

    /// A configuration of 10,000 bytes: read, closed, and parsed for a millisecond.
    fn configuration(times: u64, then: impl Fn(&mut Script, u64)) -> Script {
        let mut script = Script::new();
        script.file(10_000);
        for time in 0..times {
            script.call(Operation::Openat, 8, 2 * US);
            script.read(8, 0, 10_000, 3 * US).asked_bytes = Some(65_536);
            script.call(Operation::Close, 8, US);
            script.own(MS);
            then(&mut script, time);
        }
        script.call(Operation::Openat, 8, 2 * US);
        script
    }

    #[test]
    fn what_is_parsed_again_counts_up_to_the_next_request() {
        let finding = configuration(1_000, |_, _| ()).finding("reread-file");
        let title =
            "9.53 MiB read and parsed again, unchanged, by the same process; up to 1,000 times";
        assert_eq!(finding.title, title);
        assert_eq!(finding.changes, ["once"]);
        // 999 reads of 3 µs, and as many parses of 1 ms.
        assert_eq!(
            (finding.saving.low_ns, finding.saving.high_ns),
            (999 * 3 * US, 999 * (MS + 3 * US))
        );
        assert!(finding.how[0].1.contains("lru_cache"));
    }

    #[test]
    fn a_file_that_changes_each_time_must_be_read() {
        let changing = configuration(1_000, |script, _| {
            script.write(8, 0, 10_000, US);
        });
        changing.clear("reread-file");
        let truncated = configuration(1_000, |script, _| {
            script.call(Operation::Ftruncate, 8, US);
        });
        truncated.clear("reread-file");
    }

    #[test]
    fn where_records_were_lost_nobody_knows_what_changed() {
        let mut script = configuration(1_000, |_, _| ());
        let gap = Gap { tid: None, from_ns: 0, to_ns: script.now, records: 1 };
        script.lists.gaps.push(gap);
        script.untold("reread-file");
        script.lists.gaps[0].to_ns /= 4;
        let title = script.finding("reread-file").title;
        assert!(title.contains("up to 750 times"), "{title}");
    }

    #[test]
    fn other_processes_read_it_for_the_first_time() {
        let mut script = configuration(1_000, |_, _| ());
        for (at, record) in (0_u32..).zip(script.records()) {
            record.process = Some(hotset_facts::trace::ProcessIndex(at / 3));
        }
        script.clear("reread-file");
    }

    /// A database that reads its pages here and there computes for other reasons.
    #[test]
    fn only_a_file_that_is_read_in_order_is_parsed() {
        let mut script = Script::new();
        for at in 0..2_000 {
            script.read(1, (1 + at * 7 % 100) * 8192, 4096, US);
            script.own(5 * US);
        }
        let saving = script.finding("reread-file").saving;
        assert_eq!((saving.low_ns, saving.high_ns), (1_900 * US, 1_900 * US));
    }

    #[test]
    fn a_pause_is_at_most_what_parsing_so_many_bytes_takes() {
        let mut script = Script::new();
        script.file(10);
        for _ in 0..100 {
            script.read(8, 0, 10, US);
            script.own(MS);
            script.call(Operation::Openat, 7, US);
        }
        let high = script.finding("reread-file").saving.high_ns;
        assert_eq!(high, 99 * (US + 100 * US));
    }
}
