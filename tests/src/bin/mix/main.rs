//! A random mixture of I/O that keeps the books: what each process did to each file, as its system calls answered.
//!
//! `mix prepare --dir DIR --seed S [--lower DIR]` makes the files, outside of the observation. `mix run --dir DIR --seed S
//! [--operations N] [--processes P] [--threads T] [--without NAME,NAME] [--wait]` has P children with T threads each do N
//! operations a thread on them, and prints the books as JSON. Of one seed, fewer operations are the beginning of more.
//! With `--wait` it begins when a line comes on standard input, and ends when another does.
//!
//! The operations and how often each comes up are in [`table::OPERATIONS`].

mod aio;
mod args;
mod copies;
mod family;
mod ledger;
mod maps;
mod memory;
mod names;
mod prepare;
mod reads;
mod rings;
mod syncs;
mod table;
mod worker;
mod writes;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use args::Args;

/// Whatever went wrong, said in a sentence.
type Failure = Box<dyn Error + Send + Sync>;
type Outcome<T> = Result<T, Failure>;

fn run() -> Outcome<()> {
    // Else its own code, of which the host may evict what was not used yet, faults when the books are closed already.
    // SAFETY: takes no memory of ours; what is mapped stays in memory until the process ends.
    if unsafe { libc::mlockall(libc::MCL_CURRENT) } != 0 {
        return Err(format!("mlockall: {}", std::io::Error::last_os_error()).into());
    }
    let args = Args::parse(std::env::args().skip(1))?;
    match args.job() {
        "prepare" => prepare::prepare(&args),
        "run" => family::run(&args),
        other => Err(format!("no job {other:?}; there are: prepare run").into()),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done about a standard error that is gone.
            let _ = writeln!(std::io::stderr(), "mix: {error}");
            ExitCode::FAILURE
        }
    }
}
