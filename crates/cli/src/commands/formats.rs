//! `hotset formats`.

use crate::args::FormatsArgs;
use crate::exit::{Exit, Stop};
use crate::output;

/// Prints the formats that hotset writes and reads.
pub(super) fn formats(args: &FormatsArgs) -> Result<Exit, Stop> {
    output::print(hotset_view::results::formats_text(args.name.as_deref()).as_bytes())?;
    Ok(Exit::Success)
}
