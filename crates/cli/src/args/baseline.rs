//! Baselines of `hotset bench` and `hotset lab`.

use std::path::PathBuf;

use clap::ValueHint;
use hotset_facts::units::parse_percent;

/// What is kept, and what is compared.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Baselines")]
pub(crate) struct BaselineArgs {
    /// Save this session as the baseline NAME, replacing one that exists
    ///
    /// Nothing is saved if something fails, after Ctrl-C, or if there are too few valid runs to compare with.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub(crate) save_baseline: Option<String>,
    /// Add the session to the baseline of --save-baseline
    ///
    /// The more sessions a baseline has (up to 20; then the oldest is removed), the better it tells how much sessions differ.
    #[arg(long, requires = "save_baseline")]
    pub(crate) add_session: bool,
    /// Compare this session with the baseline NAME
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub(crate) baseline: Option<String>,
    /// Exit with 123 if a slow-down above PERCENT is shown, e.g. 5%
    ///
    /// It is shown if the lower end of the interval is above it.
    #[arg(long, value_name = "PERCENT", requires = "baseline", value_parser = parse_percent)]
    pub(crate) fail_above: Option<f64>,
    /// The same for CPU time
    #[arg(long, value_name = "PERCENT", requires = "baseline", value_parser = parse_percent)]
    pub(crate) fail_cpu_above: Option<f64>,
    /// Compare with, or add to, a baseline of another host
    #[arg(long)]
    pub(crate) other_host: bool,
    /// Directory of the baselines
    #[arg(long, value_name = "DIR", default_value = ".hotset", value_hint = ValueHint::DirPath)]
    pub(crate) baseline_dir: PathBuf,
}

/// A name is part of the name of a file.
fn parse_name(text: &str) -> Result<String, String> {
    const LONGEST: usize = 100;
    let wrong = |what: &str| Err(format!("{what}; expected a name such as main or release-1.2"));
    match text {
        "" => wrong("it is empty"),
        text if text.len() > LONGEST => wrong("it is longer than 100 bytes"),
        text if text.starts_with(['.', '-']) => wrong("it starts with a dot or a hyphen"),
        text if text.contains('/') => {
            wrong("it contains a slash (--baseline-dir names the directory)")
        }
        text if text.contains(char::is_control) => wrong("it contains a control character"),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Cli, Command};
    use super::*;

    fn parsed(words: &[&str]) -> Result<BaselineArgs, String> {
        let cli = Cli::try_parse_from([&["hotset", "bench"], words, &["--", "ls"]].concat());
        let Command::Bench(args) = cli.map_err(|error| error.to_string())?.command else {
            panic!("bench")
        };
        Ok(args.baselines)
    }

    #[test]
    fn limits_are_percentages_of_a_comparison() {
        let args =
            parsed(&["--baseline", "main", "--fail-above", "5%", "--fail-cpu-above", "0.5%"]);
        let args = args.expect("arguments");
        assert_eq!((args.fail_above, args.fail_cpu_above), (Some(0.05), Some(0.005)));
        assert_eq!(args.baseline_dir, PathBuf::from(".hotset"));
        for (words, expected) in [
            (&["--fail-above", "5%"][..], "--baseline <NAME>"),
            (&["--baseline", "main", "--fail-above", "5"], "5%"),
            (&["--baseline", "main", "--fail-above", "5ms"], "5%"),
            (&["--baseline", "main", "--fail-above=-1%"], "5%"),
            (&["--add-session"], "--save-baseline <NAME>"),
        ] {
            let error = parsed(words).expect_err("refused");
            assert!(error.contains(expected), "{words:?}: {error}");
        }
    }

    #[test]
    fn a_name_is_part_of_the_name_of_a_file() {
        for name in ["main", "release-1.2", "käse", "a b"] {
            assert!(parsed(&["--save-baseline", name]).is_ok(), "{name}");
        }
        for name in ["", "a/b", "../x", ".hidden", "a\nb", &"x".repeat(101)] {
            let error = parsed(&["--save-baseline", name]).expect_err(name);
            assert!(error.contains("expected a name such as main"), "{error}");
        }
    }
}
