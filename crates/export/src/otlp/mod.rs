//! Pushing by OTLP/HTTP, in a thread of its own behind a short queue: sampling never waits for a receiver.

mod receiver;
mod send;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use hotset_view::metrics::{OtlpNumbers, Resource, otlp_json};
use ring::rand::{SecureRandom, SystemRandom};

use self::send::{Sender, Sent};
use crate::shared::Snapshot;
use crate::{PushOptions, Say};

pub use self::receiver::{Header, OtlpUrl};

/// Pushes that wait at most; the next one is dropped and counted.
const QUEUE: usize = 4;
/// The pause before the second attempt; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest that it becomes.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Each pause is shortened by up to this share, so that a fleet does not come back at one time.
const SPREAD: f64 = 0.5;
/// When a push is given up: cumulative counters lose nothing by it but resolution.
const GIVE_UP: Duration = Duration::from_secs(300);
/// How long a receiver may ask to be left alone.
const LONGEST_WANTED: Duration = Duration::from_secs(3600);

/// How pushing went.
#[derive(Default)]
struct Counts {
    pushed: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
    rejected_points: AtomicU64,
}

/// The queue, and the thread behind it.
pub(super) struct Push {
    queue: Option<SyncSender<Arc<Snapshot>>>,
    thread: Option<JoinHandle<()>>,
    counts: Arc<Counts>,
    interval: Duration,
    due: Instant,
    /// Of which moment the last push is.
    sent: Option<SystemTime>,
}

impl Push {
    /// Starts the thread; the first push is due one interval from now.
    pub(super) fn start(options: PushOptions, resource: Resource, say: Say) -> Result<Self> {
        let PushOptions { url, headers, interval } = options;
        let sender = Sender::new(&url, headers)?;
        let (queue, waiting) = sync_channel(QUEUE);
        let counts = Arc::new(Counts::default());
        let mut pusher = Pusher { sender, resource, counts: Arc::clone(&counts), said: false, say };
        let thread = std::thread::Builder::new()
            .name("hotset-otlp".to_owned())
            .spawn(move || pusher.run(&waiting))
            .context("the thread that pushes")?;
        let due = Instant::now() + interval;
        Ok(Self { queue: Some(queue), thread: Some(thread), counts, interval, due, sent: None })
    }

    /// How it went so far.
    pub(super) fn numbers(&self) -> OtlpNumbers {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        OtlpNumbers {
            pushed: load(&self.counts.pushed),
            failed: load(&self.counts.failed),
            dropped: load(&self.counts.dropped),
            rejected_points: load(&self.counts.rejected_points),
        }
    }

    /// Pushes a snapshot if that is due. Never waits.
    pub(super) fn offer(&mut self, snapshot: &Arc<Snapshot>) {
        let now = Instant::now();
        if now < self.due {
            return;
        }
        // What was missed is not caught up.
        self.due = now + self.interval;
        self.send(snapshot);
    }

    /// Pushes a snapshot now. Never waits.
    pub(super) fn send(&mut self, snapshot: &Arc<Snapshot>) {
        self.sent = Some(snapshot.at);
        let sent = self.queue.as_ref().map(|queue| queue.try_send(Arc::clone(snapshot)));
        if matches!(sent, Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_)))) {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Pushes the last values if they are newer than what was pushed, and waits for that a moment. Two values of one moment
    /// would contradict each other.
    pub(super) fn finish(mut self, last: &Arc<Snapshot>) {
        const MOMENT: Duration = Duration::from_secs(5);
        const STEP: Duration = Duration::from_millis(20);
        if self.sent != Some(last.at) {
            self.send(last);
        }
        self.queue = None;
        let until = Instant::now() + MOMENT;
        let Some(thread) = self.thread.take() else { return };
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(STEP);
        }
    }
}

/// The thread.
struct Pusher {
    sender: Sender,
    resource: Resource,
    counts: Arc<Counts>,
    /// A failure was said, and no success since.
    said: bool,
    say: Say,
}

impl Pusher {
    fn run(&mut self, waiting: &Receiver<Arc<Snapshot>>) {
        while let Ok(snapshot) = waiting.recv() {
            let at = snapshot.at;
            let body = otlp_json(&snapshot.families, &Resource { at, ..self.resource.clone() });
            drop(snapshot);
            self.push(&body, waiting);
        }
    }

    /// Sends until it is taken, refused, or given up.
    fn push(&mut self, body: &[u8], waiting: &Receiver<Arc<Snapshot>>) {
        let (begun, mut pause) = (Instant::now(), FIRST_PAUSE);
        loop {
            let (why, again) = match self.sender.send(body) {
                Sent::Taken { rejected } => return self.taken(rejected),
                Sent::Refused(why) => (why, None),
                // What the receiver wants is kept to, and longer than a push lasts if need be: the next waits as well.
                Sent::Later(why, Some(wanted)) => (why, Some(wanted.min(LONGEST_WANTED))),
                Sent::Later(why, None) => (why, Some(spread(pause))),
            };
            self.say_failure(&why);
            pause = (pause * 2).min(LONGEST_PAUSE);
            let waited = again.is_some_and(|wait| pause_for(wait, waiting, &self.counts));
            if !waited || begun.elapsed() >= GIVE_UP {
                self.counts.failed.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
    }

    fn taken(&mut self, rejected: u64) {
        self.counts.pushed.fetch_add(1, Ordering::Relaxed);
        if rejected > 0 && self.counts.rejected_points.fetch_add(rejected, Ordering::Relaxed) == 0 {
            (self.say)(&format_args!(
                "--otlp {}: {rejected} data points were refused; hotset_otlp_rejected_points_total counts on",
                self.sender.url
            ));
        }
        if std::mem::take(&mut self.said) {
            (self.say)(&format_args!("--otlp {}: pushes are taken again", self.sender.url));
        }
    }

    fn say_failure(&mut self, why: &str) {
        if !std::mem::replace(&mut self.said, true) {
            (self.say)(&format_args!(
                "--otlp {}: {why}; hotset goes on, and hotset_otlp_pushes_total counts what fails",
                self.sender.url
            ));
        }
    }
}

/// A pause between so much and [`SPREAD`] less.
pub(crate) fn spread(pause: Duration) -> Duration {
    let mut random = [0; 1];
    // Without random numbers all wait as long.
    let part = match SystemRandom::new().fill(&mut random) {
        Ok(()) => f64::from(random[0]) / 256.0,
        Err(_) => 0.0,
    };
    pause.mul_f64(1.0 - SPREAD * part)
}

/// Sleeps; false where hotset ends meanwhile. Pushes that come up are dropped: the next to be sent is newer anyway.
fn pause_for(wait: Duration, waiting: &Receiver<Arc<Snapshot>>, counts: &Counts) -> bool {
    let until = Instant::now() + wait;
    loop {
        match waiting.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(_) => {
                counts.dropped.fetch_add(1, Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_differ_and_stay_in_bounds() {
        let second = Duration::from_secs(1);
        let pauses: Vec<Duration> = (0..64).map(|_| spread(second)).collect();
        assert!(pauses.iter().all(|one| *one > second / 2 && *one <= second), "{pauses:?}");
        assert!(pauses.iter().any(|one| *one != pauses[0]), "{pauses:?}");
    }
}
