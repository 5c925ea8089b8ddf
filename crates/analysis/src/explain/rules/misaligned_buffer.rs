//! Writes of parts of pages that have to be read first.
//!
//! What it does: counts writes that miss: the kernel reads a page from the device before a part of it is written.
//! Why: a write that should only copy waits for the device.
//! Advice: whole pages at page boundaries, or what lies in the page read ahead.
//! False positives: small files, whose only page is read once.

use hotset_facts::trace::OperationClass;
use hotset_facts::{Reason, units};

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::{PAGE, Seen};

/// Bytes read by writes as a share of the bytes written, at least (R23: 25 %).
const MIN_SHARE: f64 = 0.25;
/// Share of these writes that go on where the one before ended, from which on a buffer makes whole pages of them.
const MIN_IN_ORDER: f64 = 0.75;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "misaligned-buffer",
    classes: &[OperationClass::Write],
    watch: || Box::new(MisalignedBuffer::default()),
};

#[derive(Default)]
struct MisalignedBuffer {
    blame: Blame,
    with_pages: u64,
    without_pages: u64,
    written_bytes: u64,
    read_pages: u64,
    in_order: u64,
    /// Bytes of the writes that had to read.
    bytes: u64,
}

impl Watch for MisalignedBuffer {
    fn see(&mut self, seen: &Seen<'_>) {
        if seen.is_direct() || seen.bytes == 0 {
            return;
        }
        match seen.record.pages {
            Some(_) => self.with_pages += 1,
            None => self.without_pages += 1,
        }
        self.written_bytes = self.written_bytes.saturating_add(seen.bytes);
        let misses = seen.misses();
        if misses > 0 {
            self.read_pages += misses;
            self.bytes = self.bytes.saturating_add(seen.bytes);
            self.in_order += u64::from(seen.run.is_some_and(|run| run.follows()));
            self.blame.count(seen.record, seen.ns);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        if self.with_pages == 0 && self.without_pages > 0 {
            let why = "the recording does not tell which writes had to read";
            return Err(Reason::not_measured(why));
        }
        let Blame { records: writes, time_ns: ns, .. } = self.blame;
        let read_bytes = self.read_pages.saturating_mul(PAGE);
        if writes == 0 || (read_bytes as f64) < MIN_SHARE * self.written_bytes as f64 {
            return Ok(None);
        }
        let cost = end.costs().write_ns(self.bytes as f64 / writes as f64) * writes as f64;
        let in_order = self.in_order as f64 >= MIN_IN_ORDER * writes as f64;
        let evidence = vec![
            Evidence::count("writes_that_read_calls", writes),
            Evidence::count("read_for_writes_bytes", read_bytes),
            Evidence::count("written_bytes", self.written_bytes),
            Evidence::count("writes_that_read_ns", ns),
        ];
        Ok(Some(Draft {
            title: format!("{} writes of parts of pages read these first", units::count(writes)),
            low_ns: 0,
            high_ns: ns.saturating_sub(cost as u64),
            evidence,
            blame: &self.blame,
            files: None,
            proof: match in_order {
                true => Proof::Replay(&["buffer=64K"]),
                false => Proof::None("a recording has no bytes to fill the pages with"),
            },
            way: if in_order { Way::Buffer } else { Way::Plain },
            advice: "Write whole pages: offsets and lengths that are multiples of 4096, such as a buffer of 64 KiB. For partial \
                     writes, keep the pages cached or rewrite all of them.".into(),
            risks: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{Script, US};
    use hotset_facts::random::Random;

    fn writes(place: impl Fn(u64) -> u64, bytes: u64, misses: u32) -> Script {
        let mut script = Script::new();
        for at in 0..300 {
            let record = script.write(1, place(at), bytes, 100 * US);
            if let Some(pages) = &mut record.pages {
                pages.misses = misses;
            }
        }
        script
    }

    #[test]
    fn writes_of_parts_of_pages_are_found_and_proved_where_they_are_in_order() {
        let random = writes(|at| Random::at(at) % 10_000 * 4096 + 100, 200, 1);
        let finding = random.finding("misaligned-buffer");
        assert_eq!(finding.title, "300 writes of parts of pages read these first");
        assert!(finding.changes.is_empty() && finding.unproved.is_some());
        assert!((29_800_000..30_000_000).contains(&finding.saving.high_ns), "{finding:?}");
        let in_order = writes(|at| at * 200, 200, 1).finding("misaligned-buffer");
        assert_eq!(in_order.changes, ["buffer=64K"]);
    }

    #[test]
    fn whole_pages_and_few_reads_are_as_they_should_be() {
        writes(|at| at * 4096, 4096, 0).clear("misaligned-buffer");
        writes(|at| at * 65_536, 65_536, 1).clear("misaligned-buffer");
    }

    #[test]
    fn an_import_does_not_tell() {
        let mut script = writes(|at| at * 200, 200, 1);
        script.records().iter_mut().for_each(|record| record.pages = None);
        script.untold("misaligned-buffer");
    }
}
