//! One command a file: wiring, no logic. Those with rooms of their own are `stat` and `top` (`live`), `bench`, `check`, `lab` and `replay`.

mod attach;
mod control;
mod diff;
mod doctor;
mod export;
mod generate;
mod inputs;
mod ls;
mod ls_system;
mod record;
mod report;
mod run;
mod saved;
mod size;
mod trace;
mod trace_batches;
mod trace_info;
mod trace_read;

pub(crate) use record::record_quietly;
pub(crate) use trace::open as open_trace;
pub(crate) use trace_batches::each_batch_until;

use crate::args::{Cli, Command};
use crate::exit::{Exit, Stop};

/// Does what was asked.
pub(crate) fn dispatch(cli: Cli) -> Result<Exit, Stop> {
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Attach(args) => attach::attach(&args),
        Command::Record(args) => record::record(&args),
        Command::Trace(args) => trace::trace(&args),
        Command::Explain(args) => crate::replay::explain(&args),
        Command::Replay(args) => crate::replay::replay(&args),
        Command::Size(args) => size::size(&args),
        Command::Diff(args) => diff::diff(&args),
        Command::Stat(args) => crate::live::stat(&args),
        Command::Top(args) => crate::live::top(&args),
        Command::Export(args) => export::export(&args),
        Command::Ls(args) if args.system => ls_system::ls_system(&args),
        Command::Ls(args) => ls::ls(&args),
        Command::Warm(args) => control::warm(&args),
        Command::Evict(args) => control::evict(&args),
        Command::Pin(args) => control::pin(&args),
        Command::Save(args) => saved::save(&args),
        Command::Restore(args) => saved::restore(&args),
        Command::Bench(args) => crate::bench::bench(&args),
        Command::Check(args) => crate::check::check(&args),
        Command::Report(args) => report::report(&args),
        Command::Lab(args) => crate::lab::lab(&args),
        Command::LabProbe(args) => crate::lab::probe(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { directory } => generate::man(&directory),
    }
}
