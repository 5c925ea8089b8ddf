//! The end of a listing: what was kept, the total, and the exit code.

use hotset_analysis::listing::{Arena, Notes, RollUp, Top, TotalNumbers, sorted};
use hotset_facts::{ListedFile, ListingTotals, Skipped};
use hotset_sys::tree::Walked;
use hotset_view::listing::{self, ListRow};

use super::job::{Form, Job, Keep};
use super::looker::Looker;
use crate::exit::Exit;
use crate::{interrupt, output};

/// Rows are printed in parts of about this size.
const BUFFER_BYTES: usize = 64 * 1024;

/// Everything that the threads found, put together.
struct Found {
    totals: ListingTotals,
    notes: Notes,
    skipped: Skipped,
    all_cached: bool,
    shown: u64,
    partial: bool,
}

/// Prints the rest and says how to end.
pub(super) fn end(job: &Job<'_>, walked: Walked<Looker<'_>>) -> Exit {
    let mut found = Found {
        totals: ListingTotals::default(),
        notes: Notes::new(matches!(job.form, Form::Json)),
        skipped: walked.skipped,
        all_cached: true,
        shown: 0,
        partial: walked.interrupted && hotset_sys::interrupt::signal().is_some(),
    };
    let mut kept = Vec::new();
    for mut looker in walked.visitors {
        looker.flush();
        found.totals.merge(&looker.totals);
        found.notes.merge(looker.notes);
        found.all_cached &= looker.all_cached;
        found.shown += looker.shown;
        kept.push(looker.keep);
    }
    let directories = print_kept(job, kept, &mut found);
    let total = TotalNumbers::new(
        &found.totals,
        found.skipped,
        if directories { found.totals.files } else { found.shown },
        found.partial,
        job.page_bytes,
    );
    print_total(job, &total, &found.notes);
    exit(job, &found)
}

/// Prints the rows that were kept for their order; true where they are directories.
fn print_kept(job: &Job<'_>, kept: Vec<Keep>, found: &mut Found) -> bool {
    let mut arenas: Vec<Arena> = Vec::new();
    let mut top: Option<Top> = None;
    let mut roll_up: Option<RollUp> = None;
    for keep in kept {
        match keep {
            Keep::Nothing => {}
            Keep::All(arena) => arenas.push(arena),
            Keep::Top(part) => match &mut top {
                Some(top) => top.merge(part),
                None => top = Some(part),
            },
            Keep::Directories(part) => match &mut roll_up {
                Some(roll_up) => roll_up.merge(part),
                None => roll_up = Some(part),
            },
        }
    }
    if let Some(order) = job.order {
        found.shown += print_files(job, sorted(&arenas, order));
    }
    if let Some(top) = top {
        found.shown += print_files(job, top.into_rows().into_iter());
    }
    if matches!(job.form, Form::Json) {
        job.text(listing::json_directories().as_bytes());
        job.stream.restart(b',');
    }
    let directories = roll_up.is_some();
    if let Some(roll_up) = roll_up {
        print_directories(job, roll_up);
    }
    directories
}

fn print_files(job: &Job<'_>, files: impl Iterator<Item = ListedFile>) -> u64 {
    let (mut buffer, mut shown) = (Vec::new(), 0);
    for file in files {
        job.push_file(&file, &mut buffer);
        shown += 1;
        if buffer.len() >= BUFFER_BYTES {
            job.print(&buffer);
            buffer.clear();
        }
    }
    job.print(&buffer);
    shown
}

fn print_directories(job: &Job<'_>, roll_up: RollUp) {
    let rows = roll_up.into_rows(&job.roots, job.order);
    let mut buffer = Vec::new();
    for row in rows.iter().take(job.top.unwrap_or(usize::MAX)) {
        match job.form {
            Form::Json => listing::json_directory(row, false, &mut buffer),
            _ => job.push_row(
                &ListRow { path: &row.path, numbers: &row.numbers, cells: &[] },
                &mut buffer,
            ),
        }
    }
    job.print(&buffer);
}

fn print_total(job: &Job<'_>, total: &TotalNumbers, notes: &Notes) {
    match &job.form {
        Form::Json => {
            let mut tail = Vec::new();
            listing::json_tail(total, &notes.unreadable, job.page_bytes, &mut tail);
            job.text(&tail);
        }
        Form::Table(_) | Form::Map | Form::Total => {
            if matches!(job.form, Form::Map) && total.shown > 0 {
                job.text(listing::map_legend(&job.style).as_bytes());
            }
            job.text(listing::total_lines(total, notes, &job.style).as_bytes());
        }
        Form::Csv | Form::Names { .. } | Form::Quiet => {}
    }
    if !matches!(job.form, Form::Json | Form::Quiet) {
        listing::unreadable_lines(notes).iter().for_each(output::say);
    }
}

fn exit(job: &Job<'_>, found: &Found) -> Exit {
    if hotset_sys::interrupt::signal().is_some() {
        return interrupt::exit();
    }
    let unread = found.notes.unreadable_count > 0;
    match job.form {
        Form::Quiet if !found.all_cached => Exit::Failure,
        _ if unread => Exit::Failure,
        _ => Exit::Success,
    }
}
