//! `hotset lab-probe JOB key=value…`: one job in this process, one line of JSON about it. `docs/probes.md` has the contract.

use std::io::Read;
use std::path::Path;

use hotset_experiments::{job, jobs};
use hotset_sys::rawio::{Answer, Arguments};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::args::LabProbeArgs;
use crate::exit::{Exit, OrExit, Stop};
use crate::output;

/// Removes a directory once standard input is at its end: when whoever made it is gone.
const SWEEP: &str = "sweep";

/// Replays the plan on standard input, below a root if one is named: `hotset_lab::replay` says how it is asked.
pub(crate) const REPLAY: &str = "replay";

/// Does the job.
pub(crate) fn probe(args: &LabProbeArgs) -> Result<Exit, Stop> {
    if args.job == SWEEP {
        return Ok(sweep(args));
    }
    if args.job == REPLAY {
        let (mut from, mut to) = (std::io::stdin().lock(), std::io::stdout().lock());
        let root = args.words.first().map(Path::new);
        hotset_lab::replay::serve(&mut from, &mut to, root).or_exit(Exit::Failure)?;
        return Ok(Exit::Success);
    }
    // A probe that nobody waits for any more has no business with the files.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let Some((name, work)) = job(&args.job) else {
        let names: Vec<&str> = jobs().map(|(name, _)| name).collect();
        let known = names.join(", ");
        return Err(Stop::usage(format_args!("{}: no such job; there are {known}", args.job)));
    };
    let answer = Arguments::parse(&args.words).and_then(|words| work(&words));
    let answer = answer.or_exit(Exit::Failure)?;
    let answer = Answer {
        probe: "native".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        job: name.to_owned(),
        operations: Some(answer.operations()),
        ..answer
    };
    let line = serde_json::to_string(&answer).or_exit(Exit::Failure)?;
    output::print(format!("{line}\n").as_bytes())?;
    Ok(Exit::Success)
}

fn sweep(args: &LabProbeArgs) -> Exit {
    let Some(directory) = args.words.first().map(Path::new) else { return Exit::Usage };
    // Signals that end the lab are not for this process, which is about to be needed.
    let _ = crate::interrupt::stop_flag();
    let mut nothing = [0; 64];
    let mut input = std::io::stdin().lock();
    loop {
        match input.read(&mut nothing) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    match hotset_lab::experiment::sweep(directory) {
        true => Exit::Success,
        false => Exit::Usage,
    }
}
