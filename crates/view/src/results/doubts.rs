//! What to doubt of results of many lines and of listings: losses, what was not measured, what is not whole. A terminal is told
//! the same while they come.

use hotset_analysis::listing::Notes;
use hotset_analysis::live::{GrownLoss, LossWatch};
use hotset_facts::{Observed, Reason};

use super::lines::Recording;
use crate::escape::escape_text;
use crate::listing::{unknown_line, unreadable_lines};
use crate::live::stat::columns_without_number;
use crate::page::PageWarning;
use crate::units::{count, plural};
use crate::wire::{Listing, StatRecord};

/// Of the lines of `stat`.
pub(super) fn of_stat(lines: &[StatRecord]) -> Vec<PageWarning> {
    let mut missing = MissingColumns::default();
    for read in lines {
        columns_without_number(&read.line).for_each(|(column, reason)| missing.add(column, reason));
    }
    let late: u64 = lines.iter().map(|read| read.late).fold(0, u64::saturating_add);
    let late = (late > 0).then(|| {
        doubt(format!("{} came late: each is part of the one after it", plural(late, "line")), "")
    });
    let lost = GrownLoss::summed(lines.iter().flat_map(|read| &read.lost));
    losses(lost).chain(missing.doubts(lines.len())).chain(late).collect()
}

/// Of a recording: its last interval has the losses of all.
pub(super) fn of_recording(recording: &Recording) -> Vec<PageWarning> {
    let Recording { header, frames, cut } = recording;
    let lost = frames.last().map(|last| LossWatch::default().grown(&last.losses));
    let not_measured = header.not_measured.iter().map(|lacking| {
        let what = lacking.feature.unmeasured().join(", ");
        doubt(format!("not measured: {what}"), &lacking.reason)
    });
    let mut missing = MissingColumns::default();
    for frame in frames {
        frame.evicted_pages.reason().iter().for_each(|why| missing.add("evicted pages", *why));
    }
    let cut = cut.then(|| doubt("it ends within an interval, which is left out".to_owned(), ""));
    let lost = lost.unwrap_or_default();
    losses(lost).chain(cut).chain(not_measured).chain(missing.doubts(frames.len())).collect()
}

/// Of a listing.
pub(super) fn of_listing(listing: &Listing) -> Vec<PageWarning> {
    let mut notes = Notes::new(false);
    for file in &listing.files {
        if let Observed::Missing(reason) = file.state {
            notes.add_unknown(&file.path, reason);
        }
    }
    for unreadable in &listing.unreadable {
        notes.add_unreadable(&unreadable.path, unreadable.reason.clone());
    }
    let partial = listing
        .partial
        .then(|| doubt("Stopped before the end: this is the part so far.".to_owned(), ""));
    let unreadable = (notes.unreadable_count > 0).then(|| {
        let what = format!("{} could not be read", plural(notes.unreadable_count, "path"));
        doubt(what, &unreadable_lines(&notes).join("; "))
    });
    let named: u64 = notes.unknown.iter().map(|unknown| unknown.files).sum();
    let unnamed = listing.totals.unknown_files.saturating_sub(named);
    let unnamed = (unnamed > 0)
        .then(|| doubt(format!("{} unknown, without a row here", plural(unnamed, "file")), ""));
    let unknown = notes.unknown.iter().map(|unknown| doubt(unknown_line(unknown, false), ""));
    partial.into_iter().chain(unreadable).chain(unknown).chain(unnamed).collect()
}

fn doubt(text: String, advice: &str) -> PageWarning {
    PageWarning { text: escape_text(&text), advice: escape_text(advice) }
}

/// What got lost; what makes counts too low comes first.
fn losses(mut lost: Vec<GrownLoss>) -> impl Iterator<Item = PageWarning> {
    lost.sort_by_key(|loss| !loss.counts);
    lost.into_iter().map(|loss| doubt(format!("{} ({})", loss.what, count(loss.more)), loss.damage))
}

/// Columns without a number, each with why and in how many lines.
#[derive(Default)]
struct MissingColumns(Vec<(&'static str, Reason, usize)>);

impl MissingColumns {
    fn add(&mut self, column: &'static str, why: Reason) {
        let same =
            |(known, reason, _): &&mut (&str, Reason, usize)| (*known, *reason) == (column, why);
        match self.0.iter_mut().find(same) {
            Some((.., lines)) => *lines += 1,
            None => self.0.push((column, why, 1)),
        }
    }

    /// A doubt for each reason.
    fn doubts(self, lines: usize) -> Vec<PageWarning> {
        let mut by_reason: Vec<(Reason, usize, Vec<&str>)> = Vec::new();
        for (column, why, times) in self.0 {
            let same =
                by_reason.iter_mut().find(|(reason, known, _)| (*reason, *known) == (why, times));
            match same {
                Some((.., columns)) => columns.push(column),
                None => by_reason.push((why, times, vec![column])),
            }
        }
        let words = |(why, times, columns): (Reason, usize, Vec<&str>)| {
            let columns = columns.join(", ");
            let text = match times == lines {
                true => format!("not measured: {columns}"),
                false => format!(
                    "not measured in {times} of {}: {columns}",
                    plural(lines as u64, "interval")
                ),
            };
            doubt(text, &why.to_string())
        };
        by_reason.into_iter().map(words).collect()
    }
}
