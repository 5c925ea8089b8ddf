//! Creating the large tables of an object side by side, and before it is open: what one takes is the kernel's zeroing of its
//! memory.

use std::os::fd::AsFd;

use libbpf_rs::{MapHandle, MapType, OpenObject, libbpf_sys};

use crate::definitions::Definition;
use crate::side_by_side::{Answers, side_by_side};

/// What a table is worth a thread's while from.
const LARGE_BYTES: u64 = 64 << 10;

/// An entry of a hash is put into a list of free ones, which takes as long as to zero this much.
const ENTRY_BYTES: u64 = 256;

/// What came of creating some.
pub(crate) type Created = Answers<MapHandle, libbpf_rs::Error>;

/// Whether it is worth it, and nothing but its definition is needed.
pub(crate) fn is_large(table: &Definition) -> bool {
    let plain = [MapType::Array, MapType::Hash, MapType::LruHash, MapType::RingBuf];
    plain.contains(&table.kind) && bytes(table) >= LARGE_BYTES
}

/// What it takes of memory, roughly.
fn bytes(table: &Definition) -> u64 {
    // A ring's entries are bytes.
    u64::from(table.entries) * u64::from(table.key_bytes + table.value_bytes).max(1)
}

/// What it takes of time, roughly, in bytes that are zeroed meanwhile.
pub(crate) fn weight(table: &Definition) -> u64 {
    let entry = match table.kind {
        MapType::Hash | MapType::LruHash => ENTRY_BYTES,
        _ => 0,
    };
    bytes(table) + u64::from(table.entries) * entry
}

pub(crate) fn create(table: &Definition) -> libbpf_rs::Result<MapHandle> {
    let options = libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_sys::bpf_map_create_opts>() as libbpf_sys::size_t,
        map_flags: table.flags,
        ..Default::default()
    };
    let Definition { name, kind, key_bytes, value_bytes, entries, .. } = table;
    MapHandle::create(*kind, Some(name), *key_bytes, *value_bytes, *entries, &options)
}

/// Tables that were created before it was known whether anybody needs them.
#[derive(Default)]
pub(crate) struct Made {
    tables: Vec<(Definition, MapHandle)>,
    /// One could not be.
    failed: bool,
}

impl Made {
    pub(crate) fn new(definitions: Vec<Definition>, created: Created) -> Self {
        let failed = created.iter().any(|answer| matches!(answer, Some(Err(_))));
        let tables = definitions.into_iter().zip(created);
        let tables = tables.filter_map(|(table, made)| Some((table, made?.ok()?))).collect();
        Self { tables, failed }
    }

    /// Gives an open object those that are as it wants them, and lets go of the others.
    fn give(self, large: &[Definition], open: &mut OpenObject) {
        let (wanted, unfit): (Vec<_>, Vec<_>) =
            self.tables.into_iter().partition(|(table, _)| large.contains(table));
        drop(unfit);
        for (table, made) in wanted {
            if let Some(mut map) = open.maps_mut().find(|map| map.name() == table.name.as_str()) {
                let _ = map.reuse_fd(made.as_fd());
            }
        }
    }
}

/// Provides an open object with its large tables, of which some may have been made. libbpf creates what is left, and says why it
/// can't.
pub(crate) fn provide(open: &mut OpenObject, made: Made) {
    let large = large(open);
    let missing = |table: &&Definition| !made.tables.iter().any(|(made, _)| made == *table);
    // Where the kernel refused one, libbpf is to try next.
    let left =
        if made.failed { Vec::new() } else { large.iter().filter(missing).cloned().collect() };
    made.give(&large, open);
    let created = side_by_side(&left, weight, create);
    Made::new(left, created).give(&large, open);
}

/// Those that an open object wants.
pub(crate) fn large(open: &OpenObject) -> Vec<Definition> {
    // What stands in a program's own sections, libbpf fills by itself; but what is zero at the beginning it is anyway.
    let is_empty = |map: &libbpf_rs::OpenMap<'_>| {
        map.initial_value().is_none() || map.name().to_string_lossy().contains(".bss")
    };
    let tables = open.maps().filter(is_empty).map(|map| Definition::of(&map));
    tables.filter(is_large).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(kind: MapType, entries: u32, value_bytes: u32) -> Definition {
        let name = "t".to_owned();
        Definition { name, kind, key_bytes: 4, value_bytes, entries, flags: 0 }
    }

    #[test]
    fn only_large_and_plain_tables_are_worth_it() {
        assert!(is_large(&table(MapType::Array, 1_000, 124)));
        assert!(!is_large(&table(MapType::Array, 1, 124)));
        assert!(
            !is_large(&table(MapType::PercpuArray, 1_000, 124)),
            "what it takes, the CPUs tell"
        );
        let ring = Definition { key_bytes: 0, ..table(MapType::RingBuf, 4 << 20, 0) };
        assert!(is_large(&ring) && bytes(&ring) == 4 << 20);
    }

    #[test]
    fn many_entries_of_a_hash_take_longer_than_their_memory() {
        let index = table(MapType::Hash, 100_000, 24);
        assert!(weight(&index) > weight(&table(MapType::Hash, 32_768, 244)));
        assert!(weight(&index) < weight(&table(MapType::Array, 100_000, 444)));
    }

    /// Runs on the real kernel.
    #[test]
    fn what_is_refused_is_left_to_libbpf() {
        let impossible = table(MapType::Array, 0, 8);
        let possible = table(MapType::Array, 1, 8);
        let tables = vec![possible.clone(), impossible, possible.clone()];
        let created = vec![Some(create(&tables[0])), Some(create(&tables[1])), None];
        let made = Made::new(tables, created);
        let names: Vec<&Definition> = made.tables.iter().map(|(table, _)| table).collect();
        assert_eq!((names, made.failed), (vec![&possible], true), "as root");
    }
}
