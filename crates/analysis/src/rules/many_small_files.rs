//! Thousands of small files, each opened for a few bytes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::culprits::{Culprit, bounds, culprits, total};
use super::input::cached_read_ns;
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::{FileKind, FileRow, Io};

pub(super) const ID: &str = "many-small-files";

/// Files from which on a bundle pays (rule R28 of the catalogue).
const MIN_FILES: usize = 1000;
/// A file below this size is small (R28).
const SMALL_FILE_BYTES: u64 = 16 * 1024;
/// Opened about once; more is `reread-file`.
const MAX_OPENS: u64 = 2;
/// A finding names at most this many directories.
const NAMED_DIRECTORIES: usize = 5;

/// What was seen on one file.
struct Small {
    bytes: u64,
    opens: u64,
}

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    input.read()?;
    if input.profile.files.len() < MIN_FILES {
        return Ok(None);
    }
    let costs = input.costs()?;
    let found = culprits(input.profile, |file, io| {
        let small = small_file(file, io)?;
        let (bytes, opens) = (small.bytes as f64, small.opens as f64);
        // Opening and closing, and a read each instead of a share of a large one.
        let in_bundle = bytes / 65536.0 * costs.read_64k_ns;
        let cached = opens * costs.open_close_ns + cached_read_ns(&costs, bytes) - in_bundle;
        // From the device, a bundle is read ahead; single files wait one by one.
        let waited = io.time.value().map_or(0.0, |t| t.miss_ns as f64 + t.wait_ns as f64);
        Some((small, cached, cached + waited))
    });
    let (low_ns, high_ns) = bounds(&found);
    let saving = input.saving(low_ns, high_ns);
    if found.len() < MIN_FILES || !input.worth(&saving) {
        return Ok(None);
    }
    // Of those that are summed up nobody knows the sizes.
    let more = input.profile.files.iter().any(|file| file.kind == FileKind::Others);
    let at_least = if more { "At least " } else { "" };
    let title = format!("{at_least}{} files smaller than 16 KiB, opened individually", found.len());
    let advice = "Bundle them into one archive, SQLite file or indexed blob, read in order. The upper bound assumes \
                  that read-ahead hides device waits.";
    let evidence = vec![
        Evidence::count("files", found.len() as u64),
        Evidence::count("read_bytes", total(&found, |small| small.bytes)),
        Evidence::count("opens", total(&found, |small| small.opens)),
    ];
    let finding = Finding::with_saving(ID, title, advice, saving, evidence);
    Ok(Some(finding.about(directories(&found))))
}

fn small_file(file: &FileRow, io: &Io) -> Option<Small> {
    let size = file.size_bytes.value()?;
    let opens = file.opens.value()?;
    let bytes = io.read.value()?.bytes;
    let small = size < SMALL_FILE_BYTES && (1..=MAX_OPENS).contains(&opens) && bytes > 0;
    (small && file.kind == FileKind::Regular).then_some(Small { bytes, opens })
}

/// The directories that hold most of them: a list of files would tell nothing.
fn directories(found: &[Culprit<'_, Small>]) -> Vec<PathBuf> {
    let mut counts: HashMap<&Path, u64> = HashMap::new();
    for parent in found.iter().filter_map(|culprit| culprit.file.path.as_value()?.parent()) {
        *counts.entry(parent).or_default() += 1;
    }
    let mut counts: Vec<(&Path, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    counts.into_iter().take(NAMED_DIRECTORIES).map(|(path, _)| path.to_path_buf()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, read_file, run_of};
    use hotset_facts::{Observed, ReadIo, Reason, TimeIo};

    fn files(count: u64, size: u64) -> Run {
        let rows = (0..count).map(|i| {
            let read = ReadIo { calls: 1, bytes: size, pages: 1, misses: 1, ..ReadIo::default() };
            let mut row = read_file(&format!("/lib/mod{}/f{i}", i % 7), size, read);
            let time = TimeIo { miss_ns: 50_000, ..TimeIo::default() };
            row.io.edit(|io| io.time = Observed::Value(time));
            row
        });
        Run::new(run_of(rows.collect()))
    }

    #[test]
    fn hit_twenty_thousand_files() {
        let finding = files(20_000, 2_000).finding(check);
        assert!(finding.saving.low_ns > 30_000_000, "{finding:?}");
        assert_eq!(finding.saving.high_of_wall, Some(1.0));
        assert_eq!(finding.files.len(), 5);
        assert_eq!(finding.files[0], PathBuf::from("/lib/mod0"));
    }

    #[test]
    fn near_misses() {
        assert_eq!(files(999, 2_000).ask(check), Ok(None), "few");
        assert_eq!(files(1_500, 16_384).ask(check), Ok(None), "not small");
    }

    #[test]
    fn no_data() {
        let run = Run::without_costs(files(2_000, 2_000).profile);
        assert!(run.ask(check).is_err());
        let mut run = files(2_000, 2_000);
        run.profile.totals.read = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
