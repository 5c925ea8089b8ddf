//! `hotset ls`.

mod rows;

use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use hotset_analysis::listing::{RowChoice, RowKind, TotalNumbers, is_met};
use hotset_control::listing::{ListOptions, Listing, Processes, list};
use hotset_sys::tree::Selection;

use crate::args::LsArgs;
use crate::exit::{Exit, OrExit, Stop};
use crate::interrupt;
use rows::Rows;

/// Looks at files, printing rows as they are found, then the total.
pub(super) fn ls(args: &LsArgs) -> Result<Exit, Stop> {
    let selection = selection(args).or_exit(Exit::Usage)?;
    let processes = processes(args).or_exit(Exit::Usage)?;
    let rows = Rows::new(args);
    let options = ListOptions {
        selection,
        processes,
        rows: choice(args),
        cells: rows.cells(),
        asks_if_cached: args.form.quiet,
        name_all_unreadable: args.form.json,
        threads: threads(args),
    };
    let stop = interrupt::stop_flag();
    if !rows.begin() {
        // Nobody reads it.
        stop.store(true, Ordering::Relaxed);
    }
    let mut listing = list(&options, stop, &rows);
    let numbers = print_kept(&rows, &options, &mut listing);
    rows.end(&numbers, &listing.notes);
    rows.finish()?;
    if hotset_sys::interrupt::signal().is_some() {
        return Ok(interrupt::exit());
    }
    let unreadable = listing.notes.unreadable_count;
    let met = is_met(options.asks_if_cached, listing.all_cached, unreadable);
    Ok(if met { Exit::Success } else { Exit::Failure })
}

/// Prints the rows that were kept for their order; the numbers of all.
fn print_kept(rows: &Rows, options: &ListOptions, listing: &mut Listing) -> TotalNumbers {
    let mut shown = listing.shown + rows.files(|each| listing.kept.files(&options.rows, each));
    rows.begin_directories();
    if let Some(directories) = listing.kept.directories(&options.rows, &options.selection.roots) {
        rows.directories(&directories);
        shown = listing.totals.files;
    }
    let (skipped, partial) = (listing.skipped, listing.interrupted);
    TotalNumbers::new(&listing.totals, skipped, shown, partial, hotset_sys::page_size())
}

fn choice(args: &LsArgs) -> RowChoice {
    RowChoice {
        order: args.rows.order(),
        top: args.rows.top,
        only: args.rows.only,
        rows: match &args.rows {
            rows if rows.summarize || args.form.quiet => RowKind::None,
            rows if rows.dirs => RowKind::Directories,
            _ => RowKind::Files,
        },
        depth: args.selection.depth,
    }
}

fn selection(args: &LsArgs) -> Result<Selection> {
    let mut roots = args.selection.roots()?;
    if args.pid.is_some() || args.cgroup.is_some() {
        // What processes hold rolls up from here.
        roots.push("/".into());
    } else if roots.is_empty() && args.selection.files_from.is_none() {
        roots.push(".".into());
    }
    let mut selection = args.selection.selection_of(roots)?;
    if args.rows.dirs {
        // All is counted; the depth is one of rows.
        selection.max_depth = None;
    }
    Ok(selection)
}

fn processes(args: &LsArgs) -> Result<Option<Processes>> {
    match (args.pid, &args.cgroup) {
        (Some(pid), _) => Ok(Some(Processes::one(pid))),
        (None, Some(group)) => Processes::of_group(group)
            .map(Some)
            .with_context(|| format!("--cgroup {}", group.display())),
        (None, None) => Ok(None),
    }
}

fn threads(args: &LsArgs) -> usize {
    const MOST: usize = 4;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    args.threads.map_or(cpus.min(MOST), usize::from)
}
