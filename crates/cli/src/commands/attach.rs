//! `hotset attach`.

use crate::args::AttachArgs;
use crate::exit::Exit;
use crate::{attached, costs, output, plan};

/// Observes what already runs, and reports.
pub(crate) fn attach(args: &AttachArgs) -> Exit {
    let profile = args
        .output
        .json
        .as_deref()
        .map_or(Ok(()), plan::check_destination)
        .and_then(|()| attached::observe(args));
    match profile {
        Ok(profile) => {
            let summary = hotset_analysis::summarise(
                profile,
                costs::table(),
                hotset_analysis::Gate::default(),
            );
            if output::report(&summary, &args.output) { Exit::Success } else { Exit::Failure }
        }
        Err(error) => {
            output::say(format_args!("{error:#}"));
            Exit::Failure
        }
    }
}
