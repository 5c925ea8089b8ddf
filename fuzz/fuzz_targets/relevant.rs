//! The object of the sensor and the kernel's types: damaged anywhere, what is relocated is whole or nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/observe/src/btf/mod.rs"]
#[expect(dead_code, reason = "of the types, only what relocations need is used")]
mod btf;
#[path = "../../crates/observe/src/elf.rs"]
#[expect(dead_code, reason = "of the sections, only what stands in the object is used")]
mod elf;
#[path = "../../crates/observe/src/relevant/mod.rs"]
mod relevant;

use btf::{Btf, Names};

/// The smallest object: inputs stay short, and each is tried thousands of times a second.
const OBJECT: &[u8] = include_bytes!("../../crates/observe/objects/inodes.bpf.o");

/// Bytes of an input that change one place: where, and the number that comes to stand there.
const CHANGE_BYTES: usize = 8;

/// The object with numbers changed: nearly all of what arbitrary bytes hold is refused at the first of them.
fn damaged(changes: &[u8], original: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for change in changes.chunks_exact(CHANGE_BYTES) {
        let at = elf::word(change, 0).unwrap_or_default() as usize % (bytes.len() - 4);
        bytes[at..at + 4].copy_from_slice(&change[4..]);
    }
    bytes
}

fn relocate(object: &[u8], types: &[u8]) {
    let names = Names::new(relevant::names(object));
    let Some(kernel) = Btf::parse_for(types, names) else { return };
    if let Some(relevant) = relevant::relevant(object, &kernel) {
        assert!(Btf::parse(&relevant.types).is_some(), "the excerpt can be decoded");
        assert_eq!(relevant.object.len(), object.len().div_ceil(8));
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((kind, bytes)) = input.split_first() else { return };
    let section = elf::section(OBJECT, ".BTF").expect("the object has types");
    let own_types = &OBJECT[section];
    match kind % 4 {
        0 => relocate(bytes, own_types),
        1 => relocate(OBJECT, bytes),
        2 => relocate(&damaged(bytes, OBJECT), own_types),
        _ => relocate(OBJECT, &damaged(bytes, own_types)),
    }
});
