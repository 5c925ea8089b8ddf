//! A session's tables made empty, so that what comes next is counted from zero without loading the sensor again.

use libbpf_rs::{Map, MapCore};

use crate::ObserveError;
use crate::batch;
use crate::load::Loaded;
use crate::record::{Globals, bytes_of};
use crate::scope::update;
use crate::select::Build;

/// What stands in hashes: who is who, and what the kernel is known to have cached.
const HASHES: [&str; 5] = ["process_index", "chunks", "files", "requests", "nodes"];
/// The hash that leads to the slots of rows.
const INDEX: &str = "row_index";

/// Empties all that [`crate::facts::observation`] reads. Only where nobody is observed any more: a task keeps the slots of its
/// process and of its row.
pub(crate) fn clear(loaded: &Loaded, globals: &Globals) -> Result<(), ObserveError> {
    let build = loaded.selection.build;
    for name in HASHES {
        empty_hash(&loaded.map(name)?, name)?;
    }
    match build {
        Build::Full => {
            empty_hash(&loaded.map(INDEX)?, INDEX)?;
            // Slot 0 has what found no room.
            empty_slots(&loaded.map("rows")?, "rows", globals.next_row)?;
            empty_slots(&loaded.map("processes")?, "processes", globals.next_process)?;
        }
        Build::Compat => {
            empty_hash(&loaded.map("rows")?, "rows")?;
            empty_hash(&loaded.map("processes")?, "processes")?;
        }
    }
    let kept = Globals {
        // Is compared with what the kernel counts of programs, which nobody can clear.
        rescued: globals.rescued,
        direct_map: globals.direct_map,
        sample_exponent: globals.sample_exponent,
        ..crate::record::zeroed()
    };
    update(&loaded.map(".bss")?, "globals", &0_u32.to_ne_bytes(), bytes_of(&kept))
}

fn empty_hash(map: &Map<'_>, name: &'static str) -> Result<(), ObserveError> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let read = batch::for_each(map, |key, _| keys.push(key.to_vec()));
    read.map_err(|error| ObserveError::table(name, error))?;
    for key in keys {
        // It fails where the kernel let go of the file meanwhile, and a program deleted the entry.
        let _ = map.delete(&key);
    }
    Ok(())
}

/// Empties the slots up to the last that was handed out.
fn empty_slots(map: &Map<'_>, name: &'static str, last: u64) -> Result<(), ObserveError> {
    let empty = vec![0; map.value_size() as usize];
    let slots = last.min(u64::from(map.max_entries()) - 1) as u32;
    (0..=slots).try_for_each(|slot| update(map, name, &slot.to_ne_bytes(), &empty))
}
