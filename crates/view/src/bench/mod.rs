//! A benchmark session: a summary for a terminal or a pull request, `hotset.bench/1` in hyperfine's shape, CSV,
//! Markdown, and an HTML page.

mod baseline;
mod conditions;
mod csv;
mod difference;
mod files;
mod headline;
mod html;
mod kept;
mod look;
mod markdown;
#[cfg(test)]
pub(crate) mod testing;
mod warnings;
pub(crate) mod words;

use hotset_analysis::bench::BenchSummary;

pub use crate::wire::{baseline_json, read_baseline, read_bench, write_bench_json};
pub use csv::bench_csv;
pub use files::{failure, render_files};
pub use html::{bench_beside, page as bench_page, write_bench_html};
pub use kept::baseline_text;
pub use look::{BenchLook, TimeUnit};
pub use markdown::bench_markdown;
pub use words::letter;

use crate::escape::shorten_middle;
use crate::report::Options;
use crate::report::screen::{Screen, Tone};

/// The summary of a session, ready for a terminal or to be pasted.
pub fn render_bench(summary: &BenchSummary, options: &Options, look: BenchLook) -> String {
    let mut screen = Screen::new(options);
    title(&mut screen, summary);
    baseline::push(&mut screen, summary, look);
    headline::push(&mut screen, summary, look);
    conditions::push(&mut screen, summary, look);
    difference::push(&mut screen, summary, look);
    push_warnings(&mut screen, summary, look);
    screen.finish()
}

/// The commands, with a letter where there are several, and how the session went.
fn title(screen: &mut Screen, summary: &BenchSummary) {
    let commands = &summary.session.commands;
    for (index, command) in commands.iter().enumerate() {
        let letter =
            if commands.len() > 1 { format!("{}: ", words::letter(index)) } else { String::new() };
        let name = format!("{letter}{}", screen.name(command.name.as_bytes()));
        let name = screen.paint(&shorten_middle(&name, screen.width), Tone::Heading);
        screen.line(&name);
    }
    screen.paragraph("", " · ", &words::session(summary), 0);
    if let Some(tail) = words::output_tail(&summary.session.stop) {
        screen.line("The end of its output:");
        for line in tail {
            let line = shorten_middle(&screen.name(line), screen.width.saturating_sub(2));
            screen.line(&format!("  {line}"));
        }
    }
}

fn push_warnings(screen: &mut Screen, summary: &BenchSummary, look: BenchLook) {
    if summary.warnings.is_empty() {
        return;
    }
    screen.heading("Warnings", "");
    for warning in warnings::of(summary, look) {
        let advice =
            if warning.advice.is_empty() { String::new() } else { format!("; {}", warning.advice) };
        screen.paragraph("  ", " ", &format!("{}{advice}", warning.text), 0);
    }
}

#[cfg(test)]
mod tests;
