//! Watching a host: the loop that `stat`, `top` and `export` share. One source gives intervals; each command shows them.

mod source;
mod stat;
mod ticker;
mod top;
mod waiter;

use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use anyhow::Result;
use hotset_facts::Interval;
pub(crate) use hotset_observe::live::LiveOptions;

pub(crate) use source::Live;
pub(crate) use stat::stat;
pub(crate) use ticker::Ticker;
pub(crate) use top::top;
pub(crate) use waiter::{Waiter, Waiting, Woken};

/// The shortest interval that can be asked for.
pub(crate) const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// The longest.
pub(crate) const MAX_INTERVAL: Duration = Duration::from_secs(86_400);

/// Where intervals come from: the sensor and the host, or a test.
pub(crate) trait LiveSource {
    /// A descriptor that turns readable when the source wants to be drained, if it has one.
    fn readable(&self) -> Option<BorrowedFd<'_>>;

    /// How long it may go on without being drained.
    fn drain_interval(&self) -> Duration;

    /// Takes what is queued.
    fn drain(&mut self) -> Result<()>;

    /// What happened since the last call, or since the source began.
    fn interval(&mut self) -> Result<Interval>;
}

/// When intervals end, and how many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    /// How long one is.
    pub(crate) interval: Duration,
    /// How many to show; nothing for no end.
    pub(crate) count: Option<u64>,
}

/// Why watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndReason {
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
pub(crate) struct Ended {
    pub(crate) why: EndReason,
    /// The rest, where a whole interval was interrupted.
    pub(crate) rest: Option<Interval>,
}

/// Calls `each` with every interval and the number of deadlines that were missed in it, until it says stop, the count
/// is reached, or the waiter says why to end.
///
/// Deadlines are the beginning + n intervals: the length of an interval may differ by how late this process was woken, and
/// the differences don't add up. What is late is not caught up in a burst: one longer interval covers it.
pub(crate) fn watch(
    source: &mut dyn LiveSource,
    waiter: &mut dyn Waiter,
    rhythm: Schedule,
    each: &mut dyn FnMut(&Interval, u64) -> Result<ControlFlow<()>>,
) -> Result<Ended> {
    let mut beat = Ticker::new(waiter.now(), rhythm.interval);
    let mut shown = 0;
    while rhythm.count.is_none_or(|count| shown < count) {
        if let Some(why) = sleep(source, waiter, &beat)? {
            let rest = if why == EndReason::Unread { None } else { Some(source.interval()?) };
            return Ok(Ended { why, rest });
        }
        let late = beat.advance(waiter.now());
        let interval = source.interval()?;
        shown += 1;
        if each(&interval, late)?.is_break() {
            return Ok(Ended { why: EndReason::Enough, rest: None });
        }
    }
    Ok(Ended { why: EndReason::Counted, rest: None })
}

/// Waits until the next deadline and drains the source meanwhile; says why to end where that comes first.
fn sleep(
    source: &mut dyn LiveSource,
    waiter: &mut dyn Waiter,
    beat: &Ticker,
) -> Result<Option<EndReason>> {
    loop {
        let left = beat.left(waiter.now());
        let at_most = left.min(source.drain_interval());
        let woken = waiter.wait(at_most, source.readable())?;
        if let Woken::End(why) = woken {
            return Ok(Some(why));
        }
        // Whoever has no time left is drained by the next interval.
        if beat.left(waiter.now()).is_zero() {
            return Ok(None);
        }
        source.drain()?;
    }
}

#[cfg(test)]
mod tests;
