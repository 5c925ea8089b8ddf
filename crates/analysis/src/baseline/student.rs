//! Quantiles of Student's t distribution.

use std::f64::consts::PI;

/// The share of values up to `t`, with a whole number of degrees of freedom: the finite series of Abramowitz and Stegun,
/// "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
fn share_below(t: f64, freedom: u32) -> f64 {
    let angle = (t / f64::from(freedom).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // A term a step of two degrees; each is the one before times cos² and a fraction.
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    let mut degree = if odd { 2 } else { 1 };
    while degree + 2 < freedom {
        term *= cosine * cosine * f64::from(degree) / f64::from(degree + 1);
        sum += term;
        degree += 2;
    }
    let within = if odd { 2.0 / PI * (angle + sine * sum) } else { sine * sum };
    f64::midpoint(1.0, within)
}

/// Beyond so many degrees of freedom the quantile is the normal one to three digits.
const MANY: u32 = 2_000;
/// No quantile is asked for beyond this: with one degree of freedom it leaves out a share of 3e-7.
const FARTHEST: f64 = 1e6;

/// The value above which so small a share lies, such as 0.01. `freedom` is at least 1.
pub(super) fn upper_quantile(share: f64, freedom: u32) -> f64 {
    let freedom = freedom.clamp(1, MANY);
    let (mut low, mut high) = (0.0, FARTHEST);
    // As many halvings as a real number has bits for.
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if 1.0 - share_below(middle, freedom) > share { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table = [
            (0.01, 1, 31.821),
            (0.01, 2, 6.965),
            (0.01, 3, 4.541),
            (0.01, 4, 3.747),
            (0.01, 5, 3.365),
            (0.005, 8, 3.355),
            (0.01, 9, 2.821),
            (0.025, 10, 2.228),
            (0.01, 30, 2.457),
            (0.005, 120, 2.617),
            (0.01, 100_000, 2.327),
        ];
        for (share, freedom, expected) in table {
            let found = upper_quantile(share, freedom);
            assert!((found - expected).abs() < 2e-3, "{share} {freedom}: {found}, {expected}");
        }
    }

    #[test]
    fn half_lies_on_each_side() {
        for freedom in [1, 2, 3, 8, 9] {
            assert!((share_below(0.0, freedom) - 0.5).abs() < 1e-12);
            let both = share_below(1.3, freedom) + share_below(-1.3, freedom);
            assert!((both - 1.0).abs() < 1e-12, "{freedom}");
        }
    }
}
