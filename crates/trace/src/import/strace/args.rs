//! The arguments and the result of a call, as strace writes them.
//!
//! Strings may hold anything: `"a) = 5"`, `"\""`. So may paths behind descriptors, in which strace
//! writes `<` and `>` as `\74` and `\76`. Both are passed over whole when a comma or a parenthesis
//! is looked for.

use crate::errno;

use super::line::seconds_ns;

/// A call whose text is whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) args: Vec<&'a [u8]>,
    pub(super) result: Outcome<'a>,
}

/// What a call came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome<'a> {
    /// What it returned, below zero an error number; none where strace says `?`.
    pub(super) value: Option<i64>,
    /// The path behind a descriptor that it returned.
    pub(super) path: Option<&'a [u8]>,
    /// How long it took.
    pub(super) duration_ns: Option<u64>,
}

/// Splits what stands behind the opening parenthesis of a call.
pub(super) fn split(text: &[u8]) -> Result<Parts<'_>, String> {
    let (args, rest) = arguments(text);
    let rest = rest.ok_or("the arguments have no closing parenthesis")?;
    let after = rest.trim_ascii_start();
    let after = after.strip_prefix(b"=").ok_or("no \"= result\" behind the arguments")?;
    Ok(Parts { args, result: outcome(after.trim_ascii())? })
}

/// Arguments as far as they go, and what follows their closing parenthesis, if there is one.
pub(super) fn arguments(text: &[u8]) -> (Vec<&[u8]>, Option<&[u8]>) {
    let (mut args, mut start, mut at, mut depth) = (Vec::new(), 0, 0, 0_usize);
    let piece = |from: usize, to: usize| text.get(from..to).unwrap_or_default().trim_ascii();
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = end_of_string(text, at),
            b'<' if opens_path(text, at) => at = end_of_path(text, at),
            b'/' if text.get(at + 1) == Some(&b'*') => at = end_of_comment(text, at),
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                if at > start || !args.is_empty() {
                    args.push(piece(start, at));
                }
                return (args, text.get(at + 1..));
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                args.push(piece(start, at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if !piece(start, text.len()).is_empty() {
        args.push(piece(start, text.len()));
    }
    (args, None)
}

/// The place of the quote that ends the string which begins at a place; the last place if none
/// does.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn end_of_comment(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    memchr::memmem::find(rest, b"*/").map_or(text.len(), |end| start + end + 1)
}

/// A path stands behind a descriptor's number or AT_FDCWD; `<<` shifts, and `<0.000010>` stands
/// behind a space.
fn opens_path(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    let is_behind = before.is_some_and(|byte| byte.is_ascii_digit() || *byte == b'D');
    is_behind && text.get(at + 1) != Some(&b'<')
}

/// The place of the `>` that ends a path. With -yy, devices have a second pair of brackets inside.
fn end_of_path(text: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate().skip(start) {
        match byte {
            b'<' => depth += 1,
            // In the names of sockets, as in TCP:[1:2->3:4].
            b'>' if text.get(at.wrapping_sub(1)) == Some(&b'-') => {}
            b'>' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn outcome(text: &[u8]) -> Result<Outcome<'_>, String> {
    let (text, duration_ns) = duration(text);
    let end = text.iter().position(|byte| matches!(byte, b' ' | b'<')).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if word == b"?" {
        return Ok(Outcome { duration_ns, ..Outcome::default() });
    }
    let value = number(word).ok_or_else(|| {
        format!("result {}: expected a number or ?", crate::import::summary::shown(word))
    })?;
    if value == -1 {
        let name = rest.trim_ascii_start().split(|byte| *byte == b' ').next();
        let name = name.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default();
        let value = errno::result(name);
        // Without a name it is what the call returned: lseek of a device, for example.
        return Ok(Outcome { value: Some(value.unwrap_or(-1)), path: None, duration_ns });
    }
    let path = rest.strip_prefix(b"<").map(|path| {
        let end = end_of_path(rest, 0);
        path.get(..end.saturating_sub(1)).unwrap_or(path)
    });
    Ok(Outcome { value: Some(value), path, duration_ns })
}

/// Takes the time of -T from the end of a line.
fn duration(text: &[u8]) -> (&[u8], Option<u64>) {
    let inside = text.strip_suffix(b">").and_then(|text| {
        let open = memchr::memmem::rfind(text, b" <")?;
        Some((text.get(..open)?, text.get(open + 2..)?))
    });
    let timed = inside.and_then(|(before, time)| Some((before, seconds_ns(time)?)));
    timed.map_or((text, None), |(before, time_ns)| (before.trim_ascii_end(), Some(time_ns)))
}

/// A number, decimal, octal or hexadecimal; that of an address beyond i64 keeps its bits.
pub(super) fn number(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(u64::cast_signed);
    }
    if text.len() > 1 && text.starts_with('0') {
        return i64::from_str_radix(text, 8).ok();
    }
    text.parse().ok().or_else(|| text.parse().ok().map(u64::cast_signed))
}

/// A length or a position, which is not below zero.
pub(super) fn size(text: &[u8]) -> Option<u64> {
    number(text).and_then(|number| u64::try_from(number).ok())
}

/// A descriptor as an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Its number; AT_FDCWD is -100 (include/uapi/linux/fcntl.h).
    pub(super) number: i32,
    /// What -y says of it.
    pub(super) path: Option<Vec<u8>>,
    /// The file has no name any more.
    pub(super) is_deleted: bool,
}

/// AT_FDCWD.
pub(super) const CURRENT: i32 = -100;

/// A descriptor, with its path if there is one.
pub(super) fn descriptor(text: &[u8]) -> Option<Descriptor> {
    let open = memchr::memchr(b'<', text);
    let (number, rest) = text.split_at(open.unwrap_or(text.len()));
    let number = match number {
        b"AT_FDCWD" => CURRENT,
        number => i32::try_from(self::number(number)?).ok()?,
    };
    let end = end_of_path(rest, 0);
    let path = rest.get(1..end).map(unescape);
    let is_deleted = rest.get(end + 1..).is_some_and(|rest| rest == b"(deleted)");
    Some(Descriptor { number, path, is_deleted })
}

/// A string's bytes; none where it is no string, or strace cut it.
pub(super) fn string(text: &[u8]) -> Option<Vec<u8>> {
    let inner = text.strip_prefix(b"\"")?;
    inner.strip_suffix(b"\"").map(unescape)
}

/// The bytes behind C's escapes, as strace writes them.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let Some(escape) = text.get(at) else { break };
        let digits = |radix: u32, from: usize, most: usize| {
            let digits = text.get(from..).unwrap_or_default().iter().take(most);
            digits.map_while(|digit| char::from(*digit).to_digit(radix)).collect::<Vec<u32>>()
        };
        let (radix, from, most) = if *escape == b'x' { (16, at + 1, 2) } else { (8, at, 3) };
        let found = digits(radix, from, most);
        if !found.is_empty() {
            let value = found.iter().fold(0, |sum, digit| sum * radix + digit);
            out.push(u8::try_from(value & 0xff).unwrap_or_default());
            at = from + found.len();
            continue;
        }
        out.push(match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'a' => 0x07,
            b'b' => 0x08,
            other => *other,
        });
        at += 1;
    }
    out
}

/// The elements of `[...]`, or of `{...}`; none where it is no list, or strace cut it.
pub(super) fn list(text: &[u8]) -> Option<Vec<&[u8]>> {
    let inner = match text.first()? {
        b'[' => text.strip_prefix(b"[")?.strip_suffix(b"]")?,
        _ => text.strip_prefix(b"{")?.strip_suffix(b"}")?,
    };
    let (elements, _) = arguments(inner);
    (elements.last() != Some(&b"...".as_slice())).then_some(elements)
}

/// The value of a field in `{a=1, b=2}`.
pub(super) fn field<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let inner = text.strip_prefix(b"{")?;
    let (fields, _) = arguments(inner.strip_suffix(b"}").unwrap_or(inner));
    fields.into_iter().find_map(|field| field.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// Whether a word stands among those that `|` joins.
pub(super) fn has(flags: &[u8], word: &str) -> bool {
    flags.split(|byte| *byte == b'|').any(|flag| flag.trim_ascii() == word.as_bytes())
}
