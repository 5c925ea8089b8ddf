//! Parts of a name: each function tells how long the part is that begins at a place, if there is one.

use std::collections::HashSet;

use hotset_facts::Pid;

/// A part of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Random letters that a temporary file has at least: mkstemp(3) draws six.
const LEAST_RANDOM: usize = 6;
/// And at most: mktemp(1) draws ten, some programs twelve.
const MOST_RANDOM: usize = 12;
/// Digits of a hash in the name of a file at least: bundlers and Git cut them to eight.
const LEAST_HASH: usize = 8;
/// A run of letters and digits that is so long is a hash in another base, as those of Nix are.
const LONG_HASH: usize = 32;
/// PIDs are looked for from so many digits on: shorter numbers are something else too often.
const LEAST_PID: usize = 3;

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How many bytes at a place are such.
fn run(text: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|&&byte| is(byte)).count()
}

/// Whether no letter or digit stands before a place.
fn begins(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|at| text.get(at)).is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// Drawn letters: with a digit among letters, or with small and large letters as no word has them.
fn is_random(text: &[u8]) -> bool {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = text.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let later = text.get(1..).unwrap_or_default();
    let mixed = later.iter().any(u8::is_ascii_uppercase) && text.iter().any(u8::is_ascii_lowercase);
    letters > 0 && (digits > 0 || mixed)
}

/// What is drawn in the name of a temporary file: `tmpab12cd`, `tmp.Xk29dQpLmn`, `ccQ3xYzA.s`, `.data.csv.Ab12Cd`. In a directory of
/// temporary files, anything that looks drawn.
pub(super) fn temporary(name: &[u8], in_temporary: bool) -> Option<Part> {
    let drawn = |from: usize| {
        let length = run(name, from, is_word);
        (LEAST_RANDOM..=MOST_RANDOM).contains(&length).then_some(Part { from, to: from + length })
    };
    if let Some(rest) = name.strip_prefix(b"tmp") {
        let from = name.len() - rest.len() + run(rest, 0, |byte| matches!(byte, b'.' | b'-'));
        let part = drawn(from).filter(|part| {
            // Python draws eight of small letters, digits and `_`, mktemp(1) ten of all: both can look like a word.
            let is_usual = matches!(part.to - part.from, 8 | 10);
            is_usual || is_random(&name[part.from..part.to])
        });
        if part.is_some() {
            return part;
        }
    }
    if !in_temporary {
        return after_last_dot(name);
    }
    if name.starts_with(b"cc") && run(name, 2, |byte| byte.is_ascii_alphanumeric()) == LEAST_RANDOM
    {
        return Some(Part { from: 2, to: 2 + LEAST_RANDOM });
    }
    if name.starts_with(b"go-build") && name[8..].iter().all(u8::is_ascii_digit) {
        return Some(Part { from: 8, to: name.len() });
    }
    after_last_dot(name).or_else(|| {
        let mut at = 0;
        while at < name.len() {
            let length = run(name, at, is_word);
            if length >= LEAST_RANDOM && is_random(&name[at..at + length]) {
                return Some(Part { from: at, to: at + length });
            }
            at += length.max(1);
        }
        None
    })
}

/// Six drawn letters at the end, as rsync and mkstemp(3) leave them.
fn after_last_dot(name: &[u8]) -> Option<Part> {
    let from = name.iter().rposition(|&byte| byte == b'.').map(|dot| dot + 1)?;
    let last = &name[from..];
    let is_drawn = last.len() == LEAST_RANDOM && last.iter().all(u8::is_ascii_alphanumeric);
    let has = |is: fn(&u8) -> bool| last.iter().any(is);
    let has_both = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    (from > 1 && is_drawn && has_both && is_random(last)).then_some(Part { from, to: name.len() })
}

/// A date, with or without dashes, alone or with a time of six digits behind it; seconds or milliseconds since 1970.
pub(super) fn date(name: &[u8], at: usize) -> Option<usize> {
    if !begins(name, at) {
        return None;
    }
    let digits = |at: usize| run(name, at, |byte| byte.is_ascii_digit());
    let number = |from: usize, to: usize| -> Option<u32> {
        std::str::from_utf8(name.get(from..to)?).ok()?.parse().ok()
    };
    let is_day = |month: Option<u32>, day: Option<u32>| {
        month.is_some_and(|month| (1..=12).contains(&month))
            && day.is_some_and(|day| (1..=31).contains(&day))
    };
    let is_year = |year: Option<u32>| year.is_some_and(|year| (1990..2100).contains(&year));
    let length = digits(at);
    let is_date = match length {
        8 | 14 => {
            is_year(number(at, at + 4)) && is_day(number(at + 4, at + 6), number(at + 6, at + 8))
        }
        // From 2017 to 2033.
        10 | 13 => (15..20).contains(&number(at, at + 2)?),
        4 => {
            let dashed = name.get(at + 4) == Some(&b'-') && name.get(at + 7) == Some(&b'-');
            let is_whole = dashed && digits(at + 5) == 2 && digits(at + 8) == 2;
            if is_whole
                && is_year(number(at, at + 4))
                && is_day(number(at + 5, at + 7), number(at + 8, at + 10))
            {
                return Some(10);
            }
            false
        }
        _ => false,
    };
    let ends = name.get(at + length).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (is_date && ends).then_some(length)
}

/// Numbers with dots between them; a single number only behind `.so.`, `cpython-`, or a `v` that begins the name.
pub(super) fn version(name: &[u8], at: usize) -> Option<usize> {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let before = &name[..at];
    if before.last().is_some_and(u8::is_ascii_digit) || run(name, at, is_digit) == 0 {
        return None;
    }
    // What goes on behind a dot is a part of the same version.
    if before.len() > 1 && before.ends_with(b".") && before[before.len() - 2].is_ascii_digit() {
        return None;
    }
    let mut end = at + run(name, at, is_digit);
    let mut numbers = 1;
    while name.get(end) == Some(&b'.') && run(name, end + 1, is_digit) > 0 {
        end += 1 + run(name, end + 1, is_digit);
        numbers += 1;
    }
    let is_known = before.ends_with(b".so.") || before.ends_with(b"cpython-") || before == b"v";
    (numbers > 1 || is_known).then_some(end - at)
}

/// A UUID, hexadecimal digits, or letters and digits that are as long as a hash or look as drawn as one.
pub(super) fn hash(name: &[u8], at: usize) -> Option<usize> {
    if !begins(name, at) {
        return None;
    }
    if let Some(length) = uuid(name, at) {
        return Some(length);
    }
    let length = run(name, at, |byte| byte.is_ascii_alphanumeric());
    let text = &name[at..at + length];
    let has_digit = text.iter().any(u8::is_ascii_digit);
    let has_letter = text.iter().any(u8::is_ascii_alphabetic);
    let is_hex = length >= LEAST_HASH && text.iter().all(u8::is_ascii_hexdigit);
    if has_digit && has_letter && (is_hex || length >= LONG_HASH) {
        return Some(length);
    }
    // Eight of 64 letters before an ending, as bundlers write them: index-BfX3k2Qa.js.
    let length = run(name, at, is_word);
    let text = &name[at..at + length];
    let dashed = at.checked_sub(1).and_then(|at| name.get(at)) == Some(&b'-');
    let ends = name.get(at + length) == Some(&b'.');
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    let is_drawn =
        has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    (dashed && ends && length == LEAST_HASH && is_drawn).then_some(length)
}

fn uuid(name: &[u8], at: usize) -> Option<usize> {
    let text = name.get(at..at + 36)?;
    let is_dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let fits = |(at, byte): (usize, &u8)| match is_dash(at) {
        true => *byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    text.iter().enumerate().all(fits).then_some(36)
}

/// A PID of the run, or any number in a place of /proc.
pub(super) fn pid(name: &[u8], at: usize, before: &[u8], pids: &HashSet<Pid>) -> Option<usize> {
    let length = run(name, at, |byte| byte.is_ascii_digit());
    let is_whole = at == 0 && length == name.len();
    if length > 0 && is_whole && (before == b"proc" || before == b"task") {
        return Some(length);
    }
    let ends = name.get(at + length).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    if length < LEAST_PID || !ends || !begins(name, at) {
        return None;
    }
    let number: Pid = std::str::from_utf8(&name[at..at + length]).ok()?.parse().ok()?;
    pids.contains(&number).then_some(length)
}
