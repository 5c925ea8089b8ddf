//! Opening, configuring, loading and attaching the sensor's object.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use hotset_facts::{Feature, NotMeasured};
use hotset_sys::cgroup::outside_limits;
use libbpf_rs::{Map, MapCore, MapFlags, MapType, Object, OpenObject, PrintLevel};

use crate::ObserveError;
use crate::again::lost;
use crate::btf::Btf;
use crate::features::{KernelFeatures, Layout, decode, kernel_types};
use crate::memory;
use crate::perf;
use crate::programs::{self, Program};
use crate::record::{Config, Globals, Row, RowKey, bytes_of};
use crate::select::{Build, Selection, select};
use crate::syscalls;
use crate::tables::find_map;

/// An object. Aligned, because libbpf reads ELF structures in place.
#[repr(align(8))]
pub(crate) struct Aligned<const N: usize>(pub(crate) [u8; N]);

static FULL: &Aligned<{ include_bytes!("../objects/sensor.bpf.o").len() }> =
    &Aligned(*include_bytes!("../objects/sensor.bpf.o"));
static COMPAT: &Aligned<{ include_bytes!("../objects/sensor-compat.bpf.o").len() }> =
    &Aligned(*include_bytes!("../objects/sensor-compat.bpf.o"));
static OLDEST: &Aligned<{ include_bytes!("../objects/sensor-oldest.bpf.o").len() }> =
    &Aligned(*include_bytes!("../objects/sensor-oldest.bpf.o"));

/// Rows that the compat build's hash holds at most; its memory is allocated at once.
const COMPAT_ROWS: u32 = 32_768;

/// Rows of a run beside those for files: what a process did to all files beyond the bound is one.
const OTHERS_ROWS: u32 = 1_024;

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

/// What to configure.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Setup {
    /// `enum hs_scope`.
    pub(crate) scope: u32,
    pub(crate) max_rows: u32,
    /// A session of any length.
    pub(crate) live: bool,
    /// Names of files are wanted.
    pub(crate) names: bool,
    /// Processes are told apart by the memory hierarchy of version 1.
    pub(crate) cgroup_v1: bool,
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

/// The committed object of a build, and of the compat builds the one with atomic marks or without.
pub(crate) fn object_bytes(build: Build, atomics: bool) -> &'static [u8] {
    match build {
        Build::Full => &FULL.0,
        Build::Compat if atomics => &COMPAT.0,
        Build::Compat => &OLDEST.0,
    }
}

/// Loads what this kernel can run, without attaching it.
pub(crate) fn load(setup: &Setup, compat: bool) -> Result<Loaded, ObserveError> {
    keep_loader_words();
    let bytes = kernel_types()?;
    let types = decode(bytes.as_slice())?;
    let features = KernelFeatures::of(&types);
    let mut selection = select(&features).map_err(ObserveError::NoTracepoint)?;
    if compat {
        selection.build = Build::Compat;
    }
    if setup.live && setup.scope >= FIRST_OPEN_SCOPE {
        selection.leave_out(&["task_new"]);
    }
    let first = match load_selection(setup, &types, &features, selection.clone()) {
        Err(error) if !error.is_denied() => error,
        other => return other,
    };
    // A kernel may offer the parts of a build and refuse it all the same. What it said of the first tells most.
    while let Some(simpler) = selection.simpler() {
        selection = simpler;
        if let Ok(loaded) = load_selection(setup, &types, &features, selection.clone()) {
            return Ok(loaded);
        }
    }
    Err(first)
}

fn load_selection(
    setup: &Setup,
    types: &Btf<'_>,
    features: &KernelFeatures,
    mut selection: Selection,
) -> Result<Loaded, ObserveError> {
    // Without their end, faults would be counted but not timed, and major ones not told apart: then not at all.
    let events = if !selection.missing.contains(&Feature::FileFaults) {
        perf::open_everywhere()
    } else {
        None
    };
    if events.is_none() {
        selection.drop_faults();
    }
    let (mut open, _types) =
        programs::open(object_bytes(selection.build, selection.atomics), types)?;
    configure(&mut open, setup, features.layout, &selection)?;
    let (loaded, limited) = outside_limits(|| programs::load(open, features));
    let (object, programs) = loaded?;
    let limited = limited.map(|limited| memory::not_measured(&object, &limited));
    add_others_row(&object, selection.build)?;
    let events = events.unwrap_or_default();
    Ok(Loaded { object, selection, programs, links: Vec::new(), limited, events })
}

fn configure(
    open: &mut OpenObject,
    setup: &Setup,
    layout: Layout,
    selection: &Selection,
) -> Result<(), ObserveError> {
    for mut program in open.progs_mut() {
        let name = program.name();
        let mut wanted = selection.programs.iter().chain(&selection.again);
        program.set_autoload(wanted.any(|wanted| OsStr::new(wanted) == name));
    }
    let file_rows = match selection.build {
        Build::Full => setup.max_rows,
        Build::Compat => setup.max_rows.min(COMPAT_ROWS),
    };
    let max_rows = if setup.live { file_rows } else { file_rows.saturating_add(OTHERS_ROWS) };
    let free_rows = max_rows.next_power_of_two();
    let config = Config {
        kinds: if setup.live { syscalls::live_kinds() } else { syscalls::kinds() },
        scope: setup.scope,
        self_tgid: std::process::id(),
        max_rows,
        pg_head: layout.pg_head,
        pg_uptodate: layout.pg_uptodate,
        pg_writeback: layout.pg_writeback,
        subvolume: layout.subvolume.map_or(0, |(root, _)| root),
        subvolume_dev: layout.subvolume.map_or(0, |(_, dev)| dev),
        live: setup.live.into(),
        names: (setup.names || !setup.live).into(),
        preemptible: (!selection.again.is_empty()).into(),
        cgroup_v1: setup.cgroup_v1.into(),
        free_mask: free_rows - 1,
        file_rows,
        block_layer: (!selection.missing.contains(&Feature::BlockLayer)).into(),
    };
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        let result = match name.as_str() {
            "rows" | "row_index" => map.set_max_entries(max_rows),
            "free_rows" if setup.live => map.set_max_entries(free_rows),
            // What was used longest ago makes room by itself.
            "files" | "nodes" | "requests" if setup.live => map.set_type(MapType::LruHash),
            name if name.ends_with(".rodata") => match map.initial_value_mut() {
                Some(initial) if initial.len() >= size_of::<Config>() => {
                    initial[..size_of::<Config>()].copy_from_slice(bytes_of(&config));
                    Ok(())
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        };
        result.map_err(|error| ObserveError::table("configuration", error))?;
    }
    Ok(())
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
        lost(programs::skipped(&self.programs), globals.rescued)
    }

    /// Attaches every program.
    pub(crate) fn attach(&mut self) -> Result<(), ObserveError> {
        self.links = programs::attach(&self.programs, std::mem::take(&mut self.events))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use libbpf_rs::HasSize;
    use libbpf_rs::btf::Btf;
    use libbpf_rs::btf::types::{MemberAttr, Struct};

    use super::*;
    use crate::event::{FailedHead, FirstHead, NodeHead, TaskHead};
    use crate::record::{Chunk, ChunkKey, File, FileKey, Process};

    /// Runs on the real kernel, which may refuse a build that it offers the parts of: an older one would do then, unseen.
    #[test]
    fn each_build_loads_and_the_best_one_is_taken() {
        let bytes = kernel_types().expect("this kernel has BTF");
        let types = decode(bytes.as_slice()).expect("BTF");
        let features = KernelFeatures::of(&types);
        let best = select(&features).expect("tracepoints");
        for live in [false, true] {
            let setup = Setup { max_rows: 1_024, live, names: true, ..Setup::default() };
            let loaded = load(&setup, false).expect("the sensor loads (as root)").selection;
            let missing = loaded.missing == best.missing;
            assert!(loaded.build == best.build && missing, "{loaded:?}: {}", loader_words());
            let mut selection = best.clone();
            while let Some(simpler) = selection.simpler() {
                selection = simpler;
                let loaded = load_selection(&setup, &types, &features, selection.clone());
                loaded.unwrap_or_else(|error| panic!("{selection:?}: {error} {}", loader_words()));
            }
        }
    }

    /// Every mirrored field stands where clang put it.
    #[test]
    fn the_mirror_matches_the_objects() {
        let mirrors = [
            ("hs_config", Config::layout()),
            ("hs_globals", Globals::layout()),
            ("hs_row_key", RowKey::layout()),
            ("hs_row", Row::layout()),
            ("hs_process", Process::layout()),
            ("hs_file_key", FileKey::layout()),
            ("hs_file", File::layout()),
            ("hs_chunk_key", ChunkKey::layout()),
            ("hs_chunk", Chunk::layout()),
            ("hs_node", NodeHead::layout()),
            ("hs_first", FirstHead::layout()),
            ("hs_failed", FailedHead::layout()),
            ("hs_task_event", TaskHead::layout()),
        ];
        for (build, atomics) in [(Build::Full, true), (Build::Compat, true), (Build::Compat, false)]
        {
            let btf = Btf::from_raw("sensor", object_bytes(build, atomics))
                .expect("ELF")
                .expect("the object has BTF");
            for (name, fields) in &mirrors {
                let kernel: Struct<'_> =
                    btf.type_by_name(name).unwrap_or_else(|| panic!("{name} in the object"));
                for (field, offset, _) in fields {
                    let plain = field.trim_start_matches("r#");
                    let member = kernel
                        .iter()
                        .find(|member| member.name.is_some_and(|n| n == plain))
                        .unwrap_or_else(|| panic!("{name}.{plain} in the object"));
                    let MemberAttr::Normal { offset: bits } = member.attr else {
                        panic!("a bit field")
                    };
                    assert_eq!(bits as usize, offset * 8, "{name}.{plain}");
                }
                let end = fields.iter().map(|(_, offset, size)| offset + size).max();
                let tail = ["hs_node", "hs_first", "hs_failed", "hs_task_event"].contains(name);
                assert!(tail || end == Some(kernel.size()), "{name} ends where its mirror ends");
            }
        }
    }
}
