//! `hotset trace info`.

use anyhow::Result;
use hotset_view::trace::{info as info_text, info_picture_size};

use super::trace_read::TraceRead;
use crate::args::TraceInfoArgs;
use crate::output;

/// Shows what is in a trace.
pub(super) fn info(args: &TraceInfoArgs) -> Result<()> {
    let options = hotset_view::Options { top: args.top, ..output::stdout_options(args.look) };
    let read = TraceRead::of(&args.trace, args.top, &info_picture_size(&options))?;
    let text = match args.json {
        true => hotset_view::wire::trace_info_json(&read.trace()),
        false => info_text(&read.trace(), &options).into_bytes(),
    };
    output::print(&text)
}
