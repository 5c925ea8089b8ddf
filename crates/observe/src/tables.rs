//! The tables of a loaded object by name, and what those of a run hold: read once, at its end.

use std::collections::HashMap;

use libbpf_rs::{Map, MapCore, MapFlags, Object};

use crate::ObserveError;
use crate::batch;
use crate::record::{
    Chunk, ChunkKey, File, FileKey, Globals, OWNER_SLOTS, PLANE_AHEAD, Plain, Process, Row, RowKey,
    bytes_of, bytes_of_mut, read, zeroed,
};
use crate::select::Build;

/// A map by its name.
pub(crate) fn find_map<'a>(
    object: &'a Object,
    name: &'static str,
) -> Result<Map<'a>, ObserveError> {
    // Those of global variables may have the object's name in front.
    let fits = |map: &Map<'_>| match name.starts_with('.') {
        true => map.name().to_string_lossy().ends_with(name),
        false => map.name() == name,
    };
    // In a message, the table of global variables has the name of what it holds.
    let shown = if name == ".bss" { "globals" } else { name };
    let found = object.maps().find(fits);
    found.ok_or_else(|| ObserveError::table(shown, "is not in the object"))
}

/// The value of a key in the map `name`, if it has one.
pub(crate) fn value_of<V: Plain>(
    map: &Map<'_>,
    name: &'static str,
    key: &impl Plain,
) -> Result<Option<V>, ObserveError> {
    let mut value = zeroed();
    let found = map.lookup_into(bytes_of(key), bytes_of_mut(&mut value), MapFlags::ANY);
    Ok(found.map_err(|error| ObserveError::table(name, error))?.then_some(value))
}

/// The tables of a loaded object.
pub(crate) struct Tables<'a> {
    object: &'a Object,
    build: Build,
}

impl<'a> Tables<'a> {
    pub(crate) fn new(object: &'a Object, build: Build) -> Self {
        Self { object, build }
    }

    fn map(&self, name: &'static str) -> Result<Map<'a>, ObserveError> {
        find_map(self.object, name)
    }

    /// The counters of losses.
    pub(crate) fn globals(&self) -> Result<Globals, ObserveError> {
        let value = self
            .map(".bss")?
            .lookup(&0_u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(|error| ObserveError::table("globals", error))?;
        value
            .and_then(|bytes| read(&bytes))
            .ok_or_else(|| ObserveError::table("globals", "is shorter than its type"))
    }

    /// Calls `each` with every row, those of one file together, and the row of everything beyond the bound last.
    pub(crate) fn rows(&self, mut each: impl FnMut(RowKey, Row)) -> Result<(), ObserveError> {
        match self.build {
            Build::Full => self.indexed_rows(&mut each),
            Build::Compat => self.hashed_rows(&mut each),
        }
    }

    fn indexed_rows(&self, each: &mut dyn FnMut(RowKey, Row)) -> Result<(), ObserveError> {
        let mut index: Vec<(RowKey, u32)> = Vec::new();
        self.batch("row_index", |key: RowKey, slot: u32| index.push((key, slot)))?;
        index.sort_unstable_by_key(|(key, _)| (key.file, key.owner));
        index.push((RowKey::OTHERS, 0));
        let rows = self.map("rows")?;
        for (key, slot) in index {
            if let Some(row) = value_of(&rows, "rows", &slot)? {
                each(key, row);
            }
        }
        Ok(())
    }

    fn hashed_rows(&self, each: &mut dyn FnMut(RowKey, Row)) -> Result<(), ObserveError> {
        let mut rows: Vec<(RowKey, Row)> = Vec::new();
        self.batch("rows", |key: RowKey, row: Row| rows.push((key, row)))?;
        rows.sort_unstable_by_key(|(key, _)| (key.owner == 0, key.file, key.owner));
        rows.into_iter().for_each(|(key, row)| each(key, row));
        Ok(())
    }

    /// The processes, by owner.
    pub(crate) fn processes(&self) -> Result<HashMap<u32, Process>, ObserveError> {
        let mut found = HashMap::new();
        let mut keep = |process: Process| {
            // An owner without a number lost the race of two threads for their process's entry.
            if process.owner != 0 && process.tgid != 0 {
                found.insert(process.owner, process);
            }
        };
        if self.build == Build::Compat {
            self.batch("processes", |_: u32, process: Process| keep(process))?;
            return Ok(found);
        }
        let map = self.map("processes")?;
        let made = self.globals()?.next_process.min(u64::from(OWNER_SLOTS) - 1);
        for slot in 1..=made as u32 {
            if let Some(process) = value_of(&map, "processes", &slot)? {
                keep(process);
            }
        }
        Ok(found)
    }

    /// Pages evicted, and pages read ahead for nothing, by file: evicted unrequested, and those that still wait.
    pub(crate) fn files(&self) -> Result<HashMap<FileKey, File>, ObserveError> {
        let mut files = HashMap::new();
        self.batch("files", |key: FileKey, file: File| {
            files.insert(key, file);
        })?;
        self.batch("chunks", |key: ChunkKey, chunk: Chunk| {
            let waiting: u32 = chunk.bits[PLANE_AHEAD].iter().map(|word| word.count_ones()).sum();
            if waiting > 0 {
                files.entry(key.file).or_insert_with(zeroed::<File>).wasted += u64::from(waiting);
            }
        })?;
        Ok(files)
    }

    /// Frees chunks without a bit; says how many. Losing a bit that is set in that instant is possible but takes a table
    /// that covers 24 GiB; the alternative is to lose all that follow.
    pub(crate) fn sweep_chunks(&self) -> Result<u64, ObserveError> {
        let map = self.map("chunks")?;
        let mut empty = Vec::new();
        self.batch("chunks", |key: ChunkKey, chunk: Chunk| {
            if chunk.bits.iter().flatten().all(|word| *word == 0) {
                empty.push(key);
            }
        })?;
        for key in &empty {
            // It fails where a program has deleted the entry meanwhile.
            let _ = map.delete(bytes_of(key));
        }
        Ok(empty.len() as u64)
    }

    /// Chunks that the table holds.
    pub(crate) fn chunk_limit(&self) -> Result<u64, ObserveError> {
        Ok(u64::from(self.map("chunks")?.max_entries()))
    }

    fn batch<K: Plain, V: Plain>(
        &self,
        name: &'static str,
        mut each: impl FnMut(K, V),
    ) -> Result<(), ObserveError> {
        let map = self.map(name)?;
        batch::for_each(&map, |key, value| {
            if let (Some(key), Some(value)) = (read(key), read(value)) {
                each(key, value);
            }
        })
        .map_err(|error| ObserveError::table(name, error))
    }
}
