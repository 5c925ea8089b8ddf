//! The page for people: whether it samples, since when, and where the metrics are. Needs no script.

use maud::{DOCTYPE, html};

use super::{Family, Measured, SamplingState, Value};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;width:100%}td{padding:.2rem .6rem;border-bottom:1px solid #8884}\
td:last-child{text-align:right;font-variant-numeric:tabular-nums}:root{color-scheme:light dark}";

/// The values that the page shows; whoever wants more follows the link.
const SHOWN: [&str; 12] = [
    "hotset_read_pages",
    "hotset_read_missed_pages",
    "hotset_read_readahead_hit_pages",
    "hotset_write_pages",
    "hotset_dirtied_pages",
    "hotset_mapped_faults",
    "hotset_evicted_pages",
    "hotset_refaulted_pages",
    "hotset_memory_cached_bytes",
    "hotset_memory_dirty_bytes",
    "hotset_samples",
    "hotset_active_rows",
];

/// The page, from the same families that a scrape gets.
pub fn status_page(measured: &Measured<'_>, families: &[Family]) -> String {
    let own = measured.own;
    let shown = || families.iter().filter(|family| SHOWN.contains(&family.name.as_str()));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "hotset export" }
                style { (maud::PreEscaped(STYLE)) }
            }
            body {
                h1 { "hotset export" }
                p { "hotset " (own.version) }
                @match measured.state {
                    SamplingState::Running => p { "Sampling runs." },
                    SamplingState::Stopped(reason) => p { strong { "Sampling has stopped: " (reason) } },
                }
                p { a href="/metrics" { "Metrics" } " · " a href="/healthz" { "Health" } }
                table {
                    @for family in shown() {
                        tr {
                            td { (family.help) }
                            td { (family.points.first().map_or_else(String::new, |point| plain(point.value))) }
                        }
                    }
                }
                @if !measured.not_measured.is_empty() {
                    h2 { "Not measured here" }
                    ul { @for gap in measured.not_measured { li { (gap) } } }
                }
            }
        }
    }
    .into_string()
}

fn plain(value: Value) -> String {
    match value {
        Value::Whole(value) => value.to_string(),
        Value::Nanos(ns) => format!("{:.3} s", ns as f64 / 1e9),
    }
}
