//! A picture of one file in characters: where in it requests were, and when.

use anstyle::{AnsiColor, Style};
use hotset_analysis::trace::RequestKind;
use hotset_analysis::trace::pictures::{FilePicture, PictureSize};

use crate::escape::shorten_path;
use crate::report::Options;
use crate::report::screen::Screen;
use crate::report::text::{paint, wrap_by};
use crate::table::{Align, pad};
use crate::trace::{Trace, words};
use crate::units::{bytes, duration};

/// What offsets take, with the gap behind them.
const OFFSET: usize = 10;
/// Lines of a picture at most: more than half of them where a file has as many pages.
const LINES: usize = 16;

/// Kinds of requests with their signs, in ASCII too: where several are in a cell, the first of them is shown.
const SIGNS: [(RequestKind, char, char, Option<AnsiColor>); 8] = [
    (RequestKind::ReadMissed, '█', '#', Some(AnsiColor::Yellow)),
    (RequestKind::MajorFault, 'F', 'F', Some(AnsiColor::Magenta)),
    (RequestKind::Direct, 'd', 'd', Some(AnsiColor::Red)),
    (RequestKind::Write, 'w', 'w', Some(AnsiColor::Green)),
    (RequestKind::ReadAhead, '▒', '+', Some(AnsiColor::Cyan)),
    (RequestKind::ReadCached, '░', '-', Some(AnsiColor::Blue)),
    (RequestKind::ReadUnknown, 'r', 'r', None),
    (RequestKind::MinorFault, 'f', 'f', None),
];

fn room(width: usize) -> usize {
    width.clamp(72, 200) - OFFSET
}

/// A picture for this terminal.
pub(super) fn size(options: &Options) -> PictureSize {
    PictureSize::terminal(room(options.width), LINES)
}

/// The sign of each cell, as its place in [`SIGNS`].
fn cells(picture: &FilePicture, width: usize) -> Vec<Vec<Option<usize>>> {
    let mut lines = vec![vec![None; width]; LINES.min(picture.rows)];
    let height = lines.len();
    let place = |at: u16, of: usize, into: usize| usize::from(at) * into / of.max(1);
    for layer in &picture.layers {
        let Some(sign) = SIGNS.iter().position(|(kind, ..)| *kind == layer.kind) else { continue };
        for cell in &layer.cells {
            let line = lines.get_mut(place(cell.row, picture.rows, height));
            let column = place(cell.column, picture.columns, width);
            let Some(known) = line.and_then(|line| line.get_mut(column)) else { continue };
            *known = Some(known.map_or(sign, |known: usize| known.min(sign)));
        }
    }
    lines
}

/// The costliest file that has a picture.
pub(super) fn push(screen: &mut Screen, trace: &Trace<'_>, options: &Options) {
    let Some(picture) = trace.pictures.files.first() else { return };
    let width = room(screen.width).min(picture.columns);
    let name = words::file(picture.index, picture.file.as_ref(), &|name| screen.name(name));
    let title = shorten_path(&name, screen.width.saturating_sub(30));
    screen.heading(&title, "requests by offset and time");
    let lines = cells(picture, width);
    let (rows, height) = (picture.rows as u64, lines.len().max(1) as u64);
    for (at, line) in lines.iter().enumerate() {
        let offset = bytes((at as u64 * rows).div_ceil(height).saturating_mul(picture.row_bytes));
        let text: String = line.iter().map(|sign| painted(*sign, options)).collect();
        screen.line(&format!("{}  {text}", pad(&offset, OFFSET - 2, Align::Right)));
    }
    let length = picture.column_ns.saturating_mul(picture.columns as u64);
    let end = duration(picture.from_ns.saturating_add(length));
    let begin = duration(picture.from_ns);
    let gap = width.saturating_sub(begin.chars().count() + end.chars().count());
    screen.line(&format!("{:OFFSET$}{begin}{:gap$}{end}", "", ""));
    legend(screen, picture, options);
}

/// What the signs of a picture mean.
fn legend(screen: &mut Screen, picture: &FilePicture, options: &Options) {
    let is_used = |kind| picture.layers.iter().any(|layer| layer.kind == kind);
    let used: Vec<usize> = (0..SIGNS.len()).filter(|&at| is_used(SIGNS[at].0)).collect();
    let entry = |at: usize, sign: String| format!("{sign} {}", words::kind(SIGNS[at].0));
    let plain = |at: usize| painted(Some(at), &Options { color: false, ..*options });
    let text: Vec<String> = used.iter().map(|&at| entry(at, plain(at))).collect();
    let width = screen.width.saturating_sub(OFFSET);
    for mut line in wrap_by(&text.join("   "), "   ", width) {
        for (&at, text) in used.iter().zip(&text) {
            line = line.replace(text, &entry(at, painted(Some(at), options)));
        }
        screen.line(&format!("{:OFFSET$}{line}", ""));
    }
    if used.len() > 1 {
        screen.paragraph("", " ", "Where several meet, the first of these is shown.", OFFSET);
    }
}

fn painted(sign: Option<usize>, options: &Options) -> String {
    let Some((_, sign, plain, color)) = sign.and_then(|at| SIGNS.get(at)) else {
        return if options.ascii { ".".to_owned() } else { "·".to_owned() };
    };
    let text = if options.ascii { plain } else { sign }.to_string();
    paint(&text, color.map_or_else(Style::new, AnsiColor::on_default), options.color)
}
