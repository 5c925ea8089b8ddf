//! The binary: arguments, a plan, a run, a report. A table of contents; every step is a module.

#![forbid(unsafe_code)]

mod args;
mod attached;
mod bench;
mod commands;
mod control;
mod costs;
mod exit;
mod fallback;
mod interrupt;
mod lab;
mod live;
mod output;
mod plan;
mod runner;
mod saved;
mod scoped;
mod spawn;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match args::Cli::try_parse() {
        Ok(cli) => match commands::dispatch(cli) {
            Ok(exit) => exit.into(),
            Err(stop) => {
                output::say(&stop.message);
                stop.exit.into()
            }
        },
        Err(error) => {
            // Help and version are no errors; clap knows where each goes.
            let code = if error.use_stderr() { exit::Exit::Usage } else { exit::Exit::Success };
            let _ = error.print();
            code.into()
        }
    }
}
