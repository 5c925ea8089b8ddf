use super::*;
use crate::Options;
use crate::testing::Scratch;
use hotset_facts::LabSize;
use hotset_lab::experiment::{cell_id, number};

fn request(scratch: &Scratch, size: LabSize, options: Options) -> Request {
    let place = hotset_lab::experiment::Place::look(&scratch.path("")).expect("place");
    Request { size, rounds: None, place, options }
}

#[test]
fn every_cell_is_its_own_and_expects_exact_calls() {
    let scratch = Scratch::new();
    for (size, least, most) in [(LabSize::Quick, 20, 40), (LabSize::Default, 400, 800)] {
        let plan = plan(&request(&scratch, size, Options::default())).expect("plan");
        let mut ids: Vec<_> =
            plan.cells.iter().map(|cell| cell_id(plan.experiment, &cell.factors)).collect();
        ids.sort();
        let cells = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), cells, "{size:?}");
        assert!((least..=most).contains(&cells), "{size:?}: {cells}");
        let written = plan
            .cells
            .iter()
            .filter(|cell| cell_id(plan.experiment, &cell.factors).ends_with("write"));
        for cell in written {
            let (low, high) = cell.expects.write_calls.expect("calls");
            assert!(low == high && low > 0);
        }
        assert!(plan.needs_bytes() < 64 << 20);
        let left_out = if size == LabSize::Quick { "writers of other" } else { "dsync" };
        assert!(plan.skipped.iter().any(|skipped| skipped.what.contains(left_out)), "{size:?}");
    }
}

#[test]
fn calls_are_of_the_larger_of_piece_and_buffer() {
    let point = |total, piece, buffer, writer| Point {
        total,
        piece,
        buffer,
        sync: SyncKind::None,
        writer,
        file: FileKind::New,
    };
    let calls = |total, piece, buffer| point(total, piece, buffer, WriterKind::Native).calls(4096);
    assert_eq!(calls(64, 1, 0), 64);
    assert_eq!(calls(64, 100, 16), 1);
    assert_eq!(calls(1000, 100, 16), 10);
    assert_eq!(calls(1000, 16, 100), 10);
    assert_eq!(calls(4097, 1, 4096), 2);
    assert_eq!(calls(1, 1, 1 << 20), 1);
    assert_eq!(point(65_536, 16, 65_536, WriterKind::StdioNull).calls(4096), 16);
    assert_eq!(point(65_536, 16, 65_536, WriterKind::Stdio).calls(4096), 1);
    assert_eq!(point(65_536, 16, 0, WriterKind::StdioNull).calls(4096), 4096);
}

#[test]
fn sizes_are_taken_and_refused() {
    let scratch = Scratch::new();
    let sizes = |sizes: &[u64]| Options { sizes_bytes: sizes.to_vec(), ..Options::default() };
    let made = plan(&request(&scratch, LabSize::Quick, sizes(&[100]))).expect("plan");
    let of_other_sizes = made.cells.iter().filter(|cell| {
        !cell.factors.contains(&number("total_bytes", 100))
            && !cell.factors.contains(&name("phase", "open+close"))
    });
    assert_eq!(of_other_sizes.count(), 0);
    let error = plan(&request(&scratch, LabSize::Quick, sizes(&[0]))).expect_err("empty");
    assert!(error.to_string().contains("--sizes 0"), "{error}");
}

#[test]
fn chosen_writers_write_all_sizes_in_all_pieces_through_all_buffers() {
    let scratch = Scratch::new();
    let options = |writers: &[&str]| Options {
        sizes_bytes: vec![4096, 100],
        pieces_bytes: vec![1, 16],
        buffers_bytes: vec![0, 512, 8192],
        writers: writers.iter().map(|&name| name.to_owned()).collect(),
        ..Options::default()
    };
    let ids = |writers: &[&str]| -> Vec<String> {
        let plan = plan(&request(&scratch, LabSize::Quick, options(writers))).expect("plan");
        let written =
            plan.cells.iter().filter(|cell| !cell.factors.contains(&number("buffer_bytes", 4096)));
        written.map(|cell| cell_id(plan.experiment, &cell.factors)).collect()
    };
    let go = ids(&["go"]);
    let twin = 1;
    assert_eq!(go.len(), 2 * 2 * 3 + twin, "{go:?}");
    for (total, piece, buffer) in [(100, 1, 0), (4096, 16, 8192), (4096, 1, 512)] {
        let id = format!("buffer/{total}/{piece}/{buffer}/none/go/new/open+write+close");
        assert!(go.contains(&id), "{id}: {go:?}");
    }
    assert_eq!(ids(&["native", "stdio", "python"]).len(), 3 * 2 * 2 * 3 + twin);
    // Ruby's own buffer has one size.
    assert_eq!(ids(&["ruby"]).len(), 2 * 2 * 2 + twin);
    let error = plan(&request(&scratch, LabSize::Quick, options(&["rust"]))).expect_err("unknown");
    assert!(error.contains("--writers rust") && error.contains("native, stdio"), "{error}");
}

#[test]
fn what_was_asked_for_is_not_left_out_for_its_many_calls() {
    let scratch = Scratch::new();
    let options = Options {
        sizes_bytes: vec![1 << 20],
        pieces_bytes: vec![1],
        buffers_bytes: vec![0],
        ..Options::default()
    };
    let asked = plan(&request(&scratch, LabSize::Quick, options)).expect("plan");
    let id = |cell: &CellPlan| cell_id("buffer", &cell.factors);
    assert!(asked.cells.iter().any(|cell| id(cell) == "buffer/1048576/1/0/none/native/new/write"));
    let wrong = Options { pieces_bytes: vec![0], ..Options::default() };
    let error = plan(&request(&scratch, LabSize::Quick, wrong)).expect_err("no bytes");
    assert!(error.contains("--pieces 0: expected 1"), "{error}");
}
