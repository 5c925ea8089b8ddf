//! `hotset lab buffer`: bytes and write(2) calls of each cell, against its formula, the kernel and the sensor. Never times.

use std::process::Command;

use hotset_tests::cells::{all_are, cell, cells, each, measured};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, hotset, number, profile_of, stderr};
use serde_json::Value;

fn level(cell: &Value, name: &str) -> u64 {
    cell["factors"][name].as_u64().unwrap_or_else(|| panic!("no {name}: {cell}"))
}

/// Each sample makes exactly the calls that follow from the sizes, by the kernel's own count.
#[test]
fn every_cell_writes_its_bytes_in_as_many_calls_as_its_sizes_say() {
    let scratch = Scratch::new("lab-buffer");
    let (session, printed) =
        measured("buffer", &scratch, &["--quick", "--sizes", "64,1000,20000", "--rounds", "1"]);
    for question in [
        "How does the time grow with the file?",
        "How large should the buffer be?",
        "How much does a buffer gain if the data must reach the device?",
        "How long do opening and closing take?",
    ] {
        assert!(printed.contains(question), "{question}: {printed}");
    }
    let (mut native, mut stdio) = (0, 0);
    for cell in cells(&session) {
        if cell["factors"]["phase"] != "write" {
            continue;
        }
        let (total, piece) = (level(cell, "total_bytes"), level(cell, "piece_bytes"));
        let asked = level(cell, "buffer_bytes");
        let buffer = match cell["factors"]["writer"].as_str() {
            Some("native") => asked,
            Some("stdio") => asked,
            // The trap: glibc takes the file's block size instead.
            Some("stdio-null") => 4096,
            other => panic!("{other:?}"),
        };
        let each = total.div_ceil(piece.max(buffer));
        let runs = &cell["runs"];
        let samples = runs["wall_ns"].as_array().expect("samples").len();
        assert!(samples > 0, "{cell}");
        for at in 0..samples {
            let id = &cell["id"];
            let files = runs["operations"][at].as_u64().expect("files");
            assert!(files > 0, "{id}");
            assert_eq!(runs["bytes"][at].as_u64(), Some(files * total), "{id}");
            assert_eq!(runs["syscalls"][at].as_u64(), Some(files * each), "{id}");
        }
        let reasons = cell["reasons"].as_array().expect("reasons");
        assert!(reasons.iter().all(|reason| *reason == "cpu-taken"), "{cell}");
        match cell["factors"]["writer"].as_str() {
            Some("native") => native += 1,
            _ => stdio += 1,
        }
    }
    assert!(native >= 22 && stdio >= 3, "{native} {stdio}");
    assert_eq!(number_of_answer(&session, "setvbuf").as_deref(), Some("5 calls"));
}

/// The number of the answer whose question has this word.
fn number_of_answer(session: &Value, word: &str) -> Option<String> {
    let answers = session["answers"].as_array()?;
    let has = |answer: &&Value| answer["question"].as_str().is_some_and(|text| text.contains(word));
    Some(answers.iter().find(has)?["number"].as_str()?.to_owned())
}

/// The sensor counts the same from outside, the repetition that isn't timed included.
#[test]
fn the_sensor_sees_the_calls_that_a_probe_tells_of() {
    let scratch = Scratch::new("lab-buffer-probe");
    let work = scratch.path("work");
    std::fs::create_dir_all(&work).expect("directory");
    let (files, repetitions) = (2, 3 + 1);
    for (writer, buffer, each) in
        [("native", 100, 100), ("native", 0, 625), ("stdio", 4096, 3), ("stdio-null", 65_536, 3)]
    {
        let program = hotset();
        let words = [
            text(&program).to_owned(),
            "lab-probe".to_owned(),
            "write".to_owned(),
            format!("dir={}", text(&work)),
            "total=10000".to_owned(),
            "piece=16".to_owned(),
            format!("buffer={buffer}"),
            format!("writer={writer}"),
            format!("files={files}"),
            "count=3".to_owned(),
            "sync=fsync".to_owned(),
            "file=new".to_owned(),
            "phase=write".to_owned(),
        ];
        let profile = profile_of(&scratch, &words);
        let rows = profile["files"].as_array().expect("files");
        let below = |row: &&Value| {
            row["path"].as_str().is_some_and(|path| path.starts_with(text(&work)))
                && row["kind"] == "regular"
        };
        let sum = |pointer: &str| -> u64 {
            rows.iter().filter(below).map(|row| number(row, pointer)).sum()
        };
        assert_eq!(sum("/write/calls"), files * repetitions * each, "{writer} {buffer}");
        assert_eq!(sum("/write/bytes"), files * repetitions * 10_000, "{writer} {buffer}");
        assert_eq!(sum("/sync/calls"), files * repetitions, "{writer} {buffer}");
    }
}

#[test]
fn chosen_writers_write_every_combination() {
    let scratch = Scratch::new("lab-buffer-writers");
    let words = ["--quick", "--rounds", "1", "--writers", "python,stdio", "--sizes", "100,20000"];
    let more = ["--pieces", "7,16", "--buffers", "0,4096"];
    let (session, printed) = measured("buffer", &scratch, &[&words[..], &more].concat());
    assert!(printed.contains("How large should the buffer be in other languages?"), "{printed}");
    for (writer, phase) in [("python", "open+write+close"), ("stdio", "write")] {
        for (total, piece, buffer) in [(100, 7, 0), (100, 16, 4096), (20_000, 7, 4096)] {
            let id = format!("buffer/{total}/{piece}/{buffer}/none/{writer}/new/{phase}");
            let files = each(cell(&session, &id), "operations");
            let bytes = each(cell(&session, &id), "bytes");
            let per_file = if writer == "stdio" { files[0] * total } else { total };
            // A sample that a busy host disturbed was made again.
            assert!(bytes.iter().all(|&bytes| bytes == per_file), "{id}: {bytes:?}");
            if writer == "python" {
                // The kernel's count: its buffer is written when the next piece does not fit.
                let full = buffer / piece * piece;
                all_are(cell(&session, &id), "syscalls", total.div_ceil(full.max(piece)));
            }
        }
    }
}

#[test]
fn what_can_not_be_meant_is_refused_by_name() {
    let output = Command::new(hotset()).args(["lab", "buffer", "--sizes", "0"]).output();
    let output = output.expect("hotset");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--sizes 0"), "{}", stderr(&output));
}
