//! Taking intervals: the loop that `stat`, `top` and `export` share. One source gives them; each command shows them.

mod curves;
mod source;
mod ticker;
mod waiter;

use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use anyhow::Result;
use hotset_facts::Interval;
pub use hotset_observe::live::LiveOptions;

pub use curves::CurveOptions;
pub use source::Live;
pub use ticker::Ticker;
pub use waiter::{Waiter, Waiting, Woken};

/// The shortest interval that can be asked for.
pub const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// The longest.
pub const MAX_INTERVAL: Duration = Duration::from_secs(86_400);

/// What queues events, and loses some unless they are taken in time.
pub trait Drained {
    /// A descriptor that turns readable when the source wants to be drained, if it has one.
    fn readable(&self) -> Option<BorrowedFd<'_>>;

    /// How long it may go on without being drained.
    fn drain_interval(&self) -> Duration;

    /// Takes what is queued.
    ///
    /// # Errors
    /// Where it can't be read.
    fn drain(&mut self) -> Result<()>;
}

/// Where intervals come from: the sensor and the host, or a test.
pub trait LiveSource: Drained {
    /// What happened since the last call, or since the source began.
    ///
    /// # Errors
    /// Where the counters can't be read.
    fn interval(&mut self) -> Result<Interval>;
}

/// When intervals end, and how many there are.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// How long one is.
    pub interval: Duration,
    /// How many to show; nothing for no end.
    pub count: Option<u64>,
}

/// Why watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The wanted number of intervals was shown.
    Counted,
    /// Whoever shows them wants no more.
    Enough,
    /// A signal asked for it.
    Signal(i32),
    /// Nobody reads standard output any more.
    Unread,
    /// The process that was watched has ended.
    Gone,
}

/// How watching ended, and what happened since the last whole interval.
#[derive(Debug)]
pub struct Ended {
    /// What ended it.
    pub why: EndReason,
    /// The rest, where a whole interval was interrupted.
    pub rest: Option<Interval>,
}

/// Calls `each` with every interval and the number of deadlines that were missed in it, until it says stop, the count
/// is reached, or the waiter says why to end.
///
/// Deadlines are the beginning + n intervals: the length of an interval may differ by how late this process was woken, and
/// the differences don't add up. What is late is not caught up in a burst: one longer interval covers it.
///
/// # Errors
/// Where the source, the waiter or `each` fails.
pub fn watch(
    source: &mut dyn LiveSource,
    waiter: &mut dyn Waiter,
    schedule: Schedule,
    each: &mut dyn FnMut(Interval, u64) -> Result<ControlFlow<()>>,
) -> Result<Ended> {
    let mut ticker = Ticker::new(waiter.now(), schedule.interval);
    let mut shown = 0;
    while schedule.count.is_none_or(|count| shown < count) {
        if let Some(why) = wait_until_due(source, waiter, &ticker)? {
            let rest = if why == EndReason::Unread { None } else { Some(source.interval()?) };
            return Ok(Ended { why, rest });
        }
        let late = ticker.advance(waiter.now());
        let interval = source.interval()?;
        shown += 1;
        if each(interval, late)?.is_break() {
            return Ok(Ended { why: EndReason::Enough, rest: None });
        }
    }
    Ok(Ended { why: EndReason::Counted, rest: None })
}

/// Waits until the next deadline and drains the source meanwhile; says why to end where that comes first.
pub(crate) fn wait_until_due(
    source: &mut (impl Drained + ?Sized),
    waiter: &mut dyn Waiter,
    ticker: &Ticker,
) -> Result<Option<EndReason>> {
    loop {
        let left = ticker.left(waiter.now());
        let at_most = left.min(source.drain_interval());
        let woken = waiter.wait(at_most, source.readable())?;
        if let Woken::End(why) = woken {
            return Ok(Some(why));
        }
        // Whoever has no time left is drained by the next interval.
        if ticker.left(waiter.now()).is_zero() {
            return Ok(None);
        }
        source.drain()?;
    }
}

#[cfg(test)]
mod tests;
