//! Requests before and after a change, as a picture of two rows of marks on the same lanes, and how long all of them took.

use serde_json::{Value, json};

/// Marks of requests, without a change and with it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PatternDrawing {
    /// What marks stand for.
    pub kinds: Vec<MarkKind>,
    /// What requests are about: files and paths.
    pub lanes: Vec<String>,
    /// The two sides.
    pub sides: Vec<MarkRow>,
    /// What the times are of; empty where there are none.
    pub times_label: String,
    /// A time for each side.
    pub times: Vec<TimeBar>,
}

/// What a mark stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MarkKind {
    /// Its name in the legend.
    pub name: String,
    /// The number of its colour, from 1 to 7.
    pub color: usize,
    /// How it is drawn.
    pub shape: MarkShape,
}

/// How a mark is drawn: shapes tell kinds apart where colours can't.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MarkShape {
    /// A box as high as its bytes.
    #[default]
    Box,
    /// A line as high as its lane.
    Wall,
    /// A triangle that points upwards.
    Up,
    /// A triangle that points downwards.
    Down,
    /// A circle.
    Circle,
    /// A cross.
    Cross,
    /// A diamond.
    Diamond,
    /// A square.
    Square,
    /// Two triangles that touch.
    Bowtie,
}

impl MarkShape {
    /// The word that the page's script knows it by.
    fn as_str(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Wall => "wall",
            Self::Up => "triangle",
            Self::Down => "down",
            Self::Circle => "circle",
            Self::Cross => "cross",
            Self::Diamond => "diamond",
            Self::Square => "square",
            Self::Bowtie => "bowtie",
        }
    }
}

/// The marks of a side, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MarkRow {
    /// What stands above it.
    pub name: String,
    /// The marks.
    pub marks: Vec<Mark>,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mark {
    /// Its kind, by its place.
    pub kind: usize,
    /// Its lane, by its place.
    pub lane: usize,
    /// Where in the file it begins.
    pub offset: Option<u64>,
    /// How many bytes it moves or is about.
    pub bytes: Option<u64>,
    /// What it is called when it is pointed at.
    pub call: &'static str,
}

/// A time as a bar.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TimeBar {
    /// What stands beside it.
    pub name: String,
    /// How long, in nanoseconds.
    pub ns: f64,
    /// The ends of its interval, in nanoseconds.
    pub interval: Option<(f64, f64)>,
    /// Both in words.
    pub text: String,
}

impl PatternDrawing {
    pub(super) fn things(&self) -> usize {
        self.sides.iter().map(|side| side.marks.len()).sum()
    }

    /// A mark is a list: kind, lane, offset, bytes, call.
    pub(super) fn json(&self) -> Value {
        let kind = |kind: &MarkKind| json!({ "name": kind.name, "color": kind.color, "shape": kind.shape.as_str() });
        let mark = |mark: &Mark| json!([mark.kind, mark.lane, mark.offset, mark.bytes, mark.call]);
        let side = |side: &MarkRow| {
            let marks: Vec<Value> = side.marks.iter().map(mark).collect();
            json!({ "name": side.name, "marks": marks })
        };
        let time = |time: &TimeBar| json!({ "name": time.name, "ns": time.ns, "interval": time.interval, "text": time.text });
        json!({
            "kind": "pattern", "lanes": self.lanes,
            "kinds": self.kinds.iter().map(kind).collect::<Vec<_>>(),
            "sides": self.sides.iter().map(side).collect::<Vec<_>>(),
            "timesLabel": self.times_label,
            "times": self.times.iter().map(time).collect::<Vec<_>>(),
        })
    }
}
