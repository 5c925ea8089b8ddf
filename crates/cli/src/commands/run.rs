//! `hotset run`.

use crate::args::RunArgs;
use crate::exit::{Exit, OrExit, Stop};
use crate::{costs, fallback, output, plan, runner};

/// Runs a command under observation and reports; the command's own end is the exit code.
pub(super) fn run(args: &RunArgs) -> Result<Exit, Stop> {
    if let Some(path) = &args.output.json {
        plan::check_destination(path).or_exit(Exit::Own)?;
    }
    let program = plan::find_program(&args.command, std::env::var_os("PATH").as_deref())?;
    let (profile, exit) = if args.no_bpf {
        fallback::run(&program, "--no-bpf was given", false)
    } else {
        runner::run(&program, args.max_rows, args.compat_sensor, args.output.verbose)
    }?;
    let gate = hotset_analysis::Gate::default();
    let summary = hotset_analysis::summarise(profile, costs::table(), gate);
    output::report(&summary, &args.output);
    if args.output.verbose
        && let Some(bytes) = hotset_sys::child::own_peak_rss_bytes()
    {
        let mib = bytes as f64 / f64::from(1 << 20);
        output::say(format_args!("hotset itself: {mib:.1} MiB at its peak"));
    }
    Ok(exit)
}
