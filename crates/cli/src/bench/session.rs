//! The session: what was asked for is checked, learned, run, summed up and written.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use hotset_analysis::bench::{self, BenchSummary, summarise_bench};
use hotset_facts::{BenchSession, StopReason, WantedState, Warmup};
use hotset_lab::{CommandPlan, Hook, LabError, Order, Plan, SessionLock, Waiting, conditions};

use super::commands::{Planned, planned};
use super::learn::{Learned, Learner, hook};
use super::stop_policy::{StopPolicy, label};
use crate::args::{BenchArgs, BenchOutput, RoundArgs};
use crate::exit::{Exit, OrExit, Stop};
use crate::plan::check_destination;
use crate::{interrupt, output};

/// How often a run that does not count is repeated in its round.
const MAX_REPEATS: u32 = 2;
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Does what was asked, and says how it ended.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit, Stop> {
    let commands = planned(args)?;
    let states = states(&args.states.state)?;
    check_exports(&args.exports)?;
    let stop = interrupt::stop_flag();
    let Some(_lock) = lock(stop)? else { return Err(super::interrupted()) };
    for planned in &commands {
        hook(planned, Hook::Setup, planned.hooks.setup.as_ref())?;
    }
    let learned = learn(args, &commands, &states, stop);
    let learned = match learned {
        Ok(learned) if !args.states.show_files => learned,
        other => {
            let cleaned = clean_up(&commands);
            let learned = other?;
            cleaned?;
            let sets: Vec<_> = learned.into_iter().map(|learned| learned.set).collect();
            let names: Vec<_> = commands.iter().map(|one| one.command.name.as_str()).collect();
            let shown = output::bench_files(&names, &sets, &args.exports);
            return Ok(if shown { Exit::Success } else { Exit::Own });
        }
    };
    let session = run(args, commands, learned, &states, stop)?;
    let end = end_of(&session);
    let summary: BenchSummary = summarise_bench(session);
    Ok(if output::bench(&summary, &args.exports) { end } else { Exit::Own })
}

/// The states, each once.
fn states(wanted: &[WantedState]) -> Result<Vec<WantedState>, Stop> {
    let mut states: Vec<WantedState> = Vec::new();
    for &state in wanted {
        if !states.contains(&state) {
            states.push(state);
        }
    }
    let may_drop = rustix::fs::access(DROP_CACHES, rustix::fs::Access::WRITE_OK).is_ok();
    if states.contains(&WantedState::ColdAll) && !may_drop {
        return Err(Stop::own(format_args!(
            "the state cold-all takes root ({DROP_CACHES} can't be written to); cold evicts the command's files without it"
        )));
    }
    Ok(states)
}

fn check_exports(exports: &BenchOutput) -> Result<(), Stop> {
    let files =
        [&exports.export_json, &exports.export_csv, &exports.export_markdown, &exports.html];
    let named: Vec<&Path> = files.into_iter().flatten().map(|path| path.as_path()).collect();
    let to_stdout = named.iter().filter(|path| **path == Path::new("-")).count();
    if to_stdout + usize::from(exports.json) > 1 {
        return Err(Stop::usage("more than one export goes to standard output"));
    }
    for path in named {
        check_destination(path).or_exit(Exit::Own)?;
    }
    Ok(())
}

fn lock(stop: &AtomicBool) -> Result<Option<SessionLock>, Stop> {
    let mut waits = |waiting: Waiting| {
        let who = waiting.pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
        output::say(format_args!("waiting for another bench of this user to end{who}"));
    };
    SessionLock::take(stop, &mut waits).or_exit(Exit::Own)
}

fn learn(
    args: &BenchArgs,
    commands: &[Planned],
    states: &[WantedState],
    stop: &AtomicBool,
) -> Result<Vec<Learned>, Stop> {
    let needs_files = args.states.show_files
        || states.iter().any(|state| !matches!(state, WantedState::AsIs | WantedState::ColdAll));
    let mut learner = Learner {
        given: &args.states.files,
        no_bpf: args.states.no_bpf,
        ignore_failure: args.around.ignore_failure,
        needs_files,
        quiet: args.exports.quiet,
        stop,
        no_sensor: None,
    };
    let show = output::stderr_is_terminal() && !args.exports.quiet && !args.around.show_output;
    let mut all = Vec::new();
    for planned in commands {
        if show {
            let line = format!("learning the files of {}", planned.command.name);
            output::progress(&hotset_view::escape_text(&line));
        }
        let learned = learner.learn(planned);
        if show {
            output::progress("");
        }
        all.push(learned?);
    }
    Ok(all)
}

fn clean_up(commands: &[Planned]) -> Result<(), Stop> {
    let each = commands.iter().map(|one| hook(one, Hook::Cleanup, one.hooks.cleanup.as_ref()));
    // All of them, whatever the first ones come to.
    each.collect::<Vec<_>>().into_iter().collect()
}

fn run(
    args: &BenchArgs,
    commands: Vec<Planned>,
    learned: Vec<Learned>,
    states: &[WantedState],
    stop: &AtomicBool,
) -> Result<BenchSession, Stop> {
    let limits = limits(&args.rounds);
    let warmup = args.rounds.warmup.map_or(Warmup::Detect, Warmup::Rounds);
    let conditions = conditions(commands.len(), states, !args.rounds.no_noise_floor);
    let show = output::stderr_is_terminal() && !args.exports.quiet && !args.around.show_output;
    let labels = show.then(|| conditions.iter().map(|one| label(one, commands.len())).collect());
    let planned_rounds = limits.planned_rounds(warmup);
    let plan = Plan {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commands: commands.into_iter().zip(learned).map(command_plan).collect(),
        conditions,
        // Short enough to be typed again.
        seed: args.rounds.seed.unwrap_or_else(|| Order::fresh_seed() >> 40),
        planned_rounds,
        warmup,
        timer: hotset_lab::timer(),
        max_repeats: MAX_REPEATS,
        ignore_failure: args.around.ignore_failure,
    };
    let mut referee = StopPolicy { plan: limits, labels, shown: None, rounds: planned_rounds };
    let ran = hotset_lab::run(plan, &mut referee, stop);
    referee.clear();
    ran.map_err(no_result)
}

fn command_plan((planned, learned): (Planned, Learned)) -> CommandPlan {
    let mut hooks = planned.hooks;
    // It ran before the files were learned.
    hooks.setup = None;
    CommandPlan {
        command: planned.command,
        program: planned.invocation.program,
        streams: planned.streams,
        hooks,
        set: learned.set,
        learned: learned.io,
    }
}

fn limits(args: &RoundArgs) -> bench::Plan {
    bench::Plan {
        fixed_rounds: args.runs,
        first_rounds: args.min_runs.min(args.max_runs),
        max_rounds: args.max_runs,
        max_time_ns: args.runs.is_none().then(|| hotset_facts::units::nanos(args.max_time)),
        ..bench::Plan::default()
    }
}

fn no_result(error: LabError) -> Stop {
    match error {
        LabError::HookFailed { hook, exit, output_tail } => {
            let name = format!("the {} command", hook.as_str());
            super::failed(Exit::Own, &name, exit, &output_tail)
        }
        LabError::Start { .. } => Stop::new(Exit::NotExecutable, error),
        other => Stop::own(other),
    }
}

fn end_of(session: &BenchSession) -> Exit {
    match session.stop {
        StopReason::Failed { exit, .. } => Exit::Command(exit),
        StopReason::Interrupted => interrupt::exit(),
        StopReason::PreciseEnough | StopReason::RunsDone | StopReason::MaxTime => Exit::Success,
    }
}
