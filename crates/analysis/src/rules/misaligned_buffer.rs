//! Buffers that are no multiple of the page: pages touched twice, or read before they are written.

use super::culprits::{bounds, culprits, files, total, worst};
use super::input::ratio;
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::{CostTable, Io, ReadIo};

pub(super) const ID: &str = "misaligned-buffer";

/// Pages requested beyond what the bytes need. A whole number of pages in order requests none twice; a buffer of 10 pages
/// and a bit requests one in ten twice, and below that the cost is lost in the copying.
const MIN_EXTRA_SHARE: f64 = 0.10;
/// "Mostly in order", as for small reads.
const MIN_SEQUENTIAL_SHARE: f64 = 0.75;
/// Bytes read before they are written, as a share of the written (rule R23 of the catalogue: 25 %).
const MIN_READ_BEFORE_WRITE: f64 = 0.25;

/// What was seen on one file.
#[derive(Default)]
struct Misaligned {
    extra_pages: u64,
    read_before_write_pages: u64,
}

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    input.read()?;
    let write = input.write()?;
    let any = input.read()?.calls > 0 || write.calls > 0;
    if !any {
        return Ok(None);
    }
    let costs = input.costs()?;
    let page_bytes = input.page_bytes();
    let found = culprits(input.profile, |_, io| examine_file(io, &costs, page_bytes));
    let (low_ns, high_ns) = bounds(&found);
    let saving = input.saving(low_ns, high_ns);
    if !input.worth(&saving) {
        return Ok(None);
    }
    let read_first = total(&found, |seen| seen.read_before_write_pages);
    let title = if read_first > 0 {
        format!("Partial-page writes to {} force reads before writes", files(found.len()))
    } else {
        format!("Buffer size for {} is not a multiple of the page size", files(found.len()))
    };
    let advice = "Use page-aligned offsets and a multiple of 4096 bytes, e.g. 64 KiB. For partial writes, keep the page \
                  cached or write all of it.";
    let evidence = vec![
        Evidence::count("extra_pages", total(&found, |seen| seen.extra_pages)),
        Evidence::count("read_before_write_pages", read_first),
    ];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

fn examine_file(io: &Io, costs: &CostTable, page: f64) -> Option<(Misaligned, f64, f64)> {
    let mut seen = Misaligned::default();
    let (mut low_ns, mut high_ns) = (0.0, 0.0);
    if let Some(read) = io.read.value() {
        let extra = extra_pages_read(&read, page);
        // Looking up a page in the cache costs what a read of 4 bytes costs beyond the system call.
        let lookup_ns = (costs.read_4b_ns - costs.syscall_ns).max(0.0);
        seen.extra_pages = extra as u64;
        low_ns += (extra * lookup_ns).min(read.time_ns as f64);
        high_ns = low_ns;
    }
    if let Some(write) = io.write.value()
        && let Some(misses) = write.misses.value()
        && ratio(misses as f64 * page, write.bytes as f64) >= MIN_READ_BEFORE_WRITE
    {
        seen.read_before_write_pages = misses;
        let calls = write.calls as f64;
        let cached = calls * costs.write_ns(ratio(write.bytes as f64, calls));
        // At most: these calls may have waited for something else too.
        high_ns += (write.time_ns as f64 - cached).max(0.0);
    }
    Some((seen, low_ns, high_ns))
}

/// Pages requested beyond what the bytes need, by sequential reads larger than a page; 0 if they are few.
fn extra_pages_read(read: &ReadIo, page: f64) -> f64 {
    let calls = read.calls as f64;
    let needed = read.bytes as f64 / page;
    let Some(sequential) = read.sequential_calls.value() else { return 0.0 };
    let in_order = ratio(sequential as f64, calls) >= MIN_SEQUENTIAL_SHARE;
    let large = ratio(read.bytes as f64, calls) > page;
    let extra = (read.pages as f64 - needed).max(0.0);
    if in_order && large && extra >= MIN_EXTRA_SHARE * needed { extra } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, read_file, run_of, second, written_file};
    use hotset_facts::{Observed, Reason, WriteIo};

    fn read(calls: u64, size: u64, pages_per_call: f64) -> Run {
        let read = ReadIo {
            calls,
            bytes: calls * size,
            pages: (calls as f64 * pages_per_call) as u64,
            sequential_calls: Observed::Value(calls),
            time_ns: second(1),
            ..ReadIo::default()
        };
        Run::new(run_of(vec![read_file("/data/rows", calls * size, read)]))
    }

    fn write(misses: u64, time_ns: u64) -> Run {
        let misses = Observed::Value(misses);
        let write = WriteIo { calls: 1_000, bytes: 100_000, misses, time_ns, ..WriteIo::default() };
        Run::new(run_of(vec![written_file("/data/table", write)]))
    }

    #[test]
    fn hit_reads_of_5000_bytes() {
        // 5000 bytes span 2.22 pages on average and need 1.22.
        let finding = read(500_000, 5_000, 2.22).finding(check);
        assert!((88_000_000..90_000_000).contains(&finding.saving.low_ns), "{finding:?}");
        assert!(finding.title.contains("multiple of the page size"));
    }

    #[test]
    fn hit_writes_of_parts_of_cold_pages() {
        let finding = write(1_000, second(1) / 10).finding(check);
        assert!(finding.title.contains("force reads"), "{}", finding.title);
        assert_eq!(finding.saving.low_ns, 0);
    }

    #[test]
    fn near_misses() {
        assert_eq!(read(500_000, 8_192, 2.0).ask(check), Ok(None), "aligned");
        assert_eq!(read(500_000, 100_000, 25.4).ask(check), Ok(None), "4 % more pages");
        assert_eq!(read(100_000, 5_000, 2.22).ask(check), Ok(None), "saves 18 ms");
        assert_eq!(write(6, second(1)).ask(check), Ok(None), "hardly a page read first");
    }

    #[test]
    fn no_data() {
        let run = Run::without_costs(read(500_000, 5_000, 2.22).profile);
        assert!(run.ask(check).is_err());
        let mut run = read(500_000, 5_000, 2.22);
        run.profile.totals.read = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
