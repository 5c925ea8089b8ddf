//! The binary: arguments, a plan, a run, a report. Every step is a module, and this file their table of contents.
//!
//! `args` holds what was typed. A command's module makes a plan of it, refuses what must be refused before anything starts,
//! runs the plan by the crates below, and hands what came out to `hotset-view`. `output` is the only place that prints.
//!
//! It must not hold logic that is worth a unit test beyond that: what is decided or computed belongs into a crate.

#![forbid(unsafe_code)]

mod args;
mod baseline;
mod bench;
mod check;
mod commands;
mod destination;
mod exit;
mod interrupt;
mod lab;
mod live;
mod lock;
mod output;
mod progress;
mod replay;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    hide_caught_panics();
    if let Some(file) = args::messages_file(std::env::args_os())
        && let Err(error) = output::messages_to(&file)
    {
        output::say(format_args!("{}: {error}", file.display()));
        return exit::Exit::Own.into();
    }
    match args::Cli::try_parse() {
        Ok(cli) => match commands::dispatch(cli) {
            Ok(exit) => exit.into(),
            Err(stop) => {
                output::say(&stop.message);
                stop.exit.into()
            }
        },
        Err(refused) => output::refused_or_help(&refused).into(),
    }
}

/// A decoder of damaged traces may panic, which becomes an error that the user is told of: that is not to be printed twice.
fn hide_caught_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !hotset_trace::catches_panics() {
            before(panic);
        }
    }));
}
