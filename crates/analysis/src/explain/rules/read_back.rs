//! Bytes that a program wrote and soon reads back.
//!
//! What it does: sums reads of bytes that the same process wrote within the last ten seconds.
//! Why: they were in its memory; the file is a detour of two copies and two calls.
//! Advice: keep them in memory, or pass them on.
//! False positives: more than fits into memory (a sort's temporary files); a check of what was written.

use hotset_facts::trace::OperationClass;
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Time between write and read that is soon: ten seconds, well within the 30 s after which Linux writes back (R24, R39).
const SOON_NS: u64 = 10_000_000_000;
/// A read is one of bytes written before from this share on.
const BACK_SHARE: f64 = 0.9;
/// Share of memory that a program may not keep (R33: 25 %).
const MAX_SHARE: f64 = 0.25;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "read-back",
    classes: &[OperationClass::Read],
    watch: || Box::new(ReadBack::default()),
};

#[derive(Default)]
struct ReadBack {
    blame: Blame,
    bytes: u64,
    /// Of these, bytes that were read for the first time since they were written.
    first_bytes: u64,
}

impl Watch for ReadBack {
    fn see(&mut self, seen: &Seen<'_>) {
        let again = seen.again;
        let is_soon = seen.record.start_ns.saturating_sub(again.written_ns) <= SOON_NS;
        let is_back = again.written_bytes as f64 >= BACK_SHARE * seen.bytes as f64;
        if seen.bytes > 0 && again.written_bytes > 0 && is_soon && is_back {
            self.blame.count(seen.record, seen.ns);
            self.bytes = self.bytes.saturating_add(seen.bytes);
            let first = seen.bytes.saturating_sub(again.process_bytes);
            self.first_bytes = self.first_bytes.saturating_add(first);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.history()?;
        let Blame { records, time_ns: ns, .. } = self.blame;
        let too_much = self.first_bytes as f64 > MAX_SHARE * end.memory_bytes() as f64;
        if records == 0 || too_much {
            return Ok(None);
        }
        let evidence = vec![
            Evidence::count("read_back_calls", records),
            Evidence::count("read_back_bytes", self.bytes),
            Evidence::count("read_back_ns", ns),
        ];
        Ok(Some(Draft {
            title: format!("{} read back soon after the program wrote them", units::bytes(self.bytes)),
            low_ns: ns,
            high_ns: ns,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::None("`once` leaves out what was read before, and these bytes were only written"),
            way: Way::Plain,
            advice: "Keep what was written in memory until it is needed, or hand it on through a pipe or memfd_create.".into(),
            risks: Some("The program takes more memory."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{SECOND, Script, US};

    fn back(pause: u64, reader: u32) -> Script {
        let mut script = Script::new();
        for _ in 0..100 {
            (0..16).for_each(|at| {
                script.write(2, at * 65_536, 65_536, 20 * US);
            });
            script.own(pause);
            script.process = reader;
            (0..16).for_each(|at| {
                script.read(2, at * 65_536, 65_536, 10 * US);
            });
            script.process = 0;
        }
        script
    }

    #[test]
    fn what_a_program_wrote_and_reads_back_is_found() {
        let finding = back(0, 0).finding("read-back");
        assert_eq!(finding.title, "100 MiB read back soon after the program wrote them");
        assert_eq!(finding.saving.low_ns, 16_000_000);
        assert!(finding.changes.is_empty() && finding.unproved.is_some());
        back(0, 0).clear("reread-file");
    }

    #[test]
    fn another_process_or_a_later_read_or_too_much_is_not() {
        back(0, 1).clear("read-back");
        back(11 * SECOND, 0).clear("read-back");
        let mut sort = Script::new();
        (0..3_000).for_each(|at| {
            sort.write(2, at << 20, 1 << 20, 200 * US);
        });
        (0..3_000).for_each(|at| {
            sort.read(2, at << 20, 1 << 20, 100 * US);
        });
        sort.clear("read-back");
    }
}
