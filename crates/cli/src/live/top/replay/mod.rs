//! A recording, shown again.

mod index;

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use hotset_view::tui::{App, Place, Step, batch_text, unix_seconds};

use super::batch;
use super::screen::{self, Feed};
use crate::args::TopArgs;
use crate::exit::Exit;
use crate::output;
use index::Recording;

/// Frames before the one that is shown, for the curves.
const BEFORE: usize = 120;

/// Shows a recording until somebody ends it.
pub(super) fn on_screen(args: &TopArgs, file: &Path) -> Result<Exit> {
    let mut recording = Recording::open(file)?;
    let signals = screen::hold_signals()?;
    let mut setup = super::setup(args)?;
    setup.host = recording.header.host.clone();
    setup.scope = recording.header.scope.clone();
    setup.interval_ns = recording.header.interval_ns;
    setup.not_measured = recording.header.not_measured.clone();
    setup.recording = None;
    let mut app = App::new(setup);
    show_at(&mut recording, 0, true, &mut app)?;
    if recording.cut {
        app.tell("the last line of the recording is cut off, and is left out");
    }
    let interval = Duration::from_nanos(recording.header.interval_ns.max(1));
    let mut feed = Again { recording, at: 0, playing: false, due: Instant::now(), interval };
    screen::show(&mut app, &mut feed, &signals)
}

/// Prints a recording as samples.
pub(super) fn as_text(args: &TopArgs, file: &Path) -> Result<Exit> {
    let mut recording = Recording::open(file)?;
    let options = batch::options(args, recording.header.not_measured.clone());
    let wanted = args.batch.filter(|&count| count > 0).unwrap_or(u64::MAX);
    let count = usize::try_from(wanted).unwrap_or(usize::MAX).min(recording.len());
    for at in 0..count {
        let frame = recording.frame(at)?;
        if !output::print_while_read(batch_text(&frame, &options).as_bytes())? {
            break;
        }
    }
    if recording.cut {
        output::say("the last line of the recording is cut off, and is left out");
    }
    Ok(Exit::Success)
}

fn show_at(recording: &mut Recording, at: usize, jump: bool, app: &mut App) -> Result<()> {
    let frame = recording.frame(at)?;
    let mut before = Vec::new();
    if jump {
        for place in at.saturating_sub(BEFORE)..at {
            before.push(recording.frame(place)?);
        }
    }
    let (first, last) = recording.span();
    let place = Place {
        file: recording.path().display().to_string(),
        index: at,
        count: recording.len(),
        first,
        last,
        playing: false,
    };
    app.replay(&before, frame, place);
    Ok(())
}

struct Again {
    recording: Recording,
    at: usize,
    playing: bool,
    due: Instant,
    interval: Duration,
}

impl Again {
    fn show(&mut self, at: usize, app: &mut App) -> Result<()> {
        if at != self.at {
            show_at(&mut self.recording, at, at != self.at + 1, app)?;
            self.at = at;
        }
        app.set_playing(self.playing);
        Ok(())
    }

    fn set_playing(&mut self, playing: bool, app: &mut App) {
        self.playing = playing;
        self.due = Instant::now() + self.interval.min(Duration::from_secs(1));
        app.set_playing(playing);
    }
}

impl Feed for Again {
    fn left(&self) -> Duration {
        match self.playing {
            true => self.due.saturating_duration_since(Instant::now()),
            false => Duration::from_secs(3600),
        }
    }

    fn readable(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// A recording has the intervals that it was made with.
    fn set_interval(&mut self, _: u64) {}

    fn turn(&mut self, app: &mut App) -> Result<bool> {
        if !self.playing || Instant::now() < self.due {
            return Ok(false);
        }
        let next = self.at + 1;
        if next >= self.recording.len() {
            self.set_playing(false, app);
            return Ok(true);
        }
        self.due = Instant::now() + self.interval.min(Duration::from_secs(1));
        self.show(next, app)?;
        Ok(true)
    }

    fn go(&mut self, step: Step, app: &mut App) -> Result<()> {
        let last = self.recording.len() - 1;
        let near = |seconds: i64| self.recording.place_of(seconds);
        let now = unix_seconds(self.recording.time(self.at));
        let at = match step {
            Step::By(by) => self.at.saturating_add_signed(isize::try_from(by).unwrap_or(0)),
            Step::Seconds(by) => match near(now.saturating_add(by)) {
                // Intervals can be longer than the step.
                same if same == self.at && by > 0 => self.at + 1,
                same if same == self.at => self.at.saturating_sub(1),
                other => other,
            },
            Step::First => 0,
            Step::Last => last,
            Step::At(seconds) => near(seconds),
            Step::PlayPause => {
                let playing = !self.playing && self.at < last;
                self.set_playing(playing, app);
                return Ok(());
            }
        };
        self.show(at.min(last), app)
    }
}
