//! New frames.

use std::collections::HashSet;

use hotset_analysis::top::{
    FrameHistory, KeptLine, Kind, Line, LineState, Lines, ProcessItem, SinceStart, TopFrame,
};

use super::{App, Held, Place};

impl App {
    /// Takes the newest frame. A paused screen keeps showing what it shows; nothing is lost for the sums.
    pub fn update(&mut self, frame: TopFrame) {
        if !self.paused {
            self.since.add(&frame);
            self.trail.push(&frame);
            self.show(frame);
            return;
        }
        match &mut self.held {
            Some(held) => {
                held.since.add(&frame);
                held.trail.push(&frame);
                held.newest = frame;
            }
            held @ None => {
                let (mut since, mut trail) = (SinceStart::default(), FrameHistory::default());
                since.add(&frame);
                trail.push(&frame);
                *held = Some(Held { newest: frame, since, trail });
            }
        }
    }

    /// Shows a frame of a recording, with those before it, oldest first.
    pub fn replay(&mut self, before: &[TopFrame], frame: TopFrame, place: Place) {
        let next = self.place.as_ref().is_some_and(|old| old.index + 1 == place.index);
        if !next {
            self.trail.clear();
            for frame in before {
                self.trail.push(frame);
            }
            // Nobody ended just now when one jumps.
            self.frame = None;
            self.since = SinceStart::default();
        }
        self.place = Some(place);
        self.since.add(&frame);
        self.trail.push(&frame);
        self.show(frame);
    }

    /// Tells whether a recording goes on by itself.
    pub fn set_playing(&mut self, playing: bool) {
        if let Some(place) = &mut self.place {
            place.playing = playing;
        }
    }

    fn show(&mut self, mut frame: TopFrame) {
        if let Some(before) = self.frame.take() {
            self.keep_ended(&before, &mut frame);
            self.keep_selected(&before, &mut frame);
        }
        for expanded in &mut self.stack {
            expanded.update(&frame);
        }
        self.frame = Some(frame);
        self.arrange();
    }

    /// Processes that ended in the interval before stay for one more.
    fn keep_ended(&self, before: &TopFrame, frame: &mut TopFrame) {
        let Lines::Processes(old) = before.of_kind(Kind::Processes) else { return };
        let ended: Vec<_> = old.iter().filter(|line| line.state == LineState::Ended).collect();
        let Lines::Processes(new) = &mut frame.lines[Kind::Processes as usize] else { return };
        // Of short-lived processes there can be thousands on both sides.
        let known: HashSet<u32> = new.iter().map(|line| line.item.process.id).collect();
        let missing = |line: &&KeptLine<ProcessItem>| !known.contains(&line.item.process.id);
        let gone = |line: &KeptLine<ProcessItem>| Line { state: LineState::Gone, ..line.clone() };
        new.extend(ended.into_iter().filter(missing).map(gone));
    }

    /// Who is selected stays, whatever he does.
    fn keep_selected(&self, before: &TopFrame, frame: &mut TopFrame) {
        for (table, kind) in self.tables.iter().zip(Kind::ALL) {
            let Some(key) = &table.selected else { continue };
            if frame.of_kind(kind).position(key).is_some() {
                continue;
            }
            let old = before.of_kind(kind);
            frame.lines[kind as usize].append(old.later(old.position(key)));
        }
    }

    /// Stops showing new frames, or shows the newest again.
    pub(super) fn pause(&mut self) {
        self.paused = !self.paused;
        if self.paused {
            return;
        }
        if let Some(held) = self.held.take() {
            if let Some(sums) = held.since.frame() {
                self.since.add(sums);
            }
            self.trail.append(held.trail);
            self.show(held.newest);
        }
    }
}
