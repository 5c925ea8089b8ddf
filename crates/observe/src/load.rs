//! Opening, configuring, loading and attaching the sensor's object.

use std::os::fd::OwnedFd;
use std::sync::Mutex;

use hotset_facts::{Feature, NotMeasured};
use hotset_sys::cgroup::outside_limits;
use libbpf_rs::{Map, MapCore, MapFlags, Object, OpenObject, PrintLevel};

use crate::ObserveError;
use crate::again::lost;
use crate::btf::Btf;
use crate::configure::{Setup, Sizes, configure};
use crate::definitions::Definition;
use crate::direct_map;
use crate::features::{KernelFeatures, decode, decode_for, kernel_types, release};
use crate::filebytes::FileBytes;
use crate::large_tables::{self, Made};
use crate::memory;
use crate::objects::{Packed, object};
use crate::perf;
use crate::programs::{self, Program};
use crate::record::{Globals, Row, RowKey, bytes_of};
use crate::relevant;
use crate::select::{Build, Selection, select};
use crate::side_by_side::beside;
use crate::tables::find_map;

static FULL: Packed = object!("sensor.bpf.o");
static COMPAT: Packed = object!("sensor-compat.bpf.o");
static OLDEST: Packed = object!("sensor-oldest.bpf.o");
/// The same three with what a recording needs besides.
static RECORD: Packed = object!("record.bpf.o");
static RECORD_COMPAT: Packed = object!("record-compat.bpf.o");
static RECORD_OLDEST: Packed = object!("record-oldest.bpf.o");

/// A loaded and attached sensor.
pub(crate) struct Loaded {
    pub(crate) object: Object,
    pub(crate) selection: Selection,
    programs: Vec<Program>,
    pub(crate) links: Vec<OwnedFd>,
    /// The tables count against a memory limit, which is therefore not what it is without the sensor.
    pub(crate) limited: Option<NotMeasured>,
    events: Vec<OwnedFd>,
}

/// Scopes that find every task by itself, so that children need no mark.
const FIRST_OPEN_SCOPE: u32 = 2;

/// What libbpf and the verifier said last; the end of it goes into a refusal.
static WORDS: Mutex<String> = Mutex::new(String::new());
const MAX_WORDS: usize = 256 * 1024;

/// Adds to what was said.
pub(crate) fn keep_words(words: String) {
    if let Ok(mut kept) = WORDS.lock()
        && kept.len() + words.len() < MAX_WORDS
    {
        kept.push_str(&words);
    }
}

/// Keeps what libbpf says: on standard error it would stand in the middle of the command's words.
pub(crate) fn keep_loader_words() {
    let keep = |_, words: String| {
        // Said of each of our objects, which have no lines (`bpf/without_lines.py`).
        if !words.contains("missing .BTF.ext line info") {
            keep_words(words);
        }
    };
    libbpf_rs::set_print(Some((PrintLevel::Warn, keep)));
}

/// Everything that libbpf and the verifier said while the sensor was loaded, for a bug report.
pub fn loader_words() -> String {
    WORDS.lock().map(|words| words.clone()).unwrap_or_default()
}

/// The committed object of a build, and of the compat builds the one with atomic marks or without; for a session that records each
/// request or for others.
pub(crate) fn object_bytes(build: Build, atomics: bool, records: bool) -> &'static [u8] {
    match (build, records) {
        (Build::Full, false) => FULL.bytes(),
        (Build::Full, true) => RECORD.bytes(),
        (Build::Compat, false) if atomics => COMPAT.bytes(),
        (Build::Compat, true) if atomics => RECORD_COMPAT.bytes(),
        (Build::Compat, false) => OLDEST.bytes(),
        (Build::Compat, true) => RECORD_OLDEST.bytes(),
    }
}

/// What every committed object is: its build, with atomic marks or without, for recordings or for other sessions.
#[cfg(test)]
pub(crate) fn every_object() -> impl Iterator<Item = (Build, bool, bool)> {
    let builds = [(Build::Full, true), (Build::Compat, true), (Build::Compat, false)];
    builds
        .into_iter()
        .flat_map(|(build, atomics)| [false, true].map(|records| (build, atomics, records)))
}

/// Loads what this kernel can run, without attaching it.
pub(crate) fn load(setup: &Setup, compat: bool) -> Result<Loaded, ObserveError> {
    keep_loader_words();
    let start = Start { setup, compat, self_tgid: std::process::id() };
    let (loaded, limited) = outside_limits(|| start.load());
    let mut loaded = loaded?;
    loaded.limited = limited.map(|limited| memory::not_measured(&loaded.object, &limited));
    Ok(loaded)
}

/// What is to be loaded. Where a memory limit is around this process, another one does that, which shares its memory.
struct Start<'s> {
    setup: &'s Setup,
    /// The build for old kernels, on any.
    compat: bool,
    /// This process, which is not observed.
    self_tgid: u32,
}

/// The kernel's types, what they tell, what was chosen by it, and that opened, unless it was refused.
type FoundOut = (FileBytes, KernelFeatures, Selection, Result<Opened, ObserveError>);

/// An open object, and what else loading it takes.
struct Opened {
    object: OpenObject,
    selection: Selection,
    events: Option<Vec<OwnedFd>>,
    /// The types that it will be relocated by.
    _types: OwnedFd,
}

impl Start<'_> {
    /// Loads the best that the kernel takes. The tables of the build that it will most likely be are made beside finding that
    /// out: half of what a kernel does before it looks at programs.
    fn load(&self) -> Result<Loaded, ObserveError> {
        let tables = self.expected_tables();
        let (found, created) =
            beside(&tables, large_tables::weight, large_tables::create, || self.find_out())?;
        let (bytes, features, mut selection, opened) = found;
        let made = Made::new(tables, created);
        let first = match opened.and_then(|opened| opened.load(&features, made)) {
            Err(error) if !error.is_denied() => error,
            other => return other,
        };
        // A kernel may offer the parts of a build and refuse it all the same. What it said of the first tells most.
        let types = decode(bytes.as_slice())?;
        while let Some(simpler) = selection.simpler() {
            selection = simpler;
            let opened = self.open(&types, &features, selection.clone());
            if let Ok(loaded) = opened.and_then(|opened| opened.load(&features, Made::default())) {
                return Ok(loaded);
            }
        }
        Err(first)
    }

    /// Whether each request is recorded.
    fn records(&self) -> bool {
        self.setup.record.is_some()
    }

    /// The build that it will most likely be.
    fn expected(&self) -> Option<Build> {
        if self.compat { Some(Build::Compat) } else { Build::expected(release()) }
    }

    fn expected_tables(&self) -> Vec<Definition> {
        let object = |build| object_bytes(build, true, self.records());
        let tables = |build| Sizes::of(self.setup, build).large_tables(object(build));
        self.expected().map_or_else(Vec::new, tables)
    }

    /// Reads the kernel's types, chooses by them, and opens what was chosen.
    fn find_out(&self) -> Result<FoundOut, ObserveError> {
        let records = self.records();
        let object = self.expected().map_or(&[][..], |build| object_bytes(build, true, records));
        let bytes = kernel_types()?;
        let types = decode_for(bytes.as_slice(), &relevant::names(object))?;
        let features = KernelFeatures::of(&types);
        let mut selection = select(&features).map_err(ObserveError::NoTracepoint)?;
        if self.compat {
            selection.build = Build::Compat;
        }
        if self.setup.live && self.setup.scope >= FIRST_OPEN_SCOPE {
            selection.leave_out(&["task_new"]);
        }
        if self.setup.reads_stacks() {
            selection.programs.push(direct_map::PROGRAM);
        }
        let opened = self.open(&types, &features, selection.clone());
        Ok((bytes, features, selection, opened))
    }

    fn open(
        &self,
        types: &Btf<'_>,
        features: &KernelFeatures,
        mut selection: Selection,
    ) -> Result<Opened, ObserveError> {
        // Without their end, faults would be counted but not timed, and major ones not told apart: then not at all.
        let events = if !selection.missing.contains(&Feature::FileFaults) {
            perf::open_everywhere()
        } else {
            None
        };
        if events.is_none() {
            selection.drop_faults();
        }
        let object = object_bytes(selection.build, selection.atomics, self.records());
        let (mut object, file) = programs::open(object, types)?;
        configure(&mut object, self.setup, self.self_tgid, features.layout, &selection)?;
        Ok(Opened { object, selection, events, _types: file })
    }
}

impl Opened {
    fn load(self, features: &KernelFeatures, made: Made) -> Result<Loaded, ObserveError> {
        let (object, programs) = programs::load(self.object, features, made)?;
        add_others_row(&object, self.selection.build)?;
        programs.iter().find_map(Program::to_call).and_then(direct_map::find);
        Ok(Loaded {
            object,
            selection: self.selection,
            programs,
            links: Vec::new(),
            limited: None,
            events: self.events.unwrap_or_default(),
        })
    }
}

/// The row of everything beyond the bound. The full build keeps it in slot 0, with an inode number that no request has, for
/// a task that has no row yet remembers that slot; the compat build finds it by the empty key.
fn add_others_row(object: &Object, build: Build) -> Result<(), ObserveError> {
    let key = match build {
        Build::Full => 0_u32.to_ne_bytes().to_vec(),
        Build::Compat => bytes_of(&RowKey::OTHERS).to_vec(),
    };
    let mut row = vec![0_u8; size_of::<Row>()];
    row[std::mem::offset_of!(Row, file)..][..8].copy_from_slice(&u64::MAX.to_ne_bytes());
    for map in object.maps().filter(|map| map.name() == "rows") {
        map.update(&key, &row, MapFlags::ANY)
            .map_err(|error| ObserveError::table("rows", error))?;
    }
    Ok(())
}

impl Loaded {
    /// A map by its name.
    pub(crate) fn map(&self, name: &'static str) -> Result<Map<'_>, ObserveError> {
        find_map(&self.object, name)
    }

    /// How often at most the kernel skipped all programs for an event because they were running on that CPU already:
    /// nested, or preempted in the middle where tracepoints may be. Each is a count that is missing.
    pub(crate) fn skipped(&self, globals: &Globals) -> u64 {
        lost(programs::skipped(&self.programs), globals.rescued, self.selection.preemptible)
    }

    /// Attaches every program.
    pub(crate) fn attach(&mut self) -> Result<(), ObserveError> {
        self.links = programs::attach(&self.programs, std::mem::take(&mut self.events))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use libbpf_rs::MapType;

    use super::*;
    use crate::large_tables::Created;
    use crate::recording::RecordOptions;

    /// Runs on the real kernel, which may refuse a build that it offers the parts of: an older one would do then, unseen.
    #[test]
    fn each_build_loads_and_the_best_one_is_taken() {
        let bytes = kernel_types().expect("this kernel has BTF");
        let types = decode(bytes.as_slice()).expect("BTF");
        let features = KernelFeatures::of(&types);
        let best = select(&features).expect("tracepoints");
        let record = RecordOptions { pages: true, stack_bytes: 4_096, ..RecordOptions::default() };
        let sessions = [(false, false, None), (true, false, None), (true, true, None)];
        for (live, sampling, record) in sessions.into_iter().chain([(false, false, Some(record))]) {
            let setup = Setup { live, sampling, record, names: true, ..Setup::default() };
            let setup = Setup { max_rows: 1_024, ..setup };
            let loaded = load(&setup, false).expect("the sensor loads (as root)").selection;
            let missing = loaded.missing == best.missing;
            assert!(loaded.build == best.build && missing, "{loaded:?}: {}", loader_words());
            let start = Start { setup: &setup, compat: false, self_tgid: std::process::id() };
            let mut selection = best.clone();
            while let Some(simpler) = selection.simpler() {
                selection = simpler;
                let opened = start.open(&types, &features, selection.clone());
                let loaded = opened.and_then(|opened| opened.load(&features, made(&start)));
                let loaded = loaded
                    .unwrap_or_else(|error| panic!("{selection:?}: {error} {}", loader_words()));
                let rows = loaded.map("rows").expect("rows");
                let rows = (rows.info().expect("info").info.max_entries, rows.map_type());
                let kind = if loaded.selection.build == Build::Full {
                    MapType::Array
                } else {
                    MapType::Hash
                };
                assert_eq!(rows, (if live { 1_024 } else { 2_048 }, kind), "{selection:?}");
            }
        }
    }

    /// Tables of the build that is expected here, which are not those of the other.
    fn made(start: &Start<'_>) -> Made {
        let tables = start.expected_tables();
        let created: Created = tables.iter().map(large_tables::create).map(Some).collect();
        assert!(created.iter().flatten().all(Result::is_ok), "as root");
        Made::new(tables, created)
    }
}
