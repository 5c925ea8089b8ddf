//! The hit ratio by memory limit, in characters.

use hotset_analysis::size::{SizeLimit, SizeSummary};

use super::curve::{Curve, place, recommended};
use super::words;
use crate::report::Options;
use crate::report::screen::{Screen, Tone};
use crate::report::text::wrap_by;
use crate::table::{Align, pad};
use crate::units::bytes;

/// Lines of the chart, and how many steps each has.
const LINES: usize = 6;
const STEPS: usize = 8;
/// Columns beside it: what an axis is labelled with, and the axis.
const LABEL: usize = 7;
const BESIDE: usize = LABEL + 2;
/// Columns that the eye follows, and columns below which there is no picture.
const WIDEST: usize = 100;
const NARROWEST: usize = 40;
/// Columns for each label of the horizontal axis.
const TICK: usize = 20;

/// Where the vertical axis begins, and where it ends: all of it, unless the curve would be flat.
const LOWEST: [f64; 4] = [0.99, 0.95, 0.9, 0.8];
const HIGHEST: [f64; 3] = [0.1, 0.25, 0.5];

/// What it is drawn with.
struct Signs {
    bars: [char; STEPS + 1],
    thrashes: char,
    limit: char,
    line: char,
    tick: char,
    corner: char,
    side: char,
}

const SIGNS: Signs = Signs {
    bars: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
    thrashes: '×',
    limit: '▲',
    line: '─',
    tick: '┬',
    corner: '└',
    side: '│',
};

const PLAIN_SIGNS: Signs = Signs {
    bars: [' ', '.', ':', '-', '=', '+', '*', '%', '#'],
    thrashes: 'x',
    limit: '^',
    line: '-',
    tick: '+',
    corner: '+',
    side: '|',
};

/// A need as columns of characters.
struct Chart<'a> {
    summary: &'a SizeSummary,
    curve: Curve,
    width: usize,
    signs: &'static Signs,
}

/// The chart, where there are limits to draw.
pub(super) fn push(screen: &mut Screen, summary: &SizeSummary, options: &Options) {
    let Some(curve) = Curve::of(summary) else { return };
    let signs = if options.ascii { &PLAIN_SIGNS } else { &SIGNS };
    let width = options.width.clamp(NARROWEST, WIDEST) - BESIDE;
    let scale = if curve.log { "logarithmic" } else { "" };
    screen.heading(&format!("Hit ratio by {}", curve.title()), scale);
    let chart = Chart { summary, curve, width, signs };
    chart.push_curve(screen);
    chart.push_axis(screen);
    chart.push_legend(screen);
}

impl Chart<'_> {
    fn limit_at(&self, column: usize) -> f64 {
        self.curve.limit_at(column as f64 / (self.width - 1) as f64)
    }

    fn column_of(&self, limit: u64) -> usize {
        (self.curve.part_of(limit as f64) * (self.width - 1) as f64).round() as usize
    }

    /// Columns at which the program thrashes, from the first on.
    fn thrashing(&self) -> usize {
        self.summary.thrash.map_or(0, |thrash| self.column_of(place(&thrash)) + 1)
    }

    /// How high each column is, in steps: what is more than nothing is seen.
    fn heights(&self, of: impl Fn(&SizeLimit) -> f64) -> Vec<usize> {
        let steps = LINES * STEPS;
        let height = |column| {
            let part = self.curve.value_at(self.limit_at(column), &of).clamp(0.0, 1.0);
            ((part * steps as f64).round() as usize).max(usize::from(part > 0.0))
        };
        (0..self.width).map(height).collect()
    }

    /// A line of columns, those at which it thrashes in another colour.
    fn line(
        &self,
        screen: &mut Screen,
        label: &str,
        side: char,
        signs: impl Iterator<Item = char>,
    ) {
        let signs: Vec<char> = signs.collect();
        let (thrashing, other) = signs.split_at(self.thrashing().min(signs.len()));
        let text = |signs: &[char]| signs.iter().collect::<String>();
        let thrashing = screen.paint(&text(thrashing), Tone::Slow);
        let other = screen.paint(text(other).trim_end(), Tone::Info);
        let label = pad(label, LABEL, Align::Right);
        screen.line(&format!("{label} {side}{thrashing}{other}"));
    }

    fn push_curve(&self, screen: &mut Screen) {
        let ratios = || self.curve.limits.iter().map(|limit| limit.hit_ratio);
        let (least, most) = (ratios().fold(1.0, f64::min), ratios().fold(0.0, f64::max));
        let from = LOWEST.into_iter().find(|&from| from <= least).unwrap_or(0.0);
        let to = HIGHEST.into_iter().find(|&to| most <= to).unwrap_or(1.0);
        let label = |part: f64| format!("{:.3}", 100.0 * (from + (to - from) * part));
        let label = |part| format!("{} %", label(part).trim_end_matches('0').trim_end_matches('.'));
        let heights = self.heights(|limit| (limit.hit_ratio - from) / (to - from));
        for line in 0..LINES {
            let below = (LINES - 1 - line) * STEPS;
            let sign = |&height: &usize| self.signs.bars[height.saturating_sub(below).min(STEPS)];
            let label = match line {
                0 => label(1.0),
                line if 2 * line == LINES => label(0.5),
                _ => String::new(),
            };
            self.line(screen, &label, self.signs.side, heights.iter().map(sign));
        }
        let ticks: Vec<usize> = self.ticks();
        let signs = (0..self.width).map(|column| match column {
            column if recommended(self.summary).map(|at| self.column_of(at)) == Some(column) => {
                self.signs.limit
            }
            column if ticks.contains(&column) => self.signs.tick,
            column if column < self.thrashing() => self.signs.thrashes,
            _ => self.signs.line,
        });
        self.line(screen, &label(0.0), self.signs.corner, signs);
    }

    /// Columns that have a label between the first and the last.
    fn ticks(&self) -> Vec<usize> {
        let parts = (self.width / TICK).max(1);
        (1..parts).map(|at| at * (self.width - 1) / parts).collect()
    }

    /// Limits below the axis: the first, the last, and some between them.
    fn push_axis(&self, screen: &mut Screen) {
        let mut line = String::new();
        for column in [0].into_iter().chain(self.ticks()).chain([self.width - 1]) {
            let label = bytes(self.limit_at(column).round() as u64);
            let begin = match column {
                0 => 0,
                column if column + 1 == self.width => self.width.saturating_sub(label.len()),
                column => column.saturating_sub(label.len() / 2),
            };
            line.push_str(&" ".repeat(begin.saturating_sub(line.len())));
            line.push_str(&label);
        }
        screen.line(&format!("{:BESIDE$}{line}", ""));
    }

    /// What the marks mean.
    fn push_legend(&self, screen: &mut Screen) {
        let thrash = words::thrash(self.summary);
        let thrash = thrash.map(|at| format!("{} thrashes: {at} and below", self.signs.thrashes));
        let limit =
            self.summary.limit.map(|limit| format!("recommended limit: {}", bytes(limit.bytes)));
        let enough =
            || self.summary.enough.map(|enough| format!("enough: {}", bytes(enough.cache_bytes)));
        let limit = limit.or_else(enough).map(|text| format!("{} {text}", self.signs.limit));
        let parts: Vec<String> = thrash.into_iter().chain(limit).collect();
        for line in wrap_by(&parts.join("   "), "   ", self.width) {
            screen.line(&format!("{:BESIDE$}{line}", ""));
        }
    }
}
