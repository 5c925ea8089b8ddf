//! Numbers in the sentences of answers.

use hotset_facts::units::plural;
pub use hotset_facts::units::{exact_bytes as bytes, mean_duration as time, percent, real};

/// A ratio: `1.23 times`, `45.6 times`.
pub fn times(ratio: f64) -> String {
    format!("{} times", real(ratio))
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
}
