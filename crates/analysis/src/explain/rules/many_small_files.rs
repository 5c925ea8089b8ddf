//! Many small files, each opened, read and closed.
//!
//! What it does: counts files of less than 16 KiB that are opened once or twice and read, and what that takes.
//! Why: opening costs more than reading so few bytes, and a cold file waits for its inode and its data apart.
//! Advice: put them into one file that is read in order.
//! False positives: other programs need the files as they are.

use std::collections::HashMap;

use hotset_facts::trace::{FileIndex, OperationClass};
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;

/// Files from which on they are many (R28: 1,000).
const MIN_FILES: u64 = 1_000;
/// A file below this is small (R28: 16 KiB).
const SMALL_BYTES: u64 = 16 << 10;
/// A file that is opened more often is a matter of reading it again.
const MAX_OPENS: u32 = 2;
/// Files that are told apart.
const MOST_FILES: usize = 1 << 17;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "many-small-files",
    classes: &[
        OperationClass::Open,
        OperationClass::Read,
        OperationClass::Write,
        OperationClass::Close,
        OperationClass::Fault,
    ],
    watch: || Box::new(ManySmallFiles::default()),
};

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    opens: u32,
    /// It is written or mapped as well.
    is_other: bool,
    extent: u64,
    bytes: u64,
    ns: u64,
    waited_ns: u64,
}

#[derive(Default)]
struct ManySmallFiles {
    files: HashMap<u32, Row>,
    blame: Blame,
}

impl Watch for ManySmallFiles {
    fn see(&mut self, seen: &Seen<'_>) {
        let Some(FileIndex(file)) = seen.record.file else { return };
        if self.files.len() >= MOST_FILES && !self.files.contains_key(&file) {
            return;
        }
        let row = self.files.entry(file).or_default();
        match seen.record.class {
            OperationClass::Open => row.opens = row.opens.saturating_add(1),
            OperationClass::Read => {
                row.bytes = row.bytes.saturating_add(seen.bytes);
                let end = seen.record.offset.unwrap_or(row.bytes).saturating_add(seen.bytes);
                row.extent = row.extent.max(end);
            }
            OperationClass::Close => {}
            _ => row.is_other = true,
        }
        let sum = if seen.waits { &mut row.waited_ns } else { &mut row.ns };
        *sum = sum.saturating_add(seen.ns);
        if row.opens <= MAX_OPENS && row.extent < SMALL_BYTES && !row.is_other {
            self.blame.count(seen.record, seen.ns);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        let (mut files, mut sum) = (0_u64, Row::default());
        for (&index, row) in &self.files {
            let size = end.lists.file(FileIndex(index)).and_then(|file| file.size_bytes);
            let is_small = size.unwrap_or(row.extent).max(row.extent) < SMALL_BYTES;
            let is_read = (1..=MAX_OPENS).contains(&row.opens) && row.bytes > 0 && !row.is_other;
            if is_small && is_read {
                files += 1;
                sum.bytes = sum.bytes.saturating_add(row.bytes);
                sum.ns = sum.ns.saturating_add(row.ns);
                sum.waited_ns = sum.waited_ns.saturating_add(row.waited_ns);
            }
        }
        if files < MIN_FILES {
            return Ok(None);
        }
        let low_ns = sum.ns.saturating_sub(end.cached_read_ns(sum.bytes));
        let evidence = vec![
            Evidence::count("small_files", files),
            Evidence::count("small_file_bytes", sum.bytes),
            Evidence::count("not_waiting_ns", sum.ns),
            Evidence::count("waiting_ns", sum.waited_ns),
        ];
        Ok(Some(Draft {
            title: format!(
                "{} files smaller than 16 KiB, opened individually for {}",
                units::count(files),
                units::bytes(sum.bytes)
            ),
            low_ns,
            high_ns: low_ns.saturating_add(sum.waited_ns),
            evidence,
            blame: &self.blame,
            files: None,
            proof: Proof::Replay(&["packed"]),
            way: Way::Pack,
            advice: "Bundle them into one archive, SQLite file or indexed blob, read in order. The upper bound assumes that \
                     read-ahead hides waits for the device.".into(),
            risks: Some("Other programs that read the files have to read the bundle."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{Script, US};
    use hotset_facts::trace::Operation;

    fn load(files: u32, size: u64, times: u32) -> Script {
        let mut script = Script::new();
        for file in 8..8 + files {
            script.file(size);
            for _ in 0..times {
                script.call(Operation::Openat, file, 4 * US);
                script.read(file, 0, 4096, US);
                script.call(Operation::Close, file, US);
            }
        }
        script
    }

    #[test]
    fn thousands_of_small_files_are_found() {
        let finding = load(2_000, 4_096, 1).finding("many-small-files");
        let title = "2,000 files smaller than 16 KiB, opened individually for 7.81 MiB";
        assert_eq!(finding.title, title);
        assert_eq!(finding.changes, ["packed"]);
        // 2,000 times 6 µs, less 125 calls of 1.6 µs.
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (11_800_000, 11_800_000));
    }

    #[test]
    fn large_few_written_and_often_opened_files_are_not() {
        load(2_000, 20_000, 1).clear("many-small-files");
        load(900, 4_096, 1).clear("many-small-files");
        load(1_100, 4_096, 3).clear("many-small-files");
        let mut written = load(2_000, 4_096, 1);
        (8..2_008).for_each(|file| {
            written.write(file, 0, 100, US);
        });
        written.clear("many-small-files");
    }
}
