//! What a chart and its table show, in the words of an experiment's factors.

use hotset_analysis::lab::ConstLevel;

use crate::page::ChartKind;

/// Which number of a cell is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The median time with its interval, in the cell's unit.
    Time,
    /// Bytes read from the device in a sample.
    DeviceBytes,
    /// Calls in a sample.
    Calls,
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Places for names; logarithmic for numbers where the largest is many times the smallest.
    Auto,
    /// Even steps.
    Linear,
    /// By factors: powers of two for bytes. What is 0 can't be drawn.
    Log,
    /// A place for each level, at even distances: for levels such as 0, 4095, 4096, 4097. For the x axis only.
    Places,
}

/// How the terminal's table stands. The page's table always has a row for each cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A row for each cell: time, interval, state, device bytes, calls.
    Rows,
    /// A column for each level of this factor, with the numbers that are drawn alone. Below: state and device bytes.
    Across(&'static str),
}

/// A question, and how the cells that answer it are drawn: `x` on one axis, a line or a row of bars for each combination of
/// `series`. Cells that differ in another factor would fall on each other: keep one level of it, or give `each`.
#[derive(Debug, Clone, Copy)]
pub struct ChartSpec<'a> {
    /// The question, with its question mark.
    pub question: &'a str,
    /// What the chart shows, as its caption.
    pub title: &'static str,
    /// How it is drawn.
    pub kind: ChartKind,
    /// The factor along the horizontal axis.
    pub x: &'a str,
    /// The factors whose levels make the series, the one that names them best first.
    pub series: &'static [&'static str],
    /// Only cells that have one of these levels, for each factor that is named here.
    pub keep: &'static [(&'static str, &'static [ConstLevel])],
    /// No cell that has one of these levels of this factor.
    pub leave_out: Option<(&'static str, &'static [ConstLevel])>,
    /// Of those, only cells with the largest level of this factor.
    pub largest: Option<&'static str>,
    /// A chart of its own for each level of this factor.
    pub each: Option<&'a str>,
    /// What is drawn.
    pub shown: Shown,
    /// What an operation of its cells is, where their time is that of one: `read`.
    pub operation: &'static str,
    /// How the horizontal axis is divided.
    pub x_scale: Scale,
    /// How the vertical axis is divided. Bars begin at 0; on a logarithmic axis they are drawn as points instead.
    pub y_scale: Scale,
    /// How the terminal's table stands.
    pub table: Shape,
    /// What a reader has to know.
    pub notes: &'static [&'static str],
}

impl ChartSpec<'_> {
    /// Nothing yet: what a chart doesn't say is as here.
    pub const EMPTY: Self = Self {
        question: "",
        title: "",
        kind: ChartKind::Lines,
        x: "",
        series: &[],
        keep: &[],
        leave_out: None,
        largest: None,
        each: None,
        shown: Shown::Time,
        operation: "operation",
        x_scale: Scale::Auto,
        y_scale: Scale::Auto,
        table: Shape::Rows,
        notes: &[],
    };
}
