//! What requests are about, as the lanes of a picture.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use hotset_facts::replay::{PatternLane, PatternMark, ReplayPlan, Step};

use super::mark::Drawn;
use crate::changes::subjects;

/// Lanes of a picture at most.
const LANES: usize = 12;
/// Of these, lanes for what only the change is about: the file in which others are packed.
const NEW_LANES: usize = 4;

/// What a step is about, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name<'a> {
    path: &'a [u8],
    is_new: bool,
}

impl<'a> Name<'a> {
    /// Its file's, else the one that it asks for.
    pub(super) fn of(plan: &'a ReplayPlan, step: &Step) -> Option<Self> {
        let file = subjects::file(plan, step).and_then(|file| plan.files.get(file as usize));
        let path = file.and_then(|file| file.path).or_else(|| subjects::path(step))?;
        Some(Self {
            path: &plan.paths.get(path as usize)?.bytes,
            is_new: file.is_some_and(|file| !file.parts.is_empty()),
        })
    }
}

/// The lanes, and what has none.
pub(super) struct Lanes<'a> {
    names: Vec<Name<'a>>,
    more: u64,
}

impl<'a> Lanes<'a> {
    /// What only the change has, then what is on both sides, then what comes first has a lane; they stand in the order of their first
    /// requests.
    pub(super) fn of(recorded: &[Drawn<'a>], changed: &[Drawn<'a>]) -> Self {
        let (before, after) = (each_once(recorded), each_once(changed));
        let mut new: Vec<Name<'a>> =
            after.iter().filter(|name| !before.contains(name)).copied().collect();
        let all = before.len() + new.len();
        new.truncate(NEW_LANES);
        let room = LANES - new.len();
        let (both, gone): (Vec<Name<'a>>, Vec<Name<'a>>) =
            before.iter().partition(|name| after.contains(name));
        // Most of what stays may be beside the point: what goes has half of the room at least.
        let kept = both.len().min(room - gone.len().min(room / 2));
        let chosen: Vec<Name<'a>> = both.into_iter().take(kept).chain(gone).take(room).collect();
        let mut names: Vec<Name<'a>> =
            before.into_iter().filter(|name| chosen.contains(name)).collect();
        names.append(&mut new);
        Self { more: (all - names.len()) as u64, names }
    }

    /// How many things have none.
    pub(super) fn more(&self) -> u64 {
        self.more
    }

    /// A mark in its lane.
    pub(super) fn place(&self, drawn: &Drawn<'_>) -> PatternMark {
        let lane = drawn.name.and_then(|name| self.names.iter().position(|known| *known == name));
        PatternMark { lane: lane.and_then(|lane| u32::try_from(lane).ok()), ..drawn.mark }
    }

    pub(super) fn finish(self) -> Vec<PatternLane> {
        let lane = |name: Name<'_>| PatternLane {
            path: Some(OsString::from_vec(name.path.to_vec()).into()),
            is_new: name.is_new,
        };
        self.names.into_iter().map(lane).collect()
    }
}

/// Names in the order of their first requests.
fn each_once<'a>(drawn: &[Drawn<'a>]) -> Vec<Name<'a>> {
    let mut names: Vec<Name<'a>> = Vec::new();
    for name in drawn.iter().filter_map(|drawn| drawn.name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
