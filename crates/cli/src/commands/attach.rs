//! `hotset attach`.

use crate::args::AttachArgs;
use crate::exit::{Exit, Stop};
use crate::{attached, costs, output, plan};

/// Observes what already runs, and reports.
pub(super) fn attach(args: &AttachArgs) -> Result<Exit, Stop> {
    if let Some(path) = &args.output.json {
        plan::check_destination(path)?;
    }
    let profile = attached::observe(args)?;
    let gate = hotset_analysis::Gate::default();
    let summary = hotset_analysis::summarise(profile, costs::table(), gate);
    Ok(if output::report(&summary, &args.output) { Exit::Success } else { Exit::Failure })
}
