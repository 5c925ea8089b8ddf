//! Numbers as people read them: three significant digits, a unit, and nothing that wraps.

/// Bytes in binary units: `512 B`, `1.50 KiB`, `384 MiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // From 999.5 on, three digits would print as four.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), UNITS[unit])
}

/// A duration given in nanoseconds: `890 ns`, `12.3 µs`, `4.56 ms`, `7.89 s`, `2 min 5 s`, `3 h 4 min`.
pub fn duration(ns: u64) -> String {
    const UNITS: [(&str, f64); 3] = [("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    if ns < 1000 {
        return format!("{ns} ns");
    }
    for (unit, size) in UNITS {
        let value = ns as f64 / size;
        let limit = if unit == "s" { 119.5 } else { 999.5 };
        if value < limit {
            return format!("{} {unit}", three_digits(value));
        }
    }
    let seconds = (ns as f64 / 1e9).round() as u64;
    if seconds < 7200 {
        format!("{} min {} s", seconds / 60, seconds % 60)
    } else {
        format!("{} h {} min", seconds / 3600, seconds % 3600 / 60)
    }
}

/// A count with commas between thousands: `1,234,567`.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share of 1 as a percentage: `45.6 %`, `<0.1 %`, `230 %`.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.05 {
        "<0.1 %".to_owned()
    } else if percent > 99.95 && percent < 100.0 {
        // Rounding must not claim "all".
        ">99.9 %".to_owned()
    } else if percent == 100.0 || percent >= 999.5 {
        format!("{percent:.0} %")
    } else if percent == 0.0 {
        "0 %".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}

/// A share of 1 as a whole percentage, for where room is short: `46 %`.
pub fn whole_percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.5 { "<1 %".to_owned() } else { format!("{percent:.0} %") }
}

/// A mean or ratio: three digits below a thousand, else whole with commas.
pub fn real(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    if value.abs() >= 999.5 { count(value.abs().round() as u64) } else { three_digits(value) }
}

/// `0.00`, `1.23`, `12.3`, `123`; a whole number below a thousand stays whole only from 100 on.
fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_three_digits() {
        let all = [0, 1023, 1024, 1536, 10_239, 1_048_064, 1_048_576, 402_653_184, u64::MAX];
        let printed = all.map(bytes);
        assert_eq!(
            printed,
            [
                "0 B", "1023 B", "1.00 KiB", "1.50 KiB", "10.0 KiB", "1.00 MiB", "1.00 MiB",
                "384 MiB", "16.0 EiB"
            ]
        );
    }

    #[test]
    fn durations_pick_their_unit() {
        let all = [
            0,
            999,
            1_000,
            999_499,
            999_500,
            4_560_000,
            1_234_000_000,
            119_000_000_000,
            125_000_000_000,
            7_199_600_000_000,
            u64::MAX,
        ];
        assert_eq!(
            all.map(duration),
            [
                "0 ns",
                "999 ns",
                "1.00 µs",
                "999 µs",
                "1.00 ms",
                "4.56 ms",
                "1.23 s",
                "119 s",
                "2 min 5 s",
                "2 h 0 min",
                "5124095 h 34 min"
            ]
        );
    }

    #[test]
    fn counts_have_commas() {
        let all = [0, 999, 1_000, 12_004, 1_234_567, u64::MAX];
        assert_eq!(
            all.map(count),
            ["0", "999", "1,000", "12,004", "1,234,567", "18,446,744,073,709,551,615"]
        );
    }

    #[test]
    fn percentages_never_claim_none_or_all() {
        let all = [0.0, 0.0001, 0.0006, 0.456, 0.9998, 1.0, 2.3, 12.0];
        assert_eq!(
            all.map(percent),
            ["0 %", "<0.1 %", "0.1 %", "45.6 %", ">99.9 %", "100 %", "230.0 %", "1200 %"]
        );
    }

    #[test]
    fn ratios_stay_short() {
        assert_eq!([0.5, 39.38, 123.4, 12_345.6].map(real), ["0.50", "39.4", "123", "12,346"]);
        assert_eq!(real(f64::NAN), "unknown");
    }
}
