//! Numbers in the sentences of answers.

use hotset_facts::units::{count, plural};
use hotset_facts::{Factor, LabCell, Level, TWIN};

use crate::bench::{Difference, RatioEstimate};

pub use hotset_facts::units::{exact_bytes as bytes, mean_duration as time, percent, real};

/// A ratio: `1.23x`, `45.6x`.
pub fn times(ratio: f64) -> String {
    format!("{}x", real(ratio))
}

/// How one compares with another whose time was divided by its own: `2.50x faster`, `0.40x as fast`, `no difference detected`.
pub fn speed(ratio: &RatioEstimate) -> String {
    match ratio.difference() {
        Difference::Slower => format!("{} faster", times(ratio.ratio)),
        Difference::Faster => format!("{} as fast", times(ratio.ratio)),
        Difference::NoInterval => {
            format!("{} as fast, too few rounds for a 95 % CI", times(ratio.ratio))
        }
        Difference::NoDifferenceShown | Difference::WithinNoise => {
            "no difference detected".to_owned()
        }
    }
}

/// A cell as a person reads it: `pread, random, 4 KiB block, warm`. What is "none" is left out, and that it is a twin.
pub fn cell(cell: &LabCell) -> String {
    let level = |factor: &Factor| {
        let name = factor.name.replace('_', " ");
        match &factor.level {
            Level::Name(level) => (factor.name != TWIN && level != "none").then(|| level.clone()),
            Level::Number(0) if name == "buffer bytes" => Some("no buffer".to_owned()),
            Level::Number(number) => Some(match name.strip_suffix(" bytes") {
                Some("size") => bytes(*number),
                Some(name) => format!("{} {name}", bytes(*number)),
                None => format!("{} {name}", count(*number)),
            }),
        }
    };
    cell.factors.iter().filter_map(level).collect::<Vec<_>>().join(", ")
}

/// A count, which may be the mean of several: `64`, `64.3`.
pub fn tally(count: f64) -> String {
    if count.fract() == 0.0 { format!("{count:.0}") } else { real(count) }
}

/// `1 round`, `15 rounds`.
pub fn rounds(rounds: usize) -> String {
    plural(rounds as u64, "round")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_counts_is_whole_where_it_can_be() {
        assert_eq!([64.0, 64.25].map(tally), ["64", "64.2"]);
    }

    #[test]
    fn a_speed_is_claimed_only_where_it_is_shown() {
        let of =
            |pairs: &[(u64, u64)]| speed(&RatioEstimate::of(pairs.iter().copied()).expect("pairs"));
        assert_eq!(of(&[(10, 25); 6]), "2.50x faster");
        assert_eq!(of(&[(25, 10); 6]), "0.400x as fast");
        assert_eq!(of(&[(10, 10); 6]), "no difference detected");
        assert_eq!(of(&[(10, 25); 3]), "2.50x as fast, too few rounds for a 95 % CI");
    }

    #[test]
    fn a_cell_is_named_by_its_levels() {
        let name = |name: &str| Level::Name(name.to_owned());
        let factors = [
            ("writer", name("native")),
            ("total_bytes", Level::Number(1 << 20)),
            ("buffer_bytes", Level::Number(0)),
            ("sync", name("none")),
            ("directories", Level::Number(100)),
            (TWIN, name("a/a")),
        ];
        let named = cell(&super::super::testing::cell(&factors, &[1]));
        assert_eq!(named, "native, 1 MiB total, no buffer, 100 directories");
    }
}
