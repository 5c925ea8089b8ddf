//! Records of a file, batch by batch.

use hotset_facts::trace::{Operation, TraceBatch, TraceRecord};
use parquet::file::reader::ChunkReader;

use crate::columns::{Column, Columns};
use crate::decode::Decoder;
use crate::error::TraceError;
use crate::fill::{Filler, filled_into};
use crate::pages::Alike;
use crate::reader::Reader;

/// Rows of a batch: their records and the values that they are made of stay in the CPU's cache.
const BATCH_ROWS: usize = 4096;

/// Reads the records of a trace. After an error there are no more.
pub struct Batches<'a, R: ChunkReader> {
    reader: &'a Reader<R>,
    columns: Columns,
    group: usize,
    open: Option<OpenGroup>,
    filler: Filler,
    failed: bool,
}

/// A row group that is read.
struct OpenGroup {
    /// One record with the values of those columns that are the same in all rows: most are, of a program that does one thing.
    pattern: TraceBatch,
    /// The other columns.
    decoders: Vec<Decoder>,
    row: usize,
    rows: usize,
}

impl<'a, R: ChunkReader> Batches<'a, R> {
    pub(crate) fn new(reader: &'a Reader<R>, columns: Columns) -> Self {
        let filler = Filler::new();
        Self { reader, columns, group: 0, open: None, filler, failed: false }
    }

    /// Opens the columns of the next row group.
    fn open(&mut self, rows: i64) -> Result<OpenGroup, TraceError> {
        let group = self.group;
        let wanted = Column::ALL.iter().filter(|column| {
            let derived = matches!(column, Column::Pid | Column::Command | Column::Error);
            self.columns.has(**column) && !derived
        });
        let count = usize::try_from(rows).unwrap_or_default();
        let mut pattern = TraceBatch::default();
        pattern.records.push(TraceRecord::new(0, Operation::Read));
        self.filler.begin_pattern();
        let mut decoders = Vec::new();
        let mut settled = Columns::NONE;
        for column in wanted {
            let Some(place) = self.reader.place(*column) else { continue };
            let chunk = self.reader.chunk(group, place)?;
            let meta = self.reader.meta().row_group(group).column(place);
            let alike = match chunk.alike() {
                _ if meta.num_values() != rows || count == 0 => false,
                Alike::Null => true,
                // What a value is put into must be there.
                Alike::Value => filled_into(*column).is_none_or(|first| settled.has(first)),
                Alike::Unknown => false,
            };
            let mut decoder = Decoder::new(*column, group, chunk, meta, count)?;
            if alike {
                decoder.read(0, 1)?;
                self.filler.fill(&decoder, 0, &mut pattern)?;
                settled = settled.and(*column);
            } else {
                decoders.push(decoder);
            }
        }
        self.filler.end_pattern();
        Ok(OpenGroup { pattern, decoders, row: 0, rows: count })
    }

    fn batch(&mut self) -> Result<Option<TraceBatch>, TraceError> {
        loop {
            if self.open.is_none() {
                let groups = self.reader.meta().row_groups();
                let Some(rows) = groups.get(self.group).map(|group| group.num_rows()) else {
                    return Ok(None);
                };
                self.open = Some(self.open(rows)?);
            }
            let Some(open) = &mut self.open else { return Ok(None) };
            if open.row < open.rows {
                let rows = (open.rows - open.row).min(BATCH_ROWS);
                let mut batch = TraceBatch::default();
                let record = open.pattern.records.first().copied();
                batch.records.resize(rows, record.unwrap_or(TraceRecord::new(0, Operation::Read)));
                batch.paths.clone_from(&open.pattern.paths);
                self.filler.begin(rows, &batch.paths);
                for decoder in &mut open.decoders {
                    decoder.read(open.row, rows)?;
                    self.filler.fill(decoder, open.row, &mut batch)?;
                }
                self.filler.end(&mut batch.records);
                open.row += rows;
                return Ok(Some(batch));
            }
            self.open = None;
            self.group += 1;
        }
    }
}

impl<R: ChunkReader> Iterator for Batches<'_, R> {
    type Item = Result<TraceBatch, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self.batch();
        self.failed = batch.is_err();
        batch.transpose()
    }
}
