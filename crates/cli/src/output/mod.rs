//! The only place that prints and writes report files.

mod bench;
mod lab;
mod rows;
mod screen;
mod stat;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::{Context, Result};
use hotset_analysis::Summary;
use hotset_view::Options;
use hotset_view::listing::ListStyle;

use crate::args::{Color, FormArgs, OutputArgs};

pub(crate) use bench::{bench, bench_files};
pub(crate) use lab::{lab_files, lab_table};
pub(crate) use rows::RowStream;
pub(crate) use screen::{has_screen, print_while_read, screen_color, screen_stream};
pub(crate) use stat::{StatOutput, stdout_fd};

/// Columns where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 100;

/// What is gathered before it is written to a profile.
const JSON_BUFFER_BYTES: usize = 64 * 1024;

/// Prints a message of hotset's own on standard error.
pub(crate) fn say(message: impl std::fmt::Display) {
    // A closed standard error is nothing that a message could still tell.
    let _ = writeln!(io::stderr(), "hotset: {message}");
}

/// Whether a line that changes could be seen.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Puts `line` in the place of the last one on the terminal; an empty one takes it away.
pub(crate) fn progress(line: &str) {
    let _ = write!(io::stderr(), "\r\x1b[K{line}");
}

/// Standard output as a stream of bytes, for a snapshot.
pub(crate) fn snapshot_stream() -> io::Stdout {
    io::stdout()
}

/// Prints a report to standard error, where standard output is taken.
pub(crate) fn print_beside(bytes: &[u8]) -> Result<()> {
    io::stderr().lock().write_all(bytes).context("standard error")
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

/// How text looks on a standard stream.
fn options(stream: &(impl IsTerminal + AsFd), color: Color, ascii: bool) -> Options {
    Options {
        width: width_of(terminal_size::terminal_size_of(stream)),
        color: use_color(color, stream.is_terminal()),
        ascii: ascii || !locale_is_utf8(),
        ..Options::default()
    }
}

/// How text looks on standard output.
pub(crate) fn stdout_options(color: Color, ascii: bool) -> Options {
    options(&io::stdout(), color, ascii)
}

/// How a summary looks: on standard error where standard output is taken.
fn summary_options(stdout_is_taken: bool, color: Color, ascii: bool) -> Options {
    match stdout_is_taken {
        true => options(&io::stderr(), color, ascii),
        false => stdout_options(color, ascii),
    }
}

/// How a listing on standard output looks, and whether that is a terminal.
pub(crate) fn listing_style(form: &FormArgs) -> (ListStyle, bool) {
    let terminal = io::stdout().is_terminal();
    let Options { width, color, ascii, .. } = stdout_options(form.color, form.ascii);
    let width = terminal.then_some(width);
    let style = ListStyle { width, color, ascii, all_columns: form.all_columns };
    (style, terminal)
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
        let options = Options {
            top: args.top,
            all: args.verbose,
            ..options(&io::stderr(), args.color, args.ascii)
        };
        let text = hotset_view::render(summary, &options);
        complete &= io::stderr().lock().write_all(text.as_bytes()).is_ok();
    }
    complete
}

/// Whether the locale can show more than ASCII: LC_ALL, else LC_CTYPE, else LANG.
pub(crate) fn locale_is_utf8() -> bool {
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
    // A run can have tens of thousands of rows: they go out as they are made.
    write_file(path, &mut |out| hotset_view::write_profile_json(summary, out))
}

/// Writes a page as a whole; `-` is standard output.
pub(crate) fn page(page: &hotset_view::page::Page, path: &Path) -> Result<()> {
    write_file(path, &mut |out| hotset_view::page::write_page(page, out))
}

/// What makes the contents of a file.
type Contents<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Writes a file as a whole; `-` is standard output.
fn write_file(path: &Path, contents: Contents<'_>) -> Result<()> {
    if path == Path::new("-") {
        return match write_buffered(io::stdout().lock(), contents) {
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
            .and_then(|file| write_buffered(file, contents)),
        // Where a link leads to is replaced, and not the link.
        Ok(_) => fs::canonicalize(path).and_then(|path| replace(&path, contents)),
        Err(_) => replace(path, contents),
    };
    written.with_context(|| path.display().to_string())
}

/// Writes beside a file, then renames: whoever reads it sees the old one or the new one, never a half.
fn replace(path: &Path, contents: Contents<'_>) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = Path::new(&beside);
    // A new file and not what somebody else may have put there under this name.
    let file = fs::File::create_new(beside)?;
    let written = Ok(file)
        .and_then(|file| write_buffered(file, contents))
        .and_then(|()| fs::rename(beside, path));
    if written.is_err() {
        let _ = fs::remove_file(beside);
    }
    written
}

fn write_buffered(out: impl Write, contents: Contents<'_>) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(JSON_BUFFER_BYTES, out);
    contents(&mut out)?;
    out.flush()
}
