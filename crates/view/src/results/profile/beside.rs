//! Several runs beside each other.

use hotset_analysis::{Summary, TimeSplit};
use hotset_facts::{Io, Observed};

use super::tables::known;
use crate::escape::{escape_bytes, escape_text};
use crate::page::{Column, Page, Section, Table};
use crate::report::header;
use crate::units::{bytes, count, duration, percent};

/// The totals of several runs, each with the name of its file and the version that measured it.
pub(in crate::results) fn beside(all: &[(String, String, Summary)]) -> Option<Page> {
    if all.len() < 2 {
        return None;
    }
    let mut columns = vec![Column::words("Total")];
    columns.extend(all.iter().map(|(name, ..)| Column::words(&escape_text(name))));
    let rows = ROWS.iter().map(|(name, of)| {
        let cells = all.iter().map(|(.., summary)| of(summary));
        std::iter::once((*name).to_owned()).chain(cells).collect()
    });
    Some(Page {
        title: "Runs side by side".to_owned(),
        subtitle: "One run each: a difference may be chance. Use hotset bench to compare commands."
            .to_owned(),
        sections: vec![Section {
            question: "What did each run do?".to_owned(),
            table: Table {
                caption: "Totals of each run".to_owned(),
                columns,
                rows: rows.collect(),
            },
            ..Section::default()
        }],
        ..Page::default()
    })
}

type Row = (&'static str, fn(&Summary) -> String);

/// The rows of the comparison, what a reader compares first at the top.
const ROWS: [Row; 15] = [
    ("Command", |it| header::title(it, &escape_bytes)),
    ("Wall time", |it| duration(it.profile.command.wall_ns)),
    ("Time in file I/O", |it| known(it.time.io_ns, duration)),
    ("Of wall time", |it| io_share(&it.time)),
    ("Largest finding", |it| {
        it.findings.first().map_or("none".to_owned(), |one| escape_text(&one.title))
    }),
    ("Findings", |it| it.findings.len().to_string()),
    ("Pages requested", |it| known(read(it).map(|read| read.pages), count)),
    ("From cache", |it| share(it, |read| read.cache_share)),
    ("From device", |it| share(it, |read| read.device_share)),
    ("Hit ratio", |it| share(it, |read| read.hit_ratio)),
    ("Bytes read", |it| known(it.totals.read_bytes, bytes)),
    ("Bytes written", |it| known(it.totals.written_bytes, bytes)),
    ("Device read", |it| known(io(it).device.read_bytes, bytes)),
    ("Device written", |it| known(io(it).device.write_bytes, bytes)),
    ("Major faults", |it| known(io(it).mmap.major_faults, count)),
];

fn io(summary: &Summary) -> &Io {
    &summary.profile.totals
}

fn read(summary: &Summary) -> Observed<hotset_facts::ReadIo> {
    summary.profile.totals.read
}

fn share(summary: &Summary, of: impl Fn(&hotset_analysis::ReadNumbers) -> Option<f64>) -> String {
    match summary.totals.read {
        Observed::Value(read) => of(&read).map_or_else(|| "-".to_owned(), percent),
        Observed::Missing(_) => "not measured".to_owned(),
    }
}

fn io_share(time: &TimeSplit) -> String {
    time.io_of_wall.map_or_else(|| "not measured".to_owned(), percent)
}
