use libbpf_rs::{AsRawLibbpf, ObjectBuilder, OpenObject, libbpf_sys};

use super::*;
use crate::features::{KernelFeatures, decode, kernel_types};
use crate::load::object_bytes;
use crate::programs;
use crate::select::{Build, Selection, select};

/// The instructions of the programs as the kernel would get them, without the descriptors of tables.
fn relocated(mut open: OpenObject, selection: &Selection) -> Vec<(String, Vec<[u8; 8]>)> {
    for mut program in open.progs_mut() {
        let name = program.name().to_str().expect("a name").to_owned();
        program.set_autoload(selection.programs.contains(&name.as_str()));
    }
    // SAFETY: the object is open and neither prepared nor loaded.
    let answer = unsafe { libbpf_sys::bpf_object__prepare(open.as_libbpf_object().as_ptr()) };
    assert_eq!(answer, 0, "it is relocated and its tables are made (as root)");
    let chosen = open.progs().filter(libbpf_rs::OpenProgram::autoload);
    let instructions = chosen.map(|program| {
        let plain = program.insns().iter().map(|instruction| {
            // SAFETY: an instruction is eight bytes.
            let mut bytes: [u8; 8] = unsafe { std::mem::transmute(*instruction) };
            if bytes[0] == 0x18 && matches!(bytes[1] >> 4, 1 | 2) {
                bytes[4..].fill(0);
            }
            bytes
        });
        (program.name().to_str().expect("a name").to_owned(), plain.collect())
    });
    instructions.collect()
}

/// Runs on the real kernel: libbpf with all of its types is the truth.
#[test]
fn an_excerpt_relocates_as_all_types_of_the_kernel_do() {
    let bytes = kernel_types().expect("this kernel has BTF");
    let types = decode(bytes.as_slice()).expect("BTF");
    let selection = select(&KernelFeatures::of(&types)).expect("tracepoints");
    for (build, atomics) in [(Build::Full, true), (Build::Compat, true), (Build::Compat, false)] {
        let object = object_bytes(build, atomics);
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
fn names_end_before_three_underscores() {
    let names: [&[u8]; 4] = [b"page___whole", b"page", b"___x", b"a__b"];
    assert_eq!(names.map(plain_name), [b"page".as_slice(), b"page", b"___x", b"a__b"]);
}

#[test]
fn what_is_no_object_is_refused() {
    let bytes = kernel_types().expect("this kernel has BTF");
    let types = decode(bytes.as_slice()).expect("BTF");
    let object = object_bytes(Build::Full, true);
    for length in [0, 3, 63, 64, 70_000, object.len() / 2] {
        assert!(relevant(&object[..length], &types).is_none(), "{length} bytes");
    }
}
