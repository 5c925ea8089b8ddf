//! A metric family, whatever it is written as.

use std::sync::Arc;
use std::time::SystemTime;

/// How a value behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Never goes backwards.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// Base units, as Prometheus' guide wants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A count of what the name says.
    Count,
    /// A number of bytes.
    Bytes,
    /// Base pages of the host.
    Pages,
    /// A time in seconds.
    Seconds,
}

impl Unit {
    /// The last word of a name in this unit, and OpenMetrics' `UNIT`.
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Count => None,
            Self::Bytes => Some("bytes"),
            Self::Pages => Some("pages"),
            Self::Seconds => Some("seconds"),
        }
    }

    /// The unit as UCUM writes it, for OTLP.
    pub fn ucum(self) -> &'static str {
        match self {
            Self::Count => "1",
            Self::Bytes => "By",
            Self::Pages => "{page}",
            Self::Seconds => "s",
        }
    }
}

/// Names and values of labels; empty values are left out when they are written.
pub type Labels = Arc<[(&'static str, String)]>;

/// A number, as exact as it was counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An integer.
    Whole(u64),
    /// Nanoseconds, written as seconds.
    Nanos(u64),
}

/// One series.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What tells it from the others of its family.
    pub labels: Labels,
    /// Where its counter was zero; nothing for the beginning of the session.
    pub since: Option<SystemTime>,
    /// The value.
    pub value: Value,
}

/// All series of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// The name without `_total`.
    pub name: String,
    /// A sentence without a full stop.
    pub help: String,
    /// Counter or gauge.
    pub kind: Kind,
    /// The unit, which is the end of the name too.
    pub unit: Unit,
    /// The series, at least one.
    pub points: Vec<Point>,
}

impl Family {
    /// A family without series yet.
    pub(super) fn new(name: impl Into<String>, kind: Kind, unit: Unit, help: &str) -> Self {
        Self { name: name.into(), help: help.to_owned(), kind, unit, points: Vec::new() }
    }

    /// The same with one series without labels.
    pub(super) fn single(mut self, value: Value) -> Self {
        self.push(Labels::from([]), value);
        self
    }

    /// Adds a series.
    pub(super) fn push(&mut self, labels: Labels, value: Value) {
        self.points.push(Point { labels, since: None, value });
    }

    /// The name that a series has in Prometheus: counters end with `_total`.
    pub fn series_name(&self) -> String {
        match self.kind {
            Kind::Counter => format!("{}_total", self.name),
            Kind::Gauge => self.name.clone(),
        }
    }
}
