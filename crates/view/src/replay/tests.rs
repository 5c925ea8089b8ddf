//! Replays as they are shown.

use hotset_analysis::replay::summarise_replay;
use hotset_analysis::replay::testing::{differing, sample, session};
use hotset_facts::replay::{ReplaySession, SinceRecorded, UnfitFile};

use super::*;
use crate::report::Options;
use crate::wire::replay_json;
use crate::wire::schema_tests::refused;

/// Six rounds of the recording as it is and of a change.
fn changed() -> ReplaySession {
    let samples = (0..6).flat_map(|round| {
        [sample(0, round, 95 + u64::from(round)), sample(1, round, 30 + u64::from(round))]
    });
    session(samples.collect())
}

/// One round with all that can be wrong with it.
fn doubtful() -> ReplaySession {
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
    session
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
fn json_is_as_its_schema_says() -> Result<(), Box<dyn std::error::Error>> {
    for session in [changed(), doubtful(), session(Vec::new())] {
        let json = replay_json(&summarise_replay(session));
        assert_eq!(refused("hotset.replay/1", &json)?, [""; 0]);
    }
    Ok(())
}
