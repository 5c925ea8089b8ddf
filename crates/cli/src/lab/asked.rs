//! What was typed, as requests.

use hotset_experiments::{ALL, Experiment};
use hotset_facts::LabSize;
use hotset_lab::experiment::{Options, Place, Request};

use crate::args::{LabArgs, known_by};

/// Which experiments, each once, in the order in which they are run.
pub(super) fn experiments(args: &LabArgs) -> Vec<&'static dyn Experiment> {
    let asked = |experiment: &&dyn Experiment| {
        args.experiments.iter().any(|name| name == "all" || name == experiment.name())
    };
    ALL.into_iter().filter(asked).collect()
}

/// The request for one experiment at a place.
pub(super) fn request(args: &LabArgs, place: Place) -> Request {
    let (amount, what) = (&args.amount, &args.what);
    let size = match (amount.quick, amount.full) {
        (true, _) => LabSize::Quick,
        (false, true) => LabSize::Full,
        (false, false) => LabSize::Default,
    };
    let options = Options {
        sizes_bytes: what.sizes.clone(),
        count: what.count,
        sleep: what.sleep,
        blocks_bytes: what.block.clone(),
        file_bytes: what.size,
        methods: what.methods.clone(),
        interpreters: what.interpreter.clone(),
        library: what.library.clone(),
        runtime: what.runtime.clone(),
        rounds: amount.rounds,
        device: what.device.clone(),
    };
    Request { size, place, options }
}

/// Options that none of the experiments knows are a slip.
///
/// # Errors
/// Names the option and who knows it.
pub(super) fn check(args: &LabArgs, experiments: &[&dyn Experiment]) -> Result<(), String> {
    let what = &args.what;
    let given = [
        ("--sizes", !what.sizes.is_empty()),
        ("--count", what.count.is_some()),
        ("--sleep", what.sleep.is_some()),
        ("--block", !what.block.is_empty()),
        ("--size", what.size.is_some()),
        ("--methods", !what.methods.is_empty()),
        ("--interpreter", !what.interpreter.is_empty()),
        ("--library", what.library.is_some()),
        ("--runtime", what.runtime.is_some()),
        ("--device", what.device.is_some()),
    ];
    for (option, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
        if !experiments.iter().any(|one| one.options().contains(&option)) {
            let names: Vec<&str> = known_by(option).collect();
            return Err(format!("{option} is an option of lab {}", names.join(" and lab ")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn typed(words: &[&str]) -> Box<LabArgs> {
        let cli = Cli::try_parse_from([&["hotset", "lab"], words].concat()).expect("arguments");
        let Command::Lab(args) = cli.command else { panic!("lab") };
        args
    }

    #[test]
    fn experiments_are_run_once_and_in_order() {
        let names = |words: &[&str]| -> Vec<&str> {
            experiments(&typed(words)).iter().map(|one| one.name()).collect()
        };
        assert_eq!(names(&["all"]), ["reread", "buffer", "access", "load", "direct"]);
        assert_eq!(names(&["direct", "reread", "direct"]), ["reread", "direct"]);
        assert!(Cli::try_parse_from(["hotset", "lab", "nothing"]).is_err());
        assert!(Cli::try_parse_from(["hotset", "lab", "all", "--quick", "--full"]).is_err());
    }

    #[test]
    fn an_option_that_nobody_knows_is_refused_by_name() {
        let check = |words: &[&str]| {
            let args = typed(words);
            check(&args, &experiments(&args))
        };
        let error = check(&["access", "--sizes", "1K"]).expect_err("refused");
        assert!(error.contains("--sizes") && error.contains("lab reread"));
        assert_eq!(check(&["access", "reread", "--sizes", "1K"]), Ok(()));
        assert_eq!(check(&["access", "--block", "1000,4K", "--size", "1G"]), Ok(()));
    }
}
