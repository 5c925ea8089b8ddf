//! Numbers in the sentences of answers.

/// A time in nanoseconds: `0.85 ns`, `12.3 µs`, `4.56 ms`, `7.89 s`.
pub fn time(ns: f64) -> String {
    let units = [("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let unit = units.into_iter().rfind(|(_, size)| ns.abs() >= 0.9995 * size);
    let (name, size) = unit.unwrap_or(("ns", 1.0));
    format!("{} {name}", real(ns / size))
}

/// Bytes in binary units: `4 KiB`, `1.50 MiB`. Sizes that are chosen beside a round one stay apart from it: `4095 B`.
pub fn bytes(bytes: u64) -> String {
    const EXACT_BELOW: u64 = 1 << 20;
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = 1024_u64;
    let mut unit = None;
    for name in UNITS {
        if bytes < size {
            break;
        }
        unit = Some((name, size));
        size = size.saturating_mul(1024);
    }
    match unit {
        None => format!("{bytes} B"),
        Some((_, size)) if bytes < EXACT_BELOW && !bytes.is_multiple_of(size) => {
            format!("{bytes} B")
        }
        Some((name, size)) if bytes.is_multiple_of(size) => format!("{} {name}", bytes / size),
        Some((name, size)) => format!("{} {name}", real(bytes as f64 / size as f64)),
    }
}

/// A ratio: `1.23 times`, `45.6 times`.
pub fn times(ratio: f64) -> String {
    format!("{} times", real(ratio))
}

/// A share of 1 as a percentage: `45.6 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", real(100.0 * share))
}

/// A count, which may be the mean of several: `64`, `64.3`.
pub fn tally(count: f64) -> String {
    if count.fract() == 0.0 { format!("{count:.0}") } else { real(count) }
}

/// `1 round`, `15 rounds`.
pub fn rounds(rounds: usize) -> String {
    if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") }
}

/// Three digits: `0`, `0.123`, `1.23`, `12.3`, `123`, `1234`.
pub fn real(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.9995 => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        let times = [0.85, 999.4, 999.6, 12_345.0, 4.56e6, 7.891e9, 3.6e12].map(time);
        assert_eq!(
            times,
            ["0.850 ns", "999 ns", "1.00 µs", "12.3 µs", "4.56 ms", "7.89 s", "3600 s"]
        );
        let sizes = [0, 1000, 4096, 4097, 1 << 20, 3 << 29, u64::MAX].map(bytes);
        assert_eq!(sizes, ["0 B", "1000 B", "4 KiB", "4097 B", "1 MiB", "1.50 GiB", "16.0 EiB"]);
        assert_eq!((percent(0.0), real(0.1)), ("0 %".to_owned(), "0.100".to_owned()));
        assert_eq!([64.0, 64.25].map(tally), ["64", "64.2"]);
        assert_eq!((percent(0.456), rounds(1)), ("45.6 %".to_owned(), "1 round".to_owned()));
    }
}
