//! One file: requests by the offset that they begin at, and when they began.

use hotset_facts::trace::{OperationClass, TraceFile, TraceRecord};

use crate::trace::kind::{KINDS, RequestKind};
use crate::trace::summary::TraceFileNumbers;

use super::{PAGE, PictureSize, Steps};

/// Where and when requests of a file were, by kind.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePicture {
    /// The file's place in the trace's list.
    pub index: u32,
    /// What the trace knows of it.
    pub file: Option<TraceFile>,
    /// Columns: steps of time.
    pub columns: usize,
    /// Rows: steps of the offset, the first at offset 0.
    pub rows: usize,
    /// When the first column begins, in nanoseconds since the recording began.
    pub from_ns: u64,
    /// How long a column is.
    pub column_ns: u64,
    /// How many bytes a row holds: a power of two, at least 4,096.
    pub row_bytes: u64,
    /// A layer for each kind of request that there is any of.
    pub layers: Vec<GridLayer>,
}

/// The cells of one kind of request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridLayer {
    /// The kind.
    pub kind: RequestKind,
    /// Requests of it, each counted once.
    pub requests: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Cells that are not empty, by column and then by row.
    pub cells: Vec<GridCell>,
}

/// A stretch of the file in a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GridCell {
    /// Its column.
    pub column: u16,
    /// Its row.
    pub row: u16,
    /// Requests that began then and reached into this stretch. Where the picture was made coarser, one that reached into
    /// several of the joined stretches counts for each.
    pub requests: u32,
    /// Pages of the stretch that they reached, one for each request that did.
    pub pages: u32,
}

type Cell = (u32, u32);

#[derive(Debug, Default)]
struct Layer {
    requests: u64,
    bytes: u64,
    /// By column, then by row; empty until the first request.
    cells: Vec<Cell>,
}

/// A file's picture in the making.
#[derive(Debug)]
pub(super) struct Grid {
    index: u32,
    file: Option<TraceFile>,
    time: Steps,
    offsets: Steps,
    most_cells: usize,
    layers: [Layer; KINDS],
}

impl Grid {
    pub(super) fn new(file: &TraceFileNumbers, time: Steps, size: &PictureSize) -> Self {
        Self {
            index: file.index,
            file: file.file.clone(),
            time,
            offsets: Steps::of_offsets(file.extent_bytes, size.rows),
            most_cells: size.cells,
            layers: std::array::from_fn(|_| Layer::default()),
        }
    }

    pub(super) fn index(&self) -> u32 {
        self.index
    }

    pub(super) fn draw(&mut self, record: &TraceRecord, kind: RequestKind) {
        let bytes = match record.class {
            OperationClass::Read | OperationClass::Write => record.result,
            OperationClass::Fault => Some(PAGE.cast_signed()),
            _ => return,
        };
        let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok()).filter(|&bytes| bytes > 0);
        let (Some(offset), Some(bytes)) = (record.offset, bytes) else { return };
        let layer = &mut self.layers[kind.at()];
        if layer.cells.is_empty() {
            layer.cells = vec![(0, 0); self.time.count * self.offsets.count];
        }
        layer.requests += 1;
        layer.bytes = layer.bytes.saturating_add(bytes);
        let last = offset.saturating_add(bytes - 1);
        let column = self.time.at(record.start_ns) * self.offsets.count;
        let rows = column + self.offsets.at(offset)..=column + self.offsets.at(last);
        let step = self.offsets.step;
        for (cell, row) in layer.cells[rows].iter_mut().zip(offset / step..) {
            let from = offset.max(row.saturating_mul(step)) / PAGE;
            let to = last.min(row.saturating_mul(step).saturating_add(step - 1)) / PAGE;
            let pages = u32::try_from(to.saturating_sub(from) + 1).unwrap_or(u32::MAX);
            *cell = (cell.0.saturating_add(1), cell.1.saturating_add(pages));
        }
    }

    /// As fine as the bound on cells allows.
    pub(super) fn finish(mut self) -> FilePicture {
        let used = |layers: &[Layer; KINDS]| {
            let cells = layers.iter().flat_map(|layer| &layer.cells);
            cells.filter(|cell| cell.0 > 0).count()
        };
        while used(&self.layers) > self.most_cells && self.time.count.max(self.offsets.count) > 1 {
            self.halve();
        }
        let layers = RequestKind::ALL.iter().zip(&self.layers);
        let layers = layers.filter(|(_, layer)| layer.requests > 0);
        FilePicture {
            index: self.index,
            columns: self.time.count,
            rows: self.offsets.count,
            from_ns: self.time.from,
            column_ns: self.time.step,
            row_bytes: self.offsets.step,
            layers: layers.map(|(&kind, layer)| self.layer(kind, layer)).collect(),
            file: self.file,
        }
    }

    fn layer(&self, kind: RequestKind, layer: &Layer) -> GridLayer {
        let rows = self.offsets.count;
        let used = layer.cells.iter().enumerate().filter(|(_, cell)| cell.0 > 0);
        let cells = used.map(|(at, &(requests, pages))| GridCell {
            column: u16::try_from(at / rows).unwrap_or(u16::MAX),
            row: u16::try_from(at % rows).unwrap_or(u16::MAX),
            requests,
            pages,
        });
        GridLayer { kind, requests: layer.requests, bytes: layer.bytes, cells: cells.collect() }
    }

    /// Joins two columns to one, or two rows: there are two to four times as many columns, as a picture is wider than high.
    fn halve(&mut self) {
        let by_time = self.time.count > 2 * self.offsets.count || self.offsets.count == 1;
        let (wide, high) = if by_time { (2, 1) } else { (1, 2) };
        let (columns, rows) = (self.time.count.div_ceil(wide), self.offsets.count.div_ceil(high));
        for layer in &mut self.layers {
            if layer.cells.is_empty() {
                continue;
            }
            let mut cells = vec![(0_u32, 0_u32); columns * rows];
            for (at, cell) in layer.cells.iter().enumerate() {
                let (column, row) =
                    (at / self.offsets.count / wide, at % self.offsets.count / high);
                let joined = &mut cells[column * rows + row];
                joined.0 = joined.0.saturating_add(cell.0);
                joined.1 = joined.1.saturating_add(cell.1);
            }
            layer.cells = cells;
        }
        self.time.count = columns;
        self.time.step = self.time.step.saturating_mul(wide as u64);
        self.offsets.count = rows;
        self.offsets.step = self.offsets.step.saturating_mul(high as u64);
    }
}
