//! What a reader of replays has to know to believe them.

use std::path::Path;

use hotset_analysis::replay::ReplaySummary;
use hotset_facts::replay::{Difference, ReplaySession};

use super::words;
use crate::units::{bytes, count, plural};

/// A sentence each. Of files and of steps that ended otherwise, `named` are named, with their paths as `path` shows them.
pub(crate) fn caveats(
    summary: &ReplaySummary,
    named: usize,
    path: &dyn Fn(&Path) -> String,
) -> Vec<String> {
    let session = &summary.session;
    let mut lines: Vec<String> = Vec::new();
    let without_state: usize = summary.cells.iter().map(|cell| cell.without_state).sum();
    if without_state > 0 {
        lines.push(format!(
            "{} began with other pages cached than asked for, and {} not used: something else reads or evicts these files",
            plural(without_state as u64, "replay"),
            if without_state == 1 { "is" } else { "are" }
        ));
    }
    let differing = session.samples.iter().find(|sample| sample.differences > 0);
    if let Some(sample) = differing {
        lines.push(format!(
            "{} of a replay ended otherwise than recorded, so that replay is not used",
            plural(sample.differences, "step")
        ));
        lines.extend(sample.first_differences.iter().take(named).map(difference));
    }
    lines.extend(of_files(session, named, path));
    lines.extend(of_pages(session));
    if session.gaps > 0 {
        lines.push(format!(
            "records are missing in the recording, in {}",
            plural(session.gaps, "place")
        ));
    }
    if session.interrupted {
        lines.push("ended before the last round".to_owned());
    }
    lines
}

/// Whether the recording was made with pages of another size: what is cached, read ahead and mapped by one fault differs then.
fn of_pages(session: &ReplaySession) -> Option<String> {
    let recorded = session.head.environment.as_ref()?.page_size_bytes;
    let here = session.environment.page_size_bytes;
    (recorded != here).then(|| {
        format!(
            "recorded with pages of {}, replayed with pages of {}: which bytes are cached and mapped can differ",
            bytes(recorded),
            bytes(here)
        )
    })
}

/// How the files are not those of the recording.
fn of_files(session: &ReplaySession, named: usize, path: &dyn Fn(&Path) -> String) -> Vec<String> {
    let mut lines = Vec::new();
    let files = &session.files;
    if !files.unfit.is_empty() {
        let unfit = plural(files.unfit.len() as u64, "file");
        lines.push(format!("{unfit} changed since the recording"));
        let unfit = files.unfit.iter().take(named);
        lines.extend(
            unfit.map(|file| format!("{}: {}", path(&file.path), words::since_recorded(file))),
        );
    }
    if files.elsewhere > 0 {
        lines.push(format!(
            "{} on another device than the copies: writes and syncs may cost otherwise than recorded. Use --dir to put the copies on \
             that device",
            plural(files.elsewhere, "written file")
        ));
    }
    if files.made_up > 0 {
        lines.push(format!(
            "{} has random bytes, because the original is missing or shorter",
            plural(files.made_up, "copied file")
        ));
    }
    lines
}

/// `record 315, pread: -9 now, 278 recorded`.
fn difference(difference: &Difference) -> String {
    format!(
        "record {}, {}: {} now, {} recorded",
        count(difference.record.into()),
        difference.step.as_str(),
        difference.found,
        difference.recorded
    )
}
