//! The same range of a file written again and again.
//!
//! What it does: counts writes to where a write began less than 30 seconds before, with no sync of the file in between.
//! Why: only the last of them reaches the device; the others cost a call and a copy each.
//! Advice: keep the value in memory and write it when it is complete, or at intervals.
//! False positives: others watch the file; a program that must leave its state behind when it is killed.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, OperationClass, RecordFlags};
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Bytes written for one that remains, at least (R24: 3).
const MIN_TIMES: f64 = 3.0;
/// Time after which dirty pages are written back (R24: 30 s, dirty_expire_centisecs of Linux).
const EXPIRY_NS: u64 = 30_000_000_000;
/// Places, and files, that are told apart.
const MOST: usize = 1 << 16;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "overwrite",
    classes: &[OperationClass::Write, OperationClass::Sync],
    watch: || Box::new(Overwrite::default()),
};

#[derive(Default)]
struct Overwrite {
    /// When a place was written last.
    places: HashMap<(u32, u64), (u64, u64)>,
    synced: HashMap<u32, u64>,
    synced_all_ns: Option<u64>,
    blame: Blame,
    over_bytes: u64,
    first_bytes: u64,
}

impl Overwrite {
    fn synced(&mut self, seen: &Seen<'_>) {
        match seen.record.file {
            Some(FileIndex(file))
                if self.synced.len() < MOST || self.synced.contains_key(&file) =>
            {
                self.synced.insert(file, seen.end_ns);
            }
            // A sync of all, or of a file that found no place.
            _ => self.synced_all_ns = Some(seen.end_ns),
        }
    }
}

impl Watch for Overwrite {
    fn see(&mut self, seen: &Seen<'_>) {
        if seen.record.class == OperationClass::Sync {
            self.synced(seen);
            return;
        }
        let (Some(FileIndex(file)), Some(offset)) = (seen.record.file, seen.record.offset) else {
            return;
        };
        let is_durable = seen.record.flags.has(RecordFlags::SYNC) || seen.is_direct();
        if seen.bytes == 0 || is_durable {
            return;
        }
        let now = seen.record.start_ns;
        let synced = self.synced.get(&file).copied().max(self.synced_all_ns);
        let key = (file, offset);
        let before = self.places.get(&key).copied().filter(|&(ns, _)| {
            now.saturating_sub(ns) <= EXPIRY_NS && synced.is_none_or(|synced| synced < ns)
        });
        if self.places.len() < MOST || self.places.contains_key(&key) {
            self.places.insert(key, (now, seen.bytes));
        }
        match before {
            // What the write before did is gone only if this one covers it.
            Some((_, bytes)) if bytes <= seen.bytes => {
                self.over_bytes = self.over_bytes.saturating_add(bytes);
                self.first_bytes = self.first_bytes.saturating_add(seen.bytes - bytes);
                self.blame.count(seen.record, seen.ns);
            }
            _ => self.first_bytes = self.first_bytes.saturating_add(seen.bytes),
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        let all = self.over_bytes.saturating_add(self.first_bytes);
        let times = all as f64 / self.first_bytes.max(1) as f64;
        if self.blame.records == 0 || times < MIN_TIMES {
            return Ok(None);
        }
        let evidence = vec![
            Evidence::count("overwrite_calls", self.blame.records),
            Evidence::count("overwritten_bytes", self.over_bytes),
            Evidence::real("written_per_remaining_bytes", times),
            Evidence::count("overwrite_ns", self.blame.time_ns),
        ];
        Ok(Some(Draft {
            title: format!(
                "{} writes replace what was just written, {} times the bytes that remain",
                units::count(self.blame.records),
                units::real(times)
            ),
            low_ns: self.blame.time_ns,
            high_ns: self.blame.time_ns,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::None("no change of a replay leaves out writes"),
            way: Way::Plain,
            advice:
                "Keep the value in memory, and write it when it is complete or once in a while."
                    .into(),
            risks: Some("A crash of the program loses what was not written yet."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{SECOND, Script, US};
    use hotset_facts::trace::Operation;

    fn header(between: impl Fn(&mut Script)) -> Script {
        let mut script = Script::new();
        for _ in 0..3_000 {
            script.write(1, 0, 512, 2 * US);
            between(&mut script);
        }
        script
    }

    #[test]
    fn a_header_that_is_written_again_and_again_is_found() {
        let finding = header(|_| ()).finding("overwrite");
        let title = "2,999 writes replace what was just written, 3,000 times the bytes that remain";
        assert_eq!(finding.title, title);
        assert_eq!(finding.saving.low_ns, 2_999 * 2 * US);
        assert!(finding.unproved.is_some());
    }

    #[test]
    fn journals_and_seldom_writes_and_appends_are_not() {
        let synced = |script: &mut Script| {
            script.call(Operation::Fdatasync, 1, US);
        };
        header(synced).clear("overwrite");
        header(|script| script.own(31 * SECOND)).clear("overwrite");
        let mut append = Script::new();
        (0..3_000).for_each(|at| {
            append.write(1, at * 512, 512, 2 * US);
        });
        append.clear("overwrite");
    }
}
