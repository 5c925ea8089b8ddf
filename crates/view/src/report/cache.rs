//! What the page cache did, and the I/O beside it: one block of lines.

use hotset_analysis::{ReadNumbers, Summary};
use hotset_facts::{DirectIo, Io, Observed, ReadIo};

use super::screen::Screen;
use crate::table::{Align, Table, pad};
use crate::units::{bytes, count, duration, percent, plural};

/// Metadata below this is the usual inode or two.
const MIN_METADATA: u64 = 1 << 20;
const LABEL_WIDTH: usize = 11;

/// Buffered reads by where they came from, then everything else that is not zero, a line each.
pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    let read = summary.profile.totals.read.value().filter(|read| read.calls > 0);
    let others = others(summary);
    match (read, others.is_empty()) {
        (Some(read), _) => {
            screen.heading("Page cache", "buffered reads");
            push_reads(screen, summary, &read);
        }
        (None, false) => screen.heading("I/O", ""),
        (None, true) => return,
    }
    for (name, line) in others {
        let label = pad(name, LABEL_WIDTH + 2, Align::Left);
        screen.paragraph(&label, ", ", &line, crate::table::INDENT);
    }
}

/// Where the requested pages came from: a row each with its name, pages, bytes and share, and a note for each.
pub(crate) fn read_rows(summary: &Summary, read: &ReadIo) -> Vec<([String; 4], String)> {
    let Some(numbers) = summary.totals.read.value() else { return Vec::new() };
    let (at_least, at_most) = match summary.losses.from_device_at_least {
        true => ("at least ", "at most "),
        false => ("", ""),
    };
    let row = |name: &str, pages: String, bytes_of: u64, of: String, note: String| {
        ([name.to_owned(), pages, bytes(bytes_of), of], note)
    };
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percent);
    let mut rows = vec![
        row("requested", pages(read.pages), numbers.requested_bytes, String::new(), calls(read)),
        row(
            "from cache",
            format!("{at_most}{}", pages(numbers.from_cache)),
            numbers.from_cache_bytes,
            share(numbers.cache_share),
            hit_note(&numbers),
        ),
        row(
            "from device",
            format!("{at_least}{}", pages(numbers.from_device)),
            numbers.from_device_bytes,
            share(numbers.device_share),
            device_note(read, &numbers),
        ),
    ];
    if numbers.zeros > 0 {
        let (zeros, note) = (pages(numbers.zeros), "holes of files: nothing to read".to_owned());
        rows.push(row("zeros", zeros, numbers.zeros_bytes, share(numbers.zeros_share), note));
    }
    rows
}

fn push_reads(screen: &mut Screen, summary: &Summary, read: &ReadIo) {
    let (rows, notes): (Vec<_>, Vec<_>) = read_rows(summary, read).into_iter().unzip();
    let names: Vec<_> = rows.iter().map(|[name, ..]| pad(name, LABEL_WIDTH, Align::Left)).collect();
    let beside = read_table(&rows, Some(&notes));
    let fits = beside.width() + LABEL_WIDTH <= screen.width;
    let table = if fits { beside } else { read_table(&rows, None) };
    for line in table.lines(0, &names).iter().skip(1) {
        screen.line(line);
    }
    if !fits {
        let said: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        screen.below_table(&said.join("; "));
    }
    read_notes(summary, read).iter().for_each(|note| screen.below_table(note));
}

/// Pages, bytes and shares, with the notes beside them where they fit.
fn read_table(rows: &[[String; 4]], notes: Option<&[String]>) -> Table {
    let right = [("", Align::Right); 3].into_iter();
    let mut table = Table::new(right.chain(notes.map(|_| ("", Align::Left))).collect());
    for (i, [_, numbers @ ..]) in rows.iter().enumerate() {
        let note = notes.map(|notes| notes[i].clone());
        table.push(numbers.iter().cloned().chain(note).collect());
    }
    table
}

fn pages(number: u64) -> String {
    plural(number, "page")
}

fn calls(read: &ReadIo) -> String {
    format!("in {}", plural(read.calls, "read"))
}

fn hit_note(numbers: &ReadNumbers) -> String {
    match numbers.hit_ratio {
        Some(ratio) if numbers.from_cache != numbers.hits => {
            format!("hit ratio {} with read-ahead", percent(ratio))
        }
        Some(_) | None => String::new(),
    }
}

/// Misses are waited for; read-ahead hits were fetched by the kernel before the program asked.
fn device_note(read: &ReadIo, numbers: &ReadNumbers) -> String {
    if numbers.zeros > 0 {
        return String::new(); // some of either are zeros
    }
    match (read.misses, read.readahead_hits) {
        (0, 0) => String::new(),
        (misses, 0) => format!("{} missed", count(misses)),
        (misses, ahead) => format!("{} missed, {} read ahead", count(misses), count(ahead)),
    }
}

/// What else is worth knowing of the pages that were read.
pub(crate) fn read_notes(summary: &Summary, read: &ReadIo) -> Vec<String> {
    let mut notes = Vec::new();
    if read.refaults > 0 {
        let refaults = count(read.refaults);
        notes.push(format!(
            "{refaults} of the pages read in are refaults: cached in this run before, then evicted"
        ));
    }
    if let Some(ahead) = summary.profile.totals.readahead.value()
        && ahead.wasted_pages > 0
    {
        let wasted = summary.totals.wasted_bytes.value().map_or(String::new(), bytes);
        let (pages, all) = (count(ahead.wasted_pages), count(ahead.pages));
        notes.push(format!("unused read-ahead: {pages} of {all} pages ({wasted})"));
    }
    notes
}

/// Everything that is not zero beside the buffered reads: a label and its words.
pub(crate) fn others(summary: &Summary) -> Vec<(&'static str, String)> {
    let io = &summary.profile.totals;
    let lines = [
        ("mappings", mappings(io, summary)),
        ("writes", writes(io, summary)),
        ("direct", io.direct.value().and_then(|direct| direct_line(&direct))),
        ("lookups", lookups(summary)),
        ("device", device(io, summary)),
    ];
    lines.into_iter().filter_map(|(name, line)| Some((name, line?))).collect()
}

fn device(io: &Io, summary: &Summary) -> Option<String> {
    let part = |verb: &str, moved: Observed<u64>| {
        moved.value().filter(|&moved| moved > 0).map(|moved| format!("{} {verb}", bytes(moved)))
    };
    let parts = [part("read", io.device.read_bytes), part("written", io.device.write_bytes)];
    // Pages whose origin was lost would pass for metadata.
    let known = !summary.losses.from_device_at_least;
    let metadata = summary.totals.metadata_bytes.value();
    let metadata = metadata.filter(|&bytes| known && bytes >= MIN_METADATA);
    let metadata = metadata.map(|read| format!("{} of it metadata", bytes(read)));
    let [read, written] = parts;
    let parts: Vec<String> = [read, metadata, written].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn direct_line(direct: &DirectIo) -> Option<String> {
    let mut parts = Vec::new();
    if direct.read_calls > 0 {
        let again = match direct.reread_bytes {
            0 => String::new(),
            again => format!(" ({} again)", bytes(again)),
        };
        let (calls, read) = (plural(direct.read_calls, "read"), bytes(direct.read_bytes));
        parts.push(format!("{calls} of {read}{again}"));
    }
    if direct.write_calls > 0 {
        parts.push(format!(
            "{} of {}",
            plural(direct.write_calls, "write"),
            bytes(direct.write_bytes)
        ));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn mappings(io: &Io, summary: &Summary) -> Option<String> {
    let known = |value: Observed<u64>| value.value().filter(|&value| value > 0);
    let parts = [
        known(io.mmap.faults).map(|faults| plural(faults, "fault")),
        known(io.mmap.major_faults).map(|major| plural(major, "major fault")),
        known(summary.totals.mapped_in_bytes).map(|read| format!("{} brought in", bytes(read))),
        known(io.mmap.zeros).map(|zeros| format!("{} of zeros", pages(zeros))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn writes(io: &Io, summary: &Summary) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(write) = io.write.value().filter(|write| write.calls > 0) {
        parts.push(format!("{}, {}", plural(write.calls, "call"), bytes(write.bytes)));
        if let Some(misses) = write.misses.value().filter(|misses| *misses > 0) {
            parts.push(format!("{} read first", pages(misses)));
        }
    }
    // Stores to mappings dirty pages too.
    let dirtied = summary.totals.write.value().and_then(|numbers| numbers.dirtied_bytes.value());
    if let Some(dirtied) = dirtied.filter(|dirtied| *dirtied > 0) {
        parts.push(format!("{} dirtied", bytes(dirtied)));
    }
    if let Some(sync) = io.sync.value().filter(|sync| sync.calls > 0) {
        parts.push(format!("{} of {}", plural(sync.calls, "sync"), duration(sync.time_ns)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn lookups(summary: &Summary) -> Option<String> {
    let counters = summary.profile.lookups.as_value()?.counters;
    if counters.calls == 0 {
        return None;
    }
    // Where lookups were counted by tracing, they have no time of their own.
    let took = |ns: Observed<u64>| ns.value().map(|ns| format!(" in {}", duration(ns)));
    let mut line = plural(counters.calls, "path");
    line.extend(took(counters.time_ns));
    if counters.failed > 0 {
        let share = summary.lookups.value().and_then(|numbers| numbers.failed_share);
        let share = share.map_or(String::new(), |share| format!(" ({})", percent(share)));
        line.push_str(&format!(", {} not found{share}", count(counters.failed)));
        line.extend(took(counters.failed_time_ns));
    }
    Some(line)
}
