//! What a page holds, without a word of HTML.

use super::picture::Picture;

/// A page that answers questions with charts and tables.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// What was looked at.
    pub title: String,
    /// What a reader calls it among others, in a word or two; empty where the title is short enough.
    pub name: String,
    /// When, where and by what, in a line.
    pub subtitle: String,
    /// The answers, the most important one first.
    pub headline: Vec<Answer>,
    /// A chart and a table for each question.
    pub sections: Vec<Section>,
    /// What the numbers hold for, as names and values.
    pub conditions: Vec<(String, String)>,
    /// What to doubt, the gravest first.
    pub doubts: Vec<PageWarning>,
    /// Other pages that stand on this one, below its own sections and each under its own title. Theirs are not shown.
    pub parts: Vec<Page>,
}

impl Page {
    /// Several pages as one: the most important answer of each stands at the top, with all below.
    pub fn of_parts(title: &str, parts: Vec<Page>) -> Self {
        let first = parts.iter().filter_map(|part| {
            let answer = part.headline.first()?;
            let name = if part.name.is_empty() { &part.title } else { &part.name };
            let question = match answer.question.as_str() {
                "" => name.clone(),
                asked => format!("{name}: {asked}"),
            };
            Some(Answer { question, ..answer.clone() })
        });
        let subtitle = format!(
            "{} parts, each with its answers, charts, conditions and warnings",
            parts.len()
        );
        Self {
            title: title.to_owned(),
            subtitle,
            headline: first.collect(),
            parts,
            ..Self::default()
        }
    }
}

/// One answer in a sentence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// What was asked; empty where the title says it.
    pub question: String,
    /// The sentence.
    pub sentence: String,
    /// Its number, with a unit.
    pub number: String,
    /// How sure it is.
    pub confidence: String,
}

/// A doubt.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageWarning {
    /// What is doubtful.
    pub text: String,
    /// What to do about it; may be empty.
    pub advice: String,
}

/// A question and what is known about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// The question.
    pub question: String,
    /// The answer in a sentence; may be empty.
    pub answer: String,
    /// Things with a name each, where a table would be too wide for their words.
    pub entries: Vec<Entry>,
    /// What a command prints, where that says it best; may be empty.
    pub text: String,
    /// The picture.
    pub chart: Option<Chart>,
    /// Another picture: of more points than a chart shows one by one.
    pub picture: Option<Picture>,
    /// The numbers. Where there is a chart, they are its text alternative and hold all that it shows.
    pub table: Table,
    /// What a reader has to know about both.
    pub notes: Vec<String>,
    /// What follows from them, below all else.
    pub below: Vec<Entry>,
}

/// A thing with a name and what is known about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entry {
    /// Its kind, in a word; may be empty.
    pub label: String,
    /// Its name.
    pub title: String,
    /// What is known about it, a paragraph each.
    pub lines: Vec<String>,
    /// What a reader would type; may be empty.
    pub command: String,
}

/// A table. The first cell of each row names the row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What it shows, in a few words.
    pub caption: String,
    /// The titles of the columns.
    pub columns: Vec<Column>,
    /// The rows, with a cell for each column.
    pub rows: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Column {
    /// Its title.
    pub title: String,
    /// Numbers stand to the right.
    pub is_number: bool,
}

impl Table {
    /// A table with a row for each of `rows`, which gets its columns one after the other.
    pub fn of<T>(caption: impl Into<String>, rows: impl IntoIterator<Item = T>) -> TableOf<T> {
        let things: Vec<T> = rows.into_iter().collect();
        let rows = things.iter().map(|_| Vec::new()).collect();
        TableOf { things, table: Self { caption: caption.into(), columns: Vec::new(), rows } }
    }
}

/// A table in the making: things that each are a row, and the columns so far.
pub struct TableOf<T> {
    things: Vec<T>,
    table: Table,
}

impl<T> TableOf<T> {
    /// A column of words, and what it says about a thing.
    pub fn words(self, title: &str, cell: impl Fn(&T) -> String) -> Self {
        self.column(Column::words(title), cell)
    }

    /// A column of numbers, and what it says about a thing.
    pub fn numbers(self, title: &str, cell: impl Fn(&T) -> String) -> Self {
        self.column(Column::numbers(title), cell)
    }

    fn column(mut self, column: Column, cell: impl Fn(&T) -> String) -> Self {
        self.table.columns.push(column);
        for (row, thing) in self.table.rows.iter_mut().zip(&self.things) {
            row.push(cell(thing));
        }
        self
    }

    /// The table with the columns that it got.
    pub fn table(self) -> Table {
        self.table
    }
}

impl Column {
    /// A column of words.
    pub fn words(title: &str) -> Self {
        Self { title: title.to_owned(), is_number: false }
    }

    /// A column of numbers.
    pub fn numbers(title: &str) -> Self {
        Self { title: title.to_owned(), is_number: true }
    }
}

/// How points are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChartKind {
    /// Points joined by lines, with intervals.
    #[default]
    Lines,
    /// Points, with intervals.
    Points,
    /// Bars; those of several series stand beside each other.
    Bars,
    /// All samples as points over their boxes.
    Distribution,
}

impl ChartKind {
    /// The word that the page's script knows it by.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Points => "points",
            Self::Bars => "bars",
            Self::Distribution => "distribution",
        }
    }
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// What it shows, for those who can't see it and as its caption.
    pub label: String,
    /// How points are drawn.
    pub kind: ChartKind,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series; what can be hidden by a click.
    pub series: Vec<Series>,
    /// A value that a dashed line is drawn at, such as the ratio 1.
    pub reference: Option<f64>,
    /// Parts of the horizontal axis that are shaded.
    pub areas: Vec<MarkArea>,
    /// Values of the horizontal axis that a line is drawn at.
    pub lines: Vec<MarkLine>,
    /// What a crossed-out point means; empty where there is none.
    pub excluded: String,
}

/// A part of the horizontal axis, from its beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkArea {
    /// Where it ends.
    pub to: f64,
    /// What is so there, for the legend.
    pub text: String,
}

/// A value of the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkLine {
    /// Where it is.
    pub at: f64,
    /// Its name, in a word that stands beside it.
    pub name: String,
    /// What it is, for the legend.
    pub text: String,
}

/// What an axis measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Plain numbers.
    #[default]
    Count,
    /// A time in nanoseconds.
    Nanoseconds,
    /// A number of bytes.
    Bytes,
    /// Shares of 1.
    Share,
    /// How many times as much.
    Ratio,
}

impl Unit {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
            Self::Share => "share",
            Self::Ratio => "ratio",
        }
    }
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// Its title.
    pub title: String,
    /// What it measures.
    pub unit: Unit,
    /// Logarithmic: only values above 0 can be drawn.
    pub log: bool,
    /// It begins at 0, whatever is drawn: where a small difference shall look small. For the vertical axis.
    pub zero: bool,
    /// Names of the places 0, 1, 2 and so on, for an axis that measures nothing.
    pub names: Vec<String>,
}

impl Axis {
    /// A linear axis.
    pub fn of(title: &str, unit: Unit) -> Self {
        Self { title: title.to_owned(), unit, ..Self::default() }
    }
}

/// A series of points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in the order in which the arrow keys pass them.
    pub points: Vec<Point>,
    /// Boxes behind the points.
    pub boxes: Vec<Spread>,
    /// The intervals are a band between the points, rather than a bar at each.
    pub band: bool,
}

/// A point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Where, in the unit of the horizontal axis or as the number of its name.
    pub x: f64,
    /// How much, in the unit of the vertical axis.
    pub y: f64,
    /// The interval around `y`, in the same unit.
    pub interval: Option<(f64, f64)>,
    /// All that is known about it, as words with units: shown when it is pointed at.
    pub text: String,
    /// It isn't counted: drawn as a cross.
    pub excluded: bool,
}

/// Quartiles for a box, in the unit of the vertical axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Where it stands on the horizontal axis.
    pub x: f64,
    /// The end of the lower whisker.
    pub low: f64,
    /// The lower quartile.
    pub lower: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub upper: f64,
    /// The end of the upper whisker.
    pub high: f64,
}
