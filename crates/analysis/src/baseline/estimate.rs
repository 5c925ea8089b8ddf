//! From medians of sessions to a ratio with its interval.
//!
//! The logarithm of a session's median is that of the command or cell, plus what this session as a whole differs by, plus what its
//! rounds leave open. The spread between sessions is that of the baseline's, moderated by a prior (Smyth, "Linear models and empirical
//! Bayes methods", SAGMB 2004): few sessions tell too little of it, and one tells nothing.

use hotset_facts::OtherPrograms;

use super::student::upper_quantile;
use crate::bench::{ConfidenceInterval, median_interval, quantile, sorted};

/// What the medians of sessions of an unchanged command differ by on a quiet host, as a standard deviation of their logarithms:
/// docs/bench.md says what it follows from.
pub const SESSION_SPREAD: f64 = 0.012;

/// How many degrees of freedom [`SESSION_SPREAD`] is worth beside the sessions of a baseline, an assumption: the fewer, the more commands
/// may differ in it.
pub const SESSION_SPREAD_FREEDOM: u32 = 8;

/// What sessions differ by beyond that where other programs use all CPUs, as a standard deviation; less in proportion to what they use.
/// They slow down what runs beside them on another thread of a core, or uses the same caches: measured as docs/bench.md says.
const BUSY_SPREAD: f64 = 0.35;

/// An interval of 95 % of a normal distribution is so many standard deviations wide, on each side.
const SIDE_OF_95: f64 = 1.96;

/// The median of a session's times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Centre {
    /// Its logarithm.
    pub(crate) log: f64,
    /// The standard error of that, by its exact interval.
    pub(crate) error: f64,
    /// The logarithm of the shortest time: the least disturbed run.
    pub(crate) least: f64,
}

impl Centre {
    /// Of times in nanoseconds; none below six that are not zero.
    pub(crate) fn of(times: impl IntoIterator<Item = f64>) -> Option<Self> {
        let times = sorted(times.into_iter().filter(|&ns| ns > 0.0));
        let interval = median_interval(&times)?;
        let log = quantile(&times, 0.5)?.ln();
        let least = times.first()?.ln();
        Some(Self { log, least, error: (interval.high / interval.low).ln() / 2.0 / SIDE_OF_95 })
    }
}

/// A session of the baseline or this one: its median, and what else makes its times doubtful.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Session {
    pub(crate) centre: Centre,
    /// The share of the host's CPUs that other programs used; 0 where that is not known.
    pub(crate) busy: f64,
    /// The share of the time in which some task waited for a CPU, at the median; none where it was not measured.
    pub(crate) waiting: Option<f64>,
    /// What the same command differed from itself by in the session, such as 0.03; 0 where nothing was shown.
    pub(crate) noise: f64,
}

/// The share of this many CPUs that other programs used; 0 where that is not known.
pub(crate) fn busy_share(others: &OtherPrograms, cpus: u32) -> f64 {
    let all = f64::from(cpus) * others.within_ns as f64;
    others.cpu_ns.value().map_or(0.0, |ns| ns as f64 / all.max(1.0)).min(1.0)
}

/// What an interval has to hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Terms {
    /// This share of all estimates may have the true ratio below their interval, and as many above it.
    pub(crate) share: f64,
    /// Nanoseconds by which two times must differ to be told apart.
    pub(crate) blur: f64,
    /// What sessions of others differed by, a standard deviation of logarithms: it counts like [`SESSION_SPREAD_FREEDOM`] sessions.
    pub(crate) spread: f64,
}

/// How this session compares with those of the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) baseline: f64,
    pub(crate) ratio: f64,
    pub(crate) interval: ConfidenceInterval,
    pub(crate) spread: f64,
    pub(crate) busy: f64,
    pub(crate) waiting: f64,
}

/// Nothing without a session of the baseline.
pub(crate) fn estimate(then: &[Session], now: Session, terms: Terms) -> Option<Estimate> {
    let sessions = then.len() as f64;
    let freedom = u32::try_from(then.len()).ok()?.checked_sub(1)?;
    let mean = then.iter().map(|session| session.centre.log).sum::<f64>() / sessions;
    let within = then.iter().map(|session| session.centre.error.powi(2)).sum::<f64>();
    let disturbed = then.iter().map(disturbance).sum::<f64>();
    let spread = spread(then, mean, (within + disturbed) / sessions, terms.spread);
    let variance = spread.powi(2) * (1.0 + 1.0 / sessions)
        + disturbance(&now)
        + disturbed / sessions.powi(2)
        + now.centre.error.powi(2)
        + within / sessions.powi(2);
    let quantile = upper_quantile(terms.share, freedom.saturating_add(SESSION_SPREAD_FREEDOM));
    // A session in which a command differs from itself decides no smaller difference.
    let noise = then.iter().map(|session| session.noise).fold(now.noise, f64::max);
    let side = (quantile * variance.sqrt()).max(noise.ln_1p());
    let (difference, baseline) = (now.centre.log - mean, mean.exp());
    // A change of the command changes its least disturbed runs, too.
    let least = then.iter().map(|session| session.centre.least).sum::<f64>() / sessions;
    let least = now.centre.least - least;
    let waiting = waiting(then, now);
    let blur = terms.blur / baseline;
    let low = (difference.min(least) - side + waiting.ln().min(0.0)).exp() - blur;
    let high = (difference.max(least) + side + waiting.ln().max(0.0)).exp() + blur;
    let interval = ConfidenceInterval { low: low.max(0.0), high };
    let busy = then.iter().map(|session| session.busy).fold(now.busy, f64::max);
    Some(Estimate { baseline, ratio: difference.exp(), interval, spread, busy, waiting })
}

/// The variance that other programs add to a session's median.
fn disturbance(session: &Session) -> f64 {
    (BUSY_SPREAD * session.busy).powi(2)
}

/// What sessions differ by: by themselves, without what their rounds and other programs leave open, moderated by the prior.
fn spread(then: &[Session], mean: f64, within: f64, of_others: f64) -> f64 {
    let freedom = then.len().saturating_sub(1) as f64;
    let squares = then.iter().map(|session| (session.centre.log - mean).powi(2)).sum::<f64>();
    let own = if freedom > 0.0 { (squares / freedom - within).max(0.0) } else { 0.0 };
    let prior = f64::from(SESSION_SPREAD_FREEDOM);
    ((prior * of_others.powi(2) + freedom * own) / (prior + freedom)).sqrt()
}

/// The factor by which times would shrink or grow without what tasks waited for a CPU more or less than in the baseline: a command
/// waited no longer than some task of the host did. 1 where that was not measured.
fn waiting(then: &[Session], now: Session) -> f64 {
    /// Where tasks wait all the time, the share says nothing about one of them.
    const MOST: f64 = 0.95;
    let known: Vec<f64> = then.iter().filter_map(|session| session.waiting).collect();
    let (Some(now), false) = (now.waiting, known.is_empty()) else { return 1.0 };
    let before = known.iter().sum::<f64>() / known.len() as f64;
    (1.0 - now.clamp(0.0, MOST)) / (1.0 - before.clamp(0.0, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(then: &[Session], now: Session, share: f64, blur: f64) -> Option<Estimate> {
        super::estimate(then, now, Terms { share, blur, spread: SESSION_SPREAD })
    }

    fn session(log: f64, error: f64) -> Session {
        let centre = Centre { log, error, least: log };
        Session { centre, busy: 0.0, waiting: Some(0.0), noise: 0.0 }
    }

    #[test]
    fn a_centre_is_the_median_and_needs_six() {
        let times = [100.0, 110.0, 120.0, 130.0, 140.0, 150.0];
        let centre = Centre::of(times).expect("six");
        assert!((centre.log.exp() - 125.0).abs() < 1e-9);
        assert!(centre.error > 0.0);
        assert_eq!(Centre::of([100.0; 5]), None);
        assert_eq!(
            Centre::of([100.0, 100.0, 100.0, 100.0, 100.0, 0.0]),
            None,
            "no time, no logarithm"
        );
        assert_eq!(Centre::of([100.0; 6]).expect("six").error, 0.0);
    }

    #[test]
    fn one_session_has_the_spread_of_the_prior_and_many_their_own() {
        let then = [session(10.0, 0.0)];
        let one = estimate(&then, session(10.0, 0.0), 0.01, 0.0).expect("one");
        assert!((one.spread - SESSION_SPREAD).abs() < 1e-12);
        let apart = |by: f64| -> Vec<Session> {
            (0..200).map(|at| session(10.0 + if at % 2 == 0 { by } else { -by }, 0.0)).collect()
        };
        let wide = estimate(&apart(0.05), session(10.0, 0.0), 0.01, 0.0).expect("many");
        assert!((0.047..0.051).contains(&wide.spread), "{}", wide.spread);
        let narrow = estimate(&apart(0.001), session(10.0, 0.0), 0.01, 0.0).expect("many");
        assert!(narrow.spread < 0.3 * SESSION_SPREAD, "{}", narrow.spread);
        assert!(narrow.interval.half_width() < one.interval.half_width());
        assert_eq!(estimate(&[], session(10.0, 0.0), 0.01, 0.0), None);
    }

    #[test]
    fn more_doubt_makes_it_wider_and_never_narrower() {
        let then = [session(10.0, 0.004)];
        let now = session(10.0, 0.004);
        let of = |now, share, blur| estimate(&then, now, share, blur).expect("one").interval;
        let usual = of(now, 0.01, 0.0);
        let wider = |other: ConfidenceInterval| other.low < usual.low && other.high > usual.high;
        assert!(wider(of(now, 0.005, 0.0)) && wider(of(now, 0.01, 1e3)));
        assert!(wider(of(session(10.0, 0.02), 0.01, 0.0)));
        assert!(wider(of(Session { noise: 0.2, ..now }, 0.01, 0.0)));
        assert!(wider(of(Session { busy: 0.1, ..now }, 0.01, 0.0)));
        // Its median is slower, and its least disturbed run is not.
        let centre = Centre { log: 10.5, ..now.centre };
        let disturbed = of(Session { centre, ..now }, 0.01, 0.0);
        assert!(disturbed.holds(1.0) && disturbed.high > 1.6, "{disturbed:?}");
        assert_eq!(of(Session { noise: 0.001, ..now }, 0.01, 0.0), usual);
    }

    #[test]
    fn waiting_for_a_cpu_explains_a_slow_down_but_no_more_than_it_lasted() {
        let then = [session(10.0, 0.0)];
        let of = |log: f64, waiting: Option<f64>| {
            let now = Session { waiting, ..session(log, 0.0) };
            estimate(&then, now, 0.01, 0.0).expect("one").interval
        };
        let twice = 10.0 + 2.0_f64.ln();
        assert!(of(twice, Some(0.0)).low > 1.9 && of(twice, None).low > 1.9);
        let busy = of(twice, Some(0.5));
        assert!(busy.low < 1.0 && busy.high > 2.0, "{busy:?}");
        assert!(of(twice, Some(0.2)).low > 1.5, "a fifth of it is waiting");
        // Less waiting than then explains that it is faster.
        let then = [Session { waiting: Some(0.5), ..session(10.0, 0.0) }];
        let faster = session(10.0 - 2.0_f64.ln(), 0.0);
        let quiet = estimate(&then, faster, 0.01, 0.0).expect("one").interval;
        assert!(quiet.holds(1.0) && quiet.low < 0.5, "{quiet:?}");
        // Where tasks always wait, a share that is alike says nothing.
        let then = [Session { waiting: Some(0.99), ..session(10.0, 0.0) }];
        let same = Session { waiting: Some(1.0), ..session(twice, 0.0) };
        assert!(estimate(&then, same, 0.01, 0.0).expect("one").interval.low > 1.9);
    }
}
