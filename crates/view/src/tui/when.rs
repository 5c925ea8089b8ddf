//! Times as a screen shows them, and as a person types them. All are UTC, and say so.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

fn timestamp(at: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(at).ok()
}

/// Seconds since 1970; before that 0.
pub fn unix_seconds(at: SystemTime) -> i64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0))
}

/// `14:03:20`.
pub(super) fn clock(at: SystemTime) -> String {
    timestamp(at).map_or("--:--:--".to_owned(), |at| {
        let at = at.to_zoned(TimeZone::UTC);
        format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
    })
}

/// `2026-11-21 14:03:20`.
pub(super) fn date_and_clock(at: SystemTime) -> String {
    timestamp(at).map_or("-".to_owned(), |time| {
        format!("{} {}", time.to_zoned(TimeZone::UTC).date(), clock(at))
    })
}

/// What a person typed, as seconds since 1970: `14:03`, `14:03:20` of the day of `near`, `2026-11-21 14:03`, or `-5m` and
/// `+30s` from `near`.
pub(super) fn parse(text: &str, near: SystemTime) -> Option<i64> {
    let text = text.trim();
    if let Some(seconds) = relative(text) {
        return unix_seconds(near).checked_add(seconds);
    }
    let day = timestamp(near)?.to_zoned(TimeZone::UTC).date();
    let (day, time) = match text.split_once([' ', 'T']) {
        Some((day, time)) => (day.parse::<Date>().ok()?, time.trim()),
        None => (day, text),
    };
    let time = time_of_day(time)?;
    Some(day.to_datetime(time).to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

fn relative(text: &str) -> Option<i64> {
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let rest = &text[1..];
    let unit = rest.chars().last()?;
    let (digits, factor) = match unit {
        's' => (&rest[..rest.len() - 1], 1),
        'm' => (&rest[..rest.len() - 1], 60),
        'h' => (&rest[..rest.len() - 1], 3600),
        _ => (rest, 1),
    };
    digits.parse::<u32>().ok().map(|n| sign * factor * i64::from(n))
}

fn time_of_day(text: &str) -> Option<Time> {
    let mut parts = text.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() {
        return None;
    }
    Time::new(hour, minute, second, 0).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_read_as_people_type_them() {
        let near = UNIX_EPOCH + Duration::from_secs(1_795_270_000);
        assert_eq!(date_and_clock(near), "2026-11-21 14:06:40");
        let base = unix_seconds(near);
        assert_eq!(parse("14:06:40", near), Some(base));
        assert_eq!(parse("14:07", near), Some(base + 20));
        assert_eq!(parse("2026-11-20 14:06:40", near), Some(base - 86_400));
        assert_eq!(parse("-5m", near), Some(base - 300));
        assert_eq!(parse("+10", near), Some(base + 10));
        for bad in ["", "12", "25:00", "1:2:3:4", "+é", "x", "-", "99999999999999999999:0"] {
            assert_eq!(parse(bad, near), None, "{bad:?}");
        }
    }
}
