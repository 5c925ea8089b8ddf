use hotset_facts::random::Random;

use super::estimate::estimate;
use super::*;
use crate::bench::testing::noisy;

/// A number of the standard normal distribution, nearly: the sum of twelve even ones.
fn normal(rng: &mut Random) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

/// A session of 15 rounds: its own difference, and skewed noise of its runs.
fn simulated(rng: &mut Random, times: f64, spread: f64) -> Session {
    let level = 50e6 * times * (spread * normal(rng)).exp();
    let centre = Centre::of((0..15).map(|_| noisy(rng, level, 0.01) as f64)).expect("15 rounds");
    Session { centre, busy: 0.0, waiting: Some(0.0), noise: 0.0 }
}

#[test]
fn an_unchanged_command_is_called_slower_as_seldom_as_promised_and_ten_percent_are_found() {
    const SESSIONS: usize = 4_000;
    let mut rng = Random::new(20_261_127);
    let terms = Terms { share: FALSE_CLAIMS / 2.0, blur: 0.0, spread: SESSION_SPREAD };
    for (kept, spread) in
        [(1, SESSION_SPREAD), (3, SESSION_SPREAD), (10, SESSION_SPREAD / 3.0), (10, SESSION_SPREAD)]
    {
        let mut rates = [0.0; 2];
        for (rate, times) in rates.iter_mut().zip([1.0, 1.1]) {
            for _ in 0..SESSIONS {
                let then: Vec<Session> =
                    (0..kept).map(|_| simulated(&mut rng, 1.0, spread)).collect();
                let now = simulated(&mut rng, times, spread);
                let found = estimate(&then, now, terms).expect("sessions");
                *rate += f64::from(u8::from(found.interval.low > 1.0)) / SESSIONS as f64;
            }
        }
        let [false_claims, found] = rates;
        assert!(false_claims <= FALSE_CLAIMS, "{kept} sessions, {spread}: {false_claims}");
        assert!(found >= 0.95, "{kept} sessions, {spread}: {found}");
    }
}
