//! A chart as the data that the page's script draws from.

use serde_json::{Value, json};

use super::model::{Axis, Chart, Point, Series};
use super::picture::Picture;

/// The chart as JSON that may stand in a `<script>` element: no `<` is left that could end it.
pub(super) fn json(chart: &Chart) -> String {
    let value = json!({
        "kind": chart.kind.as_str(),
        "x": axis(&chart.x),
        "y": axis(&chart.y),
        "series": chart.series.iter().map(series).collect::<Vec<Value>>(),
        "reference": chart.reference,
        "areas": chart.areas.iter().map(|area| json!({ "to": area.to })).collect::<Vec<Value>>(),
        "lines": chart.lines.iter().map(|line| json!({ "at": line.at, "name": line.name })).collect::<Vec<Value>>(),
    });
    harmless(&value)
}

/// A picture's data, as harmless.
pub(super) fn picture_json(picture: &Picture) -> String {
    harmless(&picture.json())
}

fn harmless(value: &Value) -> String {
    let mut out = String::new();
    for character in value.to_string().chars() {
        match character {
            // Inside of JSON these occur in strings only. The separators end lines for older JavaScript.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out
}

/// Points that the axes can show: what the script has drawn is compared with it.
pub(super) fn drawable(chart: &Chart) -> usize {
    let on = |axis: &Axis, value: f64| value.is_finite() && (!axis.log || value > 0.0);
    let points = chart.series.iter().flat_map(|series| &series.points);
    points.filter(|point| on(&chart.x, point.x) && on(&chart.y, point.y)).count()
}

fn axis(axis: &Axis) -> Value {
    json!({
        "title": axis.title,
        "unit": axis.unit.as_str(),
        "log": axis.log,
        "zero": axis.zero,
        "names": axis.names,
    })
}

fn series(series: &Series) -> Value {
    let boxes = series.boxes.iter().map(|spread| {
        json!({
            "x": spread.x, "low": spread.low, "lower": spread.lower,
            "median": spread.median, "upper": spread.upper, "high": spread.high,
        })
    });
    json!({
        "name": series.name,
        "points": series.points.iter().map(point).collect::<Vec<Value>>(),
        "boxes": boxes.collect::<Vec<Value>>(),
        "band": series.band,
    })
}

fn point(point: &Point) -> Value {
    json!({
        "x": point.x,
        "y": point.y,
        "low": point.interval.map(|interval| interval.0),
        "high": point.interval.map(|interval| interval.1),
        "text": point.text,
        "aside": point.excluded,
    })
}
