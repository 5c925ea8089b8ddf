//! Wrapping and painting.

use anstyle::Style;

use crate::escape::{columns, escape_bytes, shorten_end};

/// Words in lines of at most `width` columns; a word that is wider is cut, so that no line ever wraps by itself.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_by(text, " ", width)
}

/// Units that stay on the line of their number.
const UNITS: [&str; 16] = [
    "ns", "µs", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "kB/s", "MB/s",
    "GB/s", "%",
];

/// Parts, joined by `separator` where they share a line. A line that goes on ends in a comma, if that separates, and
/// else without the separator. A number and its unit are one part.
pub(crate) fn wrap_by(text: &str, separator: &str, width: usize) -> Vec<String> {
    let comma = if separator == ", " { "," } else { "" };
    let mut lines: Vec<String> = Vec::new();
    for part in parts(text, separator) {
        let part = shorten_end(&part, width.saturating_sub(comma.len()));
        match lines.last_mut() {
            Some(line)
                if columns(line) + columns(separator) + columns(&part) + comma.len() <= width =>
            {
                line.push_str(separator);
                line.push_str(&part);
            }
            Some(line) => {
                line.push_str(comma);
                lines.push(part);
            }
            None => lines.push(part),
        }
    }
    lines
}

/// What may stand on a line of its own.
fn parts(text: &str, separator: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(separator).filter(|part| !part.trim().is_empty()) {
        match parts.last_mut() {
            Some(last) if separator == " " && ends_in_number(last) && is_unit(part) => {
                last.push(' ');
                last.push_str(part);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

/// The same text on one line, for a browser: no line breaks between a number and its unit.
pub(crate) fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split(' ').enumerate() {
        let is_glued = ends_in_number(&out) && is_unit(part);
        if at > 0 {
            out.push(if is_glued { '\u{a0}' } else { ' ' });
        }
        out.push_str(part);
    }
    out
}

fn ends_in_number(part: &str) -> bool {
    part.ends_with(|c: char| c.is_ascii_digit())
}

/// With whatever ends the phrase: `ms)`, `MiB,`.
fn is_unit(part: &str) -> bool {
    UNITS.contains(&part.trim_end_matches([',', '.', ';', ':', ')', ']']))
}

/// The text with a style, or as it is without colour.
pub(crate) fn paint(text: &str, style: Style, color: bool) -> String {
    if color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// The text with every glyph that isn't ASCII replaced by one of the same width, so that columns stay aligned.
pub(crate) fn ascii(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            c if c.is_ascii() => c,
            'µ' => 'u',
            '…' => '~',
            '·' => '-',
            '→' => '>',
            '█' | '▉' | '▊' | '▋' | '▌' => '#',
            '▍' | '▎' | '▏' => '.',
            _ => '?',
        })
        .collect()
}

/// A name, safe for a terminal; beyond ASCII only where that can be shown.
pub(crate) fn name_for(bytes: &[u8], ascii: bool) -> String {
    let escaped = escape_bytes(bytes);
    if !ascii || escaped.is_ascii() {
        return escaped;
    }
    escaped.chars().map(|c| if c.is_ascii() { c.to_string() } else { hex_escapes(c) }).collect()
}

/// A character as its bytes in UTF-8, escaped.
fn hex_escapes(c: char) -> String {
    let mut buffer = [0; 4];
    c.encode_utf8(&mut buffer).bytes().map(|byte| format!("\\x{byte:02x}")).collect()
}

/// A bar of `width` columns for a share from 0 to 1, in eighths of a column. A share above zero is never empty.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { eighths };
    let mut out = "█".repeat(eighths / 8);
    if eighths % 8 > 0 {
        out.push(EIGHTHS[eighths % 8]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wrap_at_words() {
        assert_eq!(wrap("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("a verylongword b", 6), ["a", "veryl…", "b"]);
        assert_eq!(wrap("", 6), Vec::<String>::new());
        assert_eq!(wrap_by("a b · c · d", " · ", 8), ["a b · c", "d"]);
        assert_eq!(wrap_by("a b, c, d", ", ", 6), ["a b,", "c, d"]);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(wrap("it takes 1.25 ms, so", 12), ["it takes", "1.25 ms, so"]);
        assert_eq!(wrap("95 % CI (9.5 to 12 µs)", 14), ["95 % CI (9.5", "to 12 µs)"]);
        assert_eq!(wrap("from 3 files in s", 9), ["from 3", "files in", "s"]);
        assert_eq!(
            unbroken("takes 1.25 ms,  95 % of 3 s"),
            "takes 1.25\u{a0}ms,  95\u{a0}% of 3\u{a0}s"
        );
    }

    #[test]
    fn bars_fill_their_width() {
        assert_eq!(bar(1.0, 3), "███");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(0.0001, 3), "▏");
        assert_eq!(bar(0.0, 3), "");
        assert_eq!(bar(f64::INFINITY, 3), "");
        assert_eq!(bar(7.0, 3), "███");
    }
}
