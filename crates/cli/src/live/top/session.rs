//! The screen of what happens now.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use anyhow::Result;
use hotset_analysis::top::{ItemKey, TopFrame};
use hotset_facts::SizeHistogram;
use hotset_sys::child::Wait;
use hotset_view::tui::{App, Step};
use hotset_watch::Scoped;
use hotset_watch::interval::{Drained, Live, LiveSource, Ticker};

use super::names::HostNames;
use super::record::Recorder;
use super::screen::{self, Feed};
use crate::args::TopArgs;
use crate::exit::Exit;

/// Shows what happens until somebody ends it.
pub(super) fn on_screen(args: &TopArgs) -> Result<Exit> {
    let signals = screen::hold_signals()?;
    let scoped = Scoped::new(&args.target.find()?)?;
    let mut setup = super::setup(args)?;
    let source = Live::of(&scoped, true, super::curves(args))?;
    setup.not_measured = source.not_measured();
    let recorder = Recorder::start(args, &setup.not_measured)?;
    let mut app = App::new(setup);
    let begun = Instant::now();
    let mut feed = Now {
        source,
        scoped,
        recorder,
        names: HostNames::new(),
        begun,
        ticker: Ticker::new(Duration::ZERO, args.interval),
        failed: None,
    };
    let shown = screen::show(&mut app, &mut feed, &signals);
    match (shown, feed.failed) {
        (Ok(Exit::Success), Some(error)) => Err(error),
        (shown, _) => shown,
    }
}

/// What happens now.
struct Now {
    source: Live,
    scoped: Scoped,
    recorder: Option<Recorder>,
    names: HostNames,
    begun: Instant,
    ticker: Ticker,
    /// Why the recording ended before the screen did.
    failed: Option<anyhow::Error>,
}

impl Now {
    fn record(&mut self, frame: &TopFrame, app: &mut App) {
        let Some(recorder) = &mut self.recorder else { return };
        if let Err(error) = recorder.add(frame) {
            app.tell(format!("the recording has stopped: {error:#}"));
            self.failed =
                Some(error.context(format!(
                    "the recording {} is not complete",
                    recorder.path().display()
                )));
            self.recorder = None;
        }
    }

    fn tell_end(&mut self, app: &mut App) {
        let Some((pid, pidfd)) = self.scoped.pid.zip(self.scoped.pidfd.as_ref()) else { return };
        let wait = Wait { process: Some(pidfd.as_fd()), ..Wait::default() };
        if wait.at_most(Duration::ZERO).is_ok_and(|woken| woken.has_ended) {
            app.tell(format!("process {pid} has ended"));
            self.scoped.pidfd = None;
        }
    }
}

impl Feed for Now {
    fn left(&self) -> Duration {
        self.ticker.left(self.begun.elapsed()).min(self.source.drain_interval())
    }

    fn readable(&self) -> Option<BorrowedFd<'_>> {
        self.source.readable()
    }

    fn turn(&mut self, app: &mut App) -> Result<bool> {
        if !self.ticker.left(self.begun.elapsed()).is_zero() {
            self.source.drain()?;
            return Ok(false);
        }
        self.ticker.advance(self.begun.elapsed());
        let interval = self.source.interval()?;
        self.names.learn(&interval);
        let frame = TopFrame::of(interval, &mut self.names);
        self.record(&frame, app);
        app.update(frame);
        self.tell_end(app);
        if let Some(key) = app.wants_histogram() {
            let histograms = histograms(&self.source, &key);
            app.set_histogram(key, histograms);
        }
        Ok(true)
    }

    fn set_interval(&mut self, ns: u64) {
        self.ticker = Ticker::new(self.begun.elapsed(), Duration::from_nanos(ns));
    }

    /// What happens now has no other frames.
    fn go(&mut self, _: Step, _: &mut App) -> Result<()> {
        Ok(())
    }
}

/// Calls by size of an item since its row began.
fn histograms(live: &Live, key: &ItemKey) -> Option<(SizeHistogram, SizeHistogram)> {
    match key {
        ItemKey::Process(id) => live.session().histogram_of_process(*id),
        ItemKey::File(id) => live.session().histogram_of_file(*id),
        ItemKey::Group(_) => None,
    }
}
