//! Whole sessions of small commands.

use std::path::PathBuf;

use hotset_facts::{BenchCommand, ConditionRole, Observed, Reason, StateReached, WantedState};
use hotset_tests::Evictions;

use super::*;
use crate::command::{Invocation, Streams, Surroundings};
use crate::hooks::Hooks;
use crate::schedule::conditions;
use crate::shell::Shell;
use crate::test_support::{Scratch, quiet, resident_pages, set_of};

/// So many rounds, of which a run counts when `counts` says so.
struct Rounds<F>(u32, F);

impl<F: FnMut(&BenchRun) -> bool> Judge for Rounds<F> {
    fn counts(&mut self, run: &BenchRun, _progress: Progress<'_>) -> bool {
        (self.1)(run)
    }

    fn decide(&mut self, progress: Progress<'_>) -> Decision {
        let done = progress.rounds >= self.0;
        if done { Decision::Stop(StopReason::RunsDone) } else { Decision::GoOn }
    }
}

fn shell(line: &str, files: &[PathBuf]) -> (CommandPlan, Learned) {
    let invocation = Shell::of_hooks().run(line.as_ref());
    let plan = CommandPlan {
        command: BenchCommand {
            name: line.to_owned(),
            argv: invocation.argv,
            shell: None,
            parameters: Vec::new(),
        },
        program: invocation.program,
        streams: Streams::default(),
        hooks: Hooks::default(),
        surroundings: Surroundings::default(),
    };
    (plan, Learned { set: set_of(files), io: Observed::Missing(Reason::not_measured("a test")) })
}

fn plan(commands: Vec<(CommandPlan, Learned)>, states: &[WantedState]) -> Plan {
    Plan {
        version: "0".to_owned(),
        conditions: conditions(commands.len(), states, true),
        commands,
        seed: 7,
        planned_rounds: 1,
        warmup: Warmup::Detect,
        timer: Timer { resolution_ns: 1, spawn_noise_ns: Observed::Value(0) },
        max_repeats: 2,
        ignored_failures: IgnoredFailures::None,
    }
}

fn run_all(plan: Plan, rounds: u32) -> BenchSession {
    let ended = run(plan, &mut Rounds(rounds, |_: &BenchRun| true), &AtomicBool::new(false));
    ended.expect("session").session
}

fn hook(line: &str) -> Option<Invocation> {
    Some(Shell::of_hooks().run(line.as_ref()))
}

/// The state that was verified before a run, and after it.
fn reached(run: &BenchRun) -> [StateReached; 2] {
    [&run.reached_before, &run.reached_after].map(|reached| reached.value().expect("verified"))
}

#[test]
fn each_round_runs_every_condition_once_in_its_state() {
    let _quiet = quiet();
    let scratch = Scratch::new();
    let file = scratch.pages("data", 500);
    let evictions = Evictions::of(&[&file]);
    let line = format!("exec cat {} > /dev/null", file.display());
    let states = [WantedState::Cold, WantedState::Warm];
    let session = run_all(plan(vec![shell(&line, &[file])], &states), 6);
    assert_eq!((session.runs.len(), session.stop.clone()), (18, StopReason::RunsDone));
    for round in session.runs.chunks(3) {
        let mut ran: Vec<usize> = round.iter().map(|run| run.condition).collect();
        assert_eq!(ran, Order::new(7).of_round(round[0].round, 3));
        ran.sort_unstable();
        assert_eq!(ran, [0, 1, 2]);
    }
    assert_eq!(session.conditions[2].role, ConditionRole::NoiseFloor { twin_of: 0 });
    let evicts = !evictions.none();
    for run in &session.runs {
        let [before, after] = reached(run);
        let is_cold = session.conditions[run.condition].state == WantedState::Cold;
        assert_eq!((before.pages, after.pages), (500, 500));
        assert!(!is_cold || before.cached_pages == 0, "{before:?}");
        assert!(is_cold || before.cached_pages == 500 || evicts, "{before:?}");
        assert!(after.cached_pages == 500 || evicts, "{after:?}");
        let read = run.device_read_bytes.value().expect("counted");
        let file_bytes = 500 * hotset_sys::page_size();
        // The shell's own pages can have been evicted by someone else, so there is no upper bound.
        assert!(!is_cold || read >= file_bytes, "{read}");
        assert!(run.wall_ns > 0 && run.minor_faults > 0 && run.inputs_changed.is_empty());
    }
    assert!(
        session.runs.windows(2).all(|pair| pair[0].started_after_ns < pair[1].started_after_ns)
    );
}

#[test]
fn a_warm_run_is_warm_at_its_spawn_a_hundred_times() {
    let _quiet = quiet();
    let scratch = Scratch::new();
    let paths: Vec<PathBuf> = (0..20).map(|n| scratch.pages(&n.to_string(), 64)).collect();
    let log = scratch.path("log");
    let evictions = Evictions::of(&paths);
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    // Asked by the command itself, as the first thing that it does.
    let line = format!("exec fincore -n -r -o PAGES {} >> {}", names.join(" "), log.display());
    let session = run_all(plan(vec![shell(&line, &paths)], &[WantedState::Warm]), 50);
    let log = std::fs::read_to_string(&log).expect("log");
    let seen: Vec<u64> = log.lines().map(|line| line.trim().parse().expect("number")).collect();
    assert_eq!((session.runs.len(), seen.len()), (100, 2000));
    let is_warm = |cached: u64| cached * 1000 >= 1280 * 999;
    let mut warm = 0;
    for (run, seen) in session.runs.iter().zip(seen.chunks(20)) {
        let [before, after] = reached(run);
        assert_eq!((before.pages, before.unknown_files), (1280, 0));
        let seen: u64 = seen.iter().sum();
        // A busy host may evict pages at any time. What it takes stays away, for the command reads none of them: a run that is
        // told to be warm, before and after, was so in between.
        if is_warm(before.cached_pages) && is_warm(after.cached_pages) {
            assert!(is_warm(seen), "{seen} of 1280 pages when the command looked");
            warm += 1;
        }
    }
    assert!(warm >= if evictions.none() { 100 } else { 1 }, "{warm} of 100 runs were warm");
}

#[test]
fn what_the_command_itself_finds_at_its_start_is_what_was_wanted() {
    let scratch = Scratch::new();
    let _quiet = quiet();
    let (file, log) = (scratch.pages("data", 300), scratch.path("log"));
    let evictions = Evictions::of(&[&file]);
    // The command is the observer: util-linux's fincore asks mincore(2) or cachestat(2) by itself.
    let line = format!("fincore -n -r -o PAGES {} >> {}", file.display(), log.display());
    let states = [WantedState::Cold, WantedState::Warm, WantedState::Share(half())];
    let session = run_all(plan(vec![shell(&line, &[file])], &states), 10);
    let log = std::fs::read_to_string(&log).expect("log");
    let seen: Vec<u64> = log.lines().map(|line| line.trim().parse().expect("number")).collect();
    assert_eq!(seen.len(), session.runs.len());
    let evicts = !evictions.none();
    let mut judged = [false; 4];
    for (run, seen) in session.runs.iter().zip(seen) {
        let wanted = [0, 300, 150, 0][run.condition];
        let [before, after] = reached(run).map(|reached| reached.cached_pages);
        // The host may evict pages at any time. The command reads none: what is there before and after was so in between.
        if (before, after) == (wanted, wanted) {
            assert_eq!(seen, wanted, "{:?}", session.conditions[run.condition]);
            judged[run.condition] = true;
        } else {
            assert!(evicts, "{before} and {after} pages, and wanted are {wanted}");
        }
    }
    assert_eq!(judged, [true; 4], "states that were never reached");
}

fn half() -> hotset_facts::Percent {
    hotset_facts::Percent::new(50).expect("percent")
}

#[test]
fn runs_that_do_not_count_are_repeated_in_their_round_and_kept() {
    let plan = plan(vec![shell("exit 0", &[])], &[WantedState::AsIs]);
    let mut turn = 0;
    let mut judge = Rounds(1, |_: &BenchRun| {
        turn += 1;
        turn == 2
    });
    let ended = run(plan, &mut judge, &AtomicBool::new(false)).expect("session");
    let repeats: Vec<u32> = ended.session.runs.iter().map(|run| run.repeat).collect();
    assert_eq!(repeats, [0, 1, 0, 1, 2], "the second turn never counts");
}

#[test]
fn a_failure_ends_the_session_with_its_last_words_unless_ignored() {
    let failing = || plan(vec![shell("echo why >&2; exit 3", &[])], &[WantedState::AsIs]);
    let session = run_all(failing(), 4);
    let StopReason::Failed { exit, output_tail, .. } = session.stop else { panic!("no failure") };
    assert_eq!((exit, output_tail.as_slice()), (ExitStatus::Code(3), b"why\n".as_slice()));
    assert_eq!(session.runs.len(), 1);
    let session = run_all(Plan { ignored_failures: IgnoredFailures::All, ..failing() }, 4);
    assert_eq!((session.stop, session.runs.len()), (StopReason::RunsDone, 8));
}

#[test]
fn hooks_run_around_the_runs_and_are_not_inputs_changed() {
    let scratch = Scratch::new();
    let (data, log) = (scratch.pages("data", 4), scratch.path("log"));
    let say = |word: &str| format!("echo {word} >> {}", log.display());
    let mut command = shell(&say("run"), std::slice::from_ref(&data));
    let prepare = format!("{}; echo x >> {}", say("prepare"), data.display());
    command.0.hooks = Hooks {
        setup: hook(&say("setup")),
        prepare: hook(&prepare),
        conclude: hook(&say("conclude")),
        cleanup: hook(&say("cleanup")),
    };
    let session = run_all(plan(vec![command], &[WantedState::Cold]), 1);
    let log = std::fs::read_to_string(&log).expect("log");
    let words: Vec<&str> = log.lines().collect();
    assert_eq!(
        words,
        ["setup", "prepare", "run", "conclude", "prepare", "run", "conclude", "cleanup"]
    );
    // Dirtied right before, and cold all the same.
    for run in &session.runs {
        assert_eq!(run.reached_before.value().map(|before| before.cached_pages), Some(0));
        assert!(run.inputs_changed.is_empty());
    }
    assert!(resident_pages(&data).iter().all(|&there| !there));
}

#[test]
fn a_command_that_changes_its_inputs_is_noticed() {
    let scratch = Scratch::new();
    let files = [scratch.pages("a", 1), scratch.pages("b", 1)];
    let line = format!("echo more >> {}", files[1].display());
    let session = run_all(plan(vec![shell(&line, &files)], &[WantedState::AsIs]), 2);
    assert!(session.runs.iter().all(|run| run.inputs_changed == [1]));
}

#[test]
fn what_can_not_be_run_is_named_and_a_failing_hook_still_lets_others_clean_up() {
    let mut missing = shell("exit 0", &[]);
    missing.0.program = "/nonexistent".into();
    let mut judge = Rounds(1, |_: &BenchRun| true);
    let error = run(plan(vec![missing], &[WantedState::AsIs]), &mut judge, &AtomicBool::new(false));
    let Err(LabError::Start { name, .. }) = error else { panic!("{error:?}") };
    assert_eq!(name, "exit 0");
    let scratch = Scratch::new();
    let mark = scratch.path("mark");
    let mut command = shell("exit 0", &[]);
    command.0.hooks.prepare = hook("echo no; exit 9");
    command.0.hooks.cleanup = hook(&format!("echo > {}", mark.display()));
    let error = run(plan(vec![command], &[WantedState::AsIs]), &mut judge, &AtomicBool::new(false));
    let Err(LabError::HookFailed { hook: Hook::Prepare, name, exit, output_tail }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(name, "exit 0");
    assert_eq!((exit, output_tail.as_slice()), (ExitStatus::Code(9), b"no\n".as_slice()));
    assert!(mark.exists());
}

#[test]
fn what_was_run_before_a_hook_failed_is_kept() {
    let scratch = Scratch::new();
    let count = scratch.path("count");
    let mut command = shell("exit 0", &[]);
    let line = format!("echo >> {0}; [ $(wc -l < {0}) -lt 4 ] || exit 9", count.display());
    command.0.hooks.prepare = hook(&line);
    let plan = plan(vec![command], &[WantedState::AsIs]);
    let mut judge = Rounds(5, |_: &BenchRun| true);
    let Ended { session, error } = run(plan, &mut judge, &AtomicBool::new(false)).expect("runs");
    assert_eq!(session.runs.len(), 3);
    assert!(matches!(session.stop, StopReason::Error { .. }), "{:?}", session.stop);
    assert!(matches!(error, Some(LabError::HookFailed { hook: Hook::Prepare, .. })), "{error:?}");
}

#[test]
fn a_session_that_is_stopped_has_what_it_had() {
    let stop = AtomicBool::new(false);
    let mut runs = 0;
    let mut judge = Rounds(100, |_: &BenchRun| {
        runs += 1;
        if runs == 3 {
            stop.store(true, Ordering::Relaxed);
        }
        true
    });
    let plan = plan(vec![shell("exit 0", &[])], &[WantedState::AsIs]);
    let session = run(plan, &mut judge, &stop).expect("session").session;
    assert_eq!((session.stop, session.runs.len()), (StopReason::Interrupted, 3));
}
