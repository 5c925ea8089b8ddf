//! Comma-separated values (RFC 4180) with a header: every column of docs/trace-format.md, a row a
//! record.
//!
//! Nothing of the records is lost; of the lists, the arguments of processes, what files are, and
//! the frames of call sites. Bytes of paths that are no UTF-8 are in hexadecimal. Memory: one row.

use std::io::Write;

use hotset_facts::trace::{TraceBatch, TraceLists, TraceRecord};

use crate::columns::Column;
use crate::errno;
use crate::rule::{PageNumbers, page_numbers};

use super::{ExportError, Exported};

/// What libCacheSim's readers of CSV need to know of the columns, as the argument of `-t`: objects
/// are files, sizes are what was asked for, times are nanoseconds. For pages, export `oracle`
/// instead.
pub const LIBCACHESIM: &str =
    "time-col=1, obj-id-col=9, obj-size-col=16, delimiter=,, has-header=true, obj-id-is-num=true";

/// Writes a header and a row for each record.
///
/// # Errors
///
/// The batches or the output fail.
pub fn export<E, W: Write>(
    batches: impl IntoIterator<Item = Result<TraceBatch, E>>,
    lists: &TraceLists,
    mut out: W,
) -> Result<Exported, ExportError<E>> {
    let mut exported = Exported::default();
    let names: Vec<&str> = Column::ALL.iter().map(|column| column.name()).collect();
    let mut row = names.join(",").into_bytes();
    row.extend_from_slice(b"\r\n");
    out.write_all(&row)?;
    for batch in batches {
        let batch = batch.map_err(ExportError::Records)?;
        for record in &batch.records {
            row.clear();
            Row { row: &mut row, is_first: true }.record(record, &batch, lists);
            out.write_all(&row)?;
            exported.records += 1;
            exported.written += 1;
            if record.site.is_some() {
                exported.lose("call sites are numbers without their frames");
            }
        }
    }
    out.flush()?;
    Ok(exported.finish())
}

/// A row while it is written.
struct Row<'a> {
    row: &'a mut Vec<u8>,
    is_first: bool,
}

impl Row<'_> {
    fn field(&mut self, text: &str) {
        if !std::mem::take(&mut self.is_first) {
            self.row.push(b',');
        }
        if text.contains([',', '"', '\r', '\n']) {
            self.row.push(b'"');
            self.row.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.row.push(b'"');
        } else {
            self.row.extend_from_slice(text.as_bytes());
        }
    }

    /// A number, or nothing where it was not measured.
    fn number<T: std::fmt::Display>(&mut self, number: Option<T>) {
        self.field("");
        if let Some(number) = number {
            // Memory does not fail.
            let _ = write!(self.row, "{number}");
        }
    }

    /// A path, and its bytes where the text is not exact.
    fn path(&mut self, path: Option<&[u8]>) {
        let path = path.unwrap_or_default();
        match std::str::from_utf8(path) {
            Ok(text) => {
                self.field(text);
                self.field("");
            }
            Err(_) => {
                self.field(&String::from_utf8_lossy(path));
                let digits = path.iter().map(|byte| format!("{byte:02x}"));
                self.field(&digits.collect::<String>());
            }
        }
    }

    fn record(&mut self, record: &TraceRecord, batch: &TraceBatch, lists: &TraceLists) {
        let process = record.process.and_then(|process| lists.process(process));
        self.number(Some(record.start_ns));
        self.number(record.duration_ns);
        self.number(process.map(|process| process.pid));
        self.number(record.tid);
        self.number(record.process.map(|process| process.0));
        self.field(process.map(|process| process.comm.as_str()).unwrap_or_default());
        self.field(record.operation.as_str());
        self.field(record.class.as_str());
        self.number(record.file.map(|file| file.0));
        self.path(record.path.and_then(|path| batch.path(path)));
        self.path(record.new_path.and_then(|path| batch.path(path)));
        self.number(record.description);
        self.number(record.offset);
        self.number(record.asked_bytes);
        self.number(record.result);
        self.field(record.result.and_then(errno::name).unwrap_or_default());
        self.field(&record.flags.to_string());
        self.pages(record);
        self.number(record.device_read_bytes);
        self.number(record.device_write_bytes);
        self.number(record.site.map(|site| site.0));
        self.row.extend_from_slice(b"\r\n");
    }

    fn pages(&mut self, record: &TraceRecord) {
        let has = page_numbers(record.class);
        let pages = |number| record.pages.filter(|_| has.has(number));
        self.number(pages(PageNumbers::PAGES).map(|pages| pages.pages));
        self.number(pages(PageNumbers::HITS).map(|pages| pages.hits));
        self.number(pages(PageNumbers::AHEAD_HITS).map(|pages| pages.ahead_hits));
        self.number(pages(PageNumbers::MISSES).map(|pages| pages.misses));
        self.number(pages(PageNumbers::ZEROS).and_then(|pages| pages.zeros));
        self.number(pages(PageNumbers::READ_AHEAD).map(|pages| pages.read_ahead));
    }
}
