//! `hotset size` of what already runs.

use hotset_analysis::size::size_sampled;
use hotset_view::size::SizedTrace;
use hotset_watch::sample_need;

use super::{asked, emitted, refuse_too_small};
use crate::args::SizeArgs;
use crate::exit::{Exit, OrExit, Stop};
use crate::output;

/// Watches it, and says what it needs.
pub(super) fn size(args: &SizeArgs) -> Result<Exit, Stop> {
    let who = args.who.find()?;
    let begun = || {
        if !args.quiet && args.duration.is_none() {
            output::say("watching; Ctrl-C ends it");
        }
    };
    let (head, need) = sample_need(&who, args.duration, env!("CARGO_PKG_VERSION"), begun)?;
    let summary = size_sampled(&head, need, &asked(args, &head));
    let sized = SizedTrace { path: None, head: &head, summary: &summary };
    let emitted = emitted(&sized, args).or_exit(Exit::Failure)?;
    let written = output::size(&sized, args, &emitted);
    // Said last: what was watched for so long is not for nothing.
    refuse_too_small(args, &summary)?;
    Ok(if written { Exit::Success } else { Exit::Failure })
}
