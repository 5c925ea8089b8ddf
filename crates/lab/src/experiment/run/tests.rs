//! Experiments whose probe is a shell script that knows the truth.

use hotset_facts::{DoubtCode, LabSample, LabSize};
use std::path::Path;

use super::super::expects::Expects;
use super::super::plan::{CellPlan, Contents, ProbeCommand, Rounds, TestFile, name};
use super::*;
use crate::command::Invocation;
use crate::test_support::{Scratch, quiet};

fn shell(line: &str) -> ProbeCommand {
    ProbeCommand::Program { argv: ["/bin/sh", "-c", line].map(OsString::from).to_vec() }
}

fn plan(cells: Vec<CellPlan>, prepare: Vec<TestFile>, rounds: u32) -> ExperimentPlan {
    ExperimentPlan {
        experiment: "access",
        size: LabSize::Quick,
        rounds: Rounds { min: rounds, max: rounds, budget: None, made_up: 0 },
        cells,
        skipped: Vec::new(),
        prepare,
        written_bytes: 0,
        facts: Vec::new(),
    }
}

fn run(
    plan: ExperimentPlan,
    at: &Path,
    counter: Option<&mut CallCounter<'_>>,
    stop: &AtomicBool,
) -> Result<LabSession, ExperimentError> {
    run_for(plan, at, counter, stop, Duration::MAX)
}

fn run_for(
    plan: ExperimentPlan,
    at: &Path,
    counter: Option<&mut CallCounter<'_>>,
    stop: &AtomicBool,
    repeats_for: Duration,
) -> Result<LabSession, ExperimentError> {
    let mut nobody = ();
    let bench = Bench {
        version: "test".into(),
        place: Place::look(at).expect("a place"),
        native: Vec::new(),
        seed: 1,
        max_repeats: 2,
        repeats_for,
        counter: counter.map(|counter| -> &mut CallCounter<'_> { counter }),
        watcher: &mut nobody,
        stop,
    };
    run_experiment(plan, bench)
}

fn file(scratch: &Scratch, name: &str) -> TestFile {
    TestFile { path: scratch.path(name), contents: Contents::Pattern { bytes: 400_000 } }
}

/// Tells how many pages of the file another program sees cached.
fn observer(path: &Path) -> ProbeCommand {
    let line = format!(
        "p=$(fincore -n -r -o PAGES {}); echo \"{{\\\"probe\\\":\\\"sh\\\",\\\"bytes\\\":$p,\\\"repetitions_ns\\\":[5]}}\"",
        path.display()
    );
    shell(&line)
}

#[test]
fn each_probe_finds_the_state_of_its_cell_on_exactly_its_files() {
    let _quiet = quiet();
    let scratch = Scratch::new();
    let files = [file(&scratch, "a"), file(&scratch, "b")];
    let cell = |place: usize, state, pages| {
        let probe = observer(&files[place].path);
        let level = format!("{place}{state}");
        CellPlan {
            files: vec![files[place].path.clone()],
            expects: Expects { bytes: Some(pages), ..Expects::default() },
            ..CellPlan::new(vec![name("cell", level)], state, probe)
        }
    };
    let cells = vec![
        cell(0, WantedState::Cold, 0),
        cell(0, WantedState::Warm, 98),
        cell(1, WantedState::Warm, 98),
    ];
    let go = AtomicBool::new(false);
    let session = run(plan(cells, files.to_vec(), 5), &scratch.path(""), None, &go).expect("run");
    assert_eq!((session.rounds, session.interrupted, session.cells.len()), (5, false, 3));
    for cell in &session.cells {
        let valid = cell.samples.iter().filter(|sample| sample.is_valid()).count();
        assert_eq!(valid, 5, "{cell:#?}");
        assert!(cell.samples.iter().all(|sample| sample.operations == 1 && sample.wall_ns == 5));
    }
    assert_eq!(session.cells[1].id, "access/0warm");
    assert!(session.conditions.clock_ns.value().is_some_and(|ns| ns > 0));
    assert!(session.conditions.null_engine_ps.value().is_some());
}

#[test]
fn a_sample_that_does_not_count_is_kept_marked_and_made_again() {
    let scratch = Scratch::new();
    let counter = scratch.path("counter");
    let line = format!(
        "echo x >> {0}; n=$(wc -l < {0}); echo \"{{\\\"probe\\\":\\\"sh\\\",\\\"bytes\\\":$n,\\\"repetitions_ns\\\":[5]}}\"",
        counter.display()
    );
    let expects = Expects { bytes: Some(2), ..Expects::default() };
    let cell = CellPlan {
        expects,
        ..CellPlan::new(vec![name("cell", "x")], WantedState::AsIs, shell(&line))
    };
    let failing =
        CellPlan::new(vec![name("cell", "y")], WantedState::AsIs, shell("echo no >&2; exit 1"));
    let go = AtomicBool::new(false);
    let session = run(plan(vec![cell, failing], vec![], 2), &scratch.path(""), None, &go);
    let session = session.expect("run");
    let is =
        |sample: &LabSample, code: DoubtCode| sample.doubts.iter().any(|doubt| doubt.code == code);
    let samples = &session.cells[0].samples;
    let wrong: Vec<bool> = samples.iter().map(|sample| is(sample, DoubtCode::WrongCount)).collect();
    let rounds: Vec<u32> = samples.iter().map(|sample| sample.round).collect();
    // The second counts, unless the hypervisor took the CPU.
    let counts = samples[1].is_valid();
    assert!(counts || is(&samples[1], DoubtCode::CpuTaken), "{samples:#?}");
    assert_eq!(rounds, if counts { vec![0, 0, 1, 1, 1] } else { vec![0, 0, 0, 1, 1, 1] });
    assert!(wrong.iter().enumerate().all(|(at, &wrong)| wrong == (at != 1)), "{samples:#?}");
    let failed = &session.cells[1].samples;
    assert!(failed.iter().all(|sample| is(sample, DoubtCode::Failed)), "{failed:#?}");
    assert_eq!(failed.len(), 2, "a failure would be the same again");
    assert!(session.cells[1].samples[0].doubts[0].text.contains("no"));
}

/// A cell whose first sample is wrong, and every one that is beyond the planned rounds is right.
#[test]
fn rounds_are_made_up_for_a_cell_that_would_have_no_interval() {
    let scratch = Scratch::new();
    let rounds = |wrong: u32, planned: u32, repeats_for: Duration| {
        let counter = scratch.path("counter");
        let _ = std::fs::remove_file(&counter);
        let line = format!(
            "echo x >> {0}; n=$(wc -l < {0}); test $n -le {wrong} && n=0 || n=1; \
             echo \"{{\\\"probe\\\":\\\"sh\\\",\\\"bytes\\\":$n,\\\"repetitions_ns\\\":[5]}}\"",
            counter.display()
        );
        let expects = Expects { bytes: Some(1), ..Expects::default() };
        let cell = CellPlan {
            expects,
            ..CellPlan::new(vec![name("cell", "x")], WantedState::AsIs, shell(&line))
        };
        let mut plan = plan(vec![cell], vec![], planned);
        plan.rounds.made_up = 3;
        let go = AtomicBool::new(false);
        run_for(plan, &scratch.path(""), None, &go, repeats_for).expect("run").rounds
    };
    // A round is three attempts: the first has none that is valid.
    assert!(rounds(3, 6, Duration::MAX) >= 7);
    assert_eq!(rounds(u32::MAX, 6, Duration::MAX), 6, "no round would help");
    assert_eq!(rounds(3, 6, Duration::ZERO), 6, "there is no time for it");
    assert_eq!(rounds(3, 5, Duration::MAX), 5, "fewer were asked for");
}

#[test]
fn when_the_time_for_repeats_is_over_each_round_has_one_sample() {
    let scratch = Scratch::new();
    let wrong = Expects { bytes: Some(2), ..Expects::default() };
    let probe = shell(r#"echo '{"probe":"sh","bytes":1,"repetitions_ns":[5]}'"#);
    let cell = CellPlan {
        expects: wrong,
        ..CellPlan::new(vec![name("cell", "x")], WantedState::AsIs, probe)
    };
    let go = AtomicBool::new(false);
    let samples = |repeats_for: Duration| {
        let plan = plan(vec![cell.clone()], vec![], 2);
        let session = run_for(plan, &scratch.path(""), None, &go, repeats_for).expect("run");
        (session.rounds, session.cells[0].samples.len())
    };
    assert_eq!(samples(Duration::MAX), (2, 6));
    assert_eq!(samples(Duration::ZERO), (2, 2));
}

#[test]
fn calls_are_counted_in_a_run_apart() {
    let scratch = Scratch::new();
    let line = r#"echo '{"probe":"sh","repetitions_ns":[5]}'"#;
    let cell = CellPlan::new(vec![name("cell", "x")], WantedState::AsIs, shell(line));
    let twin = cell.twin();
    let mut runs = 0;
    let mut counter = |_: &Invocation, _: &[std::path::PathBuf]| {
        runs += 1;
        Ok(7)
    };
    let go = AtomicBool::new(false);
    let plan = plan(vec![cell, twin], vec![], 3);
    let session = run(plan, &scratch.path(""), Some(&mut counter), &go).expect("run");
    assert_eq!(runs, 1);
    let calls: Vec<_> = session.cells[0].samples.iter().map(|s| s.syscalls.value()).collect();
    assert_eq!(
        (session.cells[0].syscalls_by, calls),
        (hotset_facts::CountedBy::Sensor, vec![Some(7); 3])
    );
    assert_eq!(session.cells[1].syscalls_by, hotset_facts::CountedBy::Nobody);
    assert_eq!(session.cells[1].samples[0].syscalls.value(), None);
}

#[test]
fn a_stop_ends_it_with_what_there_is_and_no_room_before_anything_is_made() {
    let scratch = Scratch::new();
    let stop = AtomicBool::new(true);
    let cell = CellPlan::new(vec![name("cell", "x")], WantedState::AsIs, shell("sleep 100"));
    let session = run(plan(vec![cell.clone()], vec![], 3), &scratch.path(""), None, &stop);
    let session = session.expect("run");
    assert_eq!((session.interrupted, session.rounds), (true, 0));
    assert!(session.cells[0].samples.is_empty());
    let huge = TestFile {
        path: scratch.path("huge"),
        contents: Contents::Pattern { bytes: u64::MAX / 2 },
    };
    let refused = run(plan(vec![cell], vec![huge], 3), &scratch.path(""), None, &stop);
    let error = refused.expect_err("no room").to_string();
    assert!(error.contains("not enough space"), "{error}");
    assert!(!scratch.path("huge").exists());
}
