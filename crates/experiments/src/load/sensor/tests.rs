use std::collections::VecDeque;

use hotset_analysis::lab::testing::session;
use hotset_lab::experiment::Place;
use hotset_lab::probes::Language;

use super::*;
use crate::Options;
use crate::testing::Scratch;

/// Answers with the calls of a start, and then those of a load: `(calls, time_ns)`.
#[derive(Default)]
struct Scripted<'a> {
    runs: VecDeque<(u64, u64)>,
    /// Set where the script ends, as Ctrl-C does, which also ends the program.
    stop: Option<&'a AtomicBool>,
}

impl Sensor for Scripted<'_> {
    fn observe(&mut self, _: &Invocation) -> Result<ObservedRun, String> {
        let Some((calls, time_ns)) = self.runs.pop_front() else {
            if let Some(stop) = self.stop {
                stop.store(true, Ordering::Relaxed);
            }
            return Err("KeyboardInterrupt".to_owned());
        };
        let lookups = LookupCounters {
            calls,
            time_ns: time_ns.into(),
            failed: calls / 2,
            ..Default::default()
        };
        Ok(ObservedRun { files: Vec::new(), lookups: Observed::Value(lookups) })
    }
}

/// A library without files, whose states are then one.
fn parts(sensor: &mut dyn Sensor) -> Parts<'_> {
    let probe = Probe {
        name: "python".to_owned(),
        language: Language::Python,
        version: String::new(),
        program: "/bin/true".into(),
        found: "/bin/true".into(),
        flags: Vec::new(),
        place: "/".into(),
        supports: Vec::new(),
    };
    let library = Library {
        load: vec!["load".into()],
        nothing: vec!["nothing".into()],
        files: Vec::new(),
        sources: Vec::new(),
        facts: Vec::new(),
    };
    let set = build(LearnedBy::Given, &[], None);
    Parts { sensor, probe, called: "json".to_owned(), library, set, ids: Vec::new() }
}

/// What a session says after `rounds` rounds, and how measuring ended.
fn measured(
    runs: &[(u64, u64)],
    rounds: u32,
    stop: &AtomicBool,
) -> (LabSession, Result<(), String>) {
    let mut sensor = Scripted { runs: runs.iter().copied().collect(), stop: Some(stop) };
    let mut session = LabSession { rounds, ..session("load", Vec::new()) };
    let ended = parts(&mut sensor).measure(&mut session, stop);
    (session, ended)
}

/// `lookup: 1, 2`: the parts with the times of their samples.
fn cells(session: &LabSession) -> Vec<(&str, Vec<u64>)> {
    let times = |cell: &LabCell| cell.samples.iter().map(|sample| sample.wall_ns).collect();
    let parts = session.cells.iter().map(|cell| (cell.id.as_str(), times(cell)));
    parts.collect()
}

fn skipped(session: &LabSession) -> Vec<(&str, &str)> {
    session.skipped.iter().map(|skipped| (&*skipped.what, &*skipped.why)).collect()
}

const LOOKUP: &str = "load/python/library/json/lookup/warm";
const READ: &str = "load/python/library/json/read/warm";

#[test]
fn the_comparison_loads_nothing_and_is_the_same_beside_that() {
    let argv = ["ruby", "probe.rb", "load", "dir=/a count=9", "count=100", "how=require"];
    let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
    let wanted = ["ruby", "probe.rb", "load", "dir=/a count=9", "count=0", "how=require"];
    assert_eq!(loading_nothing(&argv), wanted);
}

#[test]
fn lookups_are_those_beyond_a_start_and_a_round_that_has_none_is_left_out() {
    let stop = AtomicBool::new(false);
    let runs = [(10, 100), (30, 170), (10, 200), (30, 150), (10, 100), (14, 180)];
    let (session, ended) = measured(&runs, 3, &stop);
    assert_eq!(ended, Ok(()));
    assert_eq!(cells(&session), [(LOOKUP, vec![70, 80]), (READ, vec![0; 3])]);
    let lookups: Vec<(u32, u64)> =
        session.cells[0].samples.iter().map(|sample| (sample.round, sample.operations)).collect();
    assert_eq!(lookups, [(0, 20), (2, 4)]);
    assert_eq!(skipped(&session), []);
    assert_eq!(session.facts, [LabFact::new("failed lookups of json".to_owned(), 10)]);
}

#[test]
fn where_no_round_can_tell_the_lookups_that_is_said() {
    let stop = AtomicBool::new(false);
    // In less time, and fewer.
    let (session, ended) = measured(&[(10, 200), (30, 100), (10, 100), (9, 200)], 2, &stop);
    assert_eq!(ended, Ok(()));
    assert_eq!(cells(&session), [(READ, vec![0, 0])]);
    assert_eq!(skipped(&session), [("python, library, json, lookup, warm", NO_LOOKUPS)]);
}

#[test]
fn a_stop_keeps_what_was_counted_and_is_the_reason_for_the_rest() {
    // Between two runs of a round.
    let stop = AtomicBool::new(false);
    let (session, ended) = measured(&[(10, 100), (30, 170), (10, 100)], 5, &stop);
    assert_eq!(ended, Ok(()));
    assert_eq!(cells(&session), [(LOOKUP, vec![70]), (READ, vec![0])]);
    assert_eq!(skipped(&session), []);
    // Before the first.
    let (session, ended) = measured(&[], 5, &AtomicBool::new(true));
    assert_eq!(ended, Ok(()));
    assert!(session.cells.is_empty() && session.facts.is_empty());
    let told = ["lookup", "read"].map(|part| format!("python, library, json, {part}, warm"));
    let told = [(told[0].as_str(), "interrupted"), (told[1].as_str(), "interrupted")];
    assert_eq!(skipped(&session), told);
}

#[test]
fn a_program_that_fails_by_itself_is_the_reason() {
    let mut sensor = Scripted::default();
    let mut session = LabSession { rounds: 5, ..session("load", Vec::new()) };
    let ended = parts(&mut sensor).measure(&mut session, &AtomicBool::new(false));
    assert_eq!(ended, Err("KeyboardInterrupt".to_owned()));
}

#[test]
fn after_a_stop_nothing_is_asked_and_nothing_is_said() {
    let scratch = Scratch::new();
    let place = Place::look(&scratch.path("")).expect("a place");
    let options = Options {
        libraries: vec!["json".to_owned()],
        runtime: Some("python".to_owned()),
        ..Options::default()
    };
    let request = Request { size: LabSize::Default, rounds: None, place, options };
    let why = "--no-bpf was given";
    let told = [("looking up and reading json", why)];
    for (stop, wanted) in [(true, &[][..]), (false, &told)] {
        let stop = AtomicBool::new(stop);
        let mut session = session("load", Vec::new());
        let mut run = AfterRun { request: &request, native: &[], sensor: None, stop: &stop };
        after(&mut session, &mut run);
        assert_eq!(skipped(&session), wanted);
    }
}
