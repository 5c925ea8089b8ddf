//! The chart of a need in the terminal.

use std::path::Path;

use hotset_analysis::size::{Recommended, SizeLimit, SizeSummary};

use super::tests::{full, limit, summary, text};
use super::*;
use crate::report::Options;

const MIB: u64 = 1 << 20;

/// The chart of the text, in the terminal that was asked for.
fn chart(summary: &SizeSummary, options: &Options) -> String {
    let head = full();
    let trace = SizedTrace { path: Some(Path::new("app.parquet")), head: &head, summary };
    let text = render_size(&trace, options);
    let begin = text.find("Hit ratio by").expect("a chart");
    // In colour, the heading begins before that.
    let begin = text[..begin].rfind('\n').map_or(0, |end| end + 1);
    let end = text[begin..].find("\n\n").expect("its end");
    text[begin..begin + end].to_owned()
}

fn at_width(summary: &SizeSummary, width: usize) -> String {
    let chart = chart(summary, &Options { width, ..Options::default() });
    for line in chart.lines() {
        assert!(line.chars().count() <= width, "{width}: {line}");
    }
    chart
}

#[test]
fn a_chart_is_as_wide_as_the_terminal() {
    insta::assert_snapshot!("chart_50", at_width(&summary(), 50));
    insta::assert_snapshot!("chart_100", at_width(&summary(), 200));
}

#[test]
fn a_chart_without_colour_or_unicode_says_the_same() {
    let plain = chart(&summary(), &Options { ascii: true, width: 60, ..Options::default() });
    assert!(plain.is_ascii(), "{plain}");
    insta::assert_snapshot!("chart_ascii", plain);
    let marks = |text: &str, marks: [char; 2]| text.matches(marks).count();
    assert_eq!(marks(&plain, ['x', '^']), marks(&at_width(&summary(), 60), ['×', '▲']));
    let colored = chart(&summary(), &Options { color: true, ..Options::default() });
    let mut parts = colored.split("\u{1b}[");
    let mut without = parts.next().unwrap_or_default().to_owned();
    without.extend(parts.map(|part| part.split_once('m').map_or(part, |(_, text)| text)));
    let trimmed = without.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed, at_width(&summary(), 80));
}

fn with_limits(limits: Vec<SizeLimit>) -> SizeSummary {
    SizeSummary { limits, enough: None, thrash: None, limit: None, ..summary() }
}

#[test]
fn a_chart_of_a_wide_range_has_equal_ratios_side_by_side() {
    let mut limits = vec![limit(10, 2, 8, 0), limit(640, 4, 6, 0), limit(40_960, 8, 2, 0)];
    for limit in &mut limits {
        limit.limit_bytes = Some(limit.cache_bytes);
    }
    let drawn = at_width(&with_limits(limits), 80);
    assert!(drawn.contains("(logarithmic)"), "{drawn}");
    let labels: Vec<&str> = drawn.lines().last().expect("labels").split_whitespace().collect();
    assert_eq!(labels, ["10.0", "MiB", "154", "MiB", "2.31", "GiB", "40.0", "GiB"]);
}

#[test]
fn a_curve_that_would_be_flat_has_an_axis_of_its_own() {
    let high = vec![limit(10, 9_700, 300, 0), limit(80, 9_950, 50, 0)];
    let drawn = at_width(&with_limits(high), 80);
    assert!(drawn.contains("95 % └") && drawn.contains("100 % │"), "{drawn}");
    let low = vec![limit(10, 100, 9_900, 0), limit(80, 800, 9_200, 0)];
    let drawn = at_width(&with_limits(low), 80);
    assert!(drawn.contains("0 % └") && drawn.contains("10 % │"), "{drawn}");
    let both = at_width(&summary(), 80);
    assert!(both.contains(" 0 % └") && both.contains("100 % │"), "{both}");
}

#[test]
fn a_limit_beyond_all_pages_is_on_the_axis() {
    let limit = Recommended { bytes: 400 * MIB, must_bytes: 0, cache_bytes: 0, margin_bytes: 0 };
    let drawn = at_width(&SizeSummary { limit: Some(limit), ..summary() }, 80);
    assert!(drawn.contains("400 MiB\n"), "{drawn}");
    let axis = drawn.lines().find(|line| line.contains('└')).expect("an axis");
    assert!(axis.ends_with('▲'), "{axis}");
}

#[test]
fn what_can_not_be_drawn_is_left_out() {
    for limits in [Vec::new(), vec![limit(10, 1, 1, 0)], vec![limit(10, 1, 1, 0); 3]] {
        let said = text(&full(), &with_limits(limits));
        assert!(!said.contains("Hit ratio by"), "{said}");
    }
}
