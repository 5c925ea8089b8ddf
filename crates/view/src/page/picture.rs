//! Pictures of very many points, which the page's script draws on a canvas: it scales them, tells what is pointed at, and zooms.

use serde_json::{Value, json};

pub use super::pattern::{Mark, MarkKind, MarkRow, MarkShape, PatternDrawing, TimeBar};

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What it shows, for those who can't see it and as its caption.
    pub label: String,
    /// What is drawn.
    pub drawn: Drawn,
}

/// What a picture is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawn {
    /// Cells of several layers over time.
    Grid(GridDrawing),
    /// A line of stacked shares over time for each of several things.
    Lanes(LanesDrawing),
    /// Boxes as wide as their share, each standing on the one that it is a part of.
    Flame(FlameDrawing),
    /// Requests before and after a change.
    Pattern(PatternDrawing),
}

/// Cells of several layers: time to the right, bytes upwards.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GridDrawing {
    /// Columns and rows.
    pub size: [usize; 2],
    /// Where the first column begins, in nanoseconds.
    pub from_ns: u64,
    /// How long a column is.
    pub column_ns: u64,
    /// How many bytes a row is.
    pub row_bytes: u64,
    /// The layers, the one that lies above all others first.
    pub layers: Vec<Layer>,
}

/// A layer of a grid.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layer {
    /// Its name in the legend.
    pub name: String,
    /// The number of its colour, from 1 to 7.
    pub color: usize,
    /// Its cells in the order of columns, then rows: column, row, requests, pages.
    pub cells: Vec<[u64; 4]>,
}

/// Lines of stacked shares over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LanesDrawing {
    /// Where the first column begins, in nanoseconds.
    pub from_ns: u64,
    /// How long a column is.
    pub column_ns: u64,
    /// What the shares are: name, and the number of its colour; 0 is the colour of nothing.
    pub parts: Vec<(String, usize)>,
    /// The lines.
    pub lanes: Vec<Lane>,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// For each column the nanoseconds of each part.
    pub columns: Vec<Vec<u64>>,
}

/// Boxes on boxes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlameDrawing {
    /// What the width may stand for: its name, and whether it is a time in nanoseconds (else a count).
    pub weights: Vec<(String, bool)>,
    /// What all boxes come to, in each weight.
    pub totals: Vec<u64>,
    /// The boxes: each after the one that it stands on.
    pub boxes: Vec<FlameBox>,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlameBox {
    /// Its name.
    pub name: String,
    /// What else is known about it.
    pub about: String,
    /// The box that it stands on.
    pub below: Option<usize>,
    /// How wide it is, in each weight.
    pub weights: Vec<u64>,
}

/// Percent of a column that the script is told: a canvas has no finer lines.
const HUNDRED: u64 = 100;

impl Picture {
    /// The word that the page's script knows it by.
    pub(super) fn kind(&self) -> &'static str {
        match self.drawn {
            Drawn::Grid(_) => "grid",
            Drawn::Lanes(_) => "lanes",
            Drawn::Flame(_) => "flame",
            Drawn::Pattern(_) => "pattern",
        }
    }

    /// As JSON for the script.
    pub(super) fn json(&self) -> Value {
        match &self.drawn {
            Drawn::Grid(grid) => grid.json(),
            Drawn::Lanes(lanes) => lanes.json(),
            Drawn::Flame(flame) => flame.json(),
            Drawn::Pattern(pattern) => pattern.json(),
        }
    }

    /// Cells, columns, boxes or marks: what the script has read is compared with it.
    pub(super) fn things(&self) -> usize {
        match &self.drawn {
            Drawn::Grid(grid) => grid.layers.iter().map(|layer| layer.cells.len()).sum(),
            Drawn::Lanes(lanes) => lanes.lanes.iter().map(|lane| lane.columns.len()).sum(),
            Drawn::Flame(flame) => flame.boxes.len(),
            Drawn::Pattern(pattern) => pattern.things(),
        }
    }
}

impl GridDrawing {
    /// Cells as one list of numbers: how many places further, requests, pages.
    fn json(&self) -> Value {
        let [columns, rows] = self.size;
        let layer = |layer: &Layer| {
            let mut before = 0;
            let mut cells: Vec<u64> = Vec::with_capacity(3 * layer.cells.len());
            for &[column, row, requests, pages] in &layer.cells {
                let place = column.saturating_mul(rows as u64).saturating_add(row);
                cells.extend([place.saturating_sub(before), requests, pages]);
                before = place;
            }
            json!({ "name": layer.name, "color": layer.color, "cells": cells })
        };
        json!({
            "kind": "grid", "columns": columns, "rows": rows, "from": self.from_ns,
            "step": self.column_ns, "bytes": self.row_bytes,
            "layers": self.layers.iter().map(layer).collect::<Vec<_>>(),
        })
    }
}

impl LanesDrawing {
    /// Columns in percent of their length, and how many alike follow each other.
    fn json(&self) -> Value {
        let percent = |ns: &u64| {
            let share = u128::from(*ns) * u128::from(HUNDRED) / u128::from(self.column_ns.max(1));
            // Less than a hundredth is still there.
            (share as u64).max(u64::from(*ns > 0)).min(HUNDRED)
        };
        let lane = |lane: &Lane| {
            let mut runs: Vec<(u64, Vec<u64>)> = Vec::new();
            for column in &lane.columns {
                let column: Vec<u64> = column.iter().map(percent).collect();
                match runs.last_mut().filter(|(_, same)| *same == column) {
                    Some((times, _)) => *times += 1,
                    None => runs.push((1, column)),
                }
            }
            let runs: Vec<u64> = runs
                .into_iter()
                .flat_map(|(times, run)| std::iter::once(times).chain(run))
                .collect();
            json!({ "name": lane.name, "runs": runs })
        };
        let part = |(name, color): &(String, usize)| json!({ "name": name, "color": color });
        let columns = self.lanes.first().map_or(0, |lane| lane.columns.len());
        json!({
            "kind": "lanes", "columns": columns, "from": self.from_ns, "step": self.column_ns,
            "parts": self.parts.iter().map(part).collect::<Vec<_>>(),
            "lanes": self.lanes.iter().map(lane).collect::<Vec<_>>(),
        })
    }
}

impl FlameDrawing {
    fn json(&self) -> Value {
        let weight = |(name, time): &(String, bool)| json!({ "name": name, "unit": if *time { "ns" } else { "count" } });
        let one = |one: &FlameBox| json!([one.name, one.about, one.below, one.weights]);
        json!({
            "kind": "flame", "totals": self.totals,
            "weights": self.weights.iter().map(weight).collect::<Vec<_>>(),
            "boxes": self.boxes.iter().map(one).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json_of(drawn: Drawn) -> Value {
        Picture { label: String::new(), drawn }.json()
    }

    #[test]
    fn cells_are_told_by_how_far_they_are_from_the_one_before() {
        let cells = vec![[0, 2, 5, 6], [1, 1, 7, 8], [3, 0, 9, 9]];
        let layer = Layer { name: "read".to_owned(), color: 2, cells };
        let grid = GridDrawing { size: [4, 3], layers: vec![layer], ..GridDrawing::default() };
        let json = json_of(Drawn::Grid(grid));
        let wanted = json!([2, 5, 6, 2, 7, 8, 5, 9, 9]);
        assert_eq!((&json["layers"][0]["cells"], &json["rows"]), (&wanted, &json!(3)));
    }

    #[test]
    fn columns_alike_are_told_once_and_little_is_not_nothing() {
        let columns = vec![vec![1000, 0], vec![1000, 0], vec![1, 999], vec![0, 0]];
        let lane = Lane { name: "a".to_owned(), columns };
        let lanes = LanesDrawing { column_ns: 1000, lanes: vec![lane], ..LanesDrawing::default() };
        let json = json_of(Drawn::Lanes(lanes));
        assert_eq!(json["lanes"][0]["runs"], json!([2, 100, 0, 1, 1, 99, 1, 0, 0]));
        assert_eq!(json["columns"], json!(4));
    }

    #[test]
    fn no_name_in_a_picture_ends_its_element() {
        let name = "</script><script>alert(1)".to_owned();
        let one = FlameBox { name, ..FlameBox::default() };
        let flame = FlameDrawing { boxes: vec![one], ..FlameDrawing::default() };
        let picture = Picture { label: String::new(), drawn: Drawn::Flame(flame) };
        let text = crate::page::data::picture_json(&picture);
        assert!(!text.contains('<'), "{text}");
        let read: Result<Value, _> = serde_json::from_str(&text);
        assert_eq!(read.ok(), Some(picture.json()));
    }
}
