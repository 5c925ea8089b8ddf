//! What each limit is worth, as charts with their tables.

use hotset_analysis::size::{PAGE_BYTES, SizeLimit, SizeSummary};

use crate::bench::words::bytes as real_bytes;
use crate::page::{Axis, Chart, MarkArea, MarkLine, Point, Section, Series, Table, TableOf, Unit};
use crate::size::curve::{Curve, place};
use crate::size::words;
use crate::units::{bytes, count, duration, percent};

/// Limits as a chart draws them: all of the same need, over the same axis.
struct Limits<'a> {
    summary: &'a SizeSummary,
    curve: Curve,
    /// Whether the ends of the hit ratio differ from it.
    has_range: bool,
}

/// Hit ratios, then device reads, then waits as far as they are known.
pub(super) fn sections(summary: &SizeSummary) -> Vec<Section> {
    let Some(curve) = Curve::of(summary) else { return Vec::new() };
    let has_range =
        curve.limits.iter().any(|limit| limit.hit_ratio_range.0 < limit.hit_ratio_range.1);
    let limits = Limits { summary, curve, has_range };
    let timed = limits.curve.limits.iter().all(|limit| limit.run_ns.is_some());
    let mut sections = vec![limits.hit_ratio()];
    match timed {
        true => sections.extend([limits.rates(), limits.waits()]),
        false => sections.push(limits.reads()),
    }
    sections
}

impl Limits<'_> {
    fn hit_ratio(&self) -> Section {
        let point = |limit: &SizeLimit| Point {
            y: limit.hit_ratio,
            interval: self.has_range.then_some(limit.hit_ratio_range),
            ..Point::default()
        };
        let range = |limit: &&SizeLimit| {
            let (low, high) = limit.hit_ratio_range;
            format!("{} to {}", percent(low), percent(high))
        };
        let mut table = self
            .table("What each limit is worth")
            .numbers("Of it, cache", |limit| bytes(limit.cache_bytes))
            .numbers("Hit ratio", |limit| percent(limit.hit_ratio));
        if self.has_range {
            table = table.numbers("Range", range);
        }
        let chart = self.chart("Hit ratio", Axis::of("hit ratio", Unit::Share), point);
        Section {
            question: "What is a limit worth?".to_owned(),
            notes: self.has_range.then(|| BAND.to_owned()).into_iter().collect(),
            table: table
                .numbers("Read again", |limit| read(limit.refaults))
                .words("", |limit| words::mark(limit, self.summary))
                .table(),
            chart: Some(chart),
            ..Section::default()
        }
    }

    fn rates(&self) -> Section {
        let rate = |limit: &SizeLimit| limit.device_read_bytes_per_s.unwrap_or(0.0);
        let point = |limit: &SizeLimit| Point { y: rate(limit), ..Point::default() };
        Section {
            question: "What does the device read?".to_owned(),
            chart: Some(self.chart(
                "Device reads per second of the run",
                from_zero("per second", Unit::Bytes),
                point,
            )),
            table: self
                .table("Device reads by limit")
                .numbers("Per second", |limit| real_bytes(rate(limit)))
                .numbers("In the run", |limit| bytes(limit.read_bytes()))
                .numbers("Of these, again", |limit| read(limit.refaults))
                .table(),
            ..Section::default()
        }
    }

    fn reads(&self) -> Section {
        let point = |limit: &SizeLimit| Point { y: limit.read_bytes() as f64, ..Point::default() };
        Section {
            question: "What does the device read?".to_owned(),
            chart: Some(self.chart(
                "Device reads in the run",
                from_zero("device reads", Unit::Bytes),
                point,
            )),
            table: self
                .table("Device reads by limit")
                .numbers("In the run", |limit| bytes(limit.read_bytes()))
                .numbers("Of these, again", |limit| read(limit.refaults))
                .table(),
            ..Section::default()
        }
    }

    fn waits(&self) -> Section {
        let waits = |limit: &SizeLimit| limit.waited_s_per_hour().unwrap_or(0.0);
        let point = |limit: &SizeLimit| Point { y: waits(limit), ..Point::default() };
        let ns = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), duration);
        Section {
            question: "How long does it wait?".to_owned(),
            chart: Some(self.chart(
                "Seconds of an hour that it waits for pages",
                from_zero("seconds of an hour", Unit::Count),
                point,
            )),
            table: self
                .table("Waits for pages by limit")
                .numbers("Of an hour", |limit| format!("{} s", count(waits(limit).round() as u64)))
                .numbers("In the run", |limit| ns(limit.waited_ns))
                .numbers("The run takes", |limit| ns(limit.run_ns))
                .table(),
            ..Section::default()
        }
    }

    /// A table of the limits.
    fn table(&self, caption: &str) -> TableOf<&SizeLimit> {
        Table::of(caption, &self.curve.limits).numbers("Memory limit", |limit| words::limit(limit))
    }

    /// A chart of the limits: `of` says how high each is.
    fn chart(&self, label: &str, y: Axis, of: impl Fn(&SizeLimit) -> Point) -> Chart {
        let title = self.curve.title();
        let point = |limit| Point { x: place(limit) as f64, text: self.text(limit), ..of(limit) };
        let points: Vec<Point> = self.curve.limits.iter().map(point).collect();
        Chart {
            label: format!("{label}, by {title}"),
            x: Axis { log: self.curve.log, ..Axis::of(title, Unit::Bytes) },
            y,
            series: vec![Series {
                name: label.to_owned(),
                band: points.iter().any(|point| point.interval.is_some()),
                points,
                ..Series::default()
            }],
            areas: self.areas(),
            lines: self.lines(),
            ..Chart::default()
        }
    }

    /// All that is known about a limit.
    fn text(&self, limit: &SizeLimit) -> String {
        let rate = limit
            .device_read_bytes_per_s
            .map(|rate| format!("device reads {} per second", real_bytes(rate)));
        let waits = limit
            .waited_s_per_hour()
            .map(|s| format!("waits {} s of an hour", count(s.round() as u64)));
        let mark = Some(words::mark(limit, self.summary)).filter(|mark| !mark.is_empty());
        let parts = [
            Some(format!("hit ratio {}", percent(limit.hit_ratio))),
            Some(format!("{} read again", read(limit.refaults))),
            rate,
            waits,
            mark,
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{}: {}", words::limit(limit), parts.join(", "))
    }

    fn areas(&self) -> Vec<MarkArea> {
        let area = |limit: SizeLimit| MarkArea {
            to: place(&limit) as f64,
            text: format!(
                "thrashes: {} and below",
                words::thrash(self.summary).unwrap_or_default()
            ),
        };
        self.summary.thrash.map(area).into_iter().collect()
    }

    fn lines(&self) -> Vec<MarkLine> {
        let line = |name: &str, at: u64| MarkLine {
            at: at as f64,
            name: name.to_owned(),
            text: format!("{name} {}", bytes(at)),
        };
        match (self.summary.request, self.summary.limit, self.summary.enough) {
            (Some(request), Some(limit), _) => {
                vec![line("request", request.bytes), line("limit", limit.bytes)]
            }
            (_, None, Some(enough)) => vec![line("enough", place(&enough))],
            _ => Vec::new(),
        }
    }
}

const BAND: &str = "The band: hit ratios at the worst and the best moment at which the kernel can bring its statistics up to date.";

/// An axis on which a small difference looks small.
fn from_zero(title: &str, unit: Unit) -> Axis {
    Axis { zero: true, ..Axis::of(title, unit) }
}

fn read(pages: u64) -> String {
    bytes(pages.saturating_mul(PAGE_BYTES))
}
