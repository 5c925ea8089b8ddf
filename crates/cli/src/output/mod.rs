//! The only place that prints and writes report files.

mod bench;
mod check;
mod diff;
mod explain;
mod lab;
mod replay;
mod rows;
mod screen;
mod size;
mod stat;
mod status;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use hotset_analysis::Summary;
use hotset_facts::message::without_error_numbers;
use hotset_sys::whole_file::WholeFile;
use hotset_view::Options;
use hotset_view::listing::ListStyle;

use crate::args::{Color, FormArgs, LookArgs, OutputArgs};
use crate::exit::Exit;

pub(crate) use bench::{bench, bench_files};
pub(crate) use check::{budget, check, profile};
pub(crate) use diff::difference;
pub(crate) use explain::explained;
pub(crate) use lab::{lab_files, lab_table};
pub(crate) use replay::replay;
pub(crate) use rows::RowStream;
pub(crate) use screen::{has_screen, screen_look};
pub(crate) use size::size;
pub(crate) use stat::{StatLines, StatOutput, stdout_fd};
pub(crate) use status::StatusLine;

/// Columns where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 100;

/// What is gathered before it is written to a profile.
const JSON_BUFFER_BYTES: usize = 64 * 1024;

/// Where messages go instead of standard error.
static MESSAGES: OnceLock<fs::File> = OnceLock::new();

/// Has messages of hotset's own written to a file from here on: standard error is that of a command, too, and whoever called
/// hotset may want to tell them apart.
///
/// # Errors
/// As the file.
pub(crate) fn messages_to(path: &Path) -> io::Result<()> {
    let file = fs::OpenOptions::new().append(true).create(true).open(path)?;
    // The first file stays; there is one `--messages`.
    let _ = MESSAGES.set(file);
    Ok(())
}

/// Prints a message of hotset's own on standard error, or to the file of `--messages`.
pub(crate) fn say(message: impl std::fmt::Display) {
    let message = message.to_string();
    let line = format!("hotset: {}\n", without_error_numbers(&message));
    // A closed standard error is nothing that a message could still tell.
    let _ = match MESSAGES.get() {
        Some(mut file) => file.write_all(line.as_bytes()),
        None => io::stderr().write_all(line.as_bytes()),
    };
}

/// Whether a terminal can move its cursor and show colours: all that don't call themselves dumb.
fn is_capable() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Standard output as a stream of bytes, for a snapshot or a screen.
pub(crate) fn stdout_stream() -> io::Stdout {
    io::stdout()
}

/// Prints a report to standard error, where standard output is taken.
pub(crate) fn print_beside(bytes: &[u8]) -> Result<()> {
    while_read(io::stderr().lock().write_all(bytes)).context("standard error").map(drop)
}

/// Prints to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    print_while_read(bytes).map(drop)
}

/// Prints to standard output; false where nobody reads it any more.
///
/// # Errors
/// Where it can't be written for another reason.
pub(crate) fn print_while_read(bytes: &[u8]) -> Result<bool> {
    let mut out = io::stdout().lock();
    while_read(out.write_all(bytes).and_then(|()| out.flush())).context("standard output")
}

/// Prints what clap says of arguments that it does not hand over: an error on standard error, or help and version, which are none
/// and what was asked for.
pub(crate) fn refused_or_help(said: &clap::Error) -> Exit {
    if let Some(mut file) = MESSAGES.get().filter(|_| said.use_stderr()) {
        let _ = write!(file, "{said}");
        return Exit::Usage;
    }
    let printed = said.print();
    if said.use_stderr() {
        return Exit::Usage;
    }
    match while_read(printed.and_then(|()| io::stdout().flush())).context("standard output") {
        Ok(_) => Exit::Success,
        Err(error) => {
            say(format_args!("{error:#}"));
            Exit::Failure
        }
    }
}

/// Whether what was written to is still read: `| head` has what it wanted at some time.
fn while_read(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

fn use_color(wanted: Color, is_terminal: bool) -> bool {
    match wanted {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            is_terminal && !refused && is_capable()
        }
    }
}

fn width_of(terminal: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    asked.or_else(|| terminal.map(|(width, _)| usize::from(width.0))).unwrap_or(DEFAULT_WIDTH)
}

/// How text looks on a standard stream.
fn options(stream: &(impl IsTerminal + AsFd), look: LookArgs) -> Options {
    Options {
        width: width_of(terminal_size::terminal_size_of(stream)),
        color: use_color(look.color, stream.is_terminal()),
        ascii: look.ascii || !locale_is_utf8(),
        ..Options::default()
    }
}

/// How text looks on standard output.
pub(crate) fn stdout_options(look: LookArgs) -> Options {
    options(&io::stdout(), look)
}

/// How a summary looks: on standard error where standard output is taken.
fn summary_options(stdout_is_taken: bool, look: LookArgs) -> Options {
    match stdout_is_taken {
        true => options(&io::stderr(), look),
        false => stdout_options(look),
    }
}

/// Prints a summary: on standard error where standard output is taken. What can't be written is said; false then.
fn print_summary(
    stdout_is_taken: bool,
    look: LookArgs,
    text: impl FnOnce(&Options) -> String,
) -> bool {
    let text = text(&summary_options(stdout_is_taken, look));
    let printed = match stdout_is_taken {
        true => print_beside(text.as_bytes()),
        false => print(text.as_bytes()),
    };
    if let Err(error) = &printed {
        say(format_args!("the summary was not written: {error:#}"));
    }
    printed.is_ok()
}

/// How a listing on standard output looks, and whether that is a terminal.
pub(crate) fn listing_style(form: &FormArgs) -> (ListStyle, bool) {
    let terminal = io::stdout().is_terminal();
    let Options { width, color, ascii, .. } = stdout_options(form.look);
    let width = terminal.then_some(width);
    let style = ListStyle { width, color, ascii, all_columns: form.all_columns };
    (style, terminal)
}

/// Writes what was asked for: JSON and a page where they are wanted, the report to standard error unless it is not.
///
/// A report that can't be written is said, and the others still come.
pub(crate) fn report(summary: &Summary, args: &OutputArgs) -> bool {
    // A run can have tens of thousands of rows: they go out as they are made.
    let json: Contents<'_> = &mut |out| hotset_view::write_profile_json(summary, out);
    let html: Contents<'_> = &mut |out| hotset_view::results::write_profile_html(summary, out);
    let files = [(args.json.as_deref(), json), (args.html.as_deref(), html)];
    let mut complete = write_asked("the profile", files);
    if !args.quiet {
        let options =
            Options { top: args.top, all: args.verbose, ..options(&io::stderr(), args.look) };
        let text = hotset_view::render(summary, &options);
        complete &= print_beside(text.as_bytes()).is_ok();
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

/// Writes a page as a whole; `-` is standard output.
pub(crate) fn page(page: &hotset_view::page::Page, path: &Path) -> Result<()> {
    write_file(path, &mut |out| hotset_view::page::write_page(page, out))
}

/// Writes a file as a whole; `-` is standard output, of which not all may be read.
///
/// # Errors
/// As the contents, and as the file; not with its name.
pub(crate) fn whole(path: &Path, contents: Contents<'_>) -> io::Result<()> {
    if path == Path::new("-") {
        return while_read(write_buffered(io::stdout().lock(), contents)).map(drop);
    }
    match fs::metadata(path) {
        // A device, a pipe or a socket's end stays what it is.
        Ok(there) if !there.is_file() => fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|file| write_buffered(file, contents)),
        _ => replace(path, contents),
    }
}

/// What makes the contents of a file.
type Contents<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// A file that may have been asked for, and what makes its contents.
type Asked<'a> = (Option<&'a Path>, Contents<'a>);

/// Writes the files that were asked for. What can't be written is said, as what it is; false then.
fn write_asked<'a>(what: &str, files: impl IntoIterator<Item = Asked<'a>>) -> bool {
    let mut complete = true;
    for (path, contents) in files {
        if let Some(Err(error)) = path.map(|path| write_file(path, contents)) {
            say(format_args!("{what} was not written: {error:#}"));
            complete = false;
        }
    }
    complete
}

/// Writes a file as a whole, compressed where its name ends in `.gz`; `-` is standard output.
fn write_file(path: &Path, contents: Contents<'_>) -> Result<()> {
    if path.extension().is_some_and(|ending| ending == "gz") {
        return write_plain(path, &mut |out| {
            let mut compressed = GzEncoder::new(out, Compression::default());
            contents(&mut compressed)?;
            compressed.finish().map(drop)
        });
    }
    write_plain(path, contents)
}

fn write_plain(path: &Path, contents: Contents<'_>) -> Result<()> {
    whole(path, contents).with_context(|| match path == Path::new("-") {
        true => "standard output".to_owned(),
        false => path.display().to_string(),
    })
}

fn replace(path: &Path, contents: Contents<'_>) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    write_buffered(&mut file, contents)?;
    file.keep()
}

fn write_buffered(out: impl Write, contents: Contents<'_>) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(JSON_BUFFER_BYTES, out);
    contents(&mut out)?;
    out.flush()
}
