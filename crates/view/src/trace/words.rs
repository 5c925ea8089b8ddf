//! What the parts of a trace are called.

use hotset_analysis::trace::{
    OperationErrors, OperationNumbers, RequestKind, TraceCounts, TraceFileNumbers, TracePages,
    TraceProcessNumbers,
};
use hotset_facts::FileKind;
use hotset_facts::message::without_error_numbers;
use hotset_facts::trace::{OperationClass, Site, SiteState, TraceFile, TraceHead, TraceSource};

use super::Trace;
use crate::report::header;
use crate::units::{bytes, count, duration, plural, real, whole_percent};

/// Makes the bytes of a name safe for who reads it.
pub(super) type Escape<'a> = &'a dyn Fn(&[u8]) -> String;

/// A kind of request, in a few words.
pub(super) const fn kind(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::ReadMissed => "read, missed",
        RequestKind::ReadAhead => "read, read-ahead hit",
        RequestKind::ReadCached => "read from cache",
        RequestKind::ReadUnknown => "read",
        RequestKind::Direct => "direct I/O",
        RequestKind::Write => "write",
        RequestKind::Sync => "sync",
        RequestKind::MajorFault => "major fault",
        RequestKind::MinorFault => "minor fault",
        RequestKind::Open => "open",
        RequestKind::Lookup => "lookup",
        RequestKind::FailedLookup => "failed lookup",
        RequestKind::Kernel => "outside of requests",
        RequestKind::Other => "other",
    }
}

/// The same as the subject of a sentence.
pub(super) const fn kinds(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::ReadMissed => "reads that missed the page cache",
        RequestKind::ReadAhead => "reads of pages that were read ahead",
        RequestKind::ReadCached => "reads from the page cache",
        RequestKind::ReadUnknown => "reads",
        RequestKind::Direct => "direct I/O",
        RequestKind::Write => "writes",
        RequestKind::Sync => "syncs",
        RequestKind::MajorFault => "major faults",
        RequestKind::MinorFault => "minor faults",
        RequestKind::Open => "opens",
        RequestKind::Lookup => "lookups",
        RequestKind::FailedLookup => "failed lookups",
        RequestKind::Kernel => "device I/O outside of requests",
        RequestKind::Other => "exec, mmap, close and other calls",
    }
}

/// A value as a cell: a dash where no record tells it.
pub(super) fn cell(value: Option<u64>, text: impl FnOnce(u64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

/// What so many pages hold: base pages, as a trace counts them.
pub(super) fn of_pages(pages: u64) -> String {
    bytes(pages.saturating_mul(4096))
}

/// The share of a read's pages that came from the device.
pub(super) fn device_share(counts: &TraceCounts) -> String {
    let share = counts.read_pages.as_ref().and_then(TracePages::device_share);
    share.map_or_else(|| "-".to_owned(), whole_percent)
}

/// What most of its time went to, with its share of it.
pub(super) fn mostly(counts: &TraceCounts) -> String {
    let costliest = counts.costliest_kind();
    costliest.map_or_else(String::new, |one| {
        let share = counts.time_share(&one).map_or_else(String::new, whole_percent);
        format!("{share} {}", kind(one.kind))
    })
}

/// Reads that began where the one before ended.
pub(super) fn in_order(file: &TraceFileNumbers) -> String {
    file.reads_in_order.share().map_or_else(|| "-".to_owned(), whole_percent)
}

/// What a file is called.
pub(super) fn file(index: u32, file: Option<&TraceFile>, escape: Escape<'_>) -> String {
    let Some(file) = file else { return format!("(file {index}, not in the trace's list)") };
    let mark = match file.kind {
        FileKind::Directory => "/",
        FileKind::BlockDevice => " (device)",
        _ => "",
    };
    let name = match (&file.path, &file.id) {
        (Some(path), _) => escape(path.as_os_str().as_encoded_bytes()),
        (None, Some(id)) => format!("({id})"),
        (None, None) => format!("(file {index}, name unknown)"),
    };
    format!("{name}{mark}")
}

/// What a process is called: its command and PID.
pub(super) fn process(row: &TraceProcessNumbers, escape: Escape<'_>) -> String {
    match &row.process {
        Some(process) => format!("{} ({})", escape(process.comm.as_bytes()), process.pid),
        None => format!("(process {}, not in the trace's list)", row.index),
    }
}

/// A chain of calls, innermost first: `pread64 < page_read < btree_get`.
pub(super) fn site(index: u32, site: Option<&Site>, escape: Escape<'_>) -> String {
    let Some(site) = site else { return format!("(site {index}, not in the trace's list)") };
    let frames = site.frames.iter().map(|one| crate::sites::frame(one, escape));
    let end = match site.state {
        SiteState::Whole => None,
        SiteState::Cut => Some("…".to_owned()),
        SiteState::Lost => Some("?".to_owned()),
    };
    frames.chain(end).collect::<Vec<_>>().join(" < ")
}

/// An operation; the other file of a call with two is told apart.
pub(super) fn operation(row: &OperationNumbers) -> String {
    match row.class == row.operation.class() {
        true => row.operation.as_str().to_owned(),
        false => format!("{} ({})", row.operation.as_str(), row.class.as_str()),
    }
}

/// What the bytes of an operation are: those that it moved.
pub(super) fn moved(row: &OperationNumbers) -> Option<u64> {
    match row.class {
        OperationClass::Read => row.counts.read_bytes,
        OperationClass::Write => row.counts.written_bytes,
        _ => None,
    }
}

/// Errors with their numbers of calls, the most frequent first.
pub(super) fn errors(all: &[OperationErrors]) -> String {
    let one = |error: &OperationErrors| {
        let what = match error.errno.and_then(|errno| i32::try_from(errno).ok()) {
            Some(errno) => {
                let text = std::io::Error::from_raw_os_error(errno).to_string();
                without_error_numbers(&text).into_owned()
            }
            None => "other errors".to_owned(),
        };
        format!("{} {what}", count(error.calls))
    };
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What it is of.
pub(super) fn title(trace: &Trace<'_>, escape: Escape<'_>) -> String {
    match &trace.head.command {
        Some(command) => format!("Trace of {}", header::command_title(command, escape)),
        None => "Trace".to_owned(),
    }
}

/// Where it comes from: `recorded by hotset 0.1.0`, `imported from strace`.
pub(super) fn source(trace: &Trace<'_>, escape: Escape<'_>) -> String {
    let by = format!("hotset {}", escape(trace.head.hotset.as_bytes()));
    match trace.head.source {
        TraceSource::Recorded => format!("recorded by {by}"),
        source => format!("imported from {} by {by}", source.as_str()),
    }
}

/// When it was recorded, and on what host: as far as that is known.
pub(super) fn origin(trace: &Trace<'_>, escape: Escape<'_>) -> Vec<String> {
    let began = trace.head.started_at.and_then(|at| jiff::Timestamp::try_from(at).ok());
    let host = trace.head.environment.as_ref().map(|host| {
        let (kernel, memory) = (escape(host.kernel.as_bytes()), bytes(host.memory_bytes));
        format!("Linux {kernel}, {}, {memory}", plural(host.cpus.into(), "CPU"))
    });
    began.map(|at| format!("{at:.0}")).into_iter().chain(host).collect()
}

/// How much there is: `30,000 records in 12.0 s`.
pub(super) fn size(trace: &Trace<'_>) -> String {
    let records = plural(trace.summary.totals.records, "record");
    let length = duration(trace.summary.length_ns());
    let per_record = trace.file_bytes.and_then(|size| trace.summary.bytes_per_record(size));
    let file = match (trace.file_bytes, per_record) {
        (Some(size), Some(each)) => format!(" · {}, {} B per record", bytes(size), real(each)),
        (Some(size), None) => format!(" · {}", bytes(size)),
        (None, _) => String::new(),
    };
    format!("{records} in {length}{file}")
}

/// That there is nothing to show, where there is nothing.
pub(super) fn no_records(trace: &Trace<'_>) -> Option<&'static str> {
    let totals = &trace.summary.totals;
    (totals.records == 0).then_some(match trace.summary.lost.records {
        0 => "No records: nothing that was observed used a file.",
        _ => "No records: all of them were lost.",
    })
}

/// How to get call sites, where a recording has none.
pub(super) fn no_sites(trace: &Trace<'_>) -> Option<&'static str> {
    let recorded = trace.head.source == TraceSource::Recorded;
    let any = trace.summary.sites.is_empty() && trace.summary.other_sites.rows == 0;
    (recorded && any)
        .then_some("Not recorded. With --sites, hotset record keeps which code made each request.")
}

/// What it lacks and what was lost, the gravest first: a sentence each.
pub(super) fn caveats(trace: &Trace<'_>, escape: Escape<'_>) -> Vec<String> {
    let lost = &trace.summary.lost;
    let records = (lost.records > 0).then(|| {
        let largest = lost.largest.first().map_or_else(String::new, |gap| {
            let thread = gap.tid.map_or_else(String::new, |tid| format!(" of thread {tid}"));
            let (from, to) = (duration(gap.from_ns), duration(gap.to_ns));
            format!("; most of them{thread} between {from} and {to}")
        });
        let lost = plural(lost.records, "record");
        format!("{lost} lost: counts and sums are lower bounds{largest}")
    });
    records.into_iter().chain(untold(trace.head, escape)).collect()
}

/// What a recording says that it lacks.
pub(crate) fn untold(head: &TraceHead, escape: Escape<'_>) -> Vec<String> {
    let untold = (head.source != TraceSource::Recorded).then(|| {
        "the source does not tell which pages were cached, or when a thread waited".to_owned()
    });
    let lacks = head.lacks.iter().map(|text| escape(text.as_bytes()));
    let not_measured = head.not_measured.iter().map(|one| {
        let what = one.feature.unmeasured().join(", ");
        format!("not measured: {what} ({})", escape(one.reason.as_bytes()))
    });
    untold.into_iter().chain(lacks).chain(not_measured).collect()
}
