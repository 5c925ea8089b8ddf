//! What the page cache did, and the I/O beside it.

use hotset_analysis::{ReadNumbers, Summary};
use hotset_facts::{DirectIo, Io, Observed, ReadIo};

use super::screen::Screen;
use crate::escape::columns;
use crate::table::{Align, Table};
use crate::units::{bytes, count, duration, percent};

/// Pages requested, from the cache and from the device.
pub(super) fn push_cache(screen: &mut Screen, summary: &Summary) {
    let io = &summary.profile.totals;
    let (Observed::Value(read), Observed::Value(numbers)) = (io.read, summary.totals.read) else {
        return;
    };
    if read.calls == 0 {
        return;
    }
    screen.heading("Page cache", "buffered reads");
    let mut table = Table::new(vec![
        ("", Align::Left),
        ("pages", Align::Right),
        ("bytes", Align::Right),
        ("share", Align::Right),
    ]);
    let share = |share: Option<f64>| share.map_or("-".to_owned(), percent);
    let at_least = |text: String| {
        if summary.losses.from_device_at_least { format!("at least {text}") } else { text }
    };
    let at_most = |text: String| {
        if summary.losses.from_device_at_least { format!("at most {text}") } else { text }
    };
    let row = |name: &str, pages: String, size: u64, share: String| {
        vec![name.to_owned(), pages, bytes(size), share]
    };
    table.push(row("requested", pages(read.pages), numbers.requested_bytes, String::new()));
    table.push(row(
        "from cache",
        at_most(pages(numbers.from_cache)),
        numbers.from_cache_bytes,
        share(numbers.cache_share),
    ));
    table.push(row(
        "from device",
        at_least(pages(numbers.from_device)),
        numbers.from_device_bytes,
        share(numbers.device_share),
    ));
    let room = table.room_beside(screen.width);
    let notes = [calls(&read), hit_note(&numbers), device_note(&read)];
    let fit = notes.iter().all(|note| columns(note) <= room);
    let beside = if fit { notes.to_vec() } else { vec![String::new(); notes.len()] };
    for line in table.with_last("", beside).lines().iter().skip(1) {
        screen.line(line);
    }
    if !fit {
        let said: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        screen.below_table(&said.join("; "));
    }
    push_read_notes(screen, summary, &read);
}

fn pages(number: u64) -> String {
    format!("{} pages", count(number))
}

fn calls(read: &ReadIo) -> String {
    format!("in {} reads", count(read.calls))
}

fn hit_note(numbers: &ReadNumbers) -> String {
    match numbers.hit_ratio {
        Some(ratio) if numbers.from_cache != numbers.hits => {
            format!("hits {} with read-ahead", percent(ratio))
        }
        Some(_) | None => String::new(),
    }
}

/// Misses are waited for; read-ahead hits were fetched by the kernel before the program asked.
fn device_note(read: &ReadIo) -> String {
    match (read.misses, read.readahead_hits) {
        (0, 0) => String::new(),
        (misses, 0) => format!("{} missed", count(misses)),
        (misses, ahead) => format!("{} missed, {} read ahead", count(misses), count(ahead)),
    }
}

fn push_read_notes(screen: &mut Screen, summary: &Summary, read: &ReadIo) {
    if read.refaults > 0 {
        let refaults = count(read.refaults);
        screen.below_table(&format!(
            "{refaults} of the pages read in had been cached in this run before, and were evicted"
        ));
    }
    if let Some(ahead) = summary.profile.totals.readahead.value()
        && ahead.wasted_pages > 0
    {
        let wasted = summary.totals.wasted_bytes.value().map_or(String::new(), bytes);
        let (pages, all) = (count(ahead.wasted_pages), count(ahead.pages));
        screen.below_table(&format!("read ahead in vain: {pages} of {all} pages ({wasted})"));
    }
}

/// Everything else that is not zero, a line each.
pub(super) fn push_other(screen: &mut Screen, summary: &Summary) {
    let io = &summary.profile.totals;
    let lines = [
        ("device", device(io)),
        ("direct", io.direct.value().and_then(|direct| direct_line(&direct))),
        ("mappings", mappings(io, summary)),
        ("writes", writes(io, summary)),
        ("syncs", syncs(io)),
        ("lookups", lookups(summary)),
    ];
    let lines: Vec<(&str, String)> =
        lines.into_iter().filter_map(|(name, line)| Some((name, line?))).collect();
    if lines.is_empty() {
        return;
    }
    screen.heading("Other I/O", "");
    for (name, line) in lines {
        screen.paragraph(&format!("{name:<13}"), ", ", &line, crate::table::INDENT);
    }
}

fn device(io: &Io) -> Option<String> {
    let part = |verb: &str, moved: Observed<u64>| {
        moved.value().filter(|&moved| moved > 0).map(|moved| format!("{} {verb}", bytes(moved)))
    };
    let parts = [part("read", io.device.read_bytes), part("written", io.device.write_bytes)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn direct_line(direct: &DirectIo) -> Option<String> {
    let mut parts = Vec::new();
    if direct.read_calls > 0 {
        parts.push(format!("{} reads of {}", count(direct.read_calls), bytes(direct.read_bytes)));
    }
    if direct.reread_bytes > 0 {
        parts.push(format!("{} of them not for the first time", bytes(direct.reread_bytes)));
    }
    if direct.write_calls > 0 {
        parts.push(format!(
            "{} writes of {}",
            count(direct.write_calls),
            bytes(direct.write_bytes)
        ));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn mappings(io: &Io, summary: &Summary) -> Option<String> {
    let known = |value: Observed<u64>| value.value().filter(|&value| value > 0);
    let parts = [
        known(io.mmap.faults).map(|faults| format!("{} faults", count(faults))),
        known(io.mmap.major_faults).map(|major| format!("{} major faults", count(major))),
        known(summary.totals.mapped_in_bytes).map(|read| format!("{} brought in", bytes(read))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn writes(io: &Io, summary: &Summary) -> Option<String> {
    let write = io.write.value().filter(|write| write.calls > 0)?;
    let mut parts = vec![format!("{} calls, {}", count(write.calls), bytes(write.bytes))];
    if let Some(numbers) = summary.totals.write.value()
        && numbers.dirtied_bytes > 0
    {
        parts.push(format!("{} dirtied", bytes(numbers.dirtied_bytes)));
    }
    if write.misses > 0 {
        parts.push(format!("{} pages read first", count(write.misses)));
    }
    Some(parts.join(", "))
}

fn syncs(io: &Io) -> Option<String> {
    let sync = io.sync.value().filter(|sync| sync.calls > 0)?;
    Some(format!("{} calls, {}", count(sync.calls), duration(sync.time_ns)))
}

fn lookups(summary: &Summary) -> Option<String> {
    let counters = summary.profile.lookups.as_value()?.counters;
    if counters.calls == 0 {
        return None;
    }
    let mut line = format!("{} paths", count(counters.calls));
    if counters.failed > 0 {
        let share = summary.lookups.value().and_then(|numbers| numbers.failed_share);
        let share = share.map_or(String::new(), |share| format!(" ({})", percent(share)));
        line.push_str(&format!(", {} not found{share}", count(counters.failed)));
        line.push_str(&format!(", which took {}", duration(counters.failed_time_ns)));
    }
    Some(line)
}
