//! The pictures of a trace's page, each with the table that sums it up.

use hotset_analysis::trace::pictures::{FilePicture, GridLayer, ThreadPicture};
use hotset_analysis::trace::{
    FlameWeight, KindCounts, RequestKind, TraceFileNumbers, TraceSummary,
};

use super::tables;
use crate::escape::escape_bytes;
use crate::page::picture::{
    Drawn, FlameBox, FlameDrawing, GridDrawing, Lane, LanesDrawing, Layer, Picture,
};
use crate::page::{Section, Table};
use crate::trace::Trace;
use crate::trace::words::{self, cell};
use crate::units::{bytes, count, duration};

/// Kinds of requests with the numbers of their colours, the one that lies above all others first.
const LAYERS: [(RequestKind, usize); 8] = [
    (RequestKind::ReadMissed, 2),
    (RequestKind::MajorFault, 6),
    (RequestKind::Direct, 4),
    (RequestKind::Write, 3),
    (RequestKind::ReadAhead, 5),
    (RequestKind::ReadCached, 1),
    (RequestKind::ReadUnknown, 7),
    (RequestKind::MinorFault, 7),
];

/// Where in a file requests were, and when.
pub(super) fn file(summary: &TraceSummary, picture: &FilePicture) -> Section {
    let name = words::file(picture.index, picture.file.as_ref(), &escape_bytes);
    let used: Vec<(&GridLayer, usize)> = LAYERS
        .iter()
        .filter_map(|(kind, color)| {
            let layer = picture.layers.iter().find(|layer| layer.kind == *kind)?;
            Some((layer, *color))
        })
        .collect();
    let row = summary.files.iter().find(|file| file.index == picture.index);
    let layers = used.iter().map(|(layer, color)| Layer {
        name: words::kind(layer.kind).to_owned(),
        color: *color,
        cells: layer.cells.iter().map(numbers).collect(),
    });
    let drawing = GridDrawing {
        size: [picture.columns, picture.rows],
        from_ns: picture.from_ns,
        column_ns: picture.column_ns,
        row_bytes: picture.row_bytes,
        layers: layers.collect(),
    };
    Section {
        answer: row.map_or_else(String::new, |row| tables::of_file(summary, row)),
        picture: Some(Picture {
            label: format!(
                "Requests by offset and time; a cell is {} by {}",
                duration(picture.column_ns),
                bytes(picture.row_bytes)
            ),
            drawn: Drawn::Grid(drawing),
        }),
        table: by_kind(format!("All that was done with {name}, by kind"), picture, row),
        question: format!("Where in {name}, and when?"),
        ..Section::default()
    }
}

/// Kinds of requests, the costliest first: also those that have no place in the file, such as syncs.
fn by_kind(caption: String, picture: &FilePicture, row: Option<&TraceFileNumbers>) -> Table {
    let mut kinds: Vec<KindCounts> = row.iter().flat_map(|row| row.counts.by_kind()).collect();
    kinds.sort_by_key(|one| std::cmp::Reverse((one.time_ns, one.requests)));
    // A fault asks for a page, and brings many.
    let faults = [RequestKind::MajorFault, RequestKind::MinorFault];
    let layers = picture.layers.iter().filter(|layer| !faults.contains(&layer.kind));
    let layer = |kind| layers.clone().find(|layer| layer.kind == kind);
    Table::of(caption, kinds)
        .words("Kind", |one| words::kind(one.kind).to_owned())
        .numbers("Requests", |one| count(one.requests))
        .numbers("Bytes", |one| cell(layer(one.kind).map(|layer| layer.bytes), bytes))
        .numbers("Time", |one| cell(Some(one.time_ns).filter(|&ns| ns > 0), duration))
        .table()
}

fn numbers(cell: &hotset_analysis::trace::pictures::GridCell) -> [u64; 4] {
    [cell.column.into(), cell.row.into(), cell.requests.into(), cell.pages.into()]
}

/// What each thread did over time.
pub(super) fn threads(all: &[ThreadPicture]) -> Option<Section> {
    let first = all.first()?;
    let name = |one: &ThreadPicture| match &one.thread.comm {
        Some(comm) => format!("{} {}", escape_bytes(comm.as_bytes()), one.thread.tid),
        None => format!("thread {}", one.thread.tid),
    };
    // A source that tells no waits still tells direct I/O.
    let device = match all.iter().any(|one| one.thread.waited_ns.is_some()) {
        true => "waits for the device",
        false => "direct I/O (other waits are not known)",
    };
    let parts = [(device, 2), ("sync", 6), ("other request", 1), ("no request", 0)];
    let lanes = all.iter().map(|one| Lane {
        name: name(one),
        columns: one
            .columns
            .iter()
            .map(|cell| vec![cell.device_ns, cell.sync_ns, cell.request_ns, cell.outside_ns])
            .collect(),
    });
    let drawing = LanesDrawing {
        from_ns: first.from_ns,
        column_ns: first.column_ns,
        parts: parts.map(|(name, color)| (name.to_owned(), color)).into(),
        lanes: lanes.collect(),
    };
    Some(Section {
        question: "What did the threads do?".to_owned(),
        picture: Some(Picture {
            label: format!(
                "Threads over time, those that waited longest first; a column is {}",
                duration(first.column_ns)
            ),
            drawn: Drawn::Lanes(drawing),
        }),
        notes: vec![
            "In no request, a thread computed, or waited for something other than files."
                .to_owned(),
        ],
        table: Table::of("Threads", all)
            .words("Thread", |one| name(one))
            .numbers("Records", |one| count(one.thread.records))
            .numbers("Time in requests", |one| cell(one.thread.time_ns, duration))
            .numbers("Waited", |one| cell(one.thread.waited_ns, duration))
            .numbers("First record", |one| duration(one.thread.from_ns))
            .numbers("Last record", |one| duration(one.thread.to_ns))
            .table(),
        ..Section::default()
    })
}

/// The code that made the requests, or how to get it recorded.
pub(super) fn sites(trace: &Trace<'_>) -> Option<Section> {
    let summary = trace.summary;
    let flame = &summary.flame;
    if summary.sites.is_empty() {
        return words::no_sites(trace).map(|advice| Section {
            question: "Which code made the requests?".to_owned(),
            answer: advice.to_owned(),
            ..Section::default()
        });
    }
    let waits = summary.totals.waited_ns.is_some();
    let time = if waits { "time waited" } else { "time in requests" };
    let boxes = flame.nodes.iter().map(|node| FlameBox {
        name: escape_bytes(node.name.as_bytes()),
        about: escape_bytes(node.module.as_bytes()),
        below: node.caller,
        weights: vec![node.weight(FlameWeight::Time), node.weight(FlameWeight::DevicePages)],
    });
    let drawing = FlameDrawing {
        weights: vec![(time.to_owned(), true), ("pages from the device".to_owned(), false)],
        totals: vec![flame.time_ns, flame.device_pages],
        boxes: boxes.collect(),
    };
    let picture = Picture {
        label: "Calls that led to requests, the outermost at the top; as wide as their share"
            .to_owned(),
        drawn: Drawn::Flame(drawing),
    };
    let left_out = (flame.left_out > 0)
        .then(|| format!("{} smaller boxes are not drawn.", count(flame.left_out as u64)));
    Some(Section {
        question: "Which code made the requests?".to_owned(),
        picture: (!flame.nodes.is_empty()).then_some(picture),
        notes: left_out.into_iter().collect(),
        table: tables::sites(summary),
        ..Section::default()
    })
}
