//! The engine of rounds, for commands and for experiments: each round runs every cell once in a fresh random order, and again
//! while its run doesn't count.

use std::sync::atomic::{AtomicBool, Ordering};

use hotset_facts::{Decision, StopReason};

use crate::schedule::Order;

/// Where a run stands in its session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The cell, or the condition.
    pub(crate) cell: usize,
    pub(crate) round: u32,
    /// In the round, in the order in which the cells run.
    pub(crate) position: u32,
    /// 0 for the cell's first run in the round.
    pub(crate) repeat: u32,
}

/// What a run came to.
pub(crate) enum Outcome {
    Counts,
    /// It doesn't count: once more.
    Again,
    Stop(StopReason),
}

/// What is run in rounds.
pub(crate) trait Cells {
    type Error;

    /// How many there are.
    fn count(&self) -> usize;

    /// Asked before the first round and after each; `rounds` are done.
    fn decide(&mut self, rounds: u32) -> Decision;

    /// Sets a cell's state, runs it once, and judges the run.
    fn run(&mut self, place: Place) -> Result<Outcome, Self::Error>;
}

/// Runs rounds until that is decided, a cell stops it, or `stop` is set.
pub(crate) fn run<C: Cells>(
    cells: &mut C,
    order: Order,
    max_repeats: u32,
    stop: &AtomicBool,
) -> Result<StopReason, C::Error> {
    let mut round = 0;
    loop {
        if let Decision::Stop(reason) = cells.decide(round) {
            return Ok(reason);
        }
        for (position, cell) in (0..).zip(order.of_round(round, cells.count())) {
            for repeat in 0..=max_repeats {
                if stop.load(Ordering::Relaxed) {
                    return Ok(StopReason::Interrupted);
                }
                match cells.run(Place { cell, round, position, repeat })? {
                    Outcome::Counts => break,
                    Outcome::Again => {}
                    Outcome::Stop(reason) => return Ok(reason),
                }
            }
        }
        round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cells, of which the second counts at its second run only.
    struct Two<'a> {
        ran: Vec<(u32, usize, u32)>,
        rounds: u32,
        stop: Option<&'a AtomicBool>,
    }

    impl Cells for Two<'_> {
        type Error = String;

        fn count(&self) -> usize {
            2
        }

        fn decide(&mut self, rounds: u32) -> Decision {
            match rounds < self.rounds {
                true => Decision::GoOn,
                false => Decision::Stop(StopReason::RunsDone),
            }
        }

        fn run(&mut self, place: Place) -> Result<Outcome, String> {
            self.ran.push((place.round, place.cell, place.repeat));
            self.stop.inspect(|stop| stop.store(true, Ordering::Relaxed));
            Ok(if place.cell == 1 && place.repeat == 0 { Outcome::Again } else { Outcome::Counts })
        }
    }

    #[test]
    fn what_does_not_count_is_run_again_in_its_round() {
        let mut two = Two { ran: Vec::new(), rounds: 2, stop: None };
        let ended = run(&mut two, Order::new(1), 2, &AtomicBool::new(false));
        assert_eq!(ended, Ok(StopReason::RunsDone));
        two.ran.sort_unstable();
        let all = [(0, 0, 0), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 1, 0), (1, 1, 1)];
        assert_eq!(two.ran, all);
        let mut never = Two { ran: Vec::new(), rounds: 1, stop: None };
        assert!(run(&mut never, Order::new(1), 0, &AtomicBool::new(false)).is_ok());
        assert_eq!(never.ran.len(), 2, "no repeats were allowed");
    }

    #[test]
    fn a_stop_is_heard_before_the_next_run() {
        let stop = AtomicBool::new(false);
        let mut two = Two { ran: Vec::new(), rounds: 9, stop: Some(&stop) };
        assert_eq!(run(&mut two, Order::new(1), 2, &stop), Ok(StopReason::Interrupted));
        assert_eq!(two.ran.len(), 1);
    }
}
