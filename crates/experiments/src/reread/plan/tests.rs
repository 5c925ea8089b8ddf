use super::*;
use crate::Options;
use crate::testing::Scratch;
use hotset_facts::LabSize;
use hotset_lab::experiment::{Part, Splits, cell_id, name, number};
use hotset_lab::probes::Interpreter;

fn request(scratch: &Scratch, options: Options) -> Request {
    let place = hotset_lab::experiment::Place::look(&scratch.path("")).expect("place");
    Request { size: LabSize::Quick, rounds: None, place, options }
}

fn sizes(sizes: &[u64]) -> Options {
    Options { sizes_bytes: sizes.to_vec(), ..Options::default() }
}

#[test]
fn every_cell_is_its_own_and_reads_files_that_are_made() {
    let scratch = Scratch::new();
    let plan = plan(&request(&scratch, Options::default())).expect("plan");
    let mut ids: Vec<_> =
        plan.cells.iter().map(|cell| cell_id(plan.experiment, &cell.factors)).collect();
    ids.sort();
    let cells = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), cells);
    assert!(ids.contains(&"reread/read/pattern/16777216/warm/huge/none".to_owned()), "{ids:?}");
    assert!(
        ids.contains(&"reread/read+parse/json/148480/evicted/reused/simd-json".to_owned()),
        "{ids:?}"
    );
    for cell in &plan.cells {
        for file in &cell.files {
            assert!(plan.prepare.iter().any(|made| made.path == *file), "{file:?}");
        }
    }
    assert!(plan.needs_bytes() < 128 << 20);
}

#[test]
fn quick_has_other_parsers_only_where_one_is_asked_for() {
    let scratch = Scratch::new();
    let told = |interpreters| {
        let options = Options { interpreters, ..Options::default() };
        let plan = plan(&request(&scratch, options)).expect("plan");
        let parsers = plan.facts.iter().filter(|fact| fact.subject.ends_with("-json")).count();
        let skipped = plan.skipped.iter().any(|left| left.what.starts_with("parsers of other"));
        (parsers > 0, skipped)
    };
    assert_eq!(told(Vec::new()), (false, true));
    let python = Interpreter { name: "python3".to_owned(), path: "/usr/bin/python3".into() };
    assert_eq!(told(vec![python]), (true, false));
}

#[test]
fn cold_reads_must_come_from_the_device_and_warm_ones_must_not() {
    const BYTES: u64 = 1 << 20;
    let scratch = Scratch::new();
    let plan = plan(&request(&scratch, sizes(&[BYTES]))).expect("plan");
    let expects = |cache: &str| -> Vec<(Option<u64>, Option<u64>)> {
        let wanted = [
            name("what", "read"),
            name("contents", "pattern"),
            number("size_bytes", BYTES),
            name("cache", cache),
            name("buffer", "fresh"),
        ];
        let cell = plan.cells.iter().find(|cell| cell.factors.starts_with(&wanted));
        let Splits::Parts(parts) = &cell.expect("a cell").splits else { return Vec::new() };
        let bytes = |part: &Part| (part.expects.min_device_bytes, part.expects.max_device_bytes);
        parts.iter().map(bytes).collect()
    };
    let (one, warm) = (BYTES / 100 * 95, (None, Some(0)));
    assert_eq!(expects("warm"), [warm, warm, warm]);
    assert_eq!(expects("kept"), [(Some(one), None), warm, warm]);
    let all = 19 * BYTES / 100 * 95;
    assert_eq!(expects("evicted"), [(Some(one), None), (Some(one), None), (Some(all), None)]);
    assert_eq!(expects("direct").len(), 3, "this test's files are on a disk");
}

#[test]
fn large_files_are_read_less_often_unless_asked() {
    let scratch = Scratch::new();
    let count = |options| {
        let plan = plan(&request(&scratch, options)).expect("plan");
        plan.facts.first().map(|fact| fact.value.to_string())
    };
    assert_eq!(count(sizes(&[1024])).as_deref(), Some("20"));
    assert_eq!(count(sizes(&[64 << 20])).as_deref(), Some("4"));
    let asked = Options { count: Some(7), ..sizes(&[64 << 20]) };
    assert_eq!(count(asked).as_deref(), Some("7"));
}

#[test]
fn what_can_not_be_measured_is_refused_or_left_out() {
    let scratch = Scratch::new();
    let error = |options| plan(&request(&scratch, options)).expect_err("refused").to_string();
    assert!(error(sizes(&[0])).contains("--sizes 0"));
    let once = Options { count: Some(1), ..Options::default() };
    assert!(error(once).contains("--count 1"));
    assert!(error(sizes(&[4096, 900 << 40])).starts_with("--sizes: 900 TiB is too large"));
    let mut request = request(&scratch, sizes(&[1024]));
    request.place.direct = Err("its files are in memory".to_owned());
    let plan = plan(&request).expect("plan");
    assert!(plan.skipped.iter().any(|skipped| skipped.what == "O_DIRECT"));
    assert!(!plan.cells.iter().any(|cell| cell.factors.contains(&name("cache", "direct"))));
}
