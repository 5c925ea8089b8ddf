use std::collections::VecDeque;

use hotset_analysis::live::testing::{interval, reads};

use super::*;

const S: Duration = Duration::from_secs(1);

/// Intervals made by hand, each one page more than the last.
struct Recorded {
    made: u64,
    drained: u64,
}

impl Drained for Recorded {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn drain_interval(&self) -> Duration {
        Duration::from_millis(50)
    }

    fn drain(&mut self) -> Result<()> {
        self.drained += 1;
        Ok(())
    }
}

impl LiveSource for Recorded {
    fn interval(&mut self) -> Result<Interval> {
        self.made += 1;
        Ok(interval(vec![reads(0, self.made, 0)]))
    }
}

/// A clock that goes on by what was waited for, by a little more each time, and by jumps.
struct Fake {
    now: Duration,
    late: Duration,
    jumps: VecDeque<(Duration, Duration)>,
    end: Option<(Duration, EndReason)>,
}

impl Fake {
    fn new() -> Self {
        Self { now: 5 * S, late: Duration::from_micros(70), jumps: VecDeque::new(), end: None }
    }
}

impl Waiter for Fake {
    fn now(&self) -> Duration {
        self.now
    }

    fn wait(&mut self, at_most: Duration, _: Option<BorrowedFd<'_>>) -> Result<Woken> {
        self.now += at_most + self.late;
        if let Some((at, by)) = self.jumps.front().copied()
            && self.now >= at
        {
            self.jumps.pop_front();
            self.now += by;
        }
        Ok(match self.end {
            Some((at, why)) if self.now >= at => Woken::End(why),
            _ => Woken::Time,
        })
    }
}

fn pages(interval: &Interval) -> u64 {
    interval.rows.iter().map(|row| row.io.unpack().read_pages).sum()
}

fn run(waiter: &mut Fake, schedule: Schedule) -> (Ended, Vec<(u64, u64)>, u64) {
    let mut source = Recorded { made: 0, drained: 0 };
    let mut seen = Vec::new();
    let ended = watch(&mut source, waiter, schedule, &mut |interval, late| {
        seen.push((pages(&interval), late));
        Ok(ControlFlow::Continue(()))
    })
    .expect("watched");
    (ended, seen, source.drained)
}

#[test]
fn as_many_as_were_wanted_and_at_their_time() {
    let mut waiter = Fake::new();
    let (ended, seen, drained) = run(&mut waiter, Schedule { interval: S, count: Some(3) });
    assert_eq!((ended.why, ended.rest.is_none()), (EndReason::Counted, true));
    assert_eq!(seen, [(1, 0), (2, 0), (3, 0)]);
    assert!(waiter.now.abs_diff(8 * S) < Duration::from_millis(1), "{:?}", waiter.now);
    assert!(drained >= 3 * 19, "{drained}");
}

#[test]
fn hours_at_the_shortest_interval_do_not_drift() {
    let mut waiter = Fake::new();
    let count = 4 * 36_000;
    let (_, seen, _) = run(&mut waiter, Schedule { interval: MIN_INTERVAL, count: Some(count) });
    assert_eq!(seen.len() as u64, count);
    assert!(seen.iter().all(|&(_, late)| late == 0));
    assert!(waiter.now.abs_diff(14_405 * S) < Duration::from_millis(1), "{:?}", waiter.now);
}

#[test]
fn a_stopped_process_goes_on_with_one_longer_interval() {
    let mut waiter = Fake::new();
    waiter.jumps.push_back((Duration::from_millis(6_500), 10 * S));
    let (_, seen, _) = run(&mut waiter, Schedule { interval: S, count: Some(4) });
    assert_eq!(seen, [(1, 0), (2, 9), (3, 0), (4, 0)]);
    assert!(waiter.now.abs_diff(18 * S) < Duration::from_millis(1), "{:?}", waiter.now);
}

#[test]
fn a_signal_ends_it_with_the_rest() {
    let signal = EndReason::Signal(2);
    let mut waiter = Fake { end: Some((Duration::from_millis(7_300), signal)), ..Fake::new() };
    let (ended, seen, _) = run(&mut waiter, Schedule { interval: S, count: None });
    assert_eq!(seen.len(), 2);
    assert_eq!((ended.why, ended.rest.as_ref().map(pages)), (signal, Some(3)));
}

#[test]
fn nobody_reads_the_rest_of_a_closed_output() {
    let mut waiter = Fake { end: Some((6 * S, EndReason::Unread)), ..Fake::new() };
    let (ended, seen, _) = run(&mut waiter, Schedule { interval: 3_600 * S, count: None });
    assert_eq!((ended.why, ended.rest.is_none(), seen.len()), (EndReason::Unread, true, 0));
}

#[test]
fn whoever_shows_them_can_end_it_and_can_fail() {
    let mut source = Recorded { made: 0, drained: 0 };
    let schedule = Schedule { interval: S, count: None };
    let ended =
        watch(&mut source, &mut Fake::new(), schedule, &mut |_, _| Ok(ControlFlow::Break(())));
    assert_eq!(ended.expect("watched").why, EndReason::Enough);
    let failed =
        watch(&mut source, &mut Fake::new(), schedule, &mut |_, _| anyhow::bail!("no room"));
    assert!(failed.is_err());
}
