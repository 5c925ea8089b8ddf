//! A file that is opened and closed around each read or write.
//!
//! What it does: counts opens of a file after which at most three requests come before it is closed, from the hundredth of a file.
//! Why: open and close take 1.5 µs here, more than the read between them, and far more on a network file system.
//! Advice: keep the file open.
//! False positives: a log that is rotated by its name; a program with more files than descriptors.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, OperationClass, RecordFlags, TraceRecord};
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Opens of a file from which on it is a habit (R10: 100). Those before are not counted.
const MIN_OPENS: u64 = 100;
/// Requests between open and close, at most (R10: 3).
const MAX_REQUESTS: u32 = 3;
/// Open files, and files, that are told apart.
const MOST: usize = 1 << 16;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "open-per-call",
    classes: &[
        OperationClass::Open,
        OperationClass::Read,
        OperationClass::Write,
        OperationClass::Map,
        OperationClass::Close,
    ],
    watch: || Box::new(OpenPerCall::default()),
};

struct Bracket {
    open: TraceRecord,
    requests: u32,
}

#[derive(Default)]
struct OpenPerCall {
    /// Open files, by their descriptions.
    brackets: HashMap<u64, Bracket>,
    opens: HashMap<u32, u64>,
    blame: Blame,
}

impl OpenPerCall {
    fn open(&mut self, record: &TraceRecord) {
        let Some(description) = record.description else { return };
        let is_made = record.flags.has(RecordFlags::TRUNCATE);
        if record.result.is_some_and(|result| result >= 0) && !is_made && self.brackets.len() < MOST
        {
            self.brackets.insert(description, Bracket { open: *record, requests: 0 });
        }
    }

    fn close(&mut self, seen: &Seen<'_>) {
        let description = seen.record.description;
        let Some(bracket) = description.and_then(|one| self.brackets.remove(&one)) else { return };
        let file = seen.record.file.or(bracket.open.file);
        let (Some(FileIndex(file)), 1..=MAX_REQUESTS) = (file, bracket.requests) else { return };
        if self.opens.len() >= MOST && !self.opens.contains_key(&file) {
            return;
        }
        let opens = self.opens.entry(file).or_default();
        *opens += 1;
        if *opens >= MIN_OPENS {
            let open_ns = bracket.open.duration_ns.unwrap_or(0);
            let open = TraceRecord { file: Some(FileIndex(file)), ..bracket.open };
            self.blame.count(&open, open_ns.saturating_add(seen.ns));
        }
    }
}

impl Watch for OpenPerCall {
    fn see(&mut self, seen: &Seen<'_>) {
        match seen.record.class {
            OperationClass::Open => self.open(seen.record),
            OperationClass::Close => self.close(seen),
            // A mapping outlives its descriptor.
            OperationClass::Map => {
                seen.record.description.and_then(|one| self.brackets.remove(&one));
            }
            _ => {
                let open = seen.record.description.and_then(|one| self.brackets.get_mut(&one));
                if let Some(bracket) = open {
                    bracket.requests = bracket.requests.saturating_add(1);
                }
            }
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        if self.blame.records == 0 {
            return Ok(None);
        }
        let most = self.opens.values().copied().max().unwrap_or(0);
        let files = self.blame.file_count();
        let evidence = vec![
            Evidence::count("counted_opens", self.blame.records),
            Evidence::count("most_opens_of_a_file", most),
            Evidence::count("files", files),
            Evidence::count("open_and_close_ns", self.blame.time_ns),
        ];
        Ok(Some(Draft {
            title: format!(
                "{} opened and closed around each read or write, up to {} times",
                units::plural(files, "file"),
                units::count(most)
            ),
            low_ns: self.blame.time_ns,
            high_ns: self.blame.time_ns,
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(&["keep-open"]),
            way: Way::KeepOpen,
            advice: "Keep the file open between uses, and read or write at positions.".into(),
            risks: Some(
                "More files are open at a time. A file that another program replaces meanwhile is still the old one.",
            ),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::testing::{Script, US};
    use hotset_facts::trace::Operation;

    fn opened(times: u64, reads: u64, files: u64) -> Script {
        let mut script = Script::new();
        for time in 0..times {
            let file = (time % files) as u32;
            script.call(Operation::Openat, file, 5 * US).description = Some(time);
            for read in 0..reads {
                script.read(file, read * 100, 100, US).description = Some(time);
            }
            script.call(Operation::Close, file, US).description = Some(time);
        }
        script
    }

    #[test]
    fn a_file_opened_around_each_read_is_found() {
        let finding = opened(2_000, 1, 1).finding("open-per-call");
        assert_eq!(
            finding.title,
            "1 file opened and closed around each read or write, up to 2,000 times"
        );
        assert_eq!(
            (finding.saving.low_ns, finding.saving.high_ns),
            (1_901 * 6 * US, 1_901 * 6 * US)
        );
        assert_eq!(finding.changes, ["keep-open"]);
        assert_eq!(finding.files[0].path, Some("/data/0".into()));
    }

    #[test]
    fn many_files_opened_once_and_files_that_are_used_are_not() {
        let mut script = opened(700, 1, 8);
        script.clear("open-per-call");
        script = opened(2_000, 4, 1);
        script.clear("open-per-call");
        script = opened(2_000, 1, 1);
        let of_mappings = |record: &mut TraceRecord| {
            if record.class == OperationClass::Read {
                record.class = OperationClass::Map;
            }
        };
        script.records().iter_mut().for_each(of_mappings);
        script.clear("open-per-call");
    }
}
