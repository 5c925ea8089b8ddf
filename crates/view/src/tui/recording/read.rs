//! Lines of a recording as moments. Whatever the bytes are, the answer is a moment or what would be right.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use hotset_analysis::top::{
    FileItem, GroupItem, Line, LineState, Lines, Moment, ProcessItem, Unlisted,
};
use hotset_facts::{
    Dev, FileId, FileKind, HostMemory, LiveFile, LiveIo, LiveLosses, LiveProcess, LiveRow, MemInfo,
    NotMeasured, Observed, Pressure, Reason,
};
use jiff::Timestamp;
use serde_json::Value;

use super::rows::{
    Counters, FileLine, GroupLine, HeaderLine, HostLine, IntervalLine, KindWord, MemoryLine,
    PathLine, ProcessLine, TimeLine,
};
use super::{Header, SCHEMA};

const NOT_RECORDED: Reason = Reason::not_measured("the recording has no value");

/// Reads the first line.
///
/// # Errors
/// What the line should have been.
pub fn read_header(line: &[u8]) -> Result<Header, String> {
    let wanted = |found: &str| {
        format!(
            "{found}; right is a header with \"schema\": \"{SCHEMA}\", as `hotset top --record` writes it"
        )
    };
    let value: Value =
        serde_json::from_slice(line).map_err(|error| wanted(&format!("not JSON ({error})")))?;
    match value.get("schema").and_then(Value::as_str) {
        Some(SCHEMA) => {}
        Some(other) => {
            let other = crate::escape_text(&other.chars().take(60).collect::<String>());
            return Err(wanted(&format!("the schema is \"{other}\"")));
        }
        None => return Err(wanted("there is no schema")),
    }
    let header: HeaderLine =
        serde_json::from_value(value).map_err(|error| wanted(&error.to_string()))?;
    let gaps = header.not_measured.iter().map(|gap| (gap.what.as_str(), gap.reason.as_str()));
    Ok(Header {
        hotset: header.hotset,
        host: header.host,
        interval_ns: header.interval_ns,
        scope: header.scope,
        not_measured: NotMeasured::from_saved(gaps),
    })
}

/// Reads only when an interval ended.
///
/// # Errors
/// What the line should have been.
pub fn read_time(line: &[u8]) -> Result<SystemTime, String> {
    let line: TimeLine = serde_json::from_slice(line).map_err(|error| not_an_interval(&error))?;
    time(&line.at)
}

/// Reads an interval.
///
/// # Errors
/// What the line should have been.
pub fn read_interval(line: &[u8]) -> Result<Moment, String> {
    let line: IntervalLine =
        serde_json::from_slice(line).map_err(|error| not_an_interval(&error))?;
    let unlisted = |(items, io): (u64, Counters)| -> Result<Unlisted, String> {
        Ok(Unlisted { items, io: counters(&io)? })
    };
    let [processes, files, groups] = line.unlisted;
    let pair = |(process, file, io): (u32, u32, Counters)| -> Result<LiveRow, String> {
        Ok(LiveRow { process, file, io: counters(&io)? })
    };
    Ok(Moment {
        at: time(&line.at)?,
        ended_after_ns: line.ended_after_ns,
        length_ns: line.length_ns,
        totals: counters(&line.totals)?,
        others: counters(&line.others)?,
        lines: [
            Lines::Processes(line.processes.into_iter().map(process).collect::<Result<_, _>>()?),
            Lines::Files(line.files.into_iter().map(file).collect::<Result<_, _>>()?),
            Lines::Groups(line.cgroups.into_iter().map(group).collect::<Result<_, _>>()?),
        ],
        pairs: line.pairs.into_iter().map(pair).collect::<Result<_, String>>()?,
        unlisted: [unlisted(processes)?, unlisted(files)?, unlisted(groups)?],
        evicted_pages: observed(line.evicted_pages),
        host: host(line.host),
        losses: losses(&line.losses)?,
    })
}

fn not_an_interval(error: &serde_json::Error) -> String {
    format!("not an interval of {SCHEMA}: {error}")
}

fn time(text: &str) -> Result<SystemTime, String> {
    let wrong = || {
        let text = crate::escape_text(&text.chars().take(60).collect::<String>());
        format!("\"at\" is \"{text}\"; right is a time as in 2026-11-21T14:03:20Z")
    };
    text.parse::<Timestamp>().map(SystemTime::from).map_err(|_| wrong())
}

fn observed<T>(value: Option<T>) -> Observed<T> {
    value.map_or(Observed::Missing(NOT_RECORDED), Observed::Value)
}

/// Counters by name. A later version may have more: these are passed over.
fn counters(named: &Counters) -> Result<LiveIo, String> {
    LiveIo::by_name(|name| counter(named, name))
}

fn counter(named: &Counters, name: &str) -> Result<u64, String> {
    match named.get(name) {
        None => Ok(0),
        Some(value) => value
            .as_u64()
            .ok_or_else(|| format!("\"{name}\" is no whole number from 0 to 2^64 - 1")),
    }
}

fn losses(named: &Counters) -> Result<LiveLosses, String> {
    Ok(LiveLosses {
        unattributed: counter(named, "unattributed")?,
        events: counter(named, "events")?,
        origins: counter(named, "origins")?,
        tasks: counter(named, "tasks")?,
        requests: counter(named, "requests")?,
        skipped_programs: counter(named, "skipped_programs")?,
        calls: counter(named, "calls")?,
    })
}

fn host(line: HostLine) -> HostMemory {
    HostMemory {
        memory: observed(line.memory.map(memory)),
        refaulted_pages: observed(line.refaulted_pages),
        reclaimed_pages: observed(line.reclaimed_pages),
        written_back_pages: observed(line.written_back_pages),
        pressure: Pressure {
            memory_some_ns: observed(line.memory_some_ns),
            memory_full_ns: observed(line.memory_full_ns),
            io_some_ns: observed(line.io_some_ns),
            io_full_ns: observed(line.io_full_ns),
            cpu_some_ns: observed(line.cpu_some_ns),
        },
    }
}

fn memory(line: MemoryLine) -> MemInfo {
    MemInfo {
        total_bytes: line.total_bytes,
        free_bytes: line.free_bytes,
        cached_bytes: line.cached_bytes,
        buffers_bytes: line.buffers_bytes,
        shmem_bytes: line.shmem_bytes,
        swap_cached_bytes: line.swap_cached_bytes,
        dirty_bytes: line.dirty_bytes,
        writeback_bytes: line.writeback_bytes,
        mapped_bytes: line.mapped_bytes,
        unevictable_bytes: line.unevictable_bytes,
    }
}

fn process(line: ProcessLine) -> Result<Line<ProcessItem>, String> {
    let process = LiveProcess {
        id: line.id,
        pid: line.pid,
        ppid: observed(line.ppid),
        uid: observed(line.uid),
        comm: line.comm.into(),
        cgroup: observed(line.cgroup.map(Arc::from)),
        ended: line.ended,
    };
    let state = if line.ended { LineState::Ended } else { LineState::Active };
    let item = ProcessItem { process, user: line.user.map(Arc::from), files: line.files };
    Ok(Line { item, io: counters(&line.io)?, state })
}

fn file(line: FileLine) -> Result<Line<FileItem>, String> {
    let path = |path: PathLine| match path {
        PathLine::Text(text) => PathBuf::from(text),
        PathLine::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    };
    let (major, minor) = line.dev;
    let file = LiveFile {
        id: FileId { dev: Dev { major, minor }, ino: line.ino },
        kind: match line.kind {
            KindWord::Regular => FileKind::Regular,
            KindWord::BlockDevice => FileKind::BlockDevice,
            KindWord::Others => FileKind::Others,
        },
        path: observed(line.path.map(path).map(Arc::new)),
        deleted: line.deleted,
    };
    Ok(Line::active(FileItem { file, processes: line.processes }, counters(&line.io)?))
}

fn group(line: GroupLine) -> Result<Line<GroupItem>, String> {
    let item = GroupItem {
        path: observed(line.path.map(Arc::from)),
        name: line.name.map(Arc::from),
        processes: line.processes,
    };
    Ok(Line::active(item, counters(&line.io)?))
}
