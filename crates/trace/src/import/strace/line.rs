//! A line of strace: who, when, and which part of a call.

use crate::import::summary::shown;

/// What a line tells of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body<'a> {
    /// A call, from behind its opening parenthesis to the end of the line.
    Call { name: &'a str, rest: &'a [u8] },
    /// A call that another thread's line interrupts: what is known of its arguments.
    Unfinished { name: &'a str, rest: &'a [u8] },
    /// The other part of it.
    Resumed { name: &'a str, rest: &'a [u8] },
    /// The thread ended.
    Ended,
    /// The thread took the ID of the process, because another thread of it, with this ID, ran a
    /// program.
    Superseded { by: Option<u32> },
    /// A signal, or a message of strace: nothing that happens to files.
    Other,
}

/// A line, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) tid: Option<u32>,
    /// Nanoseconds since 1970.
    pub(super) time_ns: u64,
    pub(super) body: Body<'a>,
}

/// Takes a line apart. None of an empty line and of a message that strace writes between the calls.
pub(super) fn parse(line: &[u8]) -> Result<Option<Line<'_>>, String> {
    let line = line.trim_ascii();
    if line.is_empty() || line.starts_with(b"strace: ") {
        return Ok(None);
    }
    let (tid, rest) = thread(line);
    let (time_ns, rest) = time(rest)?;
    let body = body(rest).ok_or_else(|| {
        format!("{} is no call, signal or exit; expected e.g. read(3, ...) = 10", shown(rest))
    })?;
    Ok(Some(Line { tid, time_ns, body }))
}

/// `[pid 12]`, as on a terminal, or `12`, as in a file that strace writes.
fn thread(line: &[u8]) -> (Option<u32>, &[u8]) {
    if let Some(rest) = line.strip_prefix(b"[pid ") {
        let end = memchr::memchr(b']', rest).unwrap_or(0);
        let (number, rest) = rest.split_at(end);
        if let Some(tid) = number_u32(number.trim_ascii()) {
            return (Some(tid), rest.strip_prefix(b"]").unwrap_or(rest).trim_ascii_start());
        }
        return (None, line);
    }
    // A number with a point in it is the time.
    let (word, rest) = word(line);
    match number_u32(word) {
        Some(tid) if !rest.is_empty() => (Some(tid), rest),
        _ => (None, line),
    }
}

/// The first word, and what follows the space behind it.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_ascii_start())
}

fn number_u32(text: &[u8]) -> Option<u32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Seconds before which no time since 1970 lies: what is less is time since the line before (-r).
const EARLIEST_S: u64 = 100_000_000;

/// The time of `-ttt`. Those of `-t` and `-tt` lack the day and jump at midnight, that of `-r`
/// lacks the beginning: refused, since a trace made of them would be wrong without a sign of it.
fn time(text: &[u8]) -> Result<(u64, &[u8]), String> {
    let (stamp, rest) = word(text);
    let wrong = || {
        let stamp = shown(stamp);
        format!("time {stamp}: expected seconds since 1970, as strace -ttt writes them")
    };
    let seconds = seconds_ns(stamp).filter(|_| stamp.contains(&b'.')).ok_or_else(wrong)?;
    if seconds < EARLIEST_S * 1_000_000_000 {
        return Err(wrong());
    }
    Ok((seconds, rest))
}

/// Decimal seconds as nanoseconds; digits beyond these are cut.
pub(in crate::import) fn seconds_ns(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) {
        return None;
    }
    let digits = part.bytes().chain(std::iter::repeat(b'0')).take(9);
    let part_ns = digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part_ns)
}

fn body(text: &[u8]) -> Option<Body<'_>> {
    if text.starts_with(b"---") {
        return Some(Body::Other);
    }
    if let Some(rest) = text.strip_prefix(b"+++ ") {
        if let Some(by) = rest.strip_prefix(b"superseded by execve in pid ") {
            return Some(Body::Superseded { by: number_u32(word(by).0) });
        }
        return Some(Body::Ended);
    }
    if let Some(rest) = text.strip_prefix(b"<... ") {
        let end = memchr::memmem::find(rest, b" resumed>")?;
        let (name, rest) = rest.split_at(end);
        let rest = rest.strip_prefix(b" resumed>")?;
        return Some(Body::Resumed { name: call_name(name)?, rest });
    }
    let open = memchr::memchr(b'(', text)?;
    let (name, rest) = text.split_at(open);
    let (name, rest) = (call_name(name)?, rest.strip_prefix(b"(")?);
    Some(match rest.strip_suffix(b"<unfinished ...>") {
        Some(rest) => Body::Unfinished { name, rest: rest.trim_ascii_end() },
        None => Body::Call { name, rest },
    })
}

/// Names of calls are words; strace writes those of other architectures in front of a number.
fn call_name(text: &[u8]) -> Option<&str> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let name = std::str::from_utf8(text).ok()?;
    (!text.is_empty() && text.iter().all(is_word)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<Line<'_>>, String> {
        parse(line.as_bytes())
    }

    #[test]
    fn who_and_when() {
        let body = || Body::Call { name: "close", rest: b"3) = 0" };
        for (line, tid) in [
            ("12 1700000000.000001 close(3) = 0", Some(12)),
            ("[pid    12] 1700000000.000001 close(3) = 0", Some(12)),
            ("1700000000.000001 close(3) = 0", None),
        ] {
            let expected = Line { tid, time_ns: 1_700_000_000_000_001_000, body: body() };
            assert_eq!(parsed(line), Ok(Some(expected)), "{line}");
        }
    }

    #[test]
    fn times_without_a_day_are_refused() {
        for line in
            ["12 11:22:33 close(3) = 0", "12 11:22:33.5 close(3) = 0", "0.000012 close(3) = 0"]
        {
            let error = parsed(line).expect_err(line);
            assert!(error.contains("strace -ttt"), "{error}");
        }
        assert!(parsed("close(3) = 0").is_err());
    }

    #[test]
    fn each_kind_of_line() {
        let body = |text| parsed(text).expect(text).expect(text).body;
        let at = |text: &str| format!("7 1700000000.5 {text}");
        let read = at("read(3,  <unfinished ...>");
        assert_eq!(body(&read), Body::Unfinished { name: "read", rest: b"3," });
        let resumed = at("<... read resumed>\"\", 5) = 0");
        assert_eq!(body(&resumed), Body::Resumed { name: "read", rest: b"\"\", 5) = 0" });
        for end in [at("+++ exited with 0 +++"), at("+++ killed by SIGKILL +++")] {
            assert_eq!(parsed(&end).map(|line| line.map(|line| line.body)), Ok(Some(Body::Ended)));
        }
        let superseded = at("+++ superseded by execve in pid 9 +++");
        assert_eq!(body(&superseded), Body::Superseded { by: Some(9) });
        let signal = at("--- SIGCHLD {si_signo=SIGCHLD} ---");
        assert_eq!(body(&signal), Body::Other);
        assert_eq!(parsed("strace: Process 9 attached"), Ok(None));
        assert_eq!(parsed(""), Ok(None));
        assert!(parsed(&at("no call")).is_err());
    }

    #[test]
    fn seconds_are_exact() {
        assert_eq!(seconds_ns(b"0.000123"), Some(123_000));
        assert_eq!(seconds_ns(b"1.1234567891"), Some(1_123_456_789));
        assert_eq!(seconds_ns(b"2"), Some(2_000_000_000));
        for wrong in ["", ".5", "1.x", "-1", "99999999999999999999", "1:2"] {
            assert_eq!(seconds_ns(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
