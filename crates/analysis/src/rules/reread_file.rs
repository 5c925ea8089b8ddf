//! The same file read whole again and again: keep what came of it.

use super::culprits::{bounds, culprits, total, worst};
use super::input::ratio;
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::{FileKind, FileRow, Io};

pub(super) const ID: &str = "reread-file";

/// Whole reads of one file by the same processes from which on it is a habit (rule R06 of the catalogue: 10).
const MIN_READS: u64 = 10;
/// A read counts as whole from 90 % of the size on, so that a trailer left unread doesn't hide it.
const WHOLE: f64 = 0.9;

/// CPU time for a byte of text, at most: PyYAML's loader in Python, the slowest parser in wide use, took 8.9 µs a byte of a
/// 77 KB file (EPYC of 2024).
const MAX_PARSE_NS_PER_BYTE: f64 = 10_000.0;

/// What was seen on one file.
struct Reread {
    opens: u64,
    bytes: u64,
    /// Opens by one process on average; 1 where each process reads the file once.
    opens_per_process: u64,
}

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    let read = input.read()?;
    input.times()?;
    let user_ns = input.profile.command.user_ns.value().unwrap_or(0) as f64;
    let open_close_ns = input.costs.value().map_or(0.0, |costs| costs.open_close_ns);
    let found = culprits(input.profile, |file, io| {
        let seen = read_whole_repeatedly(file, io)?;
        let again = (seen.opens - 1) as f64;
        let share_again = ratio(again, seen.opens as f64);
        // Where the first read had to wait for the device, the ones after it did not: only the time of hits comes again.
        let hit_ns = io.time.value()?.hit_ns as f64;
        let io_ns = hit_ns * share_again + again * open_close_ns;
        // What is done with the bytes disappears as well. How much that is, nobody measured; in proportion to all
        // bytes that the run read, it is this share of the user CPU time.
        let parse_ns = (user_ns * ratio(seen.bytes as f64, read.bytes as f64))
            .min(seen.bytes as f64 * MAX_PARSE_NS_PER_BYTE)
            * share_again;
        let habit = seen.opens_per_process >= MIN_READS;
        (habit || input.worth(&input.saving(io_ns, io_ns))).then_some((
            seen,
            io_ns,
            io_ns + parse_ns,
        ))
    });
    let (low_ns, high_ns) = bounds(&found);
    let saving = input.saving(low_ns, high_ns);
    if !input.worth(&saving) {
        return Ok(None);
    }
    let most = found.iter().map(|culprit| culprit.seen.opens).max().unwrap_or(0);
    let title = match found.len() {
        1 => format!("One file read completely {most} times"),
        n => format!("{n} files read completely, up to {most} times each"),
    };
    let advice = "Cache the parsed result; reread only when mtime or size changes. Across processes, share it or use a \
                  daemon. The upper bound includes parsing, estimated from user CPU time.";
    let evidence = vec![
        Evidence::count("opens", total(&found, |seen| seen.opens)),
        Evidence::count("most_opens_of_a_file", most),
        Evidence::count("files", found.len() as u64),
        Evidence::count("read_bytes", total(&found, |seen| seen.bytes)),
    ];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

fn read_whole_repeatedly(file: &FileRow, io: &Io) -> Option<Reread> {
    if file.kind != FileKind::Regular {
        return None;
    }
    let size = file.size_bytes.value().filter(|&size| size > 0)?;
    let opens = file.opens.value().filter(|&opens| opens >= 2)?;
    let bytes = io.read.value()?.bytes;
    let whole = bytes as f64 >= WHOLE * size as f64 * opens as f64;
    let opens_per_process = opens / u64::from(file.processes.max(1));
    whole.then_some(Reread { opens, bytes, opens_per_process })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, read_file, run_of, second};
    use hotset_facts::{Observed, ReadIo, Reason, TimeIo};

    fn config(opens: u64, bytes: u64, user_ns: u64) -> Run {
        let read = ReadIo { calls: 2 * opens, bytes, time_ns: opens * 5_000, ..ReadIo::default() };
        let mut row = read_file("/etc/app.json", 10_000, read);
        row.opens = Observed::Value(opens);
        let time = TimeIo { hit_ns: opens * 5_000, ..TimeIo::default() };
        row.io.edit(|io| io.time = Observed::Value(time));
        let mut profile = run_of(vec![row]);
        profile.command.user_ns = Observed::Value(user_ns);
        Run::new(profile)
    }

    #[test]
    fn hit_a_configuration_parsed_a_thousand_times() {
        let finding = config(1_000, 10_000_000, second(1) / 2).finding(check);
        // 999 reads of 5 µs and 999 opens of 1.49 µs, and nearly all of the half second of CPU time.
        assert!((6_400_000..6_600_000).contains(&finding.saving.low_ns), "{finding:?}");
        assert!((500_000_000..510_000_000).contains(&finding.saving.high_ns), "{finding:?}");
        assert!(finding.title.contains("1000 times"), "{}", finding.title);
    }

    #[test]
    fn near_misses() {
        let run = config(9, 90_000, second(1) / 2);
        assert_eq!(run.ask(check), Ok(None), "nine times, and cheap");
        let run = config(1_000, 1_000_000, second(1) / 2);
        assert_eq!(run.ask(check), Ok(None), "a tenth of it each time");
        let run = config(1_000, 10_000_000, 0);
        assert_eq!(run.ask(check), Ok(None), "costs 6 ms");
        let mut run = config(1_000, 10_000_000, second(1) / 2);
        run.profile.files[0].processes = 1_000;
        assert_eq!(run.ask(check), Ok(None), "a thousand processes, once each");
    }

    /// `git status`, cold: HEAD of 21 bytes, read twice, of which the first read waited 50 ms for the device.
    fn head(reads: u64) -> Run {
        let (bytes, time_ns) = (21 * reads, 50_000_000 + 900 * (reads - 1));
        let read = ReadIo { calls: 2 * reads, bytes, time_ns, ..ReadIo::default() };
        let mut row = read_file("/src/.git/HEAD", 21, read);
        row.opens = Observed::Value(reads);
        let time = TimeIo { miss_ns: 50_000_000, hit_ns: 900 * (reads - 1), ..TimeIo::default() };
        row.io.edit(|io| io.time = Observed::Value(time));
        let mut profile = run_of(vec![row]);
        profile.command.wall_ns = 120_000_000;
        profile.command.user_ns = Observed::Value(100_000_000);
        Run::new(profile)
    }

    #[test]
    fn what_the_first_read_waited_is_not_saved() {
        assert_eq!(head(2).ask(check), Ok(None));
        assert_eq!(head(12).ask(check), Ok(None), "231 bytes take no 90 ms of CPU time to parse");
        assert!(head(20_000).finding(check).saving.low_ns > 30_000_000, "420 KB in 20,000 opens");
    }

    #[test]
    fn no_data() {
        let mut run = config(1_000, 10_000_000, second(1));
        run.profile.totals.read = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
