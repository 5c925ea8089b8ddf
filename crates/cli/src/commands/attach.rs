//! `hotset attach`.

use hotset_watch::AttachOptions;

use crate::args::AttachArgs;
use crate::destination::check_reports;
use crate::exit::{Exit, Stop};
use crate::output;

/// Observes what already runs, and reports.
pub(super) fn attach(args: &AttachArgs) -> Result<Exit, Stop> {
    check_reports(&args.output, Exit::Failure)?;
    let options = AttachOptions {
        who: args.target.find()?,
        duration: args.duration,
        max_rows: args.max_rows,
        files: args.files,
        sites: args.sites,
        say: |message| output::say(message),
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
