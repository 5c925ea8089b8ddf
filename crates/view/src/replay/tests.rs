//! Replays as they are shown.

use hotset_analysis::replay::summarise_replay;
use hotset_analysis::replay::testing::{differing, sample, session};
use hotset_facts::replay::{
    PatternKind, PatternMark, ReplayPattern, ReplaySession, SinceRecorded, UnfitFile,
};
use hotset_facts::trace::{MemoryStep, Reclaim, RecordingCost, TraceHead, TraceMemory};
use hotset_facts::{Command, Feature, NotMeasured, Target};

use super::*;
use crate::page::picture::Drawn;
use crate::report::Options;
use crate::wire::replay_json;
use crate::wire::schema_tests::refused;

/// Six rounds of the recording as it is and of a change.
pub(crate) fn changed() -> ReplaySession {
    let samples = (0..6).flat_map(|round| {
        [sample(0, round, 95 + u64::from(round)), sample(1, round, 30 + u64::from(round))]
    });
    session(samples.collect())
}

/// One round with all that can be wrong with it.
pub(crate) fn doubtful() -> ReplaySession {
    let mut without_state = sample(0, 1, 100);
    without_state.pages.cached = 0;
    let mut session = session(vec![differing(sample(0, 0, 100)), without_state]);
    let unfit = |path: &str, since_recorded, size_bytes| UnfitFile {
        path: path.into(),
        since_recorded,
        recorded_bytes: 3 << 20,
        size_bytes,
    };
    session.files.unfit = vec![
        unfit("/srv/data", SinceRecorded::Shorter, Some(4096)),
        unfit("/srv/gone", SinceRecorded::Missing, None),
        unfit("/dev/sda", SinceRecorded::Special, Some(0)),
    ];
    (session.files.made_up, session.files.elsewhere) = (1, 2);
    (session.gaps, session.interrupted) = (3, true);
    let mut elsewhere = session.environment.clone();
    elsewhere.page_size_bytes = 16 << 10;
    session.head.environment = Some(elsewhere);
    session
}

/// A recording that says all that one can say of itself.
pub(crate) fn telling_head(target: Target) -> TraceHead {
    let session = session(Vec::new());
    let environment = crate::testing::three_files().environment;
    TraceHead {
        started_at: Some(session.started_at),
        environment: Some(environment),
        command: session.head.command.map(|command| Command { target, ..command }),
        cost: Some(RecordingCost { beyond_duration_ns: -7, added_ns: 500 }),
        memory: Some(TraceMemory { anon_peak_bytes: 1 << 20, looks: 3, ..TraceMemory::default() }),
        memory_steps: vec![MemoryStep { from_ns: 0, bytes: 1 << 20 }],
        reclaim: Some(Reclaim { multi_gen_lru: true, swap_bytes: 0 }),
        not_measured: vec![NotMeasured::lacking(Feature::FileFaults)],
        lacks: vec!["a thread was lost".to_owned()],
        ..session.head
    }
}

fn text(session: ReplaySession) -> String {
    render_replay(&summarise_replay(session), &Options::default())
}

#[test]
fn the_terminal_says_it_like_this() {
    insta::assert_snapshot!("changed", text(changed()));
    insta::assert_snapshot!("doubtful", text(doubtful()));
    insta::assert_snapshot!("nothing", text(session(Vec::new())));
    let slower = session(vec![sample(0, 0, 300)]);
    insta::assert_snapshot!("not_as_recorded", text(slower));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for session in [changed(), doubtful()] {
        let widest = text(session).lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?}");
    }
}

#[test]
fn the_page_says_it_like_this() {
    let page = |session| replay_page(&summarise_replay(session));
    insta::assert_snapshot!("page", crate::page::testing::lines(&page(changed())));
    insta::assert_snapshot!("page_doubtful", crate::page::testing::lines(&page(doubtful())));
    insta::assert_snapshot!(
        "page_nothing",
        crate::page::testing::lines(&page(session(Vec::new())))
    );
}

#[test]
fn the_page_of_saved_replays_is_that_of_the_live_ones() -> Result<(), Box<dyn std::error::Error>> {
    for session in [changed(), doubtful(), session(Vec::new())] {
        let live = summarise_replay(session);
        let json = replay_json(&live);
        let document = crate::wire::documents(&json)?.remove(0);
        let read = summarise_replay(crate::wire::read_replay(&document)?);
        assert_eq!(replay_page(&read), replay_page(&live));
    }
    Ok(())
}

/// The picture of a change, with a pattern that is like the usual one but for something.
fn pictured(edit: fn(&mut ReplayPattern)) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut session = changed();
    edit(session.variants[1].pattern.as_mut().expect("a pattern"));
    let section = super::picture::section(&summarise_replay(session), 1);
    let Some(Drawn::Pattern(drawing)) = section.picture.map(|picture| picture.drawn) else {
        panic!("a picture");
    };
    let all = drawing.sides.iter().flat_map(|side| &side.marks);
    assert!(all.into_iter().all(|mark| mark.lane < drawing.lanes.len()), "each has its lane");
    let sides = drawing.sides.iter().map(|side| side.name.clone()).collect();
    (sides, drawing.lanes, section.notes)
}

#[test]
fn a_picture_says_what_it_leaves_out() {
    let (sides, lanes, _) = pictured(|pattern| {
        pattern.before.requests = 500;
        pattern.before.marks[0].lane = None;
        pattern.more_lanes = 3;
    });
    assert_eq!(sides[0], "As recorded: 500 requests, the first 22 shown");
    assert_eq!(lanes.last().map(String::as_str), Some("3 others"));
}

#[test]
fn a_lane_that_is_not_there_is_one_for_others() {
    let (_, lanes, _) = pictured(|pattern| pattern.after.marks[0].lane = Some(99));
    assert_eq!(lanes.last().map(String::as_str), Some("no file"));
}

#[test]
fn a_picture_says_what_looks_alike() {
    let (_, _, notes) = pictured(|pattern| pattern.after.in_flight = 32);
    assert!(notes[1].contains("up to 32 reads are in flight"), "{notes:?}");
    let (_, _, notes) = pictured(|pattern| {
        pattern
            .before
            .marks
            .iter_mut()
            .for_each(|mark| mark.direct = mark.kind == PatternKind::Read);
        let without = pattern.before.marks.clone().into_iter();
        pattern.after.marks = without.map(|mark| PatternMark { direct: false, ..mark }).collect();
    });
    assert!(notes[1].contains("without O_DIRECT"), "{notes:?}");
    let (_, lanes, notes) = pictured(|pattern| pattern.lanes[1].is_new = true);
    assert_eq!((notes.len(), &*lanes[1]), (1, "one new file, /etc/shop/orders.log"));
}

#[test]
fn json_is_as_its_schema_says() -> Result<(), Box<dyn std::error::Error>> {
    for session in [changed(), doubtful(), session(Vec::new())] {
        let json = replay_json(&summarise_replay(session));
        assert_eq!(refused("hotset.replay/1", &json)?, [""; 0]);
    }
    Ok(())
}
