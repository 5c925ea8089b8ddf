//! `hotset run`.

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::{costs, fallback, output, plan, runner};

/// Runs a command under observation and reports; the command's own end is the exit code.
pub(crate) fn run(args: &RunArgs) -> Exit {
    if let Some(path) = &args.output.json
        && let Err(error) = plan::check_destination(path)
    {
        output::say(format_args!("{error:#}"));
        return Exit::Own;
    }
    let program = match plan::find_program(&args.command, std::env::var_os("PATH").as_deref()) {
        Ok(program) => program,
        Err((exit, message)) => {
            output::say(message);
            return exit;
        }
    };
    let finished = if args.no_bpf {
        fallback::run(&program, "--no-bpf was given", false)
    } else {
        runner::run(&program, args.max_rows, args.compat_sensor, args.output.verbose)
    };
    match finished {
        Ok((profile, exit)) => {
            let summary = hotset_analysis::summarise(
                profile,
                costs::table(),
                hotset_analysis::Gate::default(),
            );
            output::report(&summary, &args.output);
            if args.output.verbose
                && let Some(bytes) = hotset_sys::child::own_peak_rss_bytes()
            {
                output::say(format_args!(
                    "hotset itself: {:.1} MiB at its peak",
                    bytes as f64 / f64::from(1 << 20)
                ));
            }
            exit
        }
        Err((exit, message)) => {
            output::say(message);
            exit
        }
    }
}
