//! `hotset trace join`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use hotset_watch::{join_parts, parts_of};

use super::check_new_trace;
use crate::args::TraceJoinArgs;
use crate::exit::Stop;
use crate::output;

/// Makes one trace of the parts of a recording.
pub(super) fn join(args: &TraceJoinArgs) -> Result<(), Stop> {
    let output = args.output.as_ref().unwrap_or(&args.trace);
    check_new_trace(output, args.force)?;
    let trace = args.trace.display();
    let parts: Vec<PathBuf> = parts_of(&args.trace).with_context(|| trace.to_string())?;
    if parts.is_empty() {
        let none = "there are no parts of it; expected";
        return Err(anyhow!("{trace}: {none} {trace}.part-00000 and so on").into());
    }
    let joined = join_parts(&parts, output).map_err(anyhow::Error::from)?;
    output::say(hotset_view::record::recorded(output, joined.records, joined.bytes));
    if !joined.ended {
        output::say("the recording was stopped: what it had not written yet is missing");
    }
    if !args.keep {
        for part in &parts {
            fs::remove_file(part).with_context(|| part.display().to_string())?;
        }
    }
    Ok(())
}
