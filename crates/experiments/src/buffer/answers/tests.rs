use hotset_analysis::lab::testing::{cell, session};
use hotset_analysis::lab::{LabAnswer, summarise_lab};
use hotset_facts::{LabCell, Level, Observed};

const TOTAL: u64 = 65_536;

fn name(name: &str) -> Level {
    Level::Name(name.to_owned())
}

struct Point {
    total: u64,
    buffer: u64,
    sync: &'static str,
    writer: &'static str,
    file: &'static str,
    phase: &'static str,
}

const POINT: Point = Point {
    total: TOTAL,
    buffer: 4096,
    sync: "none",
    writer: "native",
    file: "new",
    phase: "write",
};

fn measured(point: &Point, walls: &[u64]) -> LabCell {
    let mut made = cell(
        &[
            ("total_bytes", Level::Number(point.total)),
            ("piece_bytes", Level::Number(16)),
            ("buffer_bytes", Level::Number(point.buffer)),
            ("sync", name(point.sync)),
            ("writer", name(point.writer)),
            ("file", name(point.file)),
            ("phase", name(point.phase)),
        ],
        walls,
    );
    for sample in &mut made.samples {
        sample.bytes = point.total;
    }
    made
}

/// Six rounds that are noisy together, as those of one host are.
fn rounds(ns: u64) -> Vec<u64> {
    [100, 103, 98, 101, 120, 99].iter().map(|percent| ns * percent / 100).collect()
}

fn buffers(points: &[(u64, u64)]) -> Vec<LabCell> {
    let cell = |&(buffer, ns)| measured(&Point { buffer, ..POINT }, &rounds(ns));
    points.iter().map(cell).collect()
}

fn answers(cells: Vec<LabCell>) -> Vec<LabAnswer> {
    summarise_lab(session("buffer", cells), super::answers).answers
}

fn answer(cells: Vec<LabCell>, question: &str) -> Option<LabAnswer> {
    answers(cells).into_iter().find(|answer| answer.question.contains(question))
}

#[test]
fn a_writer_of_another_language_has_an_answer_of_its_own() {
    let go = Point { writer: "go", phase: "open+write+close", ..POINT };
    let cell = |&(buffer, ns): &(u64, u64)| measured(&Point { buffer, ..go }, &rounds(ns));
    let cells: Vec<LabCell> =
        [(0, 900_000), (4096, 101_000), (65_536, 100_000)].iter().map(cell).collect();
    let found = answer(cells.clone(), "written by go").expect("an answer");
    assert_eq!(found.number, "4 KiB");
    assert!(answer(cells[..2].to_vec(), "written by go").is_none(), "two are no choice");
    assert!(answer(cells, "one write(2)").is_none(), "which is of the native writer");
}

#[test]
fn no_cells_no_answers() {
    assert_eq!(answers(Vec::new()), []);
}

#[test]
fn the_gain_ends_at_the_smallest_buffer_that_is_near_the_best() {
    let points =
        [(0, 900_000), (256, 130_000), (4096, 107_000), (16_384, 103_000), (65_536, 100_000)];
    let found = answer(buffers(&points), "buffer size is enough").expect("an answer");
    assert_eq!(found.number, "16 KiB");
    assert!(found.answer.contains("4 KiB is within 10 %"), "{}", found.answer);
    assert!(found.answer.contains("9.00x"), "{}", found.answer);
    assert!(found.confidence.contains("rounds: 16 KiB (within 5 %)"), "{}", found.confidence);
    assert_eq!(found.evidence.len(), 5);
}

#[test]
fn a_gain_that_lasts_until_the_buffer_holds_the_file_is_not_told_to_end_before() {
    let points = [(0, 900_000), (4096, 120_000), (65_536, 100_000)];
    let found = answer(buffers(&points), "buffer size is enough").expect("an answer");
    assert!(found.answer.starts_with("Only one that holds"), "{}", found.answer);
    assert!(found.answer.contains("64 KiB is within 10 %"), "{}", found.answer);
}

#[test]
fn a_best_buffer_that_is_the_largest_measured_may_not_be_the_best_there_is() {
    let better = "a larger one may be better still";
    let of =
        |points: &[(u64, u64)]| answer(buffers(points), "is enough").expect("an answer").answer;
    assert!(of(&[(0, 900_000), (256, 200_000), (4096, 100_000)]).contains(better));
    assert!(!of(&[(0, 900_000), (256, 100_000), (4096, 120_000)]).contains(better));
    // It holds the file: no larger one can save a call.
    assert!(!of(&[(0, 900_000), (4096, 200_000), (TOTAL, 100_000)]).contains(better));
}

#[test]
fn where_no_buffer_gains_anything_none_is_needed() {
    let found = answer(buffers(&[(0, 100_000), (256, 101_000), (4096, 100_500)]), "is enough");
    let found = found.expect("an answer");
    assert_eq!(found.number, "no buffer");
    assert!(found.answer.starts_with("No buffer is needed"), "{}", found.answer);
    assert!(found.confidence.contains(": no buffer (within 5 %)"), "{}", found.confidence);
}

#[test]
fn a_buffer_in_too_few_rounds_is_no_claim() {
    let mut cells = buffers(&[(0, 900_000), (256, 200_000), (4096, 100_000)]);
    cells.iter_mut().for_each(|cell| cell.samples.truncate(3));
    let found = answer(cells, "is enough").expect("an answer");
    assert!(found.answer.starts_with("Too few rounds to be sure. 4 KiB"), "{}", found.answer);
}

#[test]
fn the_native_writer_is_named_beside_others() {
    let mut cells = buffers(&[(0, 900_000), (4096, 107_000), (16_384, 103_000)]);
    let alone = answer(cells.clone(), "is enough").expect("an answer").question;
    assert!(!alone.contains("written by"), "{alone}");
    cells.push(measured(&Point { writer: "stdio", ..POINT }, &rounds(100_000)));
    let named = answer(cells, "is enough").expect("an answer").question;
    assert!(named.ends_with(", written by native?"), "{named}");
}

#[test]
fn a_buffer_that_is_near_in_some_rounds_only_widens_the_interval() {
    let mut cells = buffers(&[(4096, 103_000), (16_384, 102_000), (65_536, 100_000)]);
    cells[0].samples[1].wall_ns += 20_000;
    let found = answer(cells, "buffer size is enough").expect("an answer");
    assert_eq!(found.number, "4 KiB");
    assert!(found.confidence.contains("between 4 KiB and 16 KiB"), "{}", found.confidence);
}

#[test]
fn a_multiple_matters_where_its_neighbours_are_slower() {
    let verdict = |beside: [u64; 2]| {
        let points = [(4095, beside[0]), (4096, 100_000), (4097, beside[1])];
        answer(buffers(&points), "multiple of 4096").expect("an answer").answer
    };
    assert!(verdict([104_000, 105_000]).starts_with("Yes"), "{}", verdict([104_000, 105_000]));
    assert!(verdict([100_000, 105_000]).starts_with("In part"));
    assert!(verdict([96_000, 97_000]).starts_with("No: "));
    assert!(verdict([96_000, 104_000]).starts_with("No pattern"));
    assert!(verdict([100_000, 100_000]).starts_with("No difference"));
    let number = |beside: u64| {
        answer(buffers(&[(4095, beside), (4096, 100_000)]), "multiple of").expect("one").number
    };
    assert_eq!(number(100_000), "no difference detected");
    assert_eq!(number(105_000), "1.05x the time");
    assert_eq!(answer(buffers(&[(4096, 1), (1024, 2)]), "multiple of 4096"), None);
}

#[test]
fn too_few_rounds_tell_nothing_about_multiples() {
    let mut cells = buffers(&[(4095, 200_000), (4096, 100_000)]);
    for cell in &mut cells {
        cell.samples.truncate(5);
    }
    let found = answer(cells, "multiple of 4096").expect("an answer");
    assert!(found.answer.starts_with("Too few rounds"), "{}", found.answer);
    assert_eq!(found.confidence, "no 95 % CI");
}

/// 4096 calls take 2.05 ms and 16 take 10 µs: 500 ns each.
#[test]
fn a_call_costs_the_difference_divided_by_the_calls_that_are_saved() {
    let flat = |file, buffer, ns| measured(&Point { file, buffer, ..POINT }, &[ns; 6]);
    let cells = vec![flat("existing", 0, 2_050_000), flat("existing", 4096, 10_000)];
    let found = answer(cells.clone(), "one write(2)").expect("an answer");
    assert_eq!(found.number, "500 ns");
    assert!(found.answer.contains("4096 calls and 16"), "{}", found.answer);
    assert!(found.confidence.contains("500 ns to 500 ns"), "{}", found.confidence);
    let mut both = cells;
    both.extend([flat("new", 0, 4_090_000), flat("new", 4096, 10_000)]);
    let found = answer(both, "one write(2)").expect("an answer");
    assert!(
        found.answer.starts_with("1.00 µs per call of 16 B into a new file"),
        "{}",
        found.answer
    );
    assert!(found.answer.contains("500 ns into an existing"), "{}", found.answer);
    assert_eq!(found.evidence.len(), 4);
    assert_eq!(answer(vec![flat("new", 4096, 1)], "one write(2)"), None);
}

#[test]
fn what_remains_with_syncs_is_told_for_each() {
    let cell = |sync, buffer, ns| measured(&Point { sync, buffer, ..POINT }, &rounds(ns));
    let cells = vec![
        cell("none", 0, 900_000),
        cell("none", 4096, 100_000),
        cell("fsync", 0, 3_000_000),
        cell("fsync", 4096, 2_000_000),
        cell("dsync", 256, 80_000_000),
        cell("dsync", 4096, 10_000_000),
    ];
    let found = answer(cells.clone(), "must reach the device").expect("an answer");
    assert_eq!(found.number, "1.50x");
    for part in ["8.00x faster", "9.00x", "with 256 B)", "with no buffer)"] {
        assert!(found.answer.contains(part), "{part}: {}", found.answer);
    }
    assert_eq!(answer(cells[..2].to_vec(), "must reach the device"), None);
}

#[test]
fn making_a_small_file_is_compared_with_writing_it() {
    let written = |total, ns| measured(&Point { total, ..POINT }, &rounds(ns));
    let opened = measured(&Point { total: 64, phase: "open+close", ..POINT }, &rounds(20_000));
    let cells = vec![written(64, 4_000), written(1024, 5_000), written(TOTAL, 60_000), opened];
    let found = answer(cells.clone(), "creating a file take longer").expect("an answer");
    assert_eq!(found.number, "20.1 µs");
    assert!(found.answer.contains("up to 1 KiB"), "{}", found.answer);
    assert_eq!(answer(cells[..3].to_vec(), "creating a file take longer"), None);
}

#[test]
fn a_size_without_memory_is_shown_by_its_calls() {
    let cell = |writer, calls| {
        let mut made = measured(&Point { writer, buffer: 65_536, ..POINT }, &rounds(50_000));
        for sample in &mut made.samples {
            sample.syscalls = Observed::Value(calls);
            // Two files.
            sample.bytes = 2 * TOTAL;
        }
        made
    };
    let found =
        answer(vec![cell("stdio", 2), cell("stdio-null", 32)], "setvbuf").expect("an answer");
    assert!(found.answer.contains("is ignored") && found.number == "16 calls", "{found:?}");
    let mut uncounted = vec![cell("stdio", 2), cell("stdio-null", 32)];
    for sample in &mut uncounted[1].samples {
        sample.syscalls = Observed::Missing(hotset_facts::Reason::not_measured("nobody"));
    }
    assert_eq!(answer(uncounted, "setvbuf"), None);
}
