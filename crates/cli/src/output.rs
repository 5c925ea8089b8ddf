//! The only place that prints and writes report files.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use hotset_analysis::Summary;

use crate::args::{Color, OutputArgs};

/// Columns where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 100;

/// What is gathered before it is written to a profile.
const JSON_BUFFER_BYTES: usize = 64 * 1024;

/// Prints a message of hotset's own on standard error.
pub(crate) fn say(message: impl std::fmt::Display) {
    // A closed standard error is nothing that a message could still tell.
    let _ = writeln!(io::stderr(), "hotset: {message}");
}

/// Prints to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // `| head` has what it wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("standard output"),
    }
}

fn use_color(wanted: Color, is_terminal: bool) -> bool {
    match wanted {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            is_terminal && !refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

fn width_of(terminal: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    asked.or_else(|| terminal.map(|(width, _)| usize::from(width.0))).unwrap_or(DEFAULT_WIDTH)
}

/// Width and colour of standard output, for `doctor`.
pub(crate) fn stdout_style(color: Color) -> (usize, bool) {
    let out = io::stdout();
    (width_of(terminal_size::terminal_size_of(&out)), use_color(color, out.is_terminal()))
}

/// Writes what was asked for: JSON where it is wanted, the report to standard error unless it is not.
///
/// A report that can't be written is said, and the others still come.
pub(crate) fn report(summary: &Summary, args: &OutputArgs) -> bool {
    let mut complete = true;
    if let Some(path) = &args.json
        && let Err(error) = write_json(summary, path)
    {
        say(format_args!("the profile was not written: {error:#}"));
        complete = false;
    }
    if !args.quiet {
        let err = io::stderr();
        let options = hotset_view::Options {
            width: width_of(terminal_size::terminal_size_of(&err)),
            color: use_color(args.color, err.is_terminal()),
            top: args.top,
            ascii: args.ascii || !locale_is_utf8(),
            all: args.verbose,
        };
        let text = hotset_view::render(summary, &options);
        complete &= err.lock().write_all(text.as_bytes()).is_ok();
    }
    complete
}

/// Whether the locale can show more than ASCII: LC_ALL, else LC_CTYPE, else LANG.
fn locale_is_utf8() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_none_or(|value| {
            let value = value.to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}

fn write_json(summary: &Summary, path: &Path) -> Result<()> {
    if path == Path::new("-") {
        let written = write_buffered(summary, io::stdout().lock());
        return match written {
            // `| head` has what it wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("standard output"),
        };
    }
    let written = match fs::metadata(path) {
        // A device, a pipe or a socket's end stays what it is.
        Ok(there) if !there.is_file() => fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|file| write_buffered(summary, file)),
        // Where a link leads to is replaced, and not the link.
        Ok(_) => fs::canonicalize(path).and_then(|path| replace(summary, &path)),
        Err(_) => replace(summary, path),
    };
    written.with_context(|| path.display().to_string())
}

/// Writes beside a file, then renames: whoever reads it sees the old one or the new one, never a half.
fn replace(summary: &Summary, path: &Path) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = Path::new(&beside);
    // A new file and not what somebody else may have put there under this name.
    let file = fs::File::create_new(beside)?;
    let written = Ok(file)
        .and_then(|file| write_buffered(summary, file))
        .and_then(|()| fs::rename(beside, path));
    if written.is_err() {
        let _ = fs::remove_file(beside);
    }
    written
}

/// A run can have tens of thousands of rows: they go out as they are made.
fn write_buffered(summary: &Summary, out: impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(JSON_BUFFER_BYTES, out);
    hotset_view::write_profile_json(summary, &mut out)?;
    out.flush()
}
