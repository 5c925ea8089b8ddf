//! Files are not where the time goes: stop looking here.

use super::input::{need, ratio};
use super::{Answer, RuleInput};
use crate::{Evidence, Finding, IoNumbers};

pub(super) const ID: &str = "cpu-bound";

/// I/O time as a share of the wall time, below which no change of I/O can pass the gate's 5 % ([`crate::Gate`]).
const MAX_IO_SHARE: f64 = 0.05;
/// A shorter run has nothing to gain and nothing to tell: its process started and ended.
const MIN_WALL_NS: u64 = 50_000_000;
/// Metadata that the device read, from which on files may well be what the run waited for: directories and inodes are
/// read outside any counted call.
const MAX_METADATA_BYTES: u64 = 1 << 20;
/// CPU time as a share of the wall time, from which on computing is the answer; below, the run waits for something else.
const MIN_CPU_SHARE: f64 = 0.5;

/// Summed over processes that run side by side, I/O time can exceed the wall time. So the process with the most I/O
/// decides: the run can't become faster by more than that process's I/O unless processes wait for each other in turn.
pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    let total_io_ns = need(input.time.io_ns)?;
    // Where faults have no time, a run that mapped pages in may have waited for them.
    let totals = &input.profile.totals;
    if totals.mmap.pages_read.value() != Some(0) {
        need(input.times()?.fault_ns)?;
    }
    let busiest_ns = need(input.time.busiest_process_io_ns)?;
    let wall_ns = input.profile.command.wall_ns;
    let io_share = ratio(busiest_ns as f64, wall_ns as f64);
    // Processes that run in turn: their sum counts as far as it fits into the wall time.
    let in_turn = ratio(total_io_ns as f64, wall_ns as f64) / input.time.parallelism;
    if wall_ns < MIN_WALL_NS || io_share.max(in_turn) >= MAX_IO_SHARE {
        return Ok(None);
    }
    let user_ns = input.profile.command.user_ns.value();
    let system_ns = input.profile.command.system_ns.value();
    let cpu_ns = user_ns.unwrap_or(0).saturating_add(system_ns.unwrap_or(0));
    let cpu_share = ratio(cpu_ns as f64, wall_ns as f64);
    let percent = 100.0 * io_share.max(in_turn);
    // One process's share, where several ran: their sum says nothing beside the wall time.
    let whose = if input.time.processes > 1 { " in the busiest process" } else { "" };
    let title = format!("File I/O is not the bottleneck: {percent:.1} % of wall time{whose}");
    let computes = cpu_share >= MIN_CPU_SHARE;
    let numbers = IoNumbers::of(totals, input.profile.environment.page_size_bytes);
    let metadata = numbers.metadata_bytes.value().unwrap_or(0);
    if !computes && metadata >= MAX_METADATA_BYTES {
        return Ok(None);
    }
    let advice = if user_ns.is_none() && system_ns.is_none() {
        "Use `perf record` to see where the remaining time goes."
    } else if computes {
        "The run is CPU-bound; profile it with `perf record`."
    } else {
        "The run waits for something other than files: network, locks, timers, pipes or CPU."
    };
    let mut evidence = vec![
        Evidence::real("io_percent", percent),
        Evidence::count("io_ns", total_io_ns),
        Evidence::count("busiest_process_io_ns", busiest_ns),
    ];
    evidence.extend(user_ns.map(|ns| Evidence::count("user_ns", ns)));
    evidence.extend(system_ns.map(|ns| Evidence::count("system_ns", ns)));
    Ok(Some(Finding::info(ID, title, advice, evidence)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;
    use crate::testing::{Run, profile, second, with_processes};
    use hotset_facts::{Observed, Reason, TimeIo};

    fn busy(io_ns: u64, user_ns: u64) -> Run {
        let mut profile = profile();
        let time = Observed::Value(TimeIo { hit_ns: io_ns, ..TimeIo::default() });
        profile.totals.time = time;
        profile.processes[0].io.time = time;
        profile.command.user_ns = Observed::Value(user_ns);
        Run::new(profile)
    }

    #[test]
    fn hit_a_run_that_computes() {
        let finding = busy(10_000_000, 950_000_000).finding(check);
        assert_eq!(finding.title, "File I/O is not the bottleneck: 1.0 % of wall time");
        assert_eq!(finding.severity, Severity::Info);
    }

    #[test]
    fn hit_a_run_that_sleeps() {
        assert!(busy(10_000_000, 0).finding(check).advice.contains("something other than files"));
    }

    #[test]
    fn a_run_of_unknown_cpu_time_is_not_said_to_wait() {
        let mut run = busy(10_000_000, 0);
        let none = Observed::Missing(Reason::not_measured("attached"));
        run.profile.command.user_ns = none;
        run.profile.command.system_ns = none;
        assert!(run.finding(check).advice.contains("remaining time"));
    }

    #[test]
    fn near_misses() {
        let mut run = busy(1, 1);
        run.profile.totals.device.read_bytes = Observed::Value(60 << 20);
        assert_eq!(run.ask(check), Ok(None), "find(1) over cold directories");
        let mut run = busy(1, second(1));
        run.profile.command.wall_ns = 1_000_000;
        assert_eq!(run.ask(check), Ok(None), "true(1)");
        assert_eq!(busy(50_000_000, 950_000_000).ask(check), Ok(None), "5 %");
        let mut profile = with_processes(10);
        let time = TimeIo { hit_ns: second(1) / 25, ..TimeIo::default() };
        for process in &mut profile.processes {
            process.io.time = Observed::Value(time);
        }
        profile.totals.time = Observed::Value(TimeIo { hit_ns: 10 * time.hit_ns, ..time });
        assert_eq!(Run::new(profile).ask(check), Ok(None), "4 % each, in turn");
    }

    #[test]
    fn no_data() {
        let mut run = busy(1, 1);
        run.profile.totals.time = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
        let none = Observed::Missing(Reason::unsupported("no fault tracepoint"));
        let mut run = busy(1, second(1));
        run.profile.totals.time = Observed::Value(TimeIo { fault_ns: none, ..TimeIo::default() });
        assert!(matches!(run.ask(check), Ok(Some(_))), "nothing was mapped in");
        run.profile.totals.mmap.pages_read = Observed::Value(8_192);
        assert!(run.ask(check).is_err(), "it may have waited for faults");
    }
}
