//! Cached pages that went away although memory was free: warm runs go cold here.

use super::culprits::{culprits, total, worst};
use super::input::{need, ratio};
use super::refaults::dropped_pages;
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};
use hotset_facts::units::bytes;
use hotset_facts::{FileKind, FileRow};

pub(super) const ID: &str = "idle-eviction";

/// Evicted pages as a share of a file (rule R19 of the catalogue: 10 %).
const MIN_EVICTED_SHARE: f64 = 0.10;
/// Evicted pages over all files, below which nobody would notice: 1 MiB of 4 KiB pages.
const MIN_EVICTED_PAGES: u64 = 256;
/// Memory pressure is ruled out where all files of the run fill less than this share of memory.
const MAX_FOOTPRINT_SHARE: f64 = 0.5;

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    input.read()?;
    let page_bytes = input.page_bytes();
    let found = culprits(input.profile, |file, _| {
        let evicted = evicted(file, page_bytes)?;
        Some(((evicted, dropped_pages(file)), 0.0, evicted as f64))
    });
    let evicted_pages = total(&found, |(evicted, _)| *evicted);
    let dropped = total(&found, |(_, dropped)| *dropped);
    if evicted_pages < MIN_EVICTED_PAGES || !roomy(input) {
        return Ok(None);
    }
    let evidence = vec![
        Evidence::count("evicted_pages", evicted_pages),
        Evidence::count("dropped_pages", dropped),
    ];
    let evicted = bytes((evicted_pages as f64 * page_bytes) as u64);
    let title = format!("{evicted} of cached pages evicted while memory was available");
    let advice = if ratio(dropped as f64, evicted_pages as f64) >= 0.5 {
        "The program (POSIX_FADV_DONTNEED, direct I/O over cached pages) or another process (drop_caches) evicts pages. \
         Do not trust warm timings."
    } else if input.profile.environment.evicts_idle_cache {
        "A DAMON scheme evicts idle pages even with free memory. Check residency before comparing timings."
    } else {
        "The kernel reclaimed them: for another cgroup, on request (memory.reclaim), or because they were idle. Do not \
         trust warm timings."
    };
    Ok(Some(Finding::info(ID, title, advice, evidence).about(worst(&found))))
}

/// Pages evicted from a file that still exists, if they are a tenth of it.
fn evicted(file: &FileRow, page_bytes: f64) -> Option<u64> {
    // Deleting or replacing a file drops its pages too, which is no eviction.
    let size =
        file.size_bytes.value().filter(|_| !file.deleted && file.kind == FileKind::Regular)?;
    file.cached_after.value()?;
    let evicted = need(file.evicted_pages).ok()?;
    let pages = size as f64 / page_bytes;
    (evicted > 0 && ratio(evicted as f64, pages) >= MIN_EVICTED_SHARE).then_some(evicted)
}

/// True if all files of the run together are small beside the memory that can hold them.
fn roomy(input: &RuleInput<'_>) -> bool {
    let sizes = input.profile.files.iter().filter_map(|file| file.size_bytes.value());
    let footprint: f64 = sizes.map(|size| size as f64).sum();
    footprint < MAX_FOOTPRINT_SHARE * input.memory_bytes() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, read_file, run_of};
    use hotset_facts::{Observed, ReadIo, Reason};

    fn evicting(evicted_pages: u64) -> Run {
        let read = ReadIo { pages: 25_600, ..ReadIo::default() };
        let mut row = read_file("/data/model", 100 << 20, read);
        row.evicted_pages = Observed::Value(evicted_pages);
        row.cached_after = Observed::Value(25_600 - evicted_pages);
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_half_of_a_file_gone() {
        let finding = evicting(12_800).finding(check);
        assert!(finding.title.contains("memory was available"));
        assert_eq!(finding.files.len(), 1);
    }

    #[test]
    fn hit_pages_that_somebody_dropped() {
        let mut run = evicting(12_800);
        run.profile.environment.evicts_idle_cache = true;
        run.profile.files[0].dropped_pages = Observed::Value(12_800);
        assert!(run.finding(check).advice.starts_with("The program (POSIX_FADV_DONTNEED"));
    }

    #[test]
    fn hit_a_host_that_does_it_by_itself() {
        let mut run = evicting(12_800);
        run.profile.environment.evicts_idle_cache = true;
        assert!(run.finding(check).advice.contains("DAMON"));
    }

    #[test]
    fn near_misses() {
        assert_eq!(evicting(2_559).ask(check), Ok(None), "under a tenth");
        let mut run = evicting(12_800);
        run.profile.environment.memory_limit_bytes = Some(128 << 20);
        assert_eq!(run.ask(check), Ok(None), "memory is short");
        let mut run = evicting(12_800);
        run.profile.files[0].deleted = true;
        assert_eq!(run.ask(check), Ok(None), "deleted");
        let mut run = evicting(12_800);
        run.profile.files[0].cached_after = Observed::Missing(Reason::not_measured("gone"));
        assert_eq!(run.ask(check), Ok(None), "deleted or replaced during the run");
        let mut run = evicting(0);
        run.profile.environment.evicts_idle_cache = true;
        assert_eq!(run.ask(check), Ok(None), "the host may, but did not");
    }

    #[test]
    fn no_data() {
        let mut run = evicting(12_800);
        run.profile.totals.read = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
    }
}
