//! Names as a terminal may see them: whatever a file is called, one line and no control sequences come out.

use std::fmt::Write as _;
use std::path::Path;

use hotset_facts::message::without_error_numbers;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Escapes bytes that a person is to read: control characters as `\n`, `\t`, `\x1b`; invalid UTF-8 as `\xNN`; characters
/// that reorder or hide text as `\u{NNNN}`; the backslash as `\\`, so that the result is unambiguous.
pub fn escape_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    // Most names need nothing, and a listing has a million of them.
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && *byte != b'\\';
    let plain = bytes.iter().take_while(|byte| is_plain(byte)).count();
    out.extend(bytes[..plain].iter().map(|&byte| char::from(byte)));
    let bytes = &bytes[plain..];
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            push_escaped(&mut out, character, true);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Escapes a path that a person is to read, as [`escape_bytes`].
pub(crate) fn escape_path(path: &Path) -> String {
    escape_bytes(path.as_os_str().as_encoded_bytes())
}

/// Escapes text of ours that may hold names: as [`escape_bytes`], but a backslash stays, and numbers of errors don't.
pub fn escape_text(text: &str) -> String {
    let text = without_error_numbers(text);
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        push_escaped(&mut out, character, false);
    }
    out
}

fn push_escaped(out: &mut String, character: char, backslash: bool) {
    match character {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\\' if backslash => out.push_str("\\\\"),
        c if c.is_ascii_control() => {
            let _ = write!(out, "\\x{:02x}", c as u32);
        }
        c if c.is_control() || hides_or_reorders(c) => {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
        c => out.push(c),
    }
}

/// Zero-width and bidirectional format characters, line and paragraph separators, and the byte order mark: with them, a
/// name can look like another.
fn hides_or_reorders(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    match text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        true => text.len(),
        false => text.width(),
    }
}

/// Cuts the middle out of a text wider than `width` columns. More of the end stays than of the start: that is where a
/// path has its name.
pub fn shorten_middle(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let head_room = room / 3;
    let head = take_columns(text.chars(), head_room);
    let tail: Vec<char> =
        take_columns(text.chars().rev(), room - head_room).chars().rev().collect();
    let mut out = head;
    if width > 0 {
        out.push('…');
    }
    out.extend(tail);
    out
}

/// Cuts directories out of a path wider than `width` columns, from the middle: the name at its end tells most, then the
/// directories before it, then where it begins. A name that is too wide by itself is cut like any text.
pub(crate) fn shorten_path(path: &str, width: usize) -> String {
    if columns(path) <= width {
        return path.to_owned();
    }
    if width == 0 {
        return String::new();
    }
    let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
    let room = width.saturating_sub(1);
    let fits = |from: &&usize| columns(&path[**from..]) <= room;
    match slashes.iter().find(fits) {
        // As much of the start as fits, up to a slash.
        Some(&tail) => {
            let left = room - columns(&path[tail..]);
            let heads = slashes.iter().rev().map(|&at| &path[..=at]);
            let head = heads.filter(|head| head.len() > 1).find(|head| columns(head) <= left);
            format!("{}…{}", head.unwrap_or(""), &path[tail..])
        }
        None => {
            let name = slashes.last().map_or(path, |&at| &path[at..]);
            format!("…{}", shorten_middle(name, room))
        }
    }
}

/// Cuts the end off a text wider than `width` columns.
pub(crate) fn shorten_end(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut out = take_columns(text.chars(), width.saturating_sub(1));
    if width > 0 {
        out.push('…');
    }
    out
}

fn take_columns(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_one_line() {
        assert_eq!(escape_bytes(b"a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1b[31m\\x7f");
        assert_eq!(escape_bytes(b"bad\xff\xfe.txt"), "bad\\xff\\xfe.txt");
        assert_eq!(escape_bytes("\u{202e}gpj.exe\u{85}".as_bytes()), "\\u{202e}gpj.exe\\u{85}");
        assert_eq!(escape_bytes(br"C:\n"), r"C:\\n");
        assert_eq!(escape_bytes("日本語 é".as_bytes()), "日本語 é");
    }

    #[test]
    fn a_short_path_keeps_its_name() {
        let path = "/root/.pyenv/versions/3.11.7/lib/lib-dynload/_ssl.cpython-311.so";
        assert_eq!(shorten_path(path, 64), path);
        assert_eq!(shorten_path(path, 50), "/root/…/3.11.7/lib/lib-dynload/_ssl.cpython-311.so");
        assert_eq!(shorten_path(path, 34), "…/lib-dynload/_ssl.cpython-311.so");
        assert_eq!(shorten_path(path, 28), "/root/…/_ssl.cpython-311.so");
        assert_eq!(shorten_path(path, 14), "…/_ss…n-311.so");
        for width in 0..70 {
            assert!(columns(&shorten_path(path, width)) <= width, "{width}");
            assert!(columns(&shorten_path("日本/語日本語/日本語", width)) <= width, "{width}");
        }
    }

    #[test]
    fn shortening_keeps_both_ends_and_the_width() {
        let path = "/very/long/path/to/some/directory/with/a/file.bin";
        let short = shorten_middle(path, 24);
        assert_eq!(short, "/very/l…y/with/a/file.bin".replace("y/with", "/with"));
        assert_eq!(columns(&short), 24);
        for width in 0..60 {
            assert!(columns(&shorten_middle("日本語日本語日本語", width)) <= width);
            assert!(columns(&shorten_end(path, width)) <= width);
        }
    }
}
