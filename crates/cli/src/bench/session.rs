//! The session: what was asked for is checked, learned, run, summed up and written.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hotset_analysis::bench::{self, BenchSummary, summarise_bench};
use hotset_facts::{BenchSession, StopReason, WantedState, Warmup};
use hotset_lab::{CommandPlan, Ended, Hook, LabError, Learned, Order, Plan, conditions};
use hotset_watch::Learner;

use super::baseline::Baselines;
use super::commands::planned;
use super::stop_policy::{StopPolicy, label};
use super::{interrupted, no_result, not_learned};
use crate::args::{BenchArgs, BenchOutput, RoundArgs};
use crate::destination::check_destinations;
use crate::exit::{Exit, OrExit, Stop};
use crate::lock::lock;
use crate::output::StatusLine;
use crate::{interrupt, output};

/// The line on the terminal changes no more often than this.
const LINE_INTERVAL: Duration = Duration::from_millis(200);
/// How often a run that does not count is repeated in its round.
const MAX_REPEATS: u32 = 2;

/// Does what was asked, and says how it ended.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit, Stop> {
    check_rounds(&args.rounds)?;
    let mut commands = planned(args)?;
    let states = states(&args.states.state)?;
    check_exports(&args.exports)?;
    let mut baselines = Baselines::prepare(args, &commands, &states)?;
    let stop = interrupt::stop_flag();
    let Some(_lock) = lock(stop).or_exit(Exit::Own)? else { return Err(interrupted()) };
    set_up(&mut commands).map_err(no_result)?;
    let learned = learn(args, &commands, &states, stop);
    let learned = match learned {
        Ok(learned) if !args.states.show_files => learned,
        other => {
            let cleaned = clean_up(&commands);
            let learned = other?;
            cleaned.map_err(no_result)?;
            let sets: Vec<_> = learned.into_iter().map(|learned| learned.set).collect();
            let names: Vec<_> = commands.iter().map(|plan| plan.command.name.as_str()).collect();
            let shown = output::bench_files(&names, &sets, &args.exports);
            return Ok(if shown { Exit::Success } else { Exit::Own });
        }
    };
    baselines.begin();
    let Ended { session, error } = run(args, commands, learned, &states, stop)?;
    let end = end_of(&session);
    say_failure(&session);
    let mut summary: BenchSummary = summarise_bench(session);
    baselines.compare(&mut summary);
    let written = output::bench(&summary, &args.exports);
    if error.is_some() || end != Exit::Success {
        baselines.say_not_saved(&summary);
    }
    let end = match error {
        Some(error) => return Err(no_result(error)),
        None if end == Exit::Success => baselines.finish(&summary, args.exports.quiet)?,
        None => end,
    };
    Ok(if written { end } else { Exit::Own })
}

/// Refuses what no number of rounds can be.
fn check_rounds(rounds: &RoundArgs) -> Result<(), Stop> {
    match rounds.min_runs {
        Some(min) if min > rounds.max_runs => Err(Stop::usage(format_args!(
            "--min-runs {min} is more than --max-runs {}; expected at most that",
            rounds.max_runs
        ))),
        _ => Ok(()),
    }
}

/// The states, each once.
fn states(wanted: &[WantedState]) -> Result<Vec<WantedState>, Stop> {
    let mut states: Vec<WantedState> = Vec::new();
    for &state in wanted {
        if !states.contains(&state) {
            states.push(state);
        }
    }
    if states.contains(&WantedState::ColdAll)
        && let Err(error) = hotset_sys::cache::may_drop_everything()
    {
        return Err(Stop::own(format_args!("--state cold-all: {error}; or use --state cold")));
    }
    Ok(states)
}

fn check_exports(exports: &BenchOutput) -> Result<(), Stop> {
    let stdout = exports.json.then(|| PathBuf::from("-"));
    let files = [
        &exports.export_json,
        &exports.export_csv,
        &exports.export_markdown,
        &exports.html,
        &stdout,
    ];
    let twice = "more than one export goes to standard output";
    check_destinations(files.into_iter().flatten(), twice, Exit::Own)
}

fn learn(
    args: &BenchArgs,
    commands: &[CommandPlan],
    states: &[WantedState],
    stop: &AtomicBool,
) -> Result<Vec<Learned>, Stop> {
    let needs_files = args.states.show_files
        || states.iter().any(|state| !matches!(state, WantedState::AsIs | WantedState::ColdAll));
    let ignored_failures = args.around.ignored_failures();
    let mut learner = Learner {
        given: &args.states.files,
        no_sensor: args.states.no_bpf.then(|| "--no-bpf was given".to_owned()),
        ignored_failures: &ignored_failures,
        needs_files,
        quiet: args.exports.quiet,
        stop,
        say: |message| output::say(message),
    };
    let learn = |plan: &CommandPlan| {
        let mut line = StatusLine::new(shows_progress(args), LINE_INTERVAL);
        line.show(|| format!("learning the files of {}", plan.command.name));
        learner.learn(plan).map_err(not_learned)
    };
    commands.iter().map(learn).collect()
}

/// Output of the commands would run into a line of ours.
fn shows_progress(args: &BenchArgs) -> bool {
    !args.exports.quiet && !args.around.show_output
}

/// Sets all up, once, and so not by the session again. Where one can't be, those before it are cleaned up.
fn set_up(commands: &mut [CommandPlan]) -> Result<(), LabError> {
    for at in 0..commands.len() {
        if let Err(error) = commands[at].run_hook(Hook::Setup) {
            let _ = clean_up(&commands[..at]);
            return Err(error);
        }
        commands[at].hooks.setup = None;
    }
    Ok(())
}

/// Runs all of them, whatever the first ones come to.
fn clean_up(commands: &[CommandPlan]) -> Result<(), LabError> {
    let ran: Vec<_> = commands.iter().map(|plan| plan.run_hook(Hook::Cleanup)).collect();
    ran.into_iter().collect()
}

fn run(
    args: &BenchArgs,
    commands: Vec<CommandPlan>,
    learned: Vec<Learned>,
    states: &[WantedState],
    stop: &AtomicBool,
) -> Result<Ended, Stop> {
    let limits = limits(&args.rounds);
    let warmup = args.rounds.warmup.map_or(Warmup::Detect, Warmup::Rounds);
    let conditions = conditions(commands.len(), states, !args.rounds.no_noise_floor);
    let labels = conditions.iter().map(|condition| label(condition, commands.len())).collect();
    let planned_rounds = limits.planned_rounds(warmup);
    let plan = Plan {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commands: commands.into_iter().zip(learned).collect(),
        conditions,
        // Short enough to be typed again.
        seed: args.rounds.seed.unwrap_or_else(|| Order::fresh_seed() >> 40),
        planned_rounds,
        warmup,
        timer: hotset_lab::timer(),
        max_repeats: MAX_REPEATS,
        ignored_failures: args.around.ignored_failures(),
    };
    let line = StatusLine::new(shows_progress(args), LINE_INTERVAL);
    let mut policy = StopPolicy { plan: limits, line, labels, rounds: planned_rounds };
    hotset_lab::run(plan, &mut policy, stop).map_err(no_result)
}

fn limits(args: &RoundArgs) -> bench::Plan {
    let usual = bench::Plan::default();
    bench::Plan {
        fixed_rounds: args.runs,
        first_rounds: args.min_runs.unwrap_or(usual.first_rounds).min(args.max_runs),
        max_rounds: args.max_runs,
        max_time_ns: args.runs.is_none().then(|| hotset_facts::units::nanos(args.max_time)),
        ..usual
    }
}

/// What ended the session, where that was a command: with `-q` nothing else says it.
fn say_failure(session: &BenchSession) {
    let StopReason::Failed { condition, exit, output_tail } = &session.stop else { return };
    let command =
        session.conditions.get(*condition).and_then(|of| session.commands.get(of.command));
    let name = command.map_or("a command", |command| command.name.as_str());
    output::say(hotset_view::bench::failure(name, *exit, output_tail).trim_end());
}

fn end_of(session: &BenchSession) -> Exit {
    match session.stop {
        StopReason::Failed { exit, .. } => Exit::Command(exit),
        StopReason::Interrupted => interrupt::exit(),
        StopReason::Error { .. } => Exit::Own,
        StopReason::PreciseEnough
        | StopReason::TooShort
        | StopReason::RunsDone
        | StopReason::MaxTime => Exit::Success,
    }
}
