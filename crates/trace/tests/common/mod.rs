//! What tests of formats share: imports as a whole, and records as text.
#![allow(dead_code, clippy::expect_used, reason = "helpers of tests, of which each uses a part")]

use std::fmt::Write as _;

use hotset_facts::trace::{TraceBatch, TraceHead, TraceLists, TraceRecord};
use hotset_trace::import::{self, ImportError, ImportSummary, Importer};

/// All that an import gave.
pub(crate) struct Imported {
    pub(crate) head: TraceHead,
    pub(crate) lists: TraceLists,
    pub(crate) batches: Vec<TraceBatch>,
    pub(crate) summary: ImportSummary,
}

impl Imported {
    pub(crate) fn records(&self) -> impl Iterator<Item = (&TraceRecord, &TraceBatch)> {
        self.batches
            .iter()
            .flat_map(|batch| batch.records.iter().map(move |record| (record, batch)))
    }

    pub(crate) fn infallible(
        &self,
    ) -> impl Iterator<Item = Result<TraceBatch, std::convert::Infallible>> {
        self.batches.clone().into_iter().map(Ok)
    }
}

/// Imports bytes as a format.
pub(crate) fn import(format: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    let format = import::FORMATS.iter().find(|known| known.name == format).expect("a format");
    read(import::open(format, bytes)?.as_mut())
}

/// Reads an importer to its end.
pub(crate) fn read(importer: &mut dyn Importer) -> Result<Imported, ImportError> {
    let (mut lists, mut batches) = (TraceLists::default(), Vec::new());
    while let Some(batch) = importer.next_batch()? {
        lists.append(batch.added.clone());
        batches.push(batch);
    }
    Ok(Imported { head: importer.head(), lists, batches, summary: importer.summary() })
}

/// A record as a line: what it holds, and nothing for what it lacks.
pub(crate) fn line(record: &TraceRecord, batch: &TraceBatch, lists: &TraceLists) -> String {
    let mut line = format!("{:>12} {}", record.start_ns, record.operation.as_str());
    if record.class != record.operation.class() {
        let _ = write!(line, " ({})", record.class.as_str());
    }
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(line, " {name}={value}");
        }
    };
    let path = |index: Option<_>| {
        index.and_then(|index| batch.path(index)).map(|path| path.escape_ascii().to_string())
    };
    let process = record.process.map(|process| {
        let process = lists.process(process).expect("a process of the list");
        format!("{}({})", process.pid, process.comm)
    });
    add("process", process);
    add("tid", record.tid.map(|tid| tid.to_string()));
    add("file", record.file.map(|file| file.0.to_string()));
    add("path", path(record.path));
    add("new_path", path(record.new_path));
    add("open_file", record.description.map(|number| number.to_string()));
    add("offset", record.offset.map(|number| number.to_string()));
    add("asked", record.asked_bytes.map(|number| number.to_string()));
    add("result", record.result.map(|number| number.to_string()));
    add("flags", (record.flags.0 != 0).then(|| record.flags.to_string()));
    add("took_ns", record.duration_ns.map(|number| number.to_string()));
    add("pages", record.pages.map(|pages| format!("{pages:?}")));
    add("device_read", record.device_read_bytes.map(|number| number.to_string()));
    add("device_write", record.device_write_bytes.map(|number| number.to_string()));
    add("site", record.site.map(|site| site.0.to_string()));
    line
}

/// All that an import came to, as a text to compare.
pub(crate) fn told(imported: &Result<Imported, ImportError>) -> String {
    let imported = match imported {
        Err(error) => return format!("error: {error}\n"),
        Ok(imported) => imported,
    };
    let mut text = String::new();
    for (record, batch) in imported.records() {
        let _ = writeln!(text, "{}", line(record, batch, &imported.lists));
    }
    for (number, file) in imported.lists.files.iter().enumerate() {
        let path = file.path.as_deref().map(|path| path.display().to_string());
        let _ =
            writeln!(text, "file {number}: {} {}", file.kind.as_str(), path.unwrap_or_default());
    }
    let summary = &imported.summary;
    for refused in &summary.first_refused {
        let _ = writeln!(text, "refused: line {}: {}", refused.line, refused.reason);
    }
    for left in &summary.left_out {
        let _ = writeln!(text, "left out: {} {}", left.count, left.what);
    }
    if let Some(cut) = &summary.cut_at_end {
        let _ = writeln!(text, "cut: line {}: {}", cut.line, cut.reason);
    }
    for lack in &imported.head.lacks {
        let _ = writeln!(text, "lacks: {lack}");
    }
    text
}
