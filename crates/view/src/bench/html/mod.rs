//! The page of a session: what was compared, every run, and the state that each began in.

mod against;
mod beside;
mod compared;
mod headline;
mod runs;

use std::io::{self, Write};

use hotset_analysis::bench::BenchSummary;
use hotset_facts::Observed;

pub use beside::bench_beside;

use super::look::BenchLook;
use super::{warnings, words};
use crate::escape::{escape_bytes, escape_text};
use crate::page::{Axis, Page, Unit, host, write_page};
use crate::units::duration;

/// Writes a self-contained HTML page about the session.
///
/// # Errors
/// Only those of `out`.
pub fn write_bench_html(summary: &BenchSummary, out: &mut dyn Write) -> io::Result<()> {
    write_page(&page(summary), out)
}

/// The page of a session.
pub fn page(summary: &BenchSummary) -> Page {
    let mut sections = vec![runs::distribution(summary)];
    sections.extend(against::baseline(summary));
    sections.extend(compared::comparisons(summary));
    sections.extend(compared::cold_and_warm(summary));
    sections.extend(runs::over_time(summary));
    sections.extend(runs::states(summary));
    Page {
        title: title(summary),
        name: String::new(),
        subtitle: words::session(summary),
        headline: headline::answers(summary),
        sections,
        conditions: conditions(summary),
        doubts: warnings::of(summary, BenchLook::default()),
        parts: Vec::new(),
    }
}

fn title(summary: &BenchSummary) -> String {
    let commands = &summary.session.commands;
    let several = commands.len() > 1;
    let name = |(index, command): (usize, &hotset_facts::BenchCommand)| {
        let name = escape_text(&command.name);
        if several { format!("{}: {name}", words::letter(index)) } else { name }
    };
    commands.iter().enumerate().map(name).collect::<Vec<_>>().join(" against ")
}

/// A time axis; logarithmic where the longest is many times the shortest.
fn time_axis(title: &str, times: impl Iterator<Item = f64> + Clone) -> Axis {
    const TIMES: f64 = 12.0;
    let largest = times.clone().fold(0.0, f64::max);
    let smallest = times.filter(|&time| time > 0.0).fold(f64::INFINITY, f64::min);
    let log = smallest.is_finite() && largest / smallest > TIMES;
    Axis { log, ..Axis::of(title, Unit::Nanoseconds) }
}

fn conditions(summary: &BenchSummary) -> Vec<(String, String)> {
    let session = &summary.session;
    let mut all = host::host(session.started_at, &session.environment);
    let noise = match &session.timer.spawn_noise_ns {
        Observed::Value(noise) => {
            format!("a command that does nothing varies by {}", duration(*noise))
        }
        Observed::Missing(reason) => format!("how much spawning varies is unknown: {reason}"),
    };
    let resolution = duration(session.timer.resolution_ns);
    all.push(("Clock", format!("resolution {resolution}; {noise}")));
    all.push(("Order", format!("random within each round, seed {}", session.seed)));
    for line in words::output_tail(&session.stop).unwrap_or_default() {
        all.push(("The end of its output", escape_bytes(line)));
    }
    host::with_version(all, &session.version)
}

#[cfg(test)]
mod tests;
