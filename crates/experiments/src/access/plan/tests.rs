//! What is planned for each size and place.

use std::collections::HashSet;
use std::path::Path;

use hotset_facts::{Dev, Level, Observed, Reason};
use hotset_lab::experiment::{Place, Splits, cell_id};
use hotset_sys::rawio::DirectAlignment;

use crate::Options;

use super::*;

fn request(size: LabSize) -> Request {
    let place = Place {
        directory: "/scratch".into(),
        filesystem: "ext4".into(),
        dev: Dev { major: 1, minor: 0 },
        read_ahead_kb: Observed::Missing(Reason::not_measured("a test")),
        in_memory: false,
        direct: Ok(DirectAlignment(512)),
        free_bytes: u64::MAX,
    };
    Request { size, rounds: None, place, options: Options::default() }
}

fn ids(plan: &ExperimentPlan) -> Vec<String> {
    plan.cells.iter().map(|cell| cell_id(plan.experiment, &cell.factors)).collect()
}

#[test]
fn every_size_has_cells_with_names_of_their_own() {
    for size in [LabSize::Quick, LabSize::Default, LabSize::Full] {
        let plan = plan(&request(size)).expect("a plan");
        let ids = ids(&plan);
        let unique: HashSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{size:?}");
        for cell in &plan.cells {
            assert_eq!(cell.files.len(), 1);
            assert!(plan.prepare.iter().any(|file| file.path == cell.files[0]));
            assert!(cell.expects.bytes.is_some_and(|bytes| bytes > 0));
        }
        assert!(size != LabSize::Quick || plan.needs_bytes() < 1 << 28);
    }
}

#[test]
fn quick_has_the_article_the_artefact_and_a_noise_floor() {
    let plan = plan(&request(LabSize::Quick)).expect("a plan");
    let ids = ids(&plan);
    for id in [
        "access/fread/reverse/1000/cold",
        "access/read/random/1000/cold",
        "access/mmap/reverse/1000/after-sequential",
        "access/pread/random/4096/warm/small",
        "access/direct/random/4096/cold",
        "access/direct-io_uring-32/random/4096/cold",
        "access/mmap/random/4096/warm/large",
    ] {
        assert!(ids.iter().any(|known| known == id), "{id} of {ids:#?}");
    }
    let twins = ids.iter().filter(|id| id.ends_with("/a-a")).count();
    assert_eq!(twins, 2);
    assert!(!ids.iter().any(|id| id.contains("direct") && id.contains("/1000/")));
    assert!(!ids.iter().any(|id| id.contains("direct") && id.contains("warm")));
    assert!(plan.skipped.iter().any(|skipped| skipped.what.contains("1000 bytes")));
    let after = plan.cells.iter().find(|cell| cell.prologue.is_some()).expect("a prologue");
    assert_eq!((after.state, after.expects.min_device_bytes), (WantedState::AsIs, None));
}

#[test]
fn where_files_are_in_memory_only_warm_cells_are_left() {
    let mut request = request(LabSize::Quick);
    request.place.in_memory = true;
    request.place.filesystem = "tmpfs".into();
    request.place.direct = Err("its files are in memory".into());
    let plan = plan(&request).expect("a plan");
    assert!(plan.cells.iter().all(|cell| cell.state == WantedState::Warm));
    let told: Vec<&str> = plan.skipped.iter().map(|skipped| skipped.what.as_str()).collect();
    assert!(told.contains(&"state cold") && told.contains(&"method direct"), "{told:?}");
    assert_eq!(plan.prepare.len(), 1);
}

#[test]
fn what_is_asked_for_by_name_is_what_is_measured() {
    let mut request = request(LabSize::Default);
    request.options = Options {
        methods: vec!["pread".into(), "io_uring-1".into()],
        blocks_bytes: vec![512],
        file_bytes: Some(1 << 20),
        ..Options::default()
    };
    request.rounds = Some(2);
    let plan = super::plan(&request).expect("a plan");
    assert_eq!((plan.rounds.min, plan.rounds.max), (2, 2));
    assert!(ids(&plan).iter().all(|id| id.contains("/pread/") || id.contains("/io_uring-1/")));
    let cold = plan.cells.iter().find(|cell| cell.state == WantedState::Cold).expect("cold");
    assert_eq!(cold.files, [Path::new("/scratch/cold")]);
    let refused = |options| super::plan(&Request { options, ..request.clone() }).expect_err("no");
    let wrong = refused(Options { methods: vec!["telepathy".into()], ..Options::default() });
    assert!(wrong.contains("telepathy") && wrong.contains("preadv2") | wrong.contains("pread"));
    let small = refused(Options { file_bytes: Some(1000), ..Options::default() });
    assert!(small.contains("--size 1000") && small.contains("1048576"));
    let block = refused(Options { blocks_bytes: vec![0], ..Options::default() });
    assert!(block.contains("--block 0"));
}

#[test]
fn orders_and_reads_are_those_that_were_asked_for() {
    let mut request = request(LabSize::Default);
    request.options = Options {
        methods: vec!["pread".into(), "direct".into()],
        orders: vec!["offsets".into(), "random".into()],
        blocks_bytes: vec![1000],
        reads: Some(1_000_000),
        file_bytes: Some(1 << 30),
        ..Options::default()
    };
    let plan = super::plan(&request).expect("a plan");
    let cold = |order: &str| {
        let found = plan
            .cells
            .iter()
            .find(|cell| cell.state == WantedState::Cold && cells::is(cell, "order", order));
        found.and_then(|cell| cell.expects.operations)
    };
    assert_eq!((cold("offsets"), cold("random")), (Some(1_000_000), Some(1_000_000)));
    let asked = ["offsets", "random"];
    let is_asked = |cell: &CellPlan| asked.iter().any(|order| cells::is(cell, "order", order));
    assert!(plan.cells.iter().all(is_asked));
    request.options.orders = vec!["sideways".into()];
    let error = super::plan(&request).expect_err("refused");
    assert!(error.contains("--orders sideways") && error.contains("zipf"), "{error}");
    request.options = Options::default();
    let has_offsets = |size| {
        let plan = super::plan(&Request { size, ..request.clone() }).expect("a plan");
        plan.cells.iter().any(|cell| cells::is(cell, "order", "offsets"))
    };
    assert!(has_offsets(LabSize::Full) && !has_offsets(LabSize::Default));
}

#[test]
fn a_cold_cell_expects_the_pages_that_it_touches() {
    let plan = plan(&request(LabSize::Quick)).expect("a plan");
    let cell = |id: &str| {
        let found = plan.cells.iter().find(|cell| cell_id(plan.experiment, &cell.factors) == id);
        &found.unwrap_or_else(|| panic!("{id}")).expects
    };
    let random = cell("access/pread/random/4096/cold");
    assert_eq!(random.operations, Some(500));
    assert_eq!(random.min_device_bytes, Some(500 * 4096 / 100 * 95));
    assert_eq!(random.read_calls, Some((500, 500)));
    let whole = cell("access/mmap/sequential/4096/cold");
    assert_eq!(whole.min_device_bytes, Some((16 << 20) / 100 * 95));
    assert_eq!(whole.read_calls, Some((0, 0)));
    let warm = cell("access/pread/random/4096/warm/large");
    assert_eq!((warm.max_device_bytes, warm.operations), (Some(0), Some(4_096)));
    let direct = cell("access/direct/random/4096/cold");
    assert_eq!(direct.min_device_bytes, direct.bytes);
}

#[test]
fn the_articles_tests_in_one_go_begin_cold_and_are_one_process() {
    let asked = |orders: &[&str]| {
        let mut request = request(LabSize::Quick);
        request.options.orders = orders.iter().map(|&order| order.to_owned()).collect();
        plan(&request)
    };
    let made = asked(&["chain"]).expect("a plan");
    let chains: Vec<_> = made.cells.iter().filter(|cell| cells::is(cell, "state", CHAIN)).collect();
    let of_one =
        |method: &str| chains.iter().filter(|cell| cells::is(cell, "method", method)).count();
    for method in ["fread", "read", "mmap"] {
        assert!(of_one(method) >= 1, "{method}");
    }
    assert_eq!(of_one("pread") + of_one("direct"), 0);
    for cell in &chains {
        let Splits::Parts(parts) = &cell.splits else { panic!("{cell:?}") };
        let orders: Vec<_> = parts.iter().map(|part| part.factors[0].level.clone()).collect();
        let names = ["sequential", "reverse", "random"].map(|name| Level::Name(name.to_owned()));
        assert_eq!(orders, names);
        assert_eq!(cell.state, WantedState::Cold);
        assert!(parts[0].expects.min_device_bytes.is_some());
        assert!(parts[1].expects.min_device_bytes.is_none());
    }
    assert_eq!(made.cells.len(), chains.len(), "nothing else was asked for");
    let error = asked(&["chains"]).expect_err("unknown");
    assert!(error.ends_with("offsets, chain"), "{error}");
}
