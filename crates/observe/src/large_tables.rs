//! Creating the large tables of an object side by side: what one takes is the kernel's zeroing of its memory.

use std::ffi::OsStr;

use libbpf_rs::{MapHandle, MapType, OpenObject, libbpf_sys};

use crate::side_by_side::side_by_side;

/// What a table is worth a thread's while from.
const LARGE_BYTES: u64 = 64 << 10;

struct Large {
    name: String,
    kind: MapType,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
}

impl Large {
    fn bytes(&self) -> u64 {
        // A ring's entries are bytes.
        u64::from(self.entries) * u64::from(self.key_bytes + self.value_bytes).max(1)
    }

    fn create(&self) -> libbpf_rs::Result<MapHandle> {
        let options = libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_sys::bpf_map_create_opts>() as libbpf_sys::size_t,
            map_flags: self.flags,
            ..Default::default()
        };
        let name = Some(&self.name);
        MapHandle::create(self.kind, name, self.key_bytes, self.value_bytes, self.entries, &options)
    }
}

/// Whether a section holds variables that are zero at the beginning.
fn is_zero(name: &OsStr) -> bool {
    name.to_string_lossy().contains(".bss")
}

/// Creates them. libbpf creates what is left, and says why it can't.
pub(crate) fn create(open: &mut OpenObject) {
    let plain =
        |kind| matches!(kind, MapType::Array | MapType::Hash | MapType::LruHash | MapType::RingBuf);
    let tables: Vec<Large> = open
        .maps()
        // What stands in a program's own sections, libbpf fills by itself; but what is zero at the beginning it is anyway.
        .filter(|map| map.initial_value().is_none() || is_zero(map.name()))
        .filter(|map| plain(map.map_type()))
        .map(|map| Large {
            name: map.name().to_string_lossy().into_owned(),
            kind: map.map_type(),
            key_bytes: map.key_size(),
            value_bytes: map.value_size(),
            entries: map.max_entries(),
            flags: map.map_flags(),
        })
        .filter(|table| table.bytes() >= LARGE_BYTES)
        .collect();
    let made = side_by_side(&tables, Large::bytes, Large::create);
    for (table, made) in tables.iter().zip(made) {
        let map = open.maps_mut().find(|map| map.name() == table.name.as_str());
        if let (Some(mut map), Some(Ok(made))) = (map, made) {
            let _ = map.reuse_fd(std::os::fd::AsFd::as_fd(&made));
        }
    }
}
