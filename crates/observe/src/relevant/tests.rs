use libbpf_rs::{ObjectBuilder, OpenObject, OpenProgram};

use super::*;
use crate::features::{KernelFeatures, decode, kernel_types};
use crate::load::{every_object, object_bytes};
use crate::programs;
use crate::select::{Build, Selection, select};
use crate::stack_tests::{instructions, prepare};

/// The instructions of the programs as the kernel would get them, without the descriptors of tables.
fn relocated(mut open: OpenObject, selection: &Selection) -> Vec<(String, Vec<[u8; 8]>)> {
    prepare(&mut open, selection);
    let chosen = open.progs().filter(OpenProgram::autoload);
    let instructions = chosen.map(|program| {
        let mut plain = instructions(&program);
        for bytes in &mut plain {
            if bytes[0] == 0x18 && matches!(bytes[1] >> 4, 1 | 2) {
                bytes[4..].fill(0);
            }
        }
        (program.name().to_str().expect("a name").to_owned(), plain)
    });
    instructions.collect()
}

/// Runs on the real kernel: libbpf with all of its types is the truth.
#[test]
fn an_excerpt_relocates_as_all_types_of_the_kernel_do() {
    let bytes = kernel_types().expect("this kernel has BTF");
    let types = decode(bytes.as_slice()).expect("BTF");
    let selection = select(&KernelFeatures::of(&types)).expect("tracepoints");
    for (build, atomics, records) in every_object() {
        let object = object_bytes(build, atomics, records);
        let whole = ObjectBuilder::default().open_memory(object).expect("opened");
        let (excerpt, _file) = programs::open(object, &types).expect("opened");
        let (whole, excerpt) = (relocated(whole, &selection), relocated(excerpt, &selection));
        assert_eq!(whole.len(), selection.programs.len());
        for ((name, wanted), (_, found)) in whole.iter().zip(&excerpt) {
            assert!(wanted.len() > 30, "{name}");
            let differs = wanted.iter().zip(found).position(|(a, b)| a != b);
            assert_eq!((wanted.len(), differs), (found.len(), None), "{name}");
        }
    }
}

#[test]
fn what_is_no_object_is_refused() {
    let bytes = kernel_types().expect("this kernel has BTF");
    let types = decode(bytes.as_slice()).expect("BTF");
    let object = object_bytes(Build::Full, true, false);
    for length in [0, 3, 63, 64, 70_000, object.len() / 2] {
        assert!(relevant(&object[..length], &types).is_none(), "{length} bytes");
    }
}

/// BTF of these types, which have no names.
fn btf(types: &[u32]) -> Vec<u8> {
    let length = 4 * types.len() as u32;
    let mut bytes = Vec::from([0x9f, 0xeb, 1, 0]);
    push(&mut bytes, &[24, 0, length, length, 1]);
    push(&mut bytes, types);
    bytes.push(0);
    bytes
}

#[test]
fn types_that_stand_in_themselves_are_refused() {
    let volatile = |of: u32| [0, 9 << 24, of];
    let whole: Vec<u32> = (2..100).flat_map(volatile).chain([0, 1 << 24, 4, 32]).collect();
    let bytes = btf(&whole);
    let kernel = Btf::parse(&bytes).expect("BTF");
    assert_eq!(Excerpt::new(&kernel).copy(1), Some(2), "an integer, behind a pointer");
    for circle in [volatile(1).to_vec(), [volatile(2), volatile(1)].concat()] {
        let bytes = btf(&circle);
        let kernel = Btf::parse(&bytes).expect("BTF");
        assert_eq!(Excerpt::new(&kernel).copy(1), None, "{circle:?}");
    }
}

/// For section headers that begin at each of the last places there are, and for each section that begins at the last.
#[test]
fn an_object_whose_sections_lie_outside_it_is_refused() {
    let nothing = btf(&[]);
    let kernel = Btf::parse(&nothing).expect("BTF");
    let object = object_bytes(Build::Full, true, false);
    let with = |at: usize, place: u64| {
        let mut damaged = object.to_vec();
        damaged[at..at + 8].copy_from_slice(&place.to_le_bytes());
        relevant(&damaged, &kernel)
    };
    let word = |at| elf::word(object, at).expect("a header");
    let (headers, count) = (word(40), word(60) & 0xffff);
    assert!(with(40, headers.into()).is_some(), "undamaged");
    for section in 0..count {
        assert!(with(40, u64::MAX - 64 * u64::from(section) - 10).is_none(), "{section}");
    }
    let refused = (0..count).filter(|section| {
        let place = headers + 64 * section + 24;
        with(place as usize, u64::MAX - 2).is_none()
    });
    assert_eq!(refused.count(), 3, "names, .BTF and .BTF.ext");
}
