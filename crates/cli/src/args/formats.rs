//! Arguments of `formats`.

/// Arguments of `formats`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hotset formats")]
pub(crate) struct FormatsArgs {
    /// Only formats whose name holds this.
    pub(crate) name: Option<String>,
}
