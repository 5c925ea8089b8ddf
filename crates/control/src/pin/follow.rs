//! What is held follows its names: a file can grow, shrink, be replaced, or go.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hotset_facts::Followed;
use hotset_sys::cache::{Pin, lock_limit};
use hotset_sys::cgroup::headroom;
use rustix::event::Timespec;

use super::limits::may_pin;
use super::{Stoppable, whole_pages};

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// Files that are held in memory, for as long as this lives.
#[derive(Debug)]
pub struct Held {
    pins: Vec<Watched>,
    budget_bytes: Option<u64>,
}

#[derive(Debug)]
struct Watched {
    pin: Pin,
    trouble: Option<Trouble>,
}

/// What was said last of a file that is not held as it should be: it is not said again every second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Gone,
    NotFollowed,
}

/// What hears of a change: the path, and what became of it, or why it could not be followed.
pub type FollowListener<'a> = &'a mut dyn FnMut(&Path, Result<Followed, String>);

impl Held {
    pub(super) fn new(budget_bytes: Option<u64>) -> Self {
        Self { pins: Vec::new(), budget_bytes }
    }

    pub(super) fn add(&mut self, pin: Pin) {
        self.pins.push(Watched { pin, trouble: None });
    }

    /// Files that are held.
    pub fn files(&self) -> usize {
        self.pins.len()
    }

    /// Bytes that they take, in whole pages.
    pub fn locked_bytes(&self) -> u64 {
        self.pins.iter().map(|watched| watched.pin.locked_bytes()).sum()
    }

    /// Looks after all of them, every second, until `stop`.
    pub fn follow_until(&mut self, stop: &AtomicBool, listener: FollowListener<'_>) {
        let interval = Timespec {
            tv_sec: INTERVAL.as_secs().cast_signed(),
            tv_nsec: i64::from(INTERVAL.subsec_nanos()),
        };
        while !stop.load(Ordering::Relaxed) {
            // A signal ends it early.
            let _ = rustix::event::poll(&mut [], Some(&interval));
            self.follow(stop, listener);
        }
    }

    /// Looks where each name leads now, once.
    pub fn follow(&mut self, stop: &AtomicBool, listener: FollowListener<'_>) {
        let mut total = self.locked_bytes();
        for watched in &mut self.pins {
            total -= watched.pin.locked_bytes();
            let left = self.budget_bytes.map(|budget| budget.saturating_sub(total));
            let followed = watched.follow(left, stop);
            total += watched.pin.locked_bytes();
            if let Some(followed) = news(&mut watched.trouble, followed) {
                listener(watched.pin.path(), followed);
            }
        }
    }
}

impl Watched {
    /// Follows the file as far as the limits allow; `left_bytes` is what the other files leave of the budget.
    fn follow(&mut self, left_bytes: Option<u64>, stop: &AtomicBool) -> Result<Followed, String> {
        let held = self.pin.locked_bytes();
        let size = std::fs::metadata(self.pin.path()).map_or(0, |file| file.len());
        // What the file grows by from here on is looked at, and asked for, the next time.
        let most = whole_pages(size).max(held);
        let grown = most - held;
        if grown > 0 {
            let left = left_bytes.map(|left| left.saturating_sub(held));
            may_pin(grown, left, lock_limit(), &headroom())
                .map_err(|refused| refused.to_string())?;
        }
        self.pin.follow(most, &Stoppable(stop)).map_err(|error| error.to_string())
    }
}

/// What is worth saying: every change, and a trouble when it begins or is another one. Its numbers change all the time.
fn news(
    trouble: &mut Option<Trouble>,
    followed: Result<Followed, String>,
) -> Option<Result<Followed, String>> {
    let now = match &followed {
        Ok(Followed::Gone) => Some(Trouble::Gone),
        Ok(_) => None,
        Err(_) => Some(Trouble::NotFollowed),
    };
    let before = std::mem::replace(trouble, now);
    let is_news = if now.is_some() { now != before } else { followed != Ok(Followed::Same) };
    is_news.then_some(followed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_said_and_the_same_trouble_once() {
        let resized = || Ok(Followed::Resized { from: 1, to: 2 });
        let failed = |why: &str| Err(why.to_owned());
        let gone = || Ok(Followed::Gone);
        let steps = [
            (Ok(Followed::Same), false),
            (resized(), true),
            (resized(), true),
            (failed("5 bytes are needed"), true),
            (failed("6 bytes are needed"), false),
            // A file that could not be followed and then goes is another thing to know, and so is the other way round.
            (gone(), true),
            (gone(), false),
            (failed("no memory"), true),
            (Ok(Followed::Same), false),
            (failed("no memory"), true),
            (Ok(Followed::Replaced { size_bytes: 1 }), true),
            (gone(), true),
        ];
        let mut trouble = None;
        for (step, (followed, said)) in steps.into_iter().enumerate() {
            let wanted = said.then(|| followed.clone());
            assert_eq!(news(&mut trouble, followed), wanted, "step {step}");
        }
    }
}
