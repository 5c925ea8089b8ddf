//! What is configured of the sensor: how large its tables are, which programs are loaded, and what these are told.

use std::ffi::OsStr;

use hotset_facts::Feature;
use libbpf_rs::{MapType, OpenObject};

use crate::ObserveError;
use crate::definitions::{Definition, definitions};
use crate::direct_map::PageTables;
use crate::features::Layout;
use crate::large_tables::is_large;
use crate::record::{Config, bytes_of};
use crate::recording::{RecordOptions, rings};
use crate::select::{Build, DIRECT, Selection};
use crate::syscalls;

/// Rows that the compat build's hash holds at most; its memory is allocated at once.
const COMPAT_ROWS: u32 = 32_768;

/// Rows of a run beside those for files: what a process did to all files beyond the bound is one.
const OTHERS_ROWS: u32 = 1_024;

/// Bytes of the ring for references to pages in the sample.
const SAMPLE_RING: u32 = 256 << 10;

/// Places in code whose chains of calls are kept, in a recording with call sites.
const PLACES: u32 = 8_192;

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
    /// Each request is sent.
    pub(crate) record: Option<RecordOptions>,
    /// References to some pages are sent.
    pub(crate) sampling: bool,
    /// Path lookups are counted in a session of any length; in others they always are.
    pub(crate) lookups: bool,
}

impl Setup {
    /// Whether path lookups are counted.
    fn counts_lookups(&self) -> bool {
        self.lookups || !self.live
    }

    /// Whether the code that asks is wanted.
    pub(crate) fn reads_stacks(&self) -> bool {
        self.record.is_some_and(|record| record.stack_bytes > 0)
    }
}

/// How the tables of a build are to be, where that is not what the object says of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    live: bool,
    file_rows: u32,
    max_rows: u32,
    free_rows: u32,
    /// Rings for records, one for each CPU.
    rings: Option<u32>,
    places: Option<u32>,
    sampling: bool,
}

impl Sizes {
    pub(crate) fn of(setup: &Setup, build: Build) -> Self {
        let file_rows = match build {
            Build::Full => setup.max_rows,
            Build::Compat => setup.max_rows.min(COMPAT_ROWS),
        };
        let others = if setup.live { 0 } else { OTHERS_ROWS };
        let max_rows = file_rows.saturating_add(others);
        Self {
            live: setup.live,
            file_rows,
            max_rows,
            free_rows: max_rows.next_power_of_two(),
            rings: setup.record.map(|_| rings::cpus()),
            places: setup.reads_stacks().then_some(PLACES),
            sampling: setup.sampling,
        }
    }

    /// How many entries a table has.
    fn entries(&self, table: &str) -> Option<u32> {
        match table {
            "rows" | "row_index" => Some(self.max_rows),
            "free_rows" if self.live => Some(self.free_rows),
            "op_rings" => self.rings,
            "site_chains" => self.places,
            "samples" if self.sampling => Some(SAMPLE_RING),
            _ => None,
        }
    }

    /// Of which kind it is.
    fn kind(&self, table: &str) -> Option<MapType> {
        match table {
            // What was used longest ago makes room by itself.
            "files" | "nodes" | "requests" if self.live => Some(MapType::LruHash),
            _ => None,
        }
    }

    /// The large tables of an object that is not open yet, as they will be.
    pub(crate) fn large_tables(&self, object: &[u8]) -> Vec<Definition> {
        let mut tables = definitions(object);
        for table in &mut tables {
            table.entries = self.entries(&table.name).unwrap_or(table.entries);
            table.kind = self.kind(&table.name).unwrap_or(table.kind);
        }
        tables.retain(is_large);
        tables
    }
}

/// Configures an open object for the process `self_tgid`, which is not observed.
pub(crate) fn configure(
    open: &mut OpenObject,
    setup: &Setup,
    self_tgid: u32,
    layout: Layout,
    selection: &Selection,
) -> Result<(), ObserveError> {
    for mut program in open.progs_mut() {
        let name = program.name();
        let mut wanted = selection.programs.iter().chain(&selection.again);
        program.set_autoload(wanted.any(|wanted| OsStr::new(wanted) == name));
    }
    let sizes = Sizes::of(setup, selection.build);
    let config = config(setup, &sizes, self_tgid, layout, selection);
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if let Some(entries) = sizes.entries(&name) {
            map.set_max_entries(entries).map_err(failed)?;
        }
        if let Some(kind) = sizes.kind(&name) {
            map.set_type(kind).map_err(failed)?;
        }
        if name.ends_with(".rodata")
            && let Some(initial) = map.initial_value_mut()
            && initial.len() >= size_of::<Config>()
        {
            initial[..size_of::<Config>()].copy_from_slice(bytes_of(&config));
        }
    }
    Ok(())
}

fn failed(error: libbpf_rs::Error) -> ObserveError {
    ObserveError::table("configuration", error)
}

fn config(
    setup: &Setup,
    sizes: &Sizes,
    self_tgid: u32,
    layout: Layout,
    selection: &Selection,
) -> Config {
    let tables = setup.reads_stacks().then(PageTables::of_this_cpu).unwrap_or_default();
    Config {
        kinds: match setup {
            Setup { live: true, lookups, .. } => syscalls::live_kinds(*lookups),
            Setup { record: Some(_), .. } => syscalls::recorded_kinds(),
            _ => syscalls::kinds(),
        },
        scope: setup.scope,
        self_tgid,
        max_rows: sizes.max_rows,
        pg_head: layout.pg_head,
        pg_uptodate: layout.pg_uptodate,
        pg_writeback: layout.pg_writeback,
        subvolume: layout.subvolume.map_or(0, |(root, _)| root),
        subvolume_dev: layout.subvolume.map_or(0, |(_, dev)| dev),
        live: setup.live.into(),
        names: (setup.names || !setup.live).into(),
        preemptible: (!selection.again.is_empty()).into(),
        cgroup_v1: setup.cgroup_v1.into(),
        free_mask: sizes.free_rows - 1,
        file_rows: sizes.file_rows,
        block_layer: (!selection.missing.contains(&Feature::BlockLayer)).into(),
        direct_told: DIRECT.iter().all(|(_, program)| selection.programs.contains(program)).into(),
        record: setup.record.is_some().into(),
        record_pages: setup.record.is_some_and(|record| record.pages).into(),
        wake_bytes: setup.record.map_or(0, |record| record.ring_bytes / 4),
        stack_bytes: setup.record.map_or(0, |record| record.stack_bytes),
        stop_bytes: setup
            .record
            .filter(|record| record.lossless)
            .map_or(0, |record| record.ring_bytes / 4 * 3),
        code_told: selection.mappings.into(),
        five_levels: tables.has_five_levels.into(),
        physical_bits: tables.physical_bits,
        sampling: setup.sampling.into(),
        lookups: setup.counts_lookups().into(),
    }
}

#[cfg(test)]
mod tests {
    use libbpf_rs::ObjectBuilder;

    use super::*;
    use crate::large_tables;
    use crate::load::{every_object, object_bytes};

    /// What is made before an object is open is what it wants once it is configured.
    #[test]
    fn the_large_tables_are_known_before_the_object_is_open() {
        for (build, atomics, records) in every_object() {
            for live in [false, true] {
                let setup = Setup { max_rows: 50_000, live, ..Setup::default() };
                let object = object_bytes(build, atomics, records);
                let expected = Sizes::of(&setup, build).large_tables(object);
                let mut open = ObjectBuilder::default().open_memory(object).expect("opened");
                let selection = Selection {
                    build,
                    atomics,
                    programs: vec![],
                    again: vec![],
                    preemptible: false,
                    mappings: false,
                    missing: vec![],
                };
                configure(&mut open, &setup, 1, Layout::default(), &selection).expect("configured");
                let wanted = large_tables::large(&open);
                let rows = wanted.iter().find(|table| table.name == "rows").expect("rows");
                assert!(rows.entries > 30_000 && wanted.len() > 8, "{wanted:#?}");
                let missing = wanted.iter().find(|table| !expected.contains(table));
                assert_eq!((missing, expected.len()), (None, wanted.len()), "{build:?} {live}");
            }
        }
    }

    #[test]
    fn a_run_has_rows_beside_those_of_files_and_a_live_session_gives_rows_back() {
        let setup = Setup { max_rows: 50_000, ..Setup::default() };
        let sizes = Sizes::of(&setup, Build::Full);
        assert_eq!((sizes.file_rows, sizes.entries("rows")), (50_000, Some(51_024)));
        assert_eq!((sizes.entries("free_rows"), sizes.kind("files")), (None, None));
        let compat = Sizes::of(&setup, Build::Compat);
        assert_eq!((compat.file_rows, compat.entries("rows")), (COMPAT_ROWS, Some(33_792)));
        let live = Sizes::of(&Setup { live: true, ..setup }, Build::Full);
        assert_eq!((live.entries("rows"), live.entries("free_rows")), (Some(50_000), Some(65_536)));
        assert_eq!((live.kind("files"), live.kind("rows")), (Some(MapType::LruHash), None));
    }
}
