use std::ffi::OsString;
use std::path::Path;

use super::*;
use crate::rawio::buffered::files::Targets;
use crate::test_support::counts;

/// A directory that vanishes with this value.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let exe = std::env::current_exe().expect("path of the test");
        let beside = exe.parent().expect("its directory");
        let path = beside.join(format!("hotset-buffered-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).expect("directory");
        Self(path)
    }

    fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.0).expect("directory").next().is_none()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn job(directory: &Directory, words: &[String]) -> Result<Answer, JobError> {
    let mut all = vec![OsString::from("dir=")];
    all[0].push(&directory.0);
    all.extend(words.iter().map(OsString::from));
    write(&Arguments::parse(&all)?)
}

fn words(total: usize, piece: usize, buffer: usize, more: &[&str]) -> Vec<String> {
    let mut words = vec![
        format!("total={total}"),
        format!("piece={piece}"),
        format!("buffer={buffer}"),
        "count=2".to_owned(),
    ];
    for (key, default) in
        [("sync", "none"), ("writer", "native"), ("file", "new"), ("phase", "write")]
    {
        let given = more.iter().find(|word| word.starts_with(&format!("{key}=")));
        words.push(given.map_or(format!("{key}={default}"), ToString::to_string));
    }
    words.extend(more.iter().filter(|word| word.starts_with("files=")).map(ToString::to_string));
    words
}

#[test]
fn the_native_writer_calls_as_often_as_its_rule_says() {
    let directory = Directory::new("calls");
    for total in [64, 1000, 4096, 10_000] {
        for piece in [1, 16, 100] {
            for buffer in [0, 16, 99, 100, 101, 4095, 4096, 4097, 1 << 20] {
                let answer = job(&directory, &words(total, piece, buffer, &[])).expect("job");
                let each = total.div_ceil(piece.max(buffer)) as u64;
                assert_eq!(answer.calls, counts([("write", 2 * each)]), "{total} {piece} {buffer}");
                let kernel = answer.repetitions[0].write_calls;
                // Other threads of the tests may write too.
                assert!(kernel.is_none_or(|calls| calls >= each), "{total} {piece} {buffer}");
                assert_eq!(answer.bytes, 2 * total as u64);
            }
        }
    }
    assert!(directory.is_empty());
}

#[test]
fn what_is_in_the_files_is_what_was_handed_over() {
    let directory = Directory::new("contents");
    for writer in [WriterKind::Native, WriterKind::Stdio, WriterKind::StdioNull] {
        for (file, buffer) in [(FileKind::New, 0), (FileKind::New, 300), (FileKind::Existing, 300)]
        {
            let job = Write {
                directory: directory.0.clone(),
                total: 1000,
                piece: PIECE[..16].to_vec(),
                buffer,
                sync: SyncKind::Fsync,
                writer,
                file,
                files: 2,
            };
            let mut targets = Targets::new(&job).expect("targets");
            targets.open(&job).expect("open");
            match writer {
                WriterKind::Native => drop(job.native(&targets).expect("native")),
                _ => drop(job.stdio(&targets).expect("stdio")),
            }
            let wanted: Vec<u8> = PIECE[..16].iter().copied().cycle().take(1000).collect();
            for (path, _) in targets.opened() {
                assert_eq!(std::fs::read(path).expect("file"), wanted, "{writer:?} {buffer}");
            }
        }
    }
    assert!(directory.is_empty());
}

#[test]
fn every_sync_and_phase_works_and_leaves_nothing() {
    let directory = Directory::new("syncs");
    for sync in ["sync=none", "sync=fsync", "sync=dsync"] {
        let answer = job(&directory, &words(100, 16, 64, &[sync, "files=3"])).expect("job");
        assert_eq!((answer.operations(), answer.bytes), (6, 600), "{sync}");
        assert_eq!(answer.calls, counts([("write", 12)]), "{sync}");
    }
    let answer = job(&directory, &words(100, 16, 64, &["phase=open+close", "files=3"]));
    let answer = answer.expect("job");
    assert_eq!(answer.calls, counts([("open", 6), ("close", 6)]));
    assert_eq!((answer.operations(), answer.bytes), (6, 0));
    assert!(directory.is_empty());
}

#[test]
fn wrong_words_are_named() {
    let directory = Directory::new("wrong");
    for (more, part) in [("files=0", "1 to 512"), ("sync=often", "dsync"), ("writer=go", "stdio")] {
        let error = job(&directory, &words(10, 1, 0, &[more])).expect_err(more).to_string();
        assert!(error.contains(more) && error.contains(part), "{error}");
    }
    assert!(job(&directory, &words(10, 0, 0, &[])).is_err());
    let mut gone = words(10, 1, 0, &[]);
    gone.push("x=y".to_owned());
    let nowhere = Directory(Path::new("/nonexistent/hotset").to_owned());
    let error = job(&nowhere, &gone).expect_err("no directory").to_string();
    assert!(error.contains("/nonexistent/hotset"), "{error}");
}
