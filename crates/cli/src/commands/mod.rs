//! One command a file: wiring, no logic.

mod attach;
mod doctor;
mod export;
mod generate;
mod ls;
mod ls_system;
mod report;
mod run;

use crate::args::{Cli, Command};
use crate::exit::Exit;

/// Does what was asked.
pub(crate) fn dispatch(cli: Cli) -> Exit {
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Attach(args) => attach::attach(&args),
        Command::Stat(args) => crate::live::stat(&args),
        Command::Top(args) => crate::live::top(&args),
        Command::Export(args) => export::export(&args),
        Command::Ls(args) if args.system => ls_system::ls_system(&args),
        Command::Ls(args) => ls::ls(&args),
        Command::Warm(args) => crate::control::warm(&args),
        Command::Evict(args) => crate::control::evict(&args),
        Command::Pin(args) => crate::control::pin(&args),
        Command::Save(args) => crate::saved::save(&args),
        Command::Restore(args) => crate::saved::restore(&args),
        Command::Bench(args) => crate::bench::bench(&args),
        Command::Report(args) => report::report(&args),
        Command::Lab(args) => crate::lab::lab(&args),
        Command::LabProbe(args) => crate::lab::probe(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { directory } => generate::man(&directory),
    }
}
