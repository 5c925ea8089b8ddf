//! What `hotset record` says when it is done.

use std::path::Path;

use hotset_facts::SiteContexts;
use hotset_facts::units::{bytes, count, plural};

/// Where the trace is, and how large it is.
pub fn recorded(trace: &Path, records: u64, trace_bytes: u64) -> String {
    let each = match records {
        0 => String::new(),
        _ => format!(", {:.1} bytes per record", trace_bytes as f64 / records as f64),
    };
    let noun = if records == 1 { "record" } else { "records" };
    format!("{}: {} {noun}, {}{each}", trace.display(), count(records), bytes(trace_bytes))
}

/// How well the code became known that made requests; `unknown` records have no call site because of that.
pub fn call_sites(contexts: &SiteContexts, unknown: u64) -> Vec<String> {
    let mut lines = vec![format!("call sites: {}", crate::report::sites::contexts(contexts))];
    if unknown > 0 {
        lines.push(format!("the call site is not known for {}", plural(unknown, "record")));
    }
    lines
}

/// Records that are not in a trace because its disk was full.
pub fn unwritten(records: u64) -> String {
    let them = if records == 1 { "it" } else { "them" };
    format!("{} found no room on the disk: the trace ends before {them}", plural(records, "record"))
}

fn was(number: u64) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

fn is(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// What a recording did not get, a line each.
pub fn losses(records: u64, malformed: u64, pending: u64) -> Vec<String> {
    let mut lines = Vec::new();
    if records > 0 {
        lines.push(format!(
            "{} {} lost: the buffer was full. The trace says when and of which threads; pass a larger --buffer",
            plural(records, "record"),
            was(records)
        ));
    }
    if malformed > 0 {
        lines.push(format!(
            "{} could not be decoded, and {} missing",
            plural(malformed, "record"),
            is(malformed)
        ));
    }
    if pending > 0 {
        lines.push(format!(
            "{} of page faults or device reads {} missing: the thread did nothing afterwards",
            plural(pending, "record"),
            is(pending)
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_said_in_one_line() {
        let trace = Path::new("app.parquet");
        assert_eq!(
            recorded(trace, 1_234_567, 8_100_000),
            "app.parquet: 1,234,567 records, 7.72 MiB, 6.6 bytes per record"
        );
        assert_eq!(recorded(trace, 0, 900), "app.parquet: 0 records, 900 B");
        assert_eq!(losses(0, 0, 0), [] as [&str; 0]);
        let all = losses(3, 1, 2);
        assert!(all[0].starts_with("3 records were lost: the buffer was full."));
        assert_eq!(all[1], "1 record could not be decoded, and is missing");
        let pending = "2 records of page faults or device reads are missing: the thread did nothing afterwards";
        assert_eq!(all[2], pending);
        assert_eq!(unwritten(1), "1 record found no room on the disk: the trace ends before it");
    }

    #[test]
    fn call_sites_are_counted_by_what_came_of_them() {
        let contexts = SiteContexts { whole: 38, cut: 2, lost: 1, refused: 0 };
        let said = call_sites(&contexts, 1_200);
        assert_eq!(said[0], "call sites: 41 contexts: 38 resolved, 2 in part, 1 unresolved");
        assert_eq!(said[1], "the call site is not known for 1,200 records");
        assert_eq!(call_sites(&contexts, 0).len(), 1);
    }
}
