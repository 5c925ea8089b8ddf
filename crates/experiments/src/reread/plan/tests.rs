use super::*;
use crate::Options;
use crate::testing::Scratch;
use hotset_facts::LabSize;
use hotset_lab::experiment::{Part, ProbeCommand, Splits, cell_id, name, number};
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
        let skipped =
            plan.skipped.iter().any(|left| left.what.starts_with("reads and parsers of other"));
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
fn other_languages_read_large_files_twice_and_say_so() {
    let scratch = Scratch::new();
    let count = |count, bytes| {
        let python = Interpreter { name: "python".to_owned(), path: "/usr/bin/python3".into() };
        let options = Options { interpreters: vec![python], count, ..sizes(&[bytes]) };
        let plan = plan(&request(&scratch, options)).expect("plan");
        let subject = format!("reads in a process of another language of {bytes} bytes");
        let fact = plan.facts.iter().find(|fact| fact.subject == subject);
        fact.map(|fact| fact.value.to_string())
    };
    assert_eq!(count(None, 64 << 20).as_deref(), Some("2"));
    // As often as the others, which is told of these.
    assert_eq!((count(None, 1024), count(Some(7), 64 << 20)), (None, None));
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

#[test]
fn each_language_reads_a_cached_file_often_and_an_evicted_one_once_a_process() {
    let scratch = Scratch::new();
    let python = Interpreter { name: "python".to_owned(), path: "/usr/bin/python3".into() };
    let options = Options { interpreters: vec![python], ..sizes(&[8192]) };
    let plan = plan(&request(&scratch, options)).expect("plan");
    let argv = |id: &str| -> Vec<String> {
        let of_id = |cell: &&CellPlan| cell_id(plan.experiment, &cell.factors) == id;
        let cell = plan.cells.iter().find(of_id).unwrap_or_else(|| panic!("{id}"));
        let ProbeCommand::Program { argv } = &cell.probe else { panic!("{id}: {cell:?}") };
        assert_eq!(cell.files.len(), 1, "{id}");
        argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    };
    for id in [
        "reread/read/pattern/8192/{}/runtime/none/python",
        "reread/read/pattern/8192/{}/runtime/none/c",
        "reread/read+parse/json/148480/{}/runtime/python-json",
    ] {
        let (warm, evicted) = (argv(&id.replace("{}", "warm")), argv(&id.replace("{}", "evicted")));
        assert!(warm.contains(&"count=20".to_owned()), "{warm:?}");
        assert!(evicted.contains(&"count=1".to_owned()), "{evicted:?}");
        assert!(evicted.iter().any(|word| word.starts_with("prime=")), "{evicted:?}");
    }
}

#[test]
fn a_file_and_a_document_of_the_users_are_read_and_never_made() {
    let scratch = Scratch::new();
    let (file, text) = (scratch.path("own"), scratch.path("own.json"));
    std::fs::write(&file, vec![7; 3 << 20]).expect("a file");
    std::fs::write(&text, document(10_000)).expect("a document");
    let options =
        Options { file: Some(file.clone()), document: Some(text.clone()), ..Options::default() };
    let plan = plan(&request(&scratch, options)).expect("plan");
    assert!(plan.prepare.iter().all(|made| made.path != file && made.path != text));
    let ids: Vec<_> =
        plan.cells.iter().map(|cell| cell_id(plan.experiment, &cell.factors)).collect();
    for id in [
        "reread/read/file/3145728/evicted/fresh/none",
        "reread/touch/file/3145728/none/fresh/none",
        "reread/read+parse/json/10000/evicted/reused/simd-json",
    ] {
        assert!(ids.iter().any(|known| known == id), "{id}: {ids:?}");
    }
    let read = plan.cells.iter().filter(|cell| !cell.files.is_empty());
    let mut files: Vec<_> = read.flat_map(|cell| cell.files.clone()).collect();
    files.sort();
    files.dedup();
    assert_eq!(files, [file, text]);
}
