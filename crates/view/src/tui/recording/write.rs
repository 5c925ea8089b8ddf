//! Moments as lines of a recording.

use std::os::unix::ffi::OsStrExt;

use hotset_analysis::top::{FileItem, GroupItem, Line, LineState, Lines, Moment, ProcessItem};
use hotset_facts::{FileKind, HostMemory, LiveIo, LiveLosses, MemInfo, Observed};
use jiff::Timestamp;
use serde_json::Value;

use super::rows::{
    Counters, FileLine, Gap, GroupLine, HeaderLine, HostLine, IntervalLine, KindWord, MemoryLine,
    PathLine, ProcessLine,
};
use super::{Header, SCHEMA};

/// The first line, with its end.
///
/// # Errors
/// Where serde_json gives one, which it does not for these types.
pub fn header_line(header: &Header) -> Result<Vec<u8>, serde_json::Error> {
    let gaps = |gap: &hotset_facts::NotMeasured| {
        let reason = gap.reason.clone();
        gap.feature
            .unmeasured()
            .into_iter()
            .map(move |what| Gap { what: what.to_owned(), reason: reason.clone() })
    };
    line(&HeaderLine {
        schema: SCHEMA.to_owned(),
        hotset: header.hotset.clone(),
        host: header.host.clone(),
        interval_ns: header.interval_ns,
        scope: header.scope.clone(),
        not_measured: header.not_measured.iter().flat_map(gaps).collect(),
    })
}

/// An interval as a line, with its end. Bound it first: see [`Moment::bounded`].
///
/// # Errors
/// Where serde_json gives one, which it does not for these types.
pub fn interval_line(moment: &Moment) -> Result<Vec<u8>, serde_json::Error> {
    let at = Timestamp::try_from(moment.at).unwrap_or_default().to_string();
    let unlisted = moment.unlisted.map(|unlisted| (unlisted.items, counters(&unlisted.io)));
    line(&IntervalLine {
        at,
        ended_after_ns: moment.ended_after_ns,
        length_ns: moment.length_ns,
        totals: counters(&moment.totals),
        others: counters(&moment.others),
        evicted_pages: moment.evicted_pages.value(),
        host: host(&moment.host),
        losses: losses(&moment.losses),
        processes: match &moment.lines[0] {
            Lines::Processes(lines) => happened(lines).map(process).collect(),
            _ => Vec::new(),
        },
        files: match &moment.lines[1] {
            Lines::Files(lines) => happened(lines).map(file).collect(),
            _ => Vec::new(),
        },
        cgroups: match &moment.lines[2] {
            Lines::Groups(lines) => happened(lines).map(group).collect(),
            _ => Vec::new(),
        },
        pairs: moment
            .pairs
            .iter()
            .map(|pair| (pair.process, pair.file, counters(&pair.io)))
            .collect(),
        unlisted,
    })
}

fn line(value: &impl serde::Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Lines of the interval itself, and not those that a screen keeps. They come first, so that indices hold.
fn happened<T>(lines: &[Line<T>]) -> impl Iterator<Item = &Line<T>> {
    lines.iter().filter(|line| matches!(line.state, LineState::Active | LineState::Ended))
}

fn counters(io: &LiveIo) -> Counters {
    named(LiveIo::COUNTERS.iter().map(|counter| (counter.name, (counter.of)(io))))
}

fn losses(losses: &LiveLosses) -> Counters {
    named([
        ("unattributed", losses.unattributed),
        ("events", losses.events),
        ("origins", losses.origins),
        ("tasks", losses.tasks),
        ("requests", losses.requests),
        ("skipped_programs", losses.skipped_programs),
        ("calls", losses.calls),
    ])
}

fn named(values: impl IntoIterator<Item = (&'static str, u64)>) -> Counters {
    let counted = values.into_iter().filter(|(_, value)| *value != 0);
    counted.map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

fn host(host: &HostMemory) -> HostLine {
    HostLine {
        memory: host.memory.as_value().map(memory),
        refaulted_pages: host.refaulted_pages.value(),
        reclaimed_pages: host.reclaimed_pages.value(),
        written_back_pages: host.written_back_pages.value(),
        memory_some_ns: host.pressure.memory_some_ns.value(),
        memory_full_ns: host.pressure.memory_full_ns.value(),
        io_some_ns: host.pressure.io_some_ns.value(),
        io_full_ns: host.pressure.io_full_ns.value(),
        cpu_some_ns: host.pressure.cpu_some_ns.value(),
    }
}

fn memory(memory: &MemInfo) -> MemoryLine {
    MemoryLine {
        total_bytes: memory.total_bytes,
        free_bytes: memory.free_bytes,
        cached_bytes: memory.cached_bytes,
        buffers_bytes: memory.buffers_bytes,
        shmem_bytes: memory.shmem_bytes,
        swap_cached_bytes: memory.swap_cached_bytes,
        dirty_bytes: memory.dirty_bytes,
        writeback_bytes: memory.writeback_bytes,
        mapped_bytes: memory.mapped_bytes,
        unevictable_bytes: memory.unevictable_bytes,
    }
}

fn process(line: &Line<ProcessItem>) -> ProcessLine {
    let process = &line.item.process;
    ProcessLine {
        id: process.id,
        pid: process.pid,
        ppid: process.ppid.value(),
        uid: process.uid.value(),
        user: line.item.user.as_deref().map(str::to_owned),
        comm: process.comm.to_string(),
        cgroup: process.cgroup.as_value().map(ToString::to_string),
        ended: process.ended,
        files: line.item.files,
        io: counters(&line.io),
    }
}

fn file(line: &Line<FileItem>) -> FileLine {
    let file = &line.item.file;
    let path = |path: &std::path::Path| match path.to_str() {
        Some(text) => PathLine::Text(text.to_owned()),
        None => PathLine::Bytes(path.as_os_str().as_bytes().to_vec()),
    };
    FileLine {
        dev: (file.id.dev.major, file.id.dev.minor),
        ino: file.id.ino,
        kind: match file.kind {
            FileKind::Regular => KindWord::Regular,
            FileKind::BlockDevice => KindWord::BlockDevice,
            FileKind::Others => KindWord::Others,
        },
        path: match &file.path {
            Observed::Value(known) => Some(path(known)),
            Observed::Missing(_) => None,
        },
        deleted: file.deleted,
        processes: line.item.processes,
        io: counters(&line.io),
    }
}

fn group(line: &Line<GroupItem>) -> GroupLine {
    GroupLine {
        path: line.item.path.as_value().map(ToString::to_string),
        name: line.item.name.as_deref().map(str::to_owned),
        processes: line.item.processes,
        io: counters(&line.io),
    }
}
