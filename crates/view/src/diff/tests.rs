//! Differences as they are shown.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hotset_analysis::diff::{Change, Difference, Side, Strip, TraceSide, compare};
use hotset_analysis::explain::Explainer;
use hotset_analysis::trace::testing::{batches, head};
use hotset_facts::trace::{Operation, TraceLists};
use hotset_facts::{Observed, Profile, SyncIo, Target};

use super::*;
use crate::report::Options;
use crate::testing::{
    lookups, lossy, nasty_names, read_file, run, summary, three_files, unprivileged,
};
use crate::wire::{diff_json, documents as documents_of, read_diff};

fn side(profile: Profile, path: &str) -> Side {
    Side::of_summary(&summary(profile)).read_from(Some(Path::new(path)), "0.1.0")
}

fn between(before: Profile, after: Profile) -> Difference {
    let strip = Strip::of([PathBuf::from("/data")]);
    let [before, after] =
        [(before, "before.json"), (after, "after.json")].map(|(profile, path)| side(profile, path));
    compare(&before, &after, &strip).expect("two profiles")
}

/// What a change of a program does: a model that is read twice, a library of another version, a new file, more failed lookups, syncs.
fn changed() -> Difference {
    let files = vec![
        read_file(b"/data/models/resnet/train-00001.bin", 12, 196_608, 75),
        read_file(
            b"/usr/lib/python3.14/site-packages/numpy/core/_multiarray_umath.so",
            13,
            2_048,
            100,
        ),
        read_file(b"/data/settings.json", 15, 2, 0),
        read_file(b"/tmp/tmpab12cd_x/cache", 16, 9, 0),
    ];
    let mut before = three_files();
    before.files.push(read_file(b"/tmp/tmpzz99qqxx/cache", 17, 9, 0));
    let mut after = run(&["python3", "train.py", "--epochs", "2"], 9_430, files);
    after.started_at += Duration::from_secs(100);
    after.totals.sync = Observed::Value(SyncIo { calls: 400, time_ns: 2_000_000_000 });
    after.lookups = lookups(1_643, 4_410, 1_000_000);
    after.environment.kernel = "6.1.0".to_owned();
    between(before, after)
}

/// One run of a process without a loss, and one that lost much.
fn doubtful() -> Difference {
    let mut before = three_files();
    before.command.target = Target::Pid { pid: 7 };
    between(before, lossy())
}

fn without_sensor() -> Difference {
    between(unprivileged(), three_files())
}

/// Recordings of a control group: one has a sync and a path more.
fn recordings() -> Difference {
    let mut before = batches(400);
    let mut after = before.clone();
    let last = after.last_mut().expect("a batch");
    let sync = last.records.iter().find(|one| one.operation == Operation::Fdatasync).copied();
    last.records.extend(sync);
    before[0].added.gaps.clear();
    let of = |batches: &[hotset_facts::trace::TraceBatch], path: &str| {
        let mut lists = TraceLists::default();
        batches.iter().for_each(|batch| lists.append(batch.added.clone()));
        let mut head = head();
        head.lacks = vec!["it was stopped early".to_owned()];
        if let Some(command) = &mut head.command {
            command.target = Target::Cgroup { path: "/a.slice".into() };
        }
        let mut explainer = Explainer::new(&head, &lists, None);
        let mut side = TraceSide::new(&head, &lists);
        for batch in batches {
            explainer.add(batch);
            side.add(batch);
        }
        side.finish(&explainer.finish()).read_from(Some(Path::new(path)), "0.1.0")
    };
    let [before, after] =
        [(&before, "before.parquet"), (&after, "after.parquet")].map(|(it, path)| of(it, path));
    compare(&before, &after, &Strip::default()).expect("two recordings")
}

fn all() -> [Difference; 5] {
    let same = between(three_files(), three_files());
    [changed(), doubtful(), without_sensor(), recordings(), same]
}

/// Saved differences.
pub(crate) fn documents() -> Vec<Vec<u8>> {
    all().iter().map(diff_json).collect()
}

#[test]
fn the_terminal_says_it_like_this() {
    let text = |difference: &Difference, all| {
        let options = Options { all, ..Options::default() };
        let text = render_difference(difference, &options);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?}: {text}");
        text
    };
    let [changed, doubtful, without_sensor, recordings, same] = all();
    insta::assert_snapshot!("changed", text(&changed, false));
    insta::assert_snapshot!("changed_all", text(&changed, true));
    insta::assert_snapshot!("doubtful", text(&doubtful, false));
    insta::assert_snapshot!("without_sensor", text(&without_sensor, false));
    insta::assert_snapshot!("recordings", text(&recordings, false));
    insta::assert_snapshot!("same", text(&same, false));
}

/// Twelve files went and twelve came, each of so many pages.
fn orders(pages: fn(u64) -> u64) -> Difference {
    let files = |from: u64| {
        let file =
            |ino| read_file(format!("/srv/orders/{ino}.json").as_bytes(), ino, pages(ino), 0);
        run(&["load"], 10, (from..from + 12).map(file).collect())
    };
    between(files(0), files(20))
}

#[test]
fn a_long_list_is_cut_and_says_so() {
    let difference = orders(|ino| ino + 1);
    let text =
        |top, all| render_difference(&difference, &Options { top, all, ..Options::default() });
    assert_eq!(difference.files.as_value().map(|files| files.count(Change::Came)), Some(12));
    assert!(text(10, false).contains("and 14 more"));
    assert!(text(24, false).contains("/srv/orders/31.json") && !text(24, false).contains("more;"));
    assert!(text(1, true).contains("/srv/orders/31.json"));
}

#[test]
fn rows_that_differ_alike_are_told_once() {
    let difference = orders(|_| 2);
    let text = |all| render_difference(&difference, &Options { all, ..Options::default() });
    let few = text(false);
    assert!(few.contains("/srv/orders/20.json and 11 more in its directory"), "{few}");
    assert!(few.contains("each: opens +1") && !few.contains("21.json"), "{few}");
    assert!(text(true).contains("/srv/orders/21.json"));
    let page = crate::page::testing::lines(&difference_page("0.1.0", &difference));
    assert!(page.contains("/srv/orders/0.json and 11 more in its directory | went"), "{page}");
}

#[test]
fn no_name_breaks_a_line() {
    let difference = between(three_files(), nasty_names());
    let text = render_difference(&difference, &Options { all: true, ..Options::default() });
    assert!(text.lines().all(|line| !line.contains(['\t', '\x1b', '\u{202e}'])), "{text}");
    let ascii = Options { all: true, ascii: true, ..Options::default() };
    assert!(render_difference(&difference, &ascii).is_ascii());
}

#[test]
fn the_page_says_it_like_this() {
    let page = |difference: &Difference| {
        crate::page::testing::lines(&difference_page(crate::wire::VERSION, difference))
    };
    let [changed, .., recordings, _] = all();
    insta::assert_snapshot!("page", page(&changed));
    insta::assert_snapshot!("page_recordings", page(&recordings));
}

#[test]
fn a_saved_difference_is_the_live_one() -> Result<(), Box<dyn std::error::Error>> {
    for difference in all() {
        let json = diff_json(&difference);
        let document = documents_of(&json)?.remove(0);
        assert_eq!(read_diff(&document)?, difference);
    }
    Ok(())
}
