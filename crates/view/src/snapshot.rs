//! What saving and restoring came to, as text.

use std::fmt::Write as _;

use hotset_facts::{NamedFew, RestoreReport, RestoreStop, SaveReport};

use crate::escape::{escape_path, escape_text};
use crate::units::{bytes, count, duration, percent, plural};

/// Paths that the text names of each kind; JSON has more.
const NAMED_IN_TEXT: usize = 20;

/// What was saved, a line each.
pub fn save_text(report: &SaveReport) -> String {
    let mut out = String::new();
    names(&mut out, "could not be told about", &report.refused);
    if report.interrupted {
        out.push_str("interrupted: nothing was saved\n");
        return out;
    }
    let file = report.file.as_deref().map_or_else(|| "standard output".to_owned(), escape_path);
    let _ = writeln!(
        out,
        "{} of {} in {} saved to {file} ({})",
        bytes(report.pages.saturating_mul(report.page_bytes)),
        plural(report.files, "file"),
        plural(report.ranges, "range"),
        bytes(report.snapshot_bytes)
    );
    if report.uncached_files > 0 {
        let _ = writeln!(out, "{} had nothing cached", plural(report.uncached_files, "file"));
    }
    if report.hidden_processes > 0 {
        let _ = writeln!(
            out,
            "the files of {} of other users are not known; only `restore --order hot` asks for them",
            plural(report.hidden_processes, "process")
        );
    }
    out
}

/// What was restored, ending in the share that is really cached.
pub fn restore_text(report: &RestoreReport) -> String {
    let size = |pages: u64| bytes(pages.saturating_mul(report.page_bytes));
    let mut out = String::new();
    names(&mut out, "changed, and were not restored", &report.changed);
    names(&mut out, "vanished", &report.vanished);
    names(&mut out, "could not be restored", &report.refused);
    if report.beyond_budget_pages > 0 {
        let _ = writeln!(out, "{} left out by the budget", size(report.beyond_budget_pages));
    }
    let _ = writeln!(
        out,
        "{} of {} unchanged; {} of the {} saved are to be cached, {} of it were",
        count(report.unchanged_files),
        plural(report.files, "file"),
        size(report.wanted_pages),
        size(report.pages),
        size(report.cached_before_pages)
    );
    let fetched = size(report.fetched_pages);
    if report.dry_run {
        let _ = writeln!(out, "{fetched} would be read");
        return out;
    }
    if report.fetched_pages > 0 {
        let read_bytes = report.fetched_pages as f64 * report.page_bytes as f64;
        let rate = bytes((read_bytes * 1e9 / report.read_ns.max(1) as f64) as u64);
        let _ = writeln!(out, "{fetched} read in {} ({rate}/s)", duration(report.read_ns));
    }
    match &report.stopped {
        Some(RestoreStop::Interrupted) => out.push_str("interrupted; what was read stays\n"),
        Some(RestoreStop::Memory { room_bytes, group }) => {
            let whose = group.as_deref().map_or_else(|| "the host".to_owned(), escape_path);
            let _ = writeln!(
                out,
                "stopped: {whose} leaves {} for file cache; more would evict what was restored",
                bytes(*room_bytes)
            );
        }
        None => {}
    }
    if report.unknown_pages > 0 {
        let _ = writeln!(
            out,
            "{} belong to others: the kernel doesn't tell this user whether they are cached",
            size(report.unknown_pages)
        );
    }
    out.push_str(&cached_now(report));
    out
}

/// The share of what was wanted that is really cached.
fn cached_now(report: &RestoreReport) -> String {
    if report.wanted_pages == 0 {
        return "nothing to restore\n".to_owned();
    }
    let size = |pages: u64| bytes(pages.saturating_mul(report.page_bytes));
    let (after, wanted) = (report.cached_after_pages, report.wanted_pages);
    let share = percent(after as f64 / wanted as f64);
    format!("{} of {} cached now ({share})\n", size(after), size(wanted))
}

fn names(out: &mut String, what: &str, few: &NamedFew) {
    if few.count == 0 {
        return;
    }
    let _ = writeln!(out, "{} {what}:", plural(few.count, "path"));
    for one in few.named.iter().take(NAMED_IN_TEXT) {
        let _ = writeln!(out, "  {}: {}", escape_path(&one.path), escape_text(&one.reason));
    }
    let more = few.count - few.named.len().min(NAMED_IN_TEXT) as u64;
    if more > 0 {
        let _ = writeln!(out, "  and {} more", count(more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::schema_tests::refused;
    use crate::wire::{documents, read_restore, read_save, restore_json, save_json};
    use std::os::unix::ffi::OsStringExt as _;

    fn restored() -> RestoreReport {
        RestoreReport {
            file: "/s".into(),
            page_bytes: 4096,
            files: 2,
            pages: 512,
            unchanged_files: 2,
            wanted_pages: 512,
            cached_before_pages: 256,
            fetched_pages: 256,
            cached_after_pages: 512,
            read_ns: 1_000_000,
            ..RestoreReport::default()
        }
    }

    #[test]
    fn a_restore_ends_in_what_is_really_cached() {
        assert_eq!(
            restore_text(&restored()),
            "2 of 2 files unchanged; 2.00 MiB of the 2.00 MiB saved are to be cached, 1.00 MiB of it were\n\
             1.00 MiB read in 1.00 ms (0.98 GiB/s)\n2.00 MiB of 2.00 MiB cached now (100 %)\n"
        );
        let short = RestoreReport { cached_after_pages: 511, ..restored() };
        assert!(restore_text(&short).ends_with("2.00 MiB of 2.00 MiB cached now (99.8 %)\n"));
        let nothing = RestoreReport { file: "/s".into(), page_bytes: 4096, ..Default::default() };
        assert!(restore_text(&nothing).ends_with("\nnothing to restore\n"));
    }

    #[test]
    fn what_was_passed_over_is_named_counted_and_printable() {
        let mut report = restored();
        for n in 0..22 {
            report.changed.add(format!("/a\n{n}"), "grew");
        }
        let text = restore_text(&report);
        assert!(
            text.starts_with("22 paths changed, and were not restored:\n  /a\\n0: grew\n"),
            "{text}"
        );
        assert!(text.contains("\n  and 2 more\n"), "{text}");
    }

    #[test]
    fn reports_are_read_back_whole() {
        let mut stopped = restored();
        stopped.stopped = Some(RestoreStop::Memory { room_bytes: 7, group: Some("/g".into()) });
        stopped.vanished.add(std::ffi::OsString::from_vec(vec![b'/', 0xff]), "gone");
        for report in
            [stopped, RestoreReport { dry_run: true, cached_after_pages: 0, ..restored() }]
        {
            let bytes = restore_json(&report);
            assert_eq!(refused("hotset.restore/1", &bytes).expect("a schema"), [""; 0]);
            let documents = documents(&bytes).expect("documents");
            assert_eq!(read_restore(&documents[0]).expect("a report"), report);
        }
        let report = SaveReport { files: 3, page_bytes: 4096, ..SaveReport::default() };
        let bytes = save_json(&report);
        assert_eq!(refused("hotset.save/1", &bytes).expect("a schema"), [""; 0]);
        let documents = documents(&bytes).expect("documents");
        assert_eq!(read_save(&documents[0]).expect("a report"), report);
    }

    #[test]
    fn a_save_says_what_it_took() {
        let report = SaveReport {
            file: Some("/s".into()),
            page_bytes: 4096,
            files: 1,
            ranges: 2,
            pages: 256,
            snapshot_bytes: 180,
            uncached_files: 4,
            hidden_processes: 2,
            ..SaveReport::default()
        };
        let text = save_text(&report);
        assert!(text.starts_with("1.00 MiB of 1 file in 2 ranges saved to /s (180 B)\n"), "{text}");
        assert!(text.contains("4 files had nothing cached\nthe files of 2 processes of"), "{text}");
    }
}
