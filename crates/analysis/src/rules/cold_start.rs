//! Files that were not cached when the run began: what warming them would save at most.

use super::culprits::{culprits, worst};
use super::input::{BUFFER_BYTES, need, ratio};
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::units::bytes;
use hotset_facts::{CostTable, Io};

pub(super) const ID: &str = "cold-start";

/// CPU time to allocate, request and insert a page, at most: dd of 200 MiB, cold against warm, takes up to 0.1 µs a page
/// more by itself and 0.23 µs under the sensor (Xeon, virtio disk, large folios). The rest is for smaller folios.
const BRING_IN_NS: f64 = 500.0;
/// Refaults among the pages that came in, above which the cause is eviction and not a cold start (`cache-thrash`).
const MAX_REFAULT_SHARE: f64 = 0.5;

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    let read = input.read()?;
    let time = input.times()?;
    // Reduced sensors don't see faults; the reads alone are then a lower count.
    let mapped = input.profile.totals.mmap.pages_read.value().unwrap_or(0);
    let read_in = read.split().from_device;
    let pages = read_in.saturating_add(mapped);
    let refault_share = ratio(read.refaults as f64, pages as f64);
    if pages == 0 || refault_share > MAX_REFAULT_SHARE {
        return Ok(None);
    }
    let costs = input.costs()?;
    let first_time = 1.0 - refault_share;
    let page_bytes = input.page_bytes();
    let saved_ns = warming_saves_ns(&input.profile.totals, &costs, page_bytes).unwrap_or(0.0);
    let saved_ns = saved_ns.min(could_have_waited_ns(input, pages));
    // At most: bringing the pages in takes time too, unless it happens beforehand or beside other work.
    let saving = input.saving(0.0, saved_ns * first_time);
    if !input.worth(&saving) {
        return Ok(None);
    }
    let found = culprits(input.profile, |_, io| {
        let saved = warming_saves_ns(io, &costs, page_bytes)?;
        Some(((), 0.0, saved))
    });
    let device_percent = 100.0 * ratio(read_in as f64, read.pages as f64);
    let read_wait_ns = time.wait_ns.saturating_add(time.miss_ns);
    let mostly_mapped = time.fault_ns.value().is_some_and(|fault_ns| fault_ns > read_wait_ns);
    let title = if mostly_mapped {
        let mapped = bytes((mapped as f64 * page_bytes) as u64);
        format!("Cold start: {mapped} of mapped files read from the device")
    } else {
        format!("Cold start: {device_percent:.0} % of requested pages read from the device")
    };
    let advice = if input.profile.environment.evicts_idle_cache {
        "Run `hotset warm` first, or call posix_fadvise(POSIX_FADV_WILLNEED) early and do other work meanwhile. A DAMON \
         scheme evicts idle page cache on this host; expect cold starts after pauses."
    } else {
        "Run `hotset warm` first, or call posix_fadvise(POSIX_FADV_WILLNEED) early and do other work meanwhile."
    };
    let mut evidence = vec![Evidence::count("device_wait_ns", time.device_read_ns())];
    // A share of what reads requested says nothing about mappings.
    if !mostly_mapped {
        evidence.push(Evidence::real("device_percent", device_percent));
    }
    evidence.extend([
        Evidence::count("from_device_pages", read_in),
        Evidence::count("mapped_in_pages", mapped),
        Evidence::count("refault_pages", read.refaults),
    ]);
    if mostly_mapped {
        // What the title speaks of stands first: a line has room for few.
        evidence.swap(1, 2);
    }
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

/// What the run can have waited for devices at most: where its tasks did one thing at a time, the time in which no CPU
/// worked for it, and the CPU time of bringing pages in. A copy by the kernel (cp, sendfile) counts wholly as a read that
/// missed, but most of that time may be copying.
fn could_have_waited_ns(input: &RuleInput<'_>, pages: u64) -> f64 {
    let command = &input.profile.command;
    let cpu = command.user_ns.zip_with(command.system_ns, u64::saturating_add).value();
    match cpu {
        Some(cpu_ns) if input.time.parallelism <= 1.0 => {
            command.wall_ns.saturating_sub(cpu_ns) as f64 + pages as f64 * BRING_IN_NS
        }
        _ => f64::INFINITY,
    }
}

/// The time of waits, misses and major faults, less what the cache takes for the same pages, and less what writes cost
/// that were booked to the reads which fed them.
fn warming_saves_ns(io: &Io, costs: &CostTable, page_bytes: f64) -> Option<f64> {
    let time = need(io.time).ok()?;
    let read = need(io.read).ok()?;
    let mapped = io.mmap.pages_read.value().unwrap_or(0) as f64;
    let pages = read.split().from_device as f64 + mapped;
    let waited = time.device_read_ns() as f64;
    let cached = pages * page_bytes / BUFFER_BYTES * costs.read_64k_ns;
    let copied = io.write.value().map_or(0.0, |write| {
        let bytes = write.bytes as f64;
        let priced = bytes / BUFFER_BYTES * costs.write_ns(BUFFER_BYTES);
        (priced - write.time_ns as f64).max(0.0)
    });
    Some((waited - cached - copied).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;
    use crate::testing::{Run, read_file, run_of, second};
    use hotset_facts::{Observed, ReadIo, Reason, TimeIo};

    fn cold(miss_ns: u64, refaults: u64) -> Run {
        let read = ReadIo {
            pages: 20_000,
            misses: 1_000,
            readahead_hits: 15_000,
            refaults,
            ..ReadIo::default()
        };
        let mut row = read_file("/data/model", 80 << 20, read);
        let time = TimeIo { miss_ns, hit_ns: 1_000, ..TimeIo::default() };
        row.io.edit(|io| io.time = Observed::Value(time));
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_most_of_the_run_waits() {
        let finding = cold(second(1) / 2, 0).finding(check);
        assert_eq!(finding.title, "Cold start: 80 % of requested pages read from the device");
        assert_eq!(finding.saving.low_ns, 0, "at most");
        assert!((498_000_000..499_000_000).contains(&finding.saving.high_ns), "{finding:?}");
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(finding.files.len(), 1);
    }

    #[test]
    fn near_misses() {
        assert_eq!(cold(second(1) / 2, 9_000).ask(check), Ok(None), "evicted, not cold");
        assert_eq!(cold(30_000_000, 0).ask(check), Ok(None), "a fast device");
        let mut run = cold(second(1) / 2, 0);
        run.profile.command.system_ns = Observed::Value(980_000_000);
        assert_eq!(run.ask(check), Ok(None), "cp(1): the kernel copied for all that time");
    }

    #[test]
    fn mapped_files_count() {
        let mut run = cold(0, 0);
        run.profile.totals = Io::zero();
        // A few pages were read as well: what the run waited for are the mapped ones.
        run.profile.totals.read =
            Observed::Value(ReadIo { pages: 400, misses: 4, ..ReadIo::default() });
        run.profile.totals.mmap.pages_read = Observed::Value(4_096);
        run.profile.totals.time = Observed::Value(TimeIo {
            fault_ns: Observed::Value(second(1) / 2),
            ..TimeIo::default()
        });
        let finding = run.finding(check);
        assert!(finding.title.contains("16.0 MiB of mapped files"));
        let names: Vec<_> = finding.evidence.iter().map(|evidence| evidence.name).collect();
        assert_eq!(names[..2], ["device_wait_ns", "mapped_in_pages"], "what the title speaks of");
        assert!(
            !names.contains(&"device_percent"),
            "1 % of 400 pages is no share of 4,096: {names:?}"
        );
        let names: Vec<_> =
            cold(second(1) / 2, 0).finding(check).evidence.iter().map(|one| one.name).collect();
        assert!(names.contains(&"device_percent"), "{names:?}");
    }

    #[test]
    fn no_data() {
        let run = Run::without_costs(cold(second(1), 0).profile);
        assert!(run.ask(check).is_err());
        let mut run = cold(second(1), 0);
        run.profile.totals.time = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
