//! Known file I/O with its truth: what was asked for, and what cachestat(2) said right before each request.
//!
//! `workload CASE --file PATH [options]`. Fails with a message and a non-zero exit code.
//!
//! Preparation (no truth; run outside of the observation):
//!
//! | case | does |
//! |---|---|
//! | `make --size-mib N \| --size-bytes N` | writes random bytes to `--file` and syncs |
//! | `make-files --count N [--block B]` | makes the directory `--file` with N files of B bytes, synced and evicted |
//! | `evict`, `warm` | until verified |
//! | `half` | evicts, then reads every other MiB without read-ahead, until verified |
//!
//! On overlayfs, `--probe PATH` names the layer's file that holds the pages: cachestat(2) sees none otherwise.
//!
//! Before Linux 6.5 there is no cachestat(2): what only it can tell is null then.
//!
//! Measured cases write their truth to `--truth`; their options are in the table of [`CASES`] and in their modules.

mod aio;
mod args;
mod buffer;
mod copies;
mod direct;
mod foreign;
mod mapped;
mod meter;
mod names;
mod parallel;
mod passes;
mod pattern;
mod prepare;
mod reads;
mod snapshot;
mod spill;
mod syncs;
mod truth;
mod uring;
mod uring_ops;
mod writes;

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use args::Args;
use truth::Truth;

/// Whatever went wrong, said in a sentence.
type Failure = Box<dyn Error + Send + Sync>;
type Outcome<T> = Result<T, Failure>;

/// Adds what was being done to an error.
trait Doing<T> {
    fn doing(self, what: impl Display) -> Outcome<T>;
}

impl<T, E: Display> Doing<T> for Result<T, E> {
    fn doing(self, what: impl Display) -> Outcome<T> {
        self.map_err(|error| format!("{what}: {error}").into())
    }
}

type Preparation = fn(&Args) -> Outcome<()>;
type Case = fn(&Args) -> Outcome<Truth>;

const PREPARATIONS: [(&str, Preparation); 5] = [
    ("make", prepare::make),
    ("make-files", prepare::make_files),
    ("evict", prepare::evict),
    ("warm", prepare::warm),
    ("half", prepare::half),
];

const CASES: [(&str, Case); 41] = [
    ("seq", reads::seq),
    ("random", reads::random),
    ("odd", reads::odd),
    ("vectored", reads::vectored),
    ("preadv2", reads::preadv2),
    ("reread", reads::reread),
    ("deleted", reads::deleted),
    ("sendfile", copies::sendfile),
    ("splice", copies::splice),
    ("copy-file-range", copies::copy_file_range),
    ("copy-within", copies::copy_within),
    ("direct-read", direct::read),
    ("direct-write", direct::write),
    ("direct-reread", direct::reread),
    ("direct-mixed", direct::mixed),
    ("mmap-seq", mapped::seq),
    ("mmap-random", mapped::random),
    ("mmap-write", mapped::write),
    ("write-new", writes::new),
    ("overwrite", writes::overwrite),
    ("overwrite-uncached", writes::overwrite_uncached),
    ("write-partial", writes::partial),
    ("write-small", writes::small),
    ("fsync-each", writes::fsync_each),
    ("append", writes::append),
    ("syncs", syncs::syncs),
    ("syncs-that-fail", syncs::that_fail),
    ("children", parallel::children),
    ("threads", parallel::threads),
    ("write-threads", parallel::write_threads),
    ("uring", uring::run),
    ("spill", spill::run),
    ("uring-append", uring_ops::append),
    ("uring-splice", uring_ops::splice),
    ("uring-mixed", uring_ops::mixed),
    ("uring-lookups", uring_ops::lookups),
    ("uring-silent", uring_ops::silent),
    ("aio", aio::run),
    ("int80", foreign::int80),
    ("many-files", names::many_files),
    ("lookups", names::lookups),
];

/// Runs the case that the words name.
fn run(words: impl Iterator<Item = OsString>) -> Outcome<()> {
    let args = Args::parse(words)?;
    if let Some((_, prepare)) = PREPARATIONS.iter().find(|(name, _)| *name == args.case()) {
        return prepare(&args);
    }
    let Some((_, case)) = CASES.iter().find(|(name, _)| *name == args.case()) else {
        let names: Vec<&str> = PREPARATIONS
            .iter()
            .map(|(name, _)| *name)
            .chain(CASES.iter().map(|(name, _)| *name))
            .collect();
        return Err(format!("no case {:?}; there are: {}", args.case(), names.join(" ")).into());
    };
    snapshot::pin_own_pages();
    let truth = case(&args)?;
    truth.write(args.truth())
}

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done about a standard error that is gone.
            let _ = writeln!(std::io::stderr(), "workload: {error}");
            ExitCode::FAILURE
        }
    }
}
