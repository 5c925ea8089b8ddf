//! A program that runs, watched by a sample of its pages: how much cache it needs.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use hotset_facts::trace::TraceHead;
use hotset_facts::units::nanos;
use hotset_facts::{CurveCounts, Interval, SampledNeed};
use hotset_sizing::sample::Curve;
use hotset_sys::child::Signals;

use crate::interval::{CurveOptions, Live, Schedule, Waiting, watch};
use crate::record::{running_head, whose};
use crate::recording::Memory;
use crate::{Scoped, Who};

/// From one look at counts and memory to the next, at most.
const INTERVAL: Duration = Duration::from_millis(500);
/// One in 8 pages is in the sample at first: 52,000 of them have room, those of a cache of 1.6 GiB.
const EXPONENT: u32 = 3;

/// Watches who runs already until the duration is over, a signal comes, or the process or the control group is gone; calls `begun` once it watches. What was seen,
/// and what it is of.
///
/// # Errors
/// Where who is to be watched can't be found, or the sensor can't be had or read.
pub fn sample_need(
    who: &Who,
    duration: Option<Duration>,
    version: &str,
    begun: impl FnOnce(),
) -> Result<(TraceHead, SampledNeed)> {
    let signals = Signals::hold().context("signals can't be held back")?;
    let scoped = Scoped::new(who)?;
    let curves = CurveOptions { exponent: EXPONENT, together: true };
    let mut source = Live::of(&scoped, false, Some(curves))?;
    let head = running_head(who, version, SystemTime::now());
    begun();
    let mut waiter = Waiting::new(&signals).until_end_of(scoped.pidfd.as_ref());
    let mut memory = Memory::of(whose(scoped.pid, scoped.group.as_ref()));
    let mut sum = Sum::default();
    memory.look(Vec::new);
    let ended = watch(&mut source, &mut waiter, schedule(duration), &mut |interval, _| {
        memory.look(Vec::new);
        sum.add(&interval);
        let is_gone = scoped.group.as_ref().is_some_and(|group| !group.dir().exists());
        Ok(if is_gone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    if let Some(rest) = &ended.rest {
        sum.add(rest);
    }
    let (memory, memory_steps) = memory.into_seen();
    Ok((TraceHead { memory, memory_steps, ..head }, sum.into_need()))
}

/// Whole intervals that make up the duration.
fn schedule(duration: Option<Duration>) -> Schedule {
    let Some(duration) = duration else { return Schedule { interval: INTERVAL, count: None } };
    let count = nanos(duration).div_ceil(nanos(INTERVAL)).max(1);
    let interval = duration / u32::try_from(count).unwrap_or(u32::MAX);
    Schedule { interval, count: Some(count) }
}

/// All intervals so far.
#[derive(Default)]
struct Sum {
    curve: Option<Curve>,
    exponent: u32,
    sampled_pages: u64,
    lost: u64,
    span_ns: u64,
    direct_bytes: u64,
}

impl Sum {
    fn add(&mut self, interval: &Interval) {
        self.span_ns = interval.ended_after_ns;
        let rows = interval.rows.iter().map(|row| row.io.unpack().direct_bytes());
        let direct = rows.fold(interval.others.direct_bytes(), u64::saturating_add);
        self.direct_bytes = self.direct_bytes.saturating_add(direct);
        let Some(curves) = &interval.curves else { return };
        self.exponent = self.exponent.max(curves.exponent);
        self.lost = self.lost.saturating_add(curves.lost);
        for group in &curves.groups {
            self.exponent = self.exponent.max(group.exponent);
            self.sampled_pages = group.pages;
            Curve::from(group.counts.clone()).add_to(&mut self.curve);
        }
    }

    fn into_need(self) -> SampledNeed {
        let none = || CurveCounts {
            limits: [].into(),
            weights: Vec::new(),
            weighted: 0,
            weighted_first: 0,
            references: 0,
        };
        SampledNeed {
            counts: self.curve.map_or_else(none, Curve::into_counts),
            exponent: self.exponent,
            sampled_pages: self.sampled_pages,
            lost: self.lost,
            span_ns: self.span_ns,
            direct_bytes: self.direct_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_make_up_the_duration() {
        let of = |ms| {
            let Schedule { interval, count } = schedule(Some(Duration::from_millis(ms)));
            (interval.as_millis(), count)
        };
        assert_eq!(of(10_000), (500, Some(20)));
        assert_eq!(of(1_200), (400, Some(3)));
        assert_eq!(of(100), (100, Some(1)));
        assert_eq!(schedule(None).count, None);
    }
}
