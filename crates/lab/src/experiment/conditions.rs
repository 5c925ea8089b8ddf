//! What the host was like while an experiment ran, and what the harness itself costs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hotset_facts::{LabConditions, Observed, Reason, WantedState};
use hotset_sys::rawio::{access, clock_pair_ns};

use super::fill::{Filler, set_of};
use super::place::Place;
use crate::host::HostLoad;
use crate::state::verify;

/// Operations of the empty loop: long against the clock, short against a second.
const NULL_OPERATIONS: u32 = 2_000_000;
/// The watched file that nobody touches.
const IDLE_BYTES: usize = 4 << 20;

/// Watches the host from here to [`Self::finish`].
#[derive(Debug)]
pub(super) struct Watch {
    place: Place,
    began: HostLoad,
    load: Observed<u64>,
    idle: Option<PathBuf>,
    vanished_pages: u64,
    null_engine_ps: Observed<u64>,
    clock_ns: Observed<u64>,
}

impl Watch {
    /// Measures the harness, and makes a file to lie idle.
    pub(super) fn begin(place: &Place) -> Self {
        let idle = place.directory.join("idle");
        let made = !place.in_memory && make_idle(&idle).is_some();
        Self {
            place: place.clone(),
            began: HostLoad::now(),
            load: load(),
            idle: made.then_some(idle),
            vanished_pages: 0,
            null_engine_ps: null_engine_ps(),
            clock_ns: Observed::Value(clock_pair_ns()),
        }
    }

    /// Looks whether the idle file is still cached, and warms it again where it isn't. Called once a round.
    pub(super) fn look(&mut self) {
        let Some(idle) = &self.idle else { return };
        let set = set_of(std::slice::from_ref(idle));
        if let Some(reached) = verify(WantedState::Warm, &set).value() {
            let gone = reached.pages.saturating_sub(reached.cached_pages);
            self.vanished_pages += gone;
            if gone > 0 {
                warm(idle);
            }
        }
    }

    /// What it was like.
    pub(super) fn finish(mut self, took: Duration) -> LabConditions {
        self.look();
        let pressure = HostLoad::now().since(self.began).cpu_pressure_ns;
        let took_ns = hotset_facts::units::nanos(took).max(1);
        let evicted = match self.idle {
            Some(_) => Observed::Value(self.vanished_pages),
            None => Observed::Missing(Reason::unsupported("files in memory are not evicted")),
        };
        LabConditions {
            directory: self.place.directory.to_string_lossy().into_owned(),
            filesystem: self.place.filesystem,
            read_ahead_kb: self.place.read_ahead_kb,
            load_hundredths_before: self.load,
            load_hundredths_after: load(),
            cpu_pressure_permille: pressure.map(|ns| ns.saturating_mul(1000) / took_ns),
            evicted_while_idle_pages: evicted,
            null_engine_ps: self.null_engine_ps,
            clock_ns: self.clock_ns,
        }
    }
}

fn make_idle(path: &Path) -> Option<()> {
    std::fs::write(path, vec![7; IDLE_BYTES]).ok()?;
    std::fs::File::open(path).and_then(|file| file.sync_all()).ok()?;
    warm(path)
}

fn warm(path: &Path) -> Option<()> {
    let mut set = set_of(&[path.to_owned()]);
    let by = hotset_facts::FilledBy::LargeFolios;
    Filler::default().reach(WantedState::Warm, by, &mut set).ok().map(drop)
}

fn load() -> Observed<u64> {
    match HostLoad::average() {
        Some(load) => Observed::Value((load * 100.0).round() as u64),
        None => Observed::Missing(Reason::unsupported("no /proc/loadavg")),
    }
}

/// The best of three, as noise only adds.
fn null_engine_ps() -> Observed<u64> {
    let rounds = (0..3).filter_map(|_| {
        let answer = access::null_of(NULL_OPERATIONS).ok()?;
        answer.whole().wall_ns.saturating_mul(1000).checked_div(answer.operations())
    });
    match rounds.min() {
        Some(ps) => Observed::Value(ps),
        None => Observed::Missing(Reason::not_measured("the empty loop failed")),
    }
}
