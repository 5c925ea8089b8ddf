//! Records in, a file out.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use hotset_facts::trace::{Operation, RecordFlags, TraceBatch, TraceHead, TraceRecord};
use parquet::data_type::ByteArray;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;

use crate::cells::{Cells, Codes, Rows};
use crate::columns::{Column, schema};
use crate::encode::{Chunk, ColumnEncoder, properties};
use crate::error::TraceError;
use crate::meta::{self, ListWriter, Part, Totals};
use crate::output::Output;
use crate::texts::{Texts, constants};

/// Rows of a row group: as many as DuckDB hands to a thread, so that it reads a file with all CPUs.
pub(crate) const GROUP_ROWS: usize = 122_880;
/// Bytes of different paths that end a row group early: they are held in memory.
const GROUP_TEXT_BYTES: usize = 4 << 20;
/// Records that are taken apart at a time: they stay in the CPU's cache while each column is made of them.
const SLICE_RECORDS: usize = 1024;

/// Room for what ends a file, beside its lists: the head, and what Parquet says of some hundreds of row groups.
const FOOTER_BYTES: u64 = 1 << 20;

/// What the parts before know, and the next goes on from.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// PID and name of each process.
    processes: Vec<(u32, Box<str>)>,
    files: usize,
    sites: usize,
}

/// What [`Writer::finish`] gives back.
#[derive(Debug)]
pub struct Finished<W> {
    /// The output, flushed.
    pub out: W,
    /// How many records it holds.
    pub totals: Totals,
    /// Bytes of the file.
    pub bytes: u64,
    /// What the next part goes on from.
    pub known: Known,
}

/// Sees to it that so many bytes (the second number) can be written from a place (the first) on.
pub type Reserve<W> = fn(&W, u64, u64) -> io::Result<()>;

/// Records that were given to a writer and not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unwritten {
    /// When the first of them began, in nanoseconds since the recording began.
    pub from_ns: u64,
}

/// Writes a trace, or a part of one. It holds the rows of one row group, about 20 MiB.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<Output<W>>,
    head: KeyValue,
    part: Option<u32>,
    known: Known,
    lists: ListWriter,
    rows: Rows,
    written: u64,
    texts: GroupTexts,
    constant: Constants,
    checks: Vec<Vec<u32>>,
    reserve: Option<Reserve<W>>,
}

/// Texts that rows of a row group refer to by code.
#[derive(Default)]
struct GroupTexts {
    paths: Texts,
    commands: Texts,
    /// PID and code of the command of each process.
    processes: Vec<(i32, u32)>,
    flags: Texts,
    flag_codes: HashMap<u32, u32>,
}

/// Texts that are the same in every file.
struct Constants {
    operations: Vec<ByteArray>,
    classes: Vec<ByteArray>,
    errors: Vec<ByteArray>,
}

impl Constants {
    fn new() -> Self {
        let mut classes = Vec::new();
        for class in Operation::ALL.iter().map(|operation| operation.class()) {
            let place = class as usize;
            classes.resize(classes.len().max(place + 1), "");
            if let Some(word) = classes.get_mut(place) {
                *word = class.as_str();
            }
        }
        Self {
            operations: constants(Operation::ALL.iter().map(|operation| operation.as_str())),
            classes: constants(classes),
            errors: constants(crate::errno::names()),
        }
    }
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file: a whole trace, or part 0 of one. `part` is the number of the part, from 0, and nothing for a whole trace.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(out: W, head: &TraceHead, part: Option<u32>) -> Result<Self, TraceError> {
        Self::next(out, head, part, Known::default())
    }

    /// Begins a part behind those that know this much: the lists of its metadata hold only what is added to it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn next(
        out: W,
        head: &TraceHead,
        part: Option<u32>,
        known: Known,
    ) -> Result<Self, TraceError> {
        let properties = Arc::new(properties().map_err(TraceError::Encode)?);
        let schema = schema().map_err(TraceError::Encode)?;
        let file = SerializedFileWriter::new(Output::new(out), schema, properties)
            .map_err(TraceError::Encode)?;
        let head = meta::head_key(head)?;
        let mut texts = GroupTexts::default();
        for (pid, comm) in &known.processes {
            texts.add_process(*pid, comm);
        }
        Ok(Self {
            file,
            head,
            part,
            known,
            lists: ListWriter::new(),
            rows: Rows::new(GROUP_ROWS),
            written: 0,
            texts,
            constant: Constants::new(),
            checks: Vec::new(),
            reserve: None,
        })
    }

    /// Has room reserved for each row group, and for what ends the file, before anything of it is written: where there is none, what
    /// was written before can be finished.
    ///
    /// # Errors
    /// [`TraceError::NoRoom`], where there is none for an empty trace.
    pub fn reserve_by(&mut self, reserve: Reserve<W>) -> Result<(), TraceError> {
        self.reserve = Some(reserve);
        self.have_room(0)
    }

    fn have_room(&self, group_bytes: u64) -> Result<(), TraceError> {
        let Some(reserve) = self.reserve else { return Ok(()) };
        let footer = FOOTER_BYTES + 2 * self.lists.bytes() as u64;
        let from = self.file.bytes_written() as u64;
        reserve(self.file.inner().inner(), from, group_bytes + footer).map_err(TraceError::NoRoom)
    }

    /// It becomes a trace of its own, and no part of one.
    pub fn set_whole(&mut self) {
        self.part = None;
    }

    /// Forgets records that wait for their row group, after [`TraceError::NoRoom`]; nothing where none waits.
    pub fn drop_waiting(&mut self) -> Option<Unwritten> {
        let Some(Cells::Int64(starts)) = self.rows.column(Column::StartNs) else { return None };
        let from_ns = starts.iter().copied().min()?.try_into().unwrap_or(0);
        self.rows.clear();
        self.texts.paths.clear();
        Some(Unwritten { from_ns })
    }

    /// Writes the row group that is being filled, though it is not full.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        self.end_group()
    }

    /// Adds records, and what is new in the lists. A record of a process, file or site that no list has yet is refused, and so is
    /// a path that the batch does not have; nothing of such a batch is written.
    ///
    /// # Errors
    /// What was refused, and those of the output.
    pub fn write(&mut self, batch: &TraceBatch) -> Result<(), TraceError> {
        self.check(batch)?;
        self.add_lists(batch)?;
        let mut codes: Vec<u32> = Vec::new();
        for slice in batch.records.chunks(SLICE_RECORDS) {
            let mut rest = slice;
            while !rest.is_empty() {
                if codes.is_empty() {
                    codes.extend(batch.paths.iter().map(|path| self.texts.paths.code(path)));
                }
                let room = GROUP_ROWS.saturating_sub(self.rows.len()).min(rest.len());
                let (now, later) = rest.split_at(room);
                self.extend(now, &codes);
                rest = later;
                if self.rows.len() >= GROUP_ROWS || self.texts.paths.bytes() >= GROUP_TEXT_BYTES {
                    self.end_group()?;
                    codes.clear();
                }
            }
        }
        Ok(())
    }

    /// Says anew what it is a trace of: how a command ended is known at the end.
    ///
    /// # Errors
    /// Where the head has no form in JSON.
    pub fn set_head(&mut self, head: &TraceHead) -> Result<(), TraceError> {
        self.head = meta::head_key(head)?;
        Ok(())
    }

    /// Bytes of the row groups that were written. Rows that wait for their row group to be full are not among them.
    pub fn bytes_written(&self) -> u64 {
        self.file.bytes_written() as u64
    }

    /// Records that were given to it.
    pub fn rows(&self) -> u64 {
        self.written + self.rows.len() as u64
    }

    /// Ends the file. `lost` is how many records are missing from it, `last` whether the recording ends with this part; of a whole
    /// trace it always does.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, lost: u64, last: bool) -> Result<Finished<W>, TraceError> {
        self.end_group()?;
        let totals = Totals { records: self.written, lost };
        self.file.append_key_value_metadata(self.head);
        for list in self.lists.finish() {
            self.file.append_key_value_metadata(list);
        }
        self.file.append_key_value_metadata(meta::json_key(meta::TOTALS, &totals)?);
        if let Some(number) = self.part {
            let part = Part { number, last };
            self.file.append_key_value_metadata(meta::json_key(meta::PART, &part)?);
        }
        self.file.append_key_value_metadata(meta::json_key(meta::CHECKS, &self.checks)?);
        let (out, bytes) = end_file(self.file)?;
        Ok(Finished { out, totals, bytes, known: self.known })
    }

    fn add_lists(&mut self, batch: &TraceBatch) -> Result<(), TraceError> {
        self.lists.extend(&batch.added)?;
        for process in &batch.added.processes {
            self.texts.add_process(process.pid, &process.comm);
            self.known.processes.push((process.pid, process.comm.as_str().into()));
        }
        self.known.files += batch.added.files.len();
        self.known.sites += batch.added.sites.len();
        Ok(())
    }

    /// Whether all that records point to is there.
    fn check(&self, batch: &TraceBatch) -> Result<(), TraceError> {
        type Of = fn(&TraceRecord) -> Option<u32>;
        let processes = self.known.processes.len() + batch.added.processes.len();
        let files = self.known.files + batch.added.files.len();
        let sites = self.known.sites + batch.added.sites.len();
        let bounds: [(&'static str, usize, Of); 5] = [
            ("process", processes, |record| record.process.map(|index| index.0)),
            ("file", files, |record| record.file.map(|index| index.0)),
            ("site", sites, |record| record.site.map(|index| index.0)),
            ("path", batch.paths.len(), |record| record.path.map(|index| index.0)),
            ("new_path", batch.paths.len(), |record| record.new_path.map(|index| index.0)),
        ];
        for (column, known, of) in bounds {
            let beyond = |record: &TraceRecord| of(record).filter(|index| *index as usize >= known);
            let found = batch.records.iter().enumerate();
            if let Some((at, index)) =
                found.filter_map(|(at, record)| Some((at, beyond(record)?))).next()
            {
                return Err(TraceError::Refused {
                    record: self.rows() + at as u64,
                    column,
                    found: format!("index {index}"),
                    expected: format!("an index below {known}, the entries known so far"),
                });
            }
        }
        Ok(())
    }

    fn extend(&mut self, records: &[TraceRecord], paths: &[u32]) {
        let GroupTexts { processes, flags, flag_codes, .. } = &mut self.texts;
        let mut flags = |bits| {
            *flag_codes
                .entry(bits)
                .or_insert_with(|| flags.code(RecordFlags(bits).to_string().as_bytes()))
        };
        self.rows.extend(records, &mut Codes { paths, processes, flags: &mut flags });
    }

    /// Writes the rows that wait.
    fn end_group(&mut self) -> Result<(), TraceError> {
        if self.rows.len() == 0 {
            return Ok(());
        }
        let order = order(&self.rows);
        let schema = self.file.schema_descr().columns().to_vec();
        let props = Arc::clone(self.file.properties());
        let mut chunks = Vec::with_capacity(schema.len());
        for (column, descr) in Column::ALL.iter().zip(schema) {
            let Some(cells) = self.rows.column(*column) else { continue };
            let encoder =
                ColumnEncoder { descr, props: Arc::clone(&props), order: order.as_deref() };
            let chunk = encoder
                .encode(cells, &|code| self.texts.text(&self.constant, *column, code))
                .map_err(TraceError::Encode)?;
            chunks.push(chunk);
        }
        self.have_room(chunks.iter().map(|chunk| chunk.bytes.len() as u64).sum())?;
        let mut group = self.file.next_row_group().map_err(TraceError::Encode)?;
        let mut checks = Vec::with_capacity(chunks.len());
        for Chunk { bytes, close } in chunks {
            checks.push(crc32fast::hash(&bytes));
            group.append_column(&bytes, close).map_err(TraceError::Encode)?;
        }
        group.close().map_err(TraceError::Encode)?;
        self.checks.push(checks);
        self.written += self.rows.len() as u64;
        self.rows.clear();
        self.texts.paths.clear();
        Ok(())
    }
}

impl GroupTexts {
    fn add_process(&mut self, pid: u32, comm: &str) {
        let command = self.commands.code(comm.as_bytes());
        self.processes.push((i32::try_from(pid).unwrap_or(i32::MAX), command));
    }

    fn text<'a>(
        &'a self,
        constant: &'a Constants,
        column: Column,
        code: u32,
    ) -> Option<&'a ByteArray> {
        match column {
            Column::Op => constant.operations.get(code as usize),
            Column::Class => constant.classes.get(code as usize),
            Column::Error => constant.errors.get(code as usize),
            Column::Command => self.commands.shown(code),
            Column::Flags => self.flags.shown(code),
            Column::PathBytes | Column::NewPathBytes => self.paths.exact(code),
            _ => self.paths.shown(code),
        }
    }
}

/// The places of rows, by when they began; rows that began at once stay in the order in which they came. Nothing where they
/// came in that order.
fn order(rows: &Rows) -> Option<Vec<u32>> {
    let Some(Cells::Int64(starts)) = rows.column(Column::StartNs) else { return None };
    if starts.is_sorted() {
        return None;
    }
    let mut order: Vec<u32> = (0..u32::try_from(rows.len()).unwrap_or(u32::MAX)).collect();
    order.sort_by_key(|row| starts.get(*row as usize).copied());
    Some(order)
}

/// Writes the footer with its checksum.
///
/// # Errors
/// Those of the output.
pub(crate) fn end_file<W: Write + Send>(
    mut file: SerializedFileWriter<Output<W>>,
) -> Result<(W, u64), TraceError> {
    file.flush()?;
    file.inner_mut().hold();
    file.into_inner().map_err(TraceError::Encode)?.finish()
}
