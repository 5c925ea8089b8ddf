//! A profile by call site, for `go tool pprof`, Pyroscope, Parca and Perfetto: profile.proto,
//! compressed by gzip.
//!
//! Four values for each chain of calls and operation: records, pages missed, device bytes, time.
//! What no record of the trace measured is not among them. Where hotset recorded the trace, time is
//! that of records whose thread slept; of other sources it is all of their time, since they don't
//! tell. Records without a call site stand under `[no call site recorded]`. Paths, offsets and the
//! order in time are lost.
//!
//! Memory: an entry for each pair of call site and operation, and all names of frames.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::time::SystemTime;

use flate2::Compression;
use flate2::write::GzEncoder;
use hotset_facts::trace::{
    Frame, Operation, RecordFlags, Site, SiteState, TraceBatch, TraceHead, TraceLists, TraceRecord,
    TraceSource,
};

use super::protobuf::Message;
use super::{ExportError, Exported};

/// What is measured, with its unit.
const TYPES: [(&str, &str); 4] =
    [("records", "count"), ("pages_missed", "count"), ("device", "bytes"), ("time", "nanoseconds")];

const NO_SITE: &str = "[no call site recorded]";

/// Writes a profile.
///
/// # Errors
///
/// The batches or the output fail.
pub fn export<E, W: Write>(
    batches: impl IntoIterator<Item = Result<TraceBatch, E>>,
    head: &TraceHead,
    lists: &TraceLists,
    out: W,
) -> Result<Exported, ExportError<E>> {
    let mut exported = Exported::default();
    let mut sums: BTreeMap<(Option<u32>, &'static str), [u64; TYPES.len()]> = BTreeMap::new();
    let is_recorded = head.source == TraceSource::Recorded;
    let mut last_ns = 0;
    let mut is_measured = [true, false, false, false];
    for batch in batches {
        for record in &batch.map_err(ExportError::Records)?.records {
            exported.records += 1;
            last_ns = last_ns.max(record.start_ns.saturating_add(record.duration_ns.unwrap_or(0)));
            let site = record.site.map(|site| site.0);
            let site = site.filter(|site| lists.sites.get(*site as usize).is_some());
            if site.is_none() {
                exported.lose("no call site was recorded: counted under [no call site recorded]");
            }
            if !is_recorded && record.duration_ns.is_some() {
                exported.lose(
                    "whether the thread slept is not known: time is all that the record took",
                );
            }
            let values = values(record, is_recorded);
            let sum = sums.entry((site, record.operation.as_str())).or_default();
            sum.iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum = sum.saturating_add(value.unwrap_or(0)));
            is_measured.iter_mut().zip(values).for_each(|(is, value)| *is |= value.is_some());
        }
    }
    let mut profile = Profile::new(head, last_ns, is_measured);
    for ((site, operation), values) in &sums {
        let site = site.and_then(|site| lists.sites.get(site as usize));
        let measured = values.iter().zip(is_measured).filter(|(_, is)| *is);
        profile.sample(site, operation, measured.map(|(value, _)| *value));
    }
    exported.written = sums.len() as u64;
    let mut out = GzEncoder::new(out, Compression::default());
    out.write_all(profile.finish().bytes())?;
    out.finish()?.flush()?;
    Ok(exported.finish())
}

/// What a record adds, if it was measured.
fn values(record: &TraceRecord, is_recorded: bool) -> [Option<u64>; TYPES.len()] {
    let is_fault = record.operation == Operation::MajorFault;
    let missed = record.pages.map(|pages| if is_fault { pages.pages } else { pages.misses });
    let device = match (record.device_read_bytes, record.device_write_bytes) {
        (None, None) => None,
        (read, written) => Some(read.unwrap_or(0).saturating_add(written.unwrap_or(0))),
    };
    let waited = !is_recorded || record.flags.has(RecordFlags::WAITED);
    let time_ns = record.duration_ns.map(|time_ns| if waited { time_ns } else { 0 });
    [Some(1), missed.map(u64::from), device, time_ns]
}

/// A profile while it is written. Field numbers are those of profile.proto
/// (github.com/google/pprof).
struct Profile {
    message: Message,
    strings: Interner<String>,
    mappings: Interner<String>,
    /// Functions by name and source.
    functions: Interner<(String, String)>,
    locations: Interner<Frame>,
}

/// Numbers from 1 for distinct values.
struct Interner<T>(HashMap<T, u64>);

impl<T: std::hash::Hash + Eq> Interner<T> {
    /// The number of a value, and whether it is new.
    fn number(&mut self, value: T) -> (u64, bool) {
        let next = self.0.len() as u64 + 1;
        let number = *self.0.entry(value).or_insert(next);
        (number, number == next)
    }
}

impl Profile {
    fn new(head: &TraceHead, duration_ns: u64, is_measured: [bool; TYPES.len()]) -> Self {
        let mut profile = Self {
            message: Message::new(),
            strings: Interner(HashMap::new()),
            mappings: Interner(HashMap::new()),
            functions: Interner(HashMap::new()),
            locations: Interner(HashMap::new()),
        };
        for ((what, unit), _) in TYPES.into_iter().zip(is_measured).filter(|(_, is)| *is) {
            let (what, unit) = (profile.string(what), profile.string(unit));
            profile.message.message(1, Message::new().uint(1, what).uint(2, unit));
        }
        let started = head.started_at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        if let Some(ns) = started.and_then(|since| u64::try_from(since.as_nanos()).ok()) {
            profile.message.uint(9, ns);
        }
        profile.message.uint(10, duration_ns);
        if let [.., true] = is_measured {
            let time = profile.string("time");
            profile.message.uint(14, time);
        }
        profile
    }

    /// The place of a text in the table of strings, where the first is empty.
    fn string(&mut self, text: &str) -> u64 {
        if text.is_empty() {
            return 0;
        }
        self.strings.number(text.to_owned()).0
    }

    fn sample(&mut self, site: Option<&Site>, operation: &str, values: impl Iterator<Item = u64>) {
        let mut locations: Vec<u64> = Vec::new();
        for frame in site.map(|site| site.frames.iter()).into_iter().flatten() {
            locations.push(self.location(frame));
        }
        let named = |name: &str| Frame {
            function: Some(name.to_owned()),
            module: None,
            offset: 0,
            source: None,
            line: None,
        };
        match site {
            None => locations.push(self.location(&named(NO_SITE))),
            Some(site) if site.state == SiteState::Cut => {
                locations.push(self.location(&named("[callers not recorded]")));
            }
            Some(_) if locations.is_empty() => {
                locations.push(self.location(&named("[call site lost]")));
            }
            Some(_) => {}
        }
        let (key, word) = (self.string("operation"), self.string(operation));
        let mut sample = Message::new();
        sample.packed(1, locations.into_iter()).packed(2, values);
        sample.message(3, Message::new().uint(1, key).uint(2, word));
        self.message.message(2, &sample);
    }

    fn location(&mut self, frame: &Frame) -> u64 {
        let (number, is_new) = self.locations.number(frame.clone());
        if !is_new {
            return number;
        }
        let module = frame.module.clone().unwrap_or_default();
        let mapping = (!module.is_empty()).then(|| self.mapping(&module));
        let name = frame.function.clone().unwrap_or_else(|| match module.rsplit('/').next() {
            Some(module) if !module.is_empty() => format!("[{module}+{:#x}]", frame.offset),
            _ => format!("[{:#x}]", frame.offset),
        });
        let function = self.function(name, frame.source.clone().unwrap_or_default());
        let mut line = Message::new();
        line.uint(1, function);
        if let Some(number) = frame.line {
            line.uint(2, u64::from(number));
        }
        let mut location = Message::new();
        location.uint(1, number);
        if let Some(mapping) = mapping {
            location.uint(2, mapping);
        }
        location.message(4, &line);
        self.message.message(4, &location);
        number
    }

    fn mapping(&mut self, module: &str) -> u64 {
        let (number, is_new) = self.mappings.number(module.to_owned());
        if is_new {
            let file = self.string(module);
            // Names are here already: pprof need not look for the file.
            let mut mapping = Message::new();
            mapping.uint(1, number).uint(5, file);
            for has in 7..=10 {
                mapping.uint(has, 1);
            }
            self.message.message(3, &mapping);
        }
        number
    }

    fn function(&mut self, name: String, source: String) -> u64 {
        let (number, is_new) = self.functions.number((name.clone(), source.clone()));
        if is_new {
            let (name, source) = (self.string(&name), self.string(&source));
            let mut function = Message::new();
            function.uint(1, number).uint(2, name).uint(3, name).uint(4, source);
            self.message.message(5, &function);
        }
        number
    }

    fn finish(mut self) -> Message {
        let mut strings: Vec<(String, u64)> = self.strings.0.into_iter().collect();
        strings.sort_by_key(|(_, number)| *number);
        self.message.text(6, "");
        for (text, _) in &strings {
            self.message.text(6, text);
        }
        self.message
    }
}
