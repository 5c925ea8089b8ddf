use std::ffi::OsString;
use std::io::Write;

use hotset_tests::undisturbed;

use super::*;
use crate::test_support::{ScratchFile, counts};

const BYTES: usize = 100_000;

fn job(scratch: &ScratchFile, words: &[&str]) -> Result<Answer, JobError> {
    let mut all = vec![OsString::from("file=")];
    all[0].push(&scratch.path);
    all.extend(words.iter().map(OsString::from));
    reread(&Arguments::parse(&all)?, &mut |bytes| {
        Ok(bytes.iter().map(|&byte| u64::from(byte)).sum())
    })
}

fn synced() -> ScratchFile {
    let scratch = ScratchFile::on_disk(&[3; BYTES]);
    scratch.file.sync_all().expect("sync");
    scratch
}

#[test]
fn every_state_is_reached_before_each_read_and_seen() {
    let scratch = synced();
    let pages = crate::pages_of(BYTES as u64);
    for (cache, before, cold) in [
        ("warm", [pages, pages, pages], [false; 3]),
        ("evicted", [0, 0, 0], [true; 3]),
        ("kept", [0, pages, pages], [true, false, false]),
        ("direct", [0, 0, 0], [true; 3]),
    ] {
        let cache = format!("cache={cache}");
        undisturbed(&[&scratch.path], || {
            let answer =
                job(&scratch, &["what=read", "buffer=reused", "count=3", &cache]).expect("job");
            assert_eq!((answer.bytes, answer.operations()), (3 * BYTES as u64, 3), "{cache}");
            let calls = counts([("open", 3), ("fstat", 3), ("read", 3)]);
            assert_eq!(answer.calls, calls, "{cache}");
            for (at, repetition) in answer.repetitions.iter().enumerate() {
                assert_eq!(repetition.cached_before_pages, Some(before[at]), "{cache} {at}");
                assert_eq!(repetition.pages, Some(pages));
                if cold[at] {
                    let device_read_bytes = repetition.device_read_bytes;
                    assert!(device_read_bytes >= Some(BYTES as u64), "{cache} {repetition:?}");
                }
            }
        });
    }
}

#[test]
fn every_buffer_reads_the_whole_file() {
    let scratch = synced();
    for (buffer, call) in [
        ("fresh", "read"),
        ("reused", "read"),
        ("huge", "read"),
        ("mmap", "mmap"),
        ("mmap-populate", "mmap"),
    ] {
        let word = format!("buffer={buffer}");
        let answer = job(&scratch, &["what=read", "cache=warm", "count=2", &word]).expect("job");
        assert_eq!(answer.bytes, 2 * BYTES as u64, "{buffer}");
        let calls = counts([("open", 2), ("fstat", 2), (call, 2)]);
        assert_eq!(answer.calls, calls, "{buffer}");
    }
}

#[test]
fn what_is_parsed_is_what_the_file_holds() {
    let scratch = synced();
    let reads = counts([("open", 2), ("fstat", 2), ("read", 2)]);
    for (what, calls) in [("read+parse", reads), ("parse", counts([]))] {
        let word = format!("what={what}");
        let answer =
            job(&scratch, &[&word, "buffer=reused", "cache=warm", "count=2"]).expect("job");
        assert_eq!(answer.notes, counts([("parsed", 3 * BYTES as u64)]), "{what}");
        assert_eq!(answer.calls, calls, "{what}");
    }
}

#[test]
fn parts_of_the_memory_alone_read_nothing() {
    let scratch = synced();
    let whole = crate::pages_of(BYTES as u64) * crate::page_size();
    for what in ["touch", "release", "zero"] {
        let word = format!("what={what}");
        let answer = job(&scratch, &[&word, "buffer=fresh", "cache=warm", "count=2"]).expect("job");
        assert_eq!((answer.bytes, answer.calls), (2 * whole, counts([])), "{what}");
        assert_eq!(answer.repetitions[0].cached_before_pages, None);
    }
}

#[test]
fn wrong_words_are_named_with_what_would_be_right() {
    let scratch = synced();
    let error = job(&scratch, &["what=read", "cache=hot", "buffer=fresh", "count=1"]);
    let text = error.expect_err("hot").to_string();
    assert!(text.contains("cache=hot") && text.contains("evicted"), "{text}");
    for words in [
        ["what=read", "cache=direct", "buffer=mmap", "count=1"],
        ["what=read+parse", "cache=warm", "buffer=mmap", "count=1"],
    ] {
        assert!(matches!(job(&scratch, &words), Err(JobError::Argument(_))), "{words:?}");
    }
}

#[test]
fn a_parser_that_refuses_is_an_error_with_its_reason() {
    let mut scratch = ScratchFile::on_disk(b"");
    scratch.file.write_all(b"{").expect("write");
    let mut words = vec![OsString::from("file=")];
    words[0].push(&scratch.path);
    words.extend(["what=parse", "cache=warm", "buffer=reused", "count=1"].map(OsString::from));
    let arguments = Arguments::parse(&words).expect("words");
    let error = reread(&arguments, &mut |_| Err("no end".to_owned())).expect_err("refused");
    assert!(error.to_string().contains("no end"), "{error}");
}
