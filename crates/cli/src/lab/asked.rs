//! What was typed, as requests.

use hotset_experiments::{ALL, Experiment, Request};
use hotset_facts::LabSize;
use hotset_lab::experiment::Place;

use crate::args::{LabArgs, known_by};

/// Which experiments, each once, in the order in which they are run.
pub(super) fn experiments(args: &LabArgs) -> Vec<&'static Experiment> {
    let asked = |experiment: &&Experiment| {
        args.experiments.iter().any(|name| name == "all" || name == experiment.name)
    };
    ALL.iter().copied().filter(asked).collect()
}

/// The request for one experiment at a place.
pub(super) fn request(args: &LabArgs, place: Place) -> Request {
    let amount = &args.amount;
    let size = match (amount.quick, amount.full) {
        (true, _) => LabSize::Quick,
        (false, true) => LabSize::Full,
        (false, false) => LabSize::Default,
    };
    Request { size, rounds: amount.rounds, place, options: args.what.clone() }
}

/// Options that none of the experiments knows are a slip.
///
/// # Errors
/// Names the option and who knows it.
pub(super) fn check(args: &LabArgs, experiments: &[&Experiment]) -> Result<(), String> {
    for option in args.what.given() {
        if !experiments.iter().any(|one| one.options.contains(&option)) {
            let names: Vec<&str> = known_by(option).collect();
            return Err(format!("{option} applies only to lab {}", names.join(" and lab ")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

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
            experiments(&typed(words)).iter().map(|one| one.name).collect()
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

    #[test]
    fn each_option_is_for_the_experiments_that_its_help_names() {
        let cli = Cli::command();
        let lab = cli.find_subcommand("lab").expect("lab");
        let heading = Some("Override experiment parameters");
        let options = lab.get_arguments().filter(|arg| arg.get_help_heading() == heading);
        let mut seen = 0;
        for arg in options {
            let long = arg.get_long().expect("a long name");
            let value = match long {
                "sizes" | "block" | "size" | "pieces" | "buffers" => "1K",
                "count" => "2",
                "reads" => "16",
                "sleep" => "1s",
                "interpreter" => "a=/b",
                _ => "x",
            };
            let option = format!("--{long}");
            let needs: &[&str] = if long == "library" { &["--runtime", "x"] } else { &[] };
            let takes = |experiment: &&Experiment| {
                let args = typed(&[&[experiment.name, &option, value], needs].concat());
                check(&args, &experiments(&args)).is_ok()
            };
            let names: Vec<&str> =
                ALL.iter().copied().filter(takes).map(|experiment| experiment.name).collect();
            let help = arg.get_help().expect("help").to_string();
            assert!(!names.is_empty(), "{option} is for nobody");
            assert!(help.ends_with(&format!(" ({})", names.join(", "))), "{option}: {help}");
            let long = arg.get_long_help().map(ToString::to_string);
            assert!(long.is_none_or(|long| long.starts_with(&help)), "{option}: both say it");
            seen += 1;
        }
        assert_eq!(seen, 18);
    }
}
