//! Which conditions there are, and in which order a round runs them.

use hotset_facts::random::Random;
use hotset_facts::{Condition, ConditionRole, WantedState};

/// The order of rounds: drawn anew for each round, and always the same for a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    seed: u64,
}

impl Order {
    /// The orders of this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// A seed from the clock and the process id.
    pub fn fresh_seed() -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let clock = now.map_or(0, |now| now.as_nanos() as u64);
        Random::new(clock ^ u64::from(std::process::id()).rotate_left(32)).number()
    }

    /// The conditions 0 to `conditions` - 1 in the order of round `round`: every order is equally likely.
    pub fn of_round(self, round: u32, conditions: usize) -> Vec<usize> {
        // Rounds start far apart in the generator's sequence.
        let mut random = Random::new(Random::new(self.seed ^ (u64::from(round) << 32)).number());
        let mut order: Vec<usize> = (0..conditions).collect();
        for last in (1..conditions).rev() {
            order.swap(last, random.below_exactly(last as u64 + 1) as usize);
        }
        order
    }
}

/// Every command in every state, and twins (A/A) of the first command's conditions that others are compared with: one in
/// each state where there are several commands, and else one in the first state.
pub fn conditions(commands: usize, states: &[WantedState], noise_floor: bool) -> Vec<Condition> {
    let mut all: Vec<Condition> = (0..commands)
        .flat_map(|command| {
            states.iter().map(move |&state| Condition {
                command,
                state,
                role: ConditionRole::Measured,
            })
        })
        .collect();
    let twins = match (noise_floor && commands > 0, commands) {
        (false, _) => 0,
        (true, 1) => states.len().min(1),
        (true, _) => states.len(),
    };
    for twin_of in 0..twins {
        let role = ConditionRole::NoiseFloor { twin_of };
        all.push(Condition { role, ..all[twin_of] });
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_seed_repeats_its_orders_and_rounds_differ() {
        let order = Order::new(7);
        let rounds: Vec<_> = (0..20).map(|round| order.of_round(round, 6)).collect();
        assert_eq!(rounds, (0..20).map(|r| Order::new(7).of_round(r, 6)).collect::<Vec<_>>());
        assert!(rounds.windows(2).any(|pair| pair[0] != pair[1]));
        for mut round in rounds {
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3, 4, 5]);
        }
        assert!(order.of_round(0, 0).is_empty());
    }

    #[test]
    fn every_order_is_equally_likely() {
        let mut seen: HashMap<Vec<usize>, u32> = HashMap::new();
        for round in 0..24_000 {
            *seen.entry(Order::new(1).of_round(round, 4)).or_default() += 1;
        }
        assert_eq!(seen.len(), 24);
        // Five standard deviations of a binomial count around 1,000.
        assert!(seen.values().all(|&count| (845..=1155).contains(&count)), "{seen:?}");
    }

    #[test]
    fn twins_repeat_what_others_are_compared_with() {
        let states = [WantedState::Cold, WantedState::Warm];
        let roles = |commands, twins| -> Vec<(usize, WantedState, Option<usize>)> {
            conditions(commands, &states, twins)
                .into_iter()
                .map(|condition| match condition.role {
                    ConditionRole::Measured => (condition.command, condition.state, None),
                    ConditionRole::NoiseFloor { twin_of } => {
                        (condition.command, condition.state, Some(twin_of))
                    }
                })
                .collect()
        };
        let (cold, warm) = (WantedState::Cold, WantedState::Warm);
        assert_eq!(roles(1, true), [(0, cold, None), (0, warm, None), (0, cold, Some(0))]);
        assert_eq!(roles(2, true)[4..], [(0, cold, Some(0)), (0, warm, Some(1))]);
        assert_eq!(roles(2, false).len(), 4);
        assert!(roles(0, true).is_empty());
    }
}
