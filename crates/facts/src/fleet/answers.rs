//! What the analyses of a fleet found: tables that answer a question each, with what a reader must know to trust them.
//!
//! The analyses are the Python package's (`hotset.fleet`); this is what they hand over to be shown.

use serde::{Deserialize, Serialize};

use crate::format::required;

crate::words! {
    /// What the numbers of a column, or of an axis, measure.
    pub enum FleetUnit {
        /// They are texts.
        Text = "text",
        /// Whole numbers of things.
        Count = "count",
        /// Other numbers.
        Number = "number",
        /// Numbers of bytes.
        Bytes = "bytes",
        /// Shares from 0 to 1.
        Ratio = "ratio",
        /// Times in nanoseconds.
        Nanoseconds = "ns",
    }
}

crate::words! {
    /// How a chart is drawn.
    pub enum FleetChartKind {
        /// A bar a name.
        Bars = "bars",
        /// Points joined by lines.
        Lines = "lines",
    }
}

/// What the analyses of a fleet found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetAnswers {
    /// Where the tables of the fleet are.
    pub root: String,
    /// The days of which there are files, such as 2026-11-21.
    pub days: Vec<String>,
    /// Hosts of which there are intervals.
    pub hosts: u64,
    /// Intervals of all hosts.
    pub intervals: u64,
    /// The answers in a sentence each, the most important first.
    pub headline: Vec<FleetHeadline>,
    /// The analyses, in the order in which they are shown.
    pub analyses: Vec<FleetAnalysis>,
    /// What makes the numbers doubtful, the gravest first.
    pub warnings: Vec<FleetWarning>,
    /// What the numbers hold for, by name.
    pub conditions: Vec<FleetCondition>,
}

/// An answer in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetHeadline {
    /// What was asked.
    pub question: String,
    /// Its number, with a unit.
    pub number: String,
    /// The sentence.
    pub sentence: String,
}

/// Why to doubt the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetWarning {
    /// What is doubtful.
    pub text: String,
    /// What to do about it; may be empty.
    pub advice: String,
}

/// What the numbers hold for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetCondition {
    /// What it is.
    pub name: String,
    /// How it was.
    pub value: String,
}

/// A question and its answer as a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetAnalysis {
    /// The name of the table.
    pub name: String,
    /// The question.
    pub question: String,
    /// The answer in a sentence; may be empty.
    pub answer: String,
    /// The columns of the table.
    pub columns: Vec<FleetColumn>,
    /// Its first rows, with a value for each column.
    pub rows: Vec<Vec<Option<FleetCell>>>,
    /// All rows that there are.
    pub row_count: u64,
    /// A picture of it; null where it has none.
    #[serde(deserialize_with = "required")]
    pub chart: Option<FleetChart>,
    /// What a reader must know about the numbers.
    pub notes: Vec<String>,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetColumn {
    /// Its name in files.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What its values are.
    pub meaning: String,
    /// What its numbers measure.
    pub unit: FleetUnit,
}

/// A value of a table: a text or a number, in the unit of its column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FleetCell {
    /// A whole number.
    Whole(i64),
    /// Another number.
    Real(f64),
    /// A text.
    Text(String),
}

/// A picture of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetChart {
    /// What it shows.
    pub label: String,
    /// How it is drawn.
    pub kind: FleetChartKind,
    /// The horizontal axis; of bars, its title alone.
    pub x: FleetAxis,
    /// The vertical axis.
    pub y: FleetAxis,
    /// Names of the places 0, 1, 2 and so on of the horizontal axis; empty where it measures something.
    pub names: Vec<String>,
    /// What is drawn.
    pub series: Vec<FleetSeries>,
}

/// An axis of a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetAxis {
    /// Its title.
    pub title: String,
    /// What it measures.
    pub unit: FleetUnit,
    /// Whether it is logarithmic.
    pub log: bool,
}

/// What is drawn under one name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetSeries {
    /// Its name.
    pub name: String,
    /// Points: where and how much, in the units of the axes.
    pub points: Vec<(f64, f64)>,
}
