//! One command a file: wiring, no logic.

mod attach;
mod doctor;
mod generate;
mod run;

use crate::args::{Cli, Command};
use crate::exit::Exit;

/// Does what was asked.
pub(crate) fn dispatch(cli: Cli) -> Exit {
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Attach(args) => attach::attach(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { directory } => generate::man(&directory),
    }
}
