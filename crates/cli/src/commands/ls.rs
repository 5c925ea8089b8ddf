//! `hotset ls`.

mod end;
mod job;
mod looker;
mod processes;

use anyhow::Result;
use hotset_sys::tree::{self, Selection};

use crate::args::LsArgs;
use crate::exit::Exit;
use crate::{interrupt, output};
use job::Job;
use looker::Looker;
use processes::Processes;

/// Looks at files, printing rows as they are found, then the total.
pub(crate) fn ls(args: &LsArgs) -> Exit {
    let selected = selection(args).and_then(|selection| Ok((selection, processes(args)?)));
    let (selection, processes) = match selected {
        Ok(selected) => selected,
        Err(error) => return refused(&error, Exit::Usage),
    };
    list(args, &selection, processes).unwrap_or_else(|error| refused(&error, Exit::Failure))
}

fn refused(error: &anyhow::Error, exit: Exit) -> Exit {
    output::say(format_args!("{error:#}"));
    exit
}

fn list(args: &LsArgs, selection: &Selection, processes: Option<Processes>) -> Result<Exit> {
    let stop = interrupt::stop_flag();
    let job = Job::new(args, selection.roots.clone(), stop);
    job.begin();
    let lookers = (0..threads(args)).map(|_| Looker::new(&job)).collect();
    let walked = match processes {
        Some(processes) => processes.look(selection, stop, lookers),
        None => tree::walk(selection, stop, lookers),
    };
    let exit = end::end(&job, walked);
    job.finish()?;
    Ok(exit)
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
        (None, Some(directory)) => Processes::of_group(directory).map(Some),
        (None, None) => Ok(None),
    }
}

fn threads(args: &LsArgs) -> usize {
    const MOST: usize = 4;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    args.threads.map_or(cpus.min(MOST), usize::from)
}
