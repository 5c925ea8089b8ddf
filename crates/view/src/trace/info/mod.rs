//! The text of `hotset trace info`.

mod map;
mod tables;

use hotset_analysis::trace::TraceCounts;
use hotset_analysis::trace::pictures::PictureSize;

use super::{Trace, words};
use crate::escape::shorten_middle;
use crate::report::Options;
use crate::report::screen::{Screen, Tone};
use crate::report::text::wrap_by;
use crate::units::{bytes, duration, whole_percent};

/// The size of the picture that [`info`] has room for.
pub fn info_picture_size(options: &Options) -> PictureSize {
    map::size(options)
}

/// What a trace holds, ready for a terminal: what it is of, what it lacks, what cost most, and where in its costliest file
/// requests were.
pub fn info(trace: &Trace<'_>, options: &Options) -> String {
    let mut screen = Screen::new(options);
    head(&mut screen, trace);
    if let Some(empty) = words::no_records(trace) {
        screen.line("");
        screen.paragraph("", " ", empty, 0);
        caveats(&mut screen, trace);
        return screen.finish();
    }
    totals(&mut screen, &trace.summary.totals);
    tables::files(&mut screen, trace.summary);
    map::push(&mut screen, trace, options);
    tables::operations(&mut screen, trace.summary);
    tables::processes(&mut screen, trace.summary);
    tables::failed_lookups(&mut screen, trace.summary);
    tables::sites(&mut screen, trace.summary);
    if let Some(advice) = words::no_sites(trace) {
        screen.heading("Call sites", "");
        screen.paragraph("", " ", advice, 2);
    }
    caveats(&mut screen, trace);
    screen.finish()
}

fn head(screen: &mut Screen, trace: &Trace<'_>) {
    let escape = |name: &[u8]| screen.name(name);
    let title = shorten_middle(&words::title(trace, &escape), screen.width);
    let mut origin = vec![words::source(trace, &escape)];
    origin.extend(words::origin(trace, &escape));
    let title = screen.paint(&title, Tone::Heading);
    screen.line(&title);
    for text in [origin.join(" · "), words::size(trace)] {
        for line in wrap_by(&text, " · ", screen.width) {
            screen.line(&line);
        }
    }
}

/// All requests in a line or two. What no record tells is left out: the caveats say so.
fn totals(screen: &mut Screen, totals: &TraceCounts) {
    let waited = totals.waited_ns.map_or_else(String::new, |ns| {
        let share = totals
            .waited_share()
            .map_or_else(String::new, |share| format!(" ({})", whole_percent(share)));
        format!(", {} of it waiting{share}", duration(ns))
    });
    let device = totals.read_pages.as_ref().and_then(|pages| pages.device_share());
    let device = device.map_or_else(String::new, |share| {
        format!(", {} of the pages from the device", whole_percent(share))
    });
    let all = [
        totals.time_ns.map(|ns| format!("{} in requests{waited}", duration(ns))),
        totals.read_bytes.map(|read| format!("{} read{device}", bytes(read))),
        totals
            .fault_pages
            .filter(|&pages| pages > 0)
            .map(|pages| format!("{} brought in by faults", words::of_pages(pages))),
        totals.written_bytes.map(|written| format!("{} written", bytes(written))),
        totals.direct_bytes.map(|direct| format!("{} of direct I/O", bytes(direct))),
    ];
    let text = all.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    for line in wrap_by(&text, " · ", screen.width) {
        screen.line(&line);
    }
}

fn caveats(screen: &mut Screen, trace: &Trace<'_>) {
    let all = words::caveats(trace, &|name| screen.name(name));
    if all.is_empty() {
        return;
    }
    screen.heading("Limits of this trace", "");
    for text in all {
        screen.paragraph("- ", " ", &text, 2);
    }
}
