//! The page of replays: does the recording behave as recorded, how long does each variant take, and what does each change do?

use std::io::{self, Write};

use hotset_analysis::replay::{Prediction, ReplayCell, ReplaySummary};

use super::caveats::caveats;
use super::{picture, words};
use crate::bench::words::{bytes as real_bytes, ratio_parts};
use crate::escape::{escape_bytes, escape_path};
use crate::page::{Answer, Page, PageWarning, Section, Table, host, write_page};
use crate::report::header::command_title;

/// Writes a self-contained HTML page about replays.
///
/// # Errors
/// Only those of `out`.
pub fn write_replay_html(summary: &ReplaySummary, out: &mut dyn Write) -> io::Result<()> {
    write_page(&replay_page(summary), out)
}

/// The page of replays.
pub fn replay_page(summary: &ReplaySummary) -> Page {
    let session = &summary.session;
    let what = match &session.head.command {
        Some(command) => command_title(command, &escape_bytes),
        None => escape_path(&session.trace),
    };
    let mut sections = vec![replays(summary)];
    if !summary.cells.is_empty() {
        sections.push(as_recorded(summary));
    }
    sections.extend((1..session.variants.len()).map(|variant| change(summary, variant)));
    let conditions = host::host(session.started_at, &session.environment);
    Page {
        title: format!("Replay of {what}"),
        subtitle: format!("{} · {}", escape_path(&session.trace), words::extent(session)),
        headline: headline(summary),
        sections,
        conditions: host::with_version(conditions, &session.version),
        doubts: doubts(summary),
        ..Page::default()
    }
}

/// What replays are to be doubted for, with all files.
pub(crate) fn doubts(summary: &ReplaySummary) -> Vec<PageWarning> {
    let all = caveats(summary, usize::MAX, &escape_path);
    all.into_iter().map(|text| PageWarning { text, advice: String::new() }).collect()
}

fn headline(summary: &ReplaySummary) -> Vec<Answer> {
    let changes = summary.ratios.iter().filter_map(|ratio| {
        let variant = summary.session.variants.get(ratio.variant)?;
        let prediction = summary.predictions.iter().find(|one| one.variant == ratio.variant);
        Some(Answer {
            question: format!("{}, {} cache state", words::variant(variant), ratio.state.as_str()),
            number: format!("I/O {}", speed_number(&ratio.io)),
            sentence: prediction.map_or_else(String::new, predicted),
            confidence: format!("I/O {}", words::speed(&ratio.io)),
        })
    });
    changes.chain(fidelity(summary)).collect()
}

/// What the run would take, or why nobody says.
fn predicted(prediction: &Prediction) -> String {
    match prediction.no_prediction {
        Some(why) => format!("No prediction for the program: {}.", why.as_str()),
        None => words::prediction(prediction),
    }
}

/// `3.10x faster`, or that no difference was detected.
pub(crate) fn speed_number(io: &hotset_analysis::bench::RatioEstimate) -> String {
    let is_faster = io.ratio <= 1.0;
    let turned = if is_faster { io.swapped() } else { *io };
    match turned.interval.is_some_and(|ends| ends.holds(1.0)) {
        true => "no difference".to_owned(),
        false => {
            format!("{} {}", ratio_parts(&turned).0, if is_faster { "faster" } else { "slower" })
        }
    }
}

/// Whether the replay behaves as recorded.
pub(crate) fn fidelity(summary: &ReplaySummary) -> Option<Answer> {
    let fidelity = &summary.fidelity;
    Some(Answer {
        question: "Does the replay behave as recorded?".to_owned(),
        number: format!("{:.2}x", fidelity.ratio?),
        sentence: words::fidelity(fidelity),
        confidence: String::new(),
    })
}

fn as_recorded(summary: &ReplaySummary) -> Section {
    Section {
        question: "As recorded?".to_owned(),
        answer: words::fidelity(&summary.fidelity),
        ..Section::default()
    }
}

/// Each variant from each state.
fn replays(summary: &ReplaySummary) -> Section {
    let session = &summary.session;
    let name = |cell: &&ReplayCell| {
        session.variants.get(cell.variant).map_or_else(String::new, words::variant)
    };
    let dash = || "-".to_owned();
    let speed = |cell: &&ReplayCell| {
        let mut ratios = summary.ratios.iter();
        let ratio = ratios.find(|ratio| (ratio.variant, ratio.state) == (cell.variant, cell.state));
        ratio.map_or_else(dash, |ratio| words::speed(&ratio.io))
    };
    let used = |cell: &&ReplayCell| {
        let all = cell.valid + cell.without_state + cell.with_differences;
        format!("{} of {all}", cell.valid)
    };
    let time = |cell: &&ReplayCell| {
        cell.io_ns.map_or_else(dash, |io| words::spread(&io, cell.io_ns_interval))
    };
    let table = Table::of("I/O time of all threads: median [95 % CI]", &summary.cells)
        .words("Replay", name)
        .words("Cache state", |cell| cell.state.as_str().to_owned())
        .numbers("I/O time", time)
        .numbers("Beside the recording as it is", speed)
        .numbers("Device reads", |cell| cell.device_read_bytes.map_or_else(dash, real_bytes))
        .numbers("Used", used)
        .table();
    let nothing = summary.cells.is_empty().then(|| "No replay was finished.".to_owned());
    Section {
        question: "How long does the I/O take?".to_owned(),
        answer: nothing.unwrap_or_default(),
        notes: words::left_out(&session.left_out).into_iter().collect(),
        table,
        ..Section::default()
    }
}

/// What a changed variant does, and what the program would gain.
fn change(summary: &ReplaySummary, variant: usize) -> Section {
    let Some(changed) = summary.session.variants.get(variant) else { return Section::default() };
    let done: Vec<String> = changed.changes.iter().map(words::change).collect();
    let mut section = picture::section(summary, variant);
    let prediction = summary.predictions.iter().find(|one| one.variant == variant);
    let prediction = prediction.map(predicted);
    section.notes.splice(0..0, prediction);
    Section {
        question: format!("What does {} change?", words::variant(changed)),
        answer: done.join("; "),
        ..section
    }
}
