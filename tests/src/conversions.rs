//! `hotset trace`: how it is run, traces to run it on, and what must hold of what it refuses.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotset_facts::random::Random;

use crate::programs::hotset;
use crate::run::{code, stderr};
use crate::scratch::Scratch;

/// Formats that a trace is exported to.
pub const EXPORTS: [&str; 5] = ["fio", "perfetto", "pprof", "oracle", "csv"];

/// `hotset trace WORDS`.
pub fn trace<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Output {
    Command::new(hotset()).arg("trace").args(words).output().expect("hotset")
}

/// `hotset trace import --from FORMAT FILE -o OUTPUT`, and more words.
pub fn import(format: &str, file: &Path, output: &Path, more: &[&str]) -> Output {
    let own: [&OsStr; 5] =
        ["import".as_ref(), "-o".as_ref(), output.as_ref(), "--from".as_ref(), format.as_ref()];
    trace(own.into_iter().chain(more.iter().map(|word| word.as_ref())).chain([file.as_ref()]))
}

/// `hotset trace export FILE --to FORMAT -o OUTPUT`, and more words.
pub fn export(file: &Path, format: &str, output: &Path, more: &[&str]) -> Output {
    let own: [&OsStr; 6] = [
        "export".as_ref(),
        file.as_ref(),
        "--to".as_ref(),
        format.as_ref(),
        "-o".as_ref(),
        output.as_ref(),
    ];
    trace(own.into_iter().chain(more.iter().map(|word| word.as_ref())))
}

/// A trace of so many reads, writes, lookups and syncs of some files.
pub fn trace_of(scratch: &Scratch, records: u64) -> PathBuf {
    let mut rows =
        "start_ns,duration_ns,pid,tid,command,op,file,path,offset,asked_bytes,result\n".to_owned();
    let mut random = Random::new(7);
    for number in 0..records {
        let (op, file) = (["pread64", "pwrite64", "openat", "fsync"], random.below(20));
        let op = op[random.below(4) as usize];
        let (start, page) = (number * 30_000, random.below(1 << 20));
        let _ = writeln!(
            rows,
            "{start},{},9,{},app,{op},{file},/data/{file},{},4096,4096",
            random.below(90_000),
            9 + number % 3,
            page * 4096
        );
    }
    let (csv, path) = (scratch.path("rows.csv"), scratch.path("t.parquet"));
    fs::write(&csv, rows).expect("rows");
    let made = import("csv", &csv, &path, &[]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    fs::remove_file(&csv).expect("rows");
    path
}

/// It ends with this code and one message, which holds all of these words; nothing of a panic is printed.
pub fn assert_refused(output: &Output, wanted: i32, words: &[&str]) {
    let said = stderr(output);
    assert_eq!(code(output), wanted, "{words:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(said.starts_with("hotset: ") || wanted == 2, "{said}");
    assert!(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), "{said}");
}

/// The names in a directory.
pub fn listed(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("an entry").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}
