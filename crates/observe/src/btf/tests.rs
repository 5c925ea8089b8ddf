use proptest::prelude::*;

use super::*;

/// `enum e { A, B }`, `typedef fn *t`, with `fn` of three parameters.
fn sample() -> Vec<u8> {
    let strings = b"\0e\0A\0B\0t\0";
    let mut types: Vec<u32> = Vec::new();
    types.extend([1, 6 << 24 | 2, 4, 3, 0, 5, 1]); // 1: enum e
    types.extend([7, 8 << 24, 3]); // 2: typedef t -> 3
    types.extend([0, 2 << 24, 4]); // 3: pointer -> 4
    types.extend([0, 13 << 24 | 3, 0, 0, 1, 0, 1, 0, 1]); // 4: function prototype
    let types: Vec<u8> = types.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut bytes = vec![0x9f, 0xeb, 1, 0];
    for word in [24, 0, types.len() as u32, types.len() as u32, strings.len() as u32] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(types);
    bytes.extend(strings);
    bytes
}

#[test]
fn types_are_found_by_walking_and_by_number() {
    let bytes = sample();
    let btf = Btf::parse(&bytes).unwrap();
    let names = Names::new([b"e".as_slice(), b"t", b"A", b"none"]);
    let found = btf.named(&names);
    assert_eq!(found.len(), 2);
    assert_eq!(
        btf.enumerators(&found[0]).collect::<Vec<_>>(),
        [(b"A".as_slice(), 0), (b"B".as_slice(), 1)]
    );
    assert_eq!((found[1].name, found[1].referenced), (b"t".as_slice(), 3));
    assert_eq!(btf.get(4).map(|ty| (ty.kind, ty.members)), Some((Kind::FuncProto, 3)));
    assert_eq!(btf.get(5), None);
    assert_eq!(btf.get(0), None);
}

#[test]
fn names_are_found_whole_and_before_three_underscores() {
    let strings = b"\0page\0page___whole\0pager\0pag\0";
    let types = [1_u32, 6, 19, 25].map(|name| [name, 4 << 24, 8]).concat();
    let mut bytes = vec![0x9f, 0xeb, 1, 0];
    for word in [24, 0, 48, 48, strings.len() as u32].into_iter().chain(types) {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(strings);
    let btf = Btf::parse(&bytes).expect("BTF");
    let found = |names: &[&'static [u8]]| -> Vec<u32> {
        let names = Names::new(names.iter().copied());
        btf.named(&names).iter().map(|ty| ty.id).collect()
    };
    assert_eq!(found(&[b"page", b"none"]), [1, 2]);
    assert_eq!(found(&[b"page___other"]), [1, 2]);
    assert_eq!(found(&[b"pager", b"pag", b"p"]), [3, 4]);
    assert!(found(&[]).is_empty());
    let names: [&[u8]; 4] = [b"page___whole", b"page", b"___x", b"a__b"];
    assert_eq!(names.map(plain_name), [b"page".as_slice(), b"page", b"___x", b"a__b"]);
}

#[test]
fn types_that_were_looked_for_at_first_are_the_same() {
    let bytes = sample();
    let plain = Btf::parse(&bytes).expect("BTF");
    let all = [b"e".as_slice(), b"t", b"none"];
    let btf = Btf::parse_for(&bytes, Names::new(all)).expect("BTF");
    assert_eq!(btf.known.len(), 2);
    for names in [&all[..], &all[..1], &all[1..], &[], &[b"A"], &[b"t", b"A"]] {
        let names = Names::new(names.iter().copied());
        assert_eq!(btf.named(&names), plain.named(&names), "{names:?}");
    }
}

#[test]
fn a_module_names_its_types_after_those_of_the_kernel() {
    let (kernel, strings) = (sample(), b"s\0own\0");
    let kernel = Btf::parse(&kernel).expect("the kernel");
    let base = kernel.strings.len() as u32;
    // struct s { A at byte 4; own at byte 16 }, of which the kernel has the name A.
    let types = [base, 4 << 24 | 2, 24, 3, 1, 32, base + 2, 1, 128];
    let mut bytes = vec![0x9f, 0xeb, 1, 0];
    for word in [24, 0, 36, 36, strings.len() as u32].into_iter().chain(types) {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(strings);
    let module = Btf::parse_module(&bytes, &kernel).expect("a module");
    let names = Names::new([b"s".as_slice()]);
    let ty = module.named(&names)[0];
    assert_eq!((ty.kind, ty.name), (Kind::Struct, b"s".as_slice()));
    assert_eq!(module.offset_of(&ty, b"A"), Some(4));
    assert_eq!(module.offset_of(&ty, b"own"), Some(16));
    assert_eq!(module.offset_of(&ty, b"none"), None);
}

proptest! {
    #[test]
    fn damaged_bytes_never_panic(at in 0_usize..130, value in any::<u8>(), cut in 0_usize..130) {
        let mut bytes = sample();
        let length = bytes.len();
        bytes[at % length] = value;
        bytes.truncate(length - cut % length);
        if let Some(btf) = Btf::parse(&bytes) {
            for ty in btf.named(&Names::new([b"e".as_slice(), b"t"])) {
                let _ = btf.enumerators(&ty).count();
                let _ = btf.offset_of(&ty, b"A");
                let _ = btf.get(ty.referenced);
            }
        }
    }
}
