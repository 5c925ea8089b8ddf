//! The processes of a session and their lookups.

use std::collections::HashMap;

use hotset_facts::{Io, LookupCounters, Lookups, Observed, Pid, ProcessRow, Reason};
use hotset_sys::proc::mountinfo::Mount;

use crate::collector::{Collector, Life};
use crate::load::Loaded;
use crate::observation::Scope;
use crate::record::Process;

fn lookup_counters(process: &Process) -> LookupCounters {
    LookupCounters {
        calls: process.lookups,
        failed: process.lookups_failed,
        time_ns: process.lookup_ns.into(),
        failed_time_ns: process.lookup_failed_ns.into(),
    }
}

/// All lookups, with the paths that were not found.
pub(crate) fn lookups(
    collector: &Collector,
    mounts: &[Mount],
    processes: &HashMap<u32, Process>,
) -> Lookups {
    let own = std::process::id();
    let mut counters = LookupCounters::default();
    for process in processes.values() {
        if process.tgid != own {
            counters.add(&lookup_counters(process));
        }
    }
    let failed_paths = collector.failed_paths(mounts);
    let named: u64 = failed_paths.iter().map(|path| path.calls).sum();
    Lookups { counters, failed_paths, failed_unnamed: counters.failed.saturating_sub(named) }
}

/// One row a process, in order of appearance.
pub(crate) fn process_rows(
    loaded: &Loaded,
    scope: &Scope,
    collector: &Collector,
    mut io: HashMap<u32, Io>,
    counters: &HashMap<u32, Process>,
) -> Vec<ProcessRow> {
    let zero = Io::zero().without(&loaded.selection.missing);
    let own = std::process::id();
    let mut lives: Vec<(u32, Life)> =
        collector.processes.iter().map(|(owner, life)| (*owner, life.clone())).collect();
    lives.sort_by_key(|(_, life)| life.order);
    let unannounced = counters.iter().filter(|(owner, _)| !collector.processes.contains_key(owner));
    let mut unannounced: Vec<(Pid, u32)> =
        unannounced.map(|(owner, process)| (process.tgid, *owner)).collect();
    unannounced.sort_unstable();
    lives.extend(unannounced.into_iter().map(|(pid, owner)| (owner, life_from_proc(pid))));
    let born_here = matches!(scope, Scope::Children);
    lives
        .into_iter()
        .filter(|(_, life)| life.pid != own && life.pid != 0)
        .map(|(owner, life)| {
            let mut io = io.remove(&owner).unwrap_or(zero);
            let process = counters.get(&owner);
            if let (Some(time), Some(process)) = (io.time.as_value_mut(), process) {
                time.lookup_ns = process.lookup_ns;
            }
            let (minor_faults, major_faults) = faults(process, &life, born_here);
            ProcessRow {
                pid: life.pid,
                ppid: life.ppid,
                comm: life.comm,
                argv: life.argv,
                exit: life.exit.map_or(
                    Observed::Missing(Reason::not_measured("it still runs")),
                    Observed::Value,
                ),
                minor_faults,
                major_faults,
                lookups: Observed::Value(process.map(lookup_counters).unwrap_or_default()),
                io,
            }
        })
        .collect()
}

/// The kernel's counters since the process began; they are ours only if it began under our eyes and has ended.
fn faults(
    process: Option<&Process>,
    life: &Life,
    born_here: bool,
) -> (Observed<u64>, Observed<u64>) {
    const RUNS: Reason = Reason::not_measured("counted when a process ends");
    const OLDER: Reason = Reason::not_measured("it ran before the observation began");
    match process {
        _ if !born_here => (Observed::Missing(OLDER), Observed::Missing(OLDER)),
        Some(process) if life.exit.is_some() => {
            (Observed::Value(process.minor_faults), Observed::Value(process.major_faults))
        }
        _ => (Observed::Missing(RUNS), Observed::Missing(RUNS)),
    }
}

fn life_from_proc(pid: Pid) -> Life {
    let stat = hotset_sys::proc::stat::of(pid).ok().flatten();
    Life {
        order: usize::MAX,
        pid,
        ppid: stat.as_ref().map_or(0, |stat| stat.ppid),
        comm: stat.map(|stat| stat.comm).unwrap_or_default(),
        argv: hotset_sys::proc::cmdline::of(pid).ok().flatten().unwrap_or_default(),
        exit: None,
    }
}
