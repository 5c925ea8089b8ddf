//! Programs whose references are known, under memory limits, and predictions beside what the kernel did with them.
//!
//! In a guest:
//!
//! | words | does |
//! |---|---|
//! | `pages --file PATH --set NAME` | runs each case of `hotset_sizing_runs::runs` with each policy of the kernel, and prints a row of CSV for each |
//! | `policy --name classic\|mglru` | switches the multi-gen LRU off or on |
//! | `list --set NAME` | names the programs of `hotset_sizing_runs::programs` |
//! | `files --name NAME --dir PATH` | makes the files of a program where they are not there, and evicts them |
//! | `program --name NAME --dir PATH` | runs a program |
//! | `limited --name NAME --dir PATH --set NAME` | runs it under each of its limits, and prints a row of CSV for each |
//!
//! On the host:
//!
//! | words | does |
//! |---|---|
//! | `check-pages --kernel VERSION --csv PATH --high PATH` | prints predicted beside real; fails where errors are larger than `evidence` says |
//! | `check-programs --results DIR --hotset PATH` | the same of programs, by what `hotset size` makes of their recordings |
//!
//! Fails with a message and a non-zero exit code.

#![allow(clippy::print_stdout, reason = "its output is its purpose")]

mod args;
mod check_high;
mod check_pages;
mod check_programs;
mod device;
mod group;
mod limited;
mod pages;
mod policy;
mod program;
mod table;

use std::error::Error;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use args::Args;

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

type Job = fn(&Args) -> Outcome<()>;

const JOBS: [(&str, Job); 8] = [
    ("pages", pages::run),
    ("policy", policy::run),
    ("list", program::list),
    ("files", program::files),
    ("program", program::run),
    ("limited", limited::run),
    ("check-pages", check_pages::run),
    ("check-programs", check_programs::run),
];

fn run() -> Outcome<()> {
    let args = Args::parse(std::env::args_os().skip(1))?;
    let Some((_, job)) = JOBS.iter().find(|(name, _)| *name == args.job()) else {
        let names: Vec<&str> = JOBS.iter().map(|(name, _)| *name).collect();
        return Err(
            format!("no job \"{}\"; expected one of {}", args.job(), names.join(", ")).into()
        );
    };
    job(&args)
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done about a standard error that is gone.
            let _ = writeln!(std::io::stderr(), "sizing: {error}");
            ExitCode::FAILURE
        }
    }
}
