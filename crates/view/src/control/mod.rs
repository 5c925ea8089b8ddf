//! What `warm`, `evict` and `pin` say.

mod words;

use hotset_facts::{ControlReport, ControlVerb, ControlledFile, NotCached, Stayed, Unevictable};

use crate::escape::escape_path;
use crate::units;

pub use crate::wire::control_json;
pub use words::{follow_line, note, pin_line, progress_line};

/// Files that are named where not all are asked for.
const TOP_FILES: usize = 5;

/// Reasons that are named for one file where not all are asked for.
const TOP_REASONS: usize = 3;

/// How the text looks.
#[derive(Debug, Clone, Copy)]
pub struct ControlOptions {
    /// Name every file that is not as it should be.
    pub all: bool,
    /// Bytes of a base page.
    pub page_bytes: u64,
}

/// The end of a command that changes cache states: one line with what was reached, then what was not, the largest first.
pub fn control_text(report: &ControlReport, options: &ControlOptions) -> String {
    let mut out = String::new();
    if report.totals.files == 0 && !report.unreadable.is_empty() {
        let paths = units::plural(report.unreadable.len() as u64, "path");
        out.push_str(&format!("No file was {}: {paths} cannot be opened\n", done(report.verb)));
    } else if report.totals.files > 0 || report.notes.is_empty() {
        out.push_str(&first_line(report, options.page_bytes));
    }
    let mut short: Vec<&ControlledFile> =
        report.files.iter().filter(|file| !file.is_reached(report.verb)).collect();
    // What nobody can tell comes last, and names decide where sizes don't.
    short.sort_by_key(|file| std::cmp::Reverse(file.short_pages(report.verb)));
    let shown = if options.all { usize::MAX } else { TOP_FILES };
    for file in short.iter().take(shown) {
        out.push_str(&file_line(report.verb, file, options));
    }
    let rest = short.len().saturating_sub(shown) as u64 + report.files_left_out;
    if rest > 0 {
        let hint = if options.all { "" } else { "; -v names more" };
        out.push_str(&format!("  and {}{hint}\n", units::plural(rest, "file")));
    }
    for unreadable in report.unreadable.iter().take(shown) {
        let name = escape_path(&unreadable.path);
        out.push_str(&format!("  {name}: {}\n", crate::escape_text(&unreadable.reason)));
    }
    let rest = report.unreadable.len().saturating_sub(shown) as u64;
    if rest > 0 {
        out.push_str(&format!(
            "  and {} that can't be opened; -v names them\n",
            units::plural(rest, "path")
        ));
    }
    if report.not_cacheable > 0 {
        let count = units::count(report.not_cacheable);
        out.push_str(&format!("  skipped: {count} without page cache (sockets, pipes, /proc)\n"));
    }
    for note in &report.notes {
        out.push_str(&format!("{note}\n"));
    }
    if report.interrupted {
        out.push_str("interrupted: this is as far as it came\n");
    }
    out
}

fn done(verb: ControlVerb) -> &'static str {
    match verb {
        ControlVerb::Evict => "evicted",
        ControlVerb::Warm => "warmed",
        ControlVerb::Pin => "pinned",
    }
}

fn first_line(report: &ControlReport, page: u64) -> String {
    let totals = &report.totals;
    let bytes = |pages: u64| units::bytes(pages.saturating_mul(page));
    let share = |pages: u64| match totals.pages {
        0 if totals.files_unknown > 0 => "no file's state is known".to_owned(),
        0 => "nothing to cache".to_owned(),
        all => units::percent(pages as f64 / all as f64),
    };
    let (after, all) = (bytes(totals.cached_after), bytes(totals.pages));
    let files = units::plural(totals.files, "file");
    let mut line = match report.verb {
        ControlVerb::Evict => format!(
            "{files}: {after} of {all} still cached ({}), {} before",
            share(totals.cached_after),
            bytes(totals.cached_before)
        ),
        ControlVerb::Warm => {
            let fetched = totals.fetched_bytes;
            let seconds = totals.wall_ns as f64 / 1e9;
            let rate = units::bytes((fetched as f64 / seconds.max(1e-9)) as u64);
            let before = bytes(totals.cached_before);
            let how = if fetched == 0 {
                "nothing was fetched".to_owned()
            } else {
                let took = units::duration(totals.wall_ns);
                format!("{} fetched in {took} ({rate}/s)", units::bytes(fetched))
            };
            format!(
                "{files}: {after} of {all} cached ({}), {before} before; {how}",
                share(totals.cached_after)
            )
        }
        ControlVerb::Pin => {
            format!("{files}: {after} of {all} cached ({}) and held", share(totals.cached_after))
        }
    };
    if totals.files_unknown > 0 {
        line.push_str(&format!("; unknown for {}", units::count(totals.files_unknown)));
    }
    line.push('\n');
    line
}

fn file_line(verb: ControlVerb, file: &ControlledFile, options: &ControlOptions) -> String {
    let name = escape_path(&file.path);
    let state = match (file.short_pages(verb), &file.error) {
        (Some(0), Some(error)) => crate::escape_text(error),
        (Some(pages), _) => {
            let what = if verb == ControlVerb::Evict { "stayed" } else { "missing" };
            let size = units::bytes(pages.saturating_mul(options.page_bytes));
            format!("{size} {what}: {}", reasons(file, options))
        }
        (None, Some(error)) => crate::escape_text(error),
        (None, None) => match file.cached_after.reason() {
            Some(reason) => format!("unknown ({reason})"),
            None => "unknown".to_owned(),
        },
    };
    format!("  {name}: {state}\n")
}

fn reasons(file: &ControlledFile, options: &ControlOptions) -> String {
    if let Some(error) = &file.error {
        return crate::escape_text(error);
    }
    if let Some(why) = file.not_cached {
        return not_cached(why).to_owned();
    }
    // The size of a single reason that explains all was just said.
    if let [only] = file.stayed.as_slice()
        && only.pages.is_some()
    {
        return reason(&Stayed { pages: None, ..only.clone() }, options.page_bytes);
    }
    let shown = if options.all { usize::MAX } else { TOP_REASONS };
    let mut words: Vec<String> =
        file.stayed.iter().take(shown).map(|stayed| reason(stayed, options.page_bytes)).collect();
    let rest = file.stayed.len().saturating_sub(shown);
    if rest > 0 {
        words.push(format!("and {rest} more"));
    }
    words.join(", ")
}

fn reason(stayed: &Stayed, page: u64) -> String {
    let size = stayed.pages.map(|pages| format!("{} ", units::bytes(pages.saturating_mul(page))));
    let size = size.unwrap_or_default();
    match &stayed.holder {
        Some((pid, comm)) => {
            let how = if stayed.reason == Unevictable::Locked { "locked" } else { "mapped" };
            format!("{size}{how} by {} (pid {pid})", crate::escape_text(comm))
        }
        None => {
            let why = match stayed.reason {
                Unevictable::Dirty => "dirty (--sync writes it out)",
                Unevictable::Mapped => "mapped",
                Unevictable::Locked => "locked",
                Unevictable::MemoryOnly => {
                    "in memory only (tmpfs and the like have no other place)"
                }
                Unevictable::Unknown => "reason unknown",
                other @ Unevictable::Writeback => other.phrase(),
            };
            format!("{size}{why}")
        }
    }
}

fn not_cached(why: NotCached) -> &'static str {
    match why {
        NotCached::Unreadable => "can't be read",
        NotCached::Budget => "beyond the budget",
        NotCached::Memory => "no memory left for it",
        NotCached::Interrupted => "not reached before the interrupt",
        NotCached::Unknown => "reason unknown",
    }
}

#[cfg(test)]
pub(crate) mod tests;
