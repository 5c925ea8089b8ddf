//! Arguments of `warm`, `evict` and `pin`.

use std::path::PathBuf;

use hotset_sys::cache::ByteSpan;

use super::selection::SelectionArgs;
use hotset_facts::units::parse_size;

/// What these three say at the end.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ControlOutput {
    /// Print JSON (hotset.control/1) instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing; exit 0 if the requested state was reached, else 1
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// List every file that did not reach the requested state
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Arguments of `warm`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hotset warm /srv/db                      what is missing, and nothing else\n  \
                        hotset warm --range 1G-2G big.bin        bytes from 1 GiB up to 2 GiB\n  \
                        hotset warm --budget 4G /models\n\n\
                        Exit status:\n  \
                        0      all selected pages are cached\n  \
                        1      some are not (over budget, memory short, unreadable), or hotset failed\n  \
                        2      invalid arguments\n  \
                        128+N  signal N stopped it (130 after Ctrl-C)"
)]
pub(crate) struct WarmArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Read only this range of each file: START-END or START+LENGTH
    ///
    /// END is exclusive; without it, the range ends at the end of the file.
    #[arg(long, value_name = "START-END", value_parser = parse_range, default_value = "0-", hide_default_value = true)]
    pub(crate) range: ByteSpan,
    /// Read at most SIZE: 64M, 4G
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) budget: Option<u64>,
    #[command(flatten)]
    pub(crate) output: ControlOutput,
}

/// Arguments of `evict`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hotset evict /srv/db          leaves dirty pages, and names what else stays and why\n  \
                        hotset evict --sync /srv/db   writes them out first\n  \
                        sudo hotset evict --everything\n\n\
                        Exit status:\n  \
                        0      none of the selected pages is cached\n  \
                        1      some stayed; the report says why; or hotset failed\n  \
                        2      invalid arguments\n  \
                        128+N  signal N stopped it (130 after Ctrl-C)"
)]
pub(crate) struct EvictArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Evict only this range of each file: START-END or START+LENGTH
    #[arg(long, value_name = "START-END", value_parser = parse_range, default_value = "0-", hide_default_value = true)]
    pub(crate) range: ByteSpan,
    /// Write back dirty pages first; without this, they stay cached
    #[arg(long)]
    pub(crate) sync: bool,
    /// Drop all clean page cache, dentries and inodes of the host; requires root
    #[arg(long, conflicts_with_all = ["paths", "files_from", "range"])]
    pub(crate) everything: bool,
    #[command(flatten)]
    pub(crate) output: ControlOutput,
}

/// Arguments of `pin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  sudo hotset pin --budget 4G /srv/db\n  \
                        sudo hotset pin --daemon --pid-file /run/hotset-pin.pid /srv/db\n\n\
                        SIGINT (Ctrl-C), SIGTERM and SIGHUP unlock all files and end it.\n\n\
                        Exit status:\n  \
                        0      all files were locked; with --daemon, they are\n  \
                        1      some could not be locked, or hotset failed\n  \
                        2      invalid arguments\n  \
                        128+N  signal N came before the files were locked")]
pub(crate) struct PinArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Refuse to lock more than SIZE, also as files grow: 64M, 4G
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) budget: Option<u64>,
    /// Continue in the background once all files are locked
    #[arg(long)]
    pub(crate) daemon: bool,
    /// Write the PID to FILE, and remove FILE at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) pid_file: Option<PathBuf>,
    /// What --daemon starts
    #[arg(long, hide = true)]
    pub(crate) daemon_child: bool,
    #[command(flatten)]
    pub(crate) output: ControlOutput,
}

/// Reads `START-END`, `START-` or `START+LENGTH`.
fn parse_range(text: &str) -> Result<ByteSpan, String> {
    const EXPECTED: &str = "expected START-END or START+LENGTH in bytes, e.g. 0-64M or 1G+4K";
    let size = |part: &str| parse_size(part).map_err(|error| format!("{part:?}: {error}"));
    let span = if let Some((start, len)) = text.split_once('+') {
        let (start, len) = (size(start)?, size(len)?);
        let end = start.checked_add(len).ok_or("ends beyond 16 EiB")?;
        ByteSpan { start, end }
    } else if let Some((start, end)) = text.split_once('-') {
        let end = if end.is_empty() { u64::MAX } else { size(end)? };
        ByteSpan { start: size(start)?, end }
    } else {
        return Err(EXPECTED.to_owned());
    };
    if span.start >= span.end {
        return Err(format!(
            "an empty range: it starts at {} and ends at {}",
            span.start, span.end
        ));
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_an_end_or_a_length_or_neither() {
        let span = |start, end| Ok(ByteSpan { start, end });
        assert_eq!(parse_range("0-64M"), span(0, 64 << 20));
        assert_eq!(parse_range("1G+4K"), span(1 << 30, (1 << 30) + 4096));
        assert_eq!(parse_range("5-"), span(5, u64::MAX));
    }

    #[test]
    fn what_is_no_range_says_what_would_be() {
        for (bad, word) in [
            ("12", "START-END"),
            ("5-5", "empty"),
            ("9-5", "empty"),
            ("1+0", "empty"),
            ("x-5", "\"x\""),
            ("-5", "\"\""),
            ("1-5Q", "\"Q\""),
        ] {
            let error = parse_range(bad).expect_err(bad);
            assert!(error.contains(word), "{bad}: {error}");
        }
    }
}
