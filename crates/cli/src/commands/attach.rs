//! `hotset attach`.

use hotset_watch::AttachOptions;

use crate::args::AttachArgs;
use crate::destination::check_destination;
use crate::exit::{Exit, Stop};
use crate::output;

/// Observes what already runs, and reports.
pub(super) fn attach(args: &AttachArgs) -> Result<Exit, Stop> {
    if let Some(path) = &args.output.json {
        check_destination(path)?;
    }
    let options = AttachOptions {
        pid: args.pid,
        cgroup: args.cgroup.clone(),
        duration: args.duration,
        max_rows: args.max_rows,
        files: args.files,
    };
    let profile = hotset_watch::attach(&options, |limited| {
        if let Some(limited) = limited {
            output::say(limited);
        }
        if !args.output.quiet && args.duration.is_none() {
            output::say("observing; Ctrl-C ends it");
        }
    })?;
    let gate = hotset_analysis::Gate::default();
    let summary = hotset_analysis::summarise(profile, hotset_sys::costs::table(), gate);
    Ok(if output::report(&summary, &args.output) { Exit::Success } else { Exit::Failure })
}
