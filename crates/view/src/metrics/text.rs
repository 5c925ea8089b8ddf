//! The text that Prometheus scrapes, as OpenMetrics 1.0 and as the older format 0.0.4.
//!
//! They differ in where `_total` stands in a counter's description, in what is escaped there, in `UNIT` and in the last line.

use std::fmt::Write;

use super::{Family, Kind, Point, Value};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exposition {
    /// Prometheus' text format 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.0.
    OpenMetrics,
}

impl Exposition {
    /// The value of `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// The families as text.
pub fn exposition(families: &[Family], format: Exposition) -> String {
    /// About what a series takes.
    const LINE_BYTES: usize = 96;
    let series: usize = families.iter().map(|family| family.points.len() + 3).sum();
    let mut out = String::with_capacity(series * LINE_BYTES);
    for family in families {
        push_family(&mut out, family, format);
    }
    if format == Exposition::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

fn push_family(out: &mut String, family: &Family, format: Exposition) {
    let series = family.series_name();
    let described = match format {
        Exposition::Prometheus => &series,
        Exposition::OpenMetrics => &family.name,
    };
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
    };
    // Writing to a String can't fail.
    let _ = write!(out, "# HELP {described} ");
    push_escaped(out, &family.help, format == Exposition::OpenMetrics);
    let _ = writeln!(out, "\n# TYPE {described} {kind}");
    if let (Exposition::OpenMetrics, Some(unit)) = (format, family.unit.as_str()) {
        let _ = writeln!(out, "# UNIT {described} {unit}");
    }
    for point in &family.points {
        push_point(out, &series, point);
    }
}

fn push_point(out: &mut String, series: &str, point: &Point) {
    out.push_str(series);
    let mut before = '{';
    for (name, value) in point.labels.iter().filter(|(_, value)| !value.is_empty()) {
        out.push(before);
        out.push_str(name);
        out.push_str("=\"");
        push_escaped(out, value, true);
        out.push('"');
        before = ',';
    }
    if before == ',' {
        out.push('}');
    }
    out.push(' ');
    push_value(out, point.value);
    out.push('\n');
}

fn push_value(out: &mut String, value: Value) {
    const NS: u64 = 1_000_000_000;
    let _ = match value {
        Value::Whole(value) => write!(out, "{value}"),
        Value::Nanos(ns) if ns.is_multiple_of(NS) => write!(out, "{}", ns / NS),
        Value::Nanos(ns) => write!(out, "{}.{:09}", ns / NS, ns % NS),
    };
}

fn push_escaped(out: &mut String, text: &str, quotes: bool) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if quotes => out.push_str("\\\""),
            other => out.push(other),
        }
    }
}
