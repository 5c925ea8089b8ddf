use std::fs;
use std::io::BufReader;
use std::sync::Arc;

use hotset_facts::PageRange;
use hotset_snapshot::{Reader, Record};
use hotset_tests::undisturbed;

use super::*;
use crate::testing::{GO, ScratchDir, evict_now, warm_now};

/// A stream whose bytes can be looked at.
#[derive(Clone, Default)]
struct Stream(Arc<Mutex<Vec<u8>>>);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("bytes").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn options(scratch: &ScratchDir) -> SaveOptions {
    SaveOptions { selection: scratch.selection() }
}

/// Each saved path's last component with its pages, in the order of names.
fn saved(snapshot: &[u8]) -> Vec<(String, u64)> {
    let mut reader = Reader::new(BufReader::new(snapshot)).expect("a snapshot");
    let mut files: Vec<(String, u64)> = Vec::new();
    while let Some(record) = reader.next_record().expect("good") {
        match record {
            Record::File(file) => {
                let path = String::from_utf8(file.path).expect("text");
                assert!(path.starts_with('/'), "{path}");
                files.push((path.rsplit('/').next().unwrap_or_default().to_owned(), 0));
            }
            Record::Ranges(ranges) => {
                let file = files.last_mut().expect("a file before its ranges");
                file.1 += ranges.iter().map(|range| range.count).sum::<u64>();
            }
        }
    }
    files.sort();
    files
}

#[test]
fn what_is_cached_is_saved_and_the_rest_is_counted() {
    let scratch = ScratchDir::new();
    let page = hotset_sys::page_size();
    let warm = scratch.file("warm", 3 * page + 1);
    scratch.file("empty", 0);
    evict_now(&scratch.file("cold", page));
    undisturbed(&[&warm], || {
        warm_now(&warm);
        let stream = Stream::default();
        let to = SaveTo::Stream(Box::new(stream.clone()));
        let report = save(options(&scratch), to, &GO).expect("saved");
        assert_eq!((report.files, report.pages, report.ranges), (1, 4, 1));
        assert_eq!(
            (report.uncached_files, report.refused.count, report.interrupted),
            (2, 0, false)
        );
        let bytes = stream.0.lock().expect("bytes").clone();
        assert_eq!(report.snapshot_bytes, bytes.len() as u64);
        assert_eq!(saved(&bytes), [("warm".to_owned(), 4)]);
    });
}

#[test]
fn a_snapshot_does_not_hold_itself_nor_what_it_replaces() {
    let scratch = ScratchDir::new();
    let data = scratch.file("data", 5);
    let path = scratch.path().join("set");
    undisturbed(&[&data], || {
        fs::write(&path, vec![7; 1 << 16]).expect("write");
        warm_now(&data);
        let report = save(options(&scratch), SaveTo::File(path.clone()), &GO).expect("saved");
        assert_eq!(report.file.as_deref(), Some(path.as_path()));
        assert_eq!(saved(&fs::read(&path).expect("read")), [("data".to_owned(), 1)]);
    });
}

#[test]
fn a_stop_keeps_the_old_snapshot() {
    let scratch = ScratchDir::new();
    scratch.file("data", 5);
    let path = scratch.path().join("set");
    fs::write(&path, "old").expect("write");
    let stop = AtomicBool::new(true);
    let report = save(options(&scratch), SaveTo::File(path.clone()), &stop).expect("no failure");
    assert!(report.interrupted);
    assert_eq!(fs::read(&path).expect("read"), b"old");
    assert_eq!(fs::read_dir(scratch.path()).expect("directory").count(), 2, "no trace");
}

#[test]
fn a_stream_that_fails_ends_it_with_its_reason() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from_raw_os_error(28))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let scratch = ScratchDir::new();
    scratch.file("data", 5);
    let stop = AtomicBool::new(false);
    let failed = save(options(&scratch), SaveTo::Stream(Box::new(Full)), &stop).expect_err("full");
    let source = std::error::Error::source(&failed).expect("a source").to_string();
    assert!(source.contains("No space left"), "{source}");
    assert_eq!(failed.to_string(), "standard output");
}

#[test]
fn roots_that_can_not_be_read_are_named() {
    let scratch = ScratchDir::new();
    let mut options = options(&scratch);
    options.selection.roots.push(scratch.path().join("no such"));
    let report = save(options, SaveTo::Stream(Box::new(std::io::sink())), &GO).expect("saved");
    assert_eq!(report.refused.count, 1);
    assert!(report.refused.named[0].path.ends_with("no such"));
}

#[test]
fn pages_that_are_named_are_saved_whether_cached_or_not() {
    let scratch = ScratchDir::new();
    let path = scratch.file("named", 10 * hotset_sys::page_size());
    evict_now(&path);
    let range = |first, count| PageRange { first, count };
    let files = [
        (path.clone(), vec![range(1, 2), range(8, 50)]),
        (path.with_file_name("gone"), vec![range(0, 1)]),
    ];
    let to = path.with_file_name("set");
    let report = save_ranges(&files, &to).expect("saved");
    assert_eq!((report.files, report.ranges, report.pages), (1, 2, 4), "as far as it has them");
    assert_eq!(report.refused.count, 1);
    assert_eq!(saved(&fs::read(&to).expect("read")), [("named".to_owned(), 4)]);
}
