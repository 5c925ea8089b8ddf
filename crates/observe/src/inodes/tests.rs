use std::collections::HashSet;

use libbpf_rs::HasSize;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Struct;

use super::programs::object_bytes;
use super::record::{INODE_ROWS, Inode, InodePath, List, Superblock, Walk};
use super::*;
use crate::mirror_tests::assert_places;

fn everything() -> InodeScan {
    let request = Request { top: 50, min_size_bytes: 0 };
    scan(&request, &AtomicBool::new(false)).expect("the scan works (as root)")
}

/// Every mirrored field stands where clang put it.
#[test]
fn the_mirror_matches_the_object() {
    let mirrors = [
        ("hs_list", List::layout(), size_of::<List>()),
        ("hs_superblock", Superblock::layout(), size_of::<Superblock>()),
        ("hs_walk", Walk::layout(), size_of::<Walk>()),
        ("hs_inode", Inode::layout(), size_of::<Inode>()),
        ("hs_inode_path", InodePath::layout(), size_of::<InodePath>()),
    ];
    let btf = Btf::from_raw("inodes", object_bytes()).expect("ELF").expect("BTF");
    for (name, fields, size) in &mirrors {
        let kernel: Struct<'_> = btf.type_by_name(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(kernel.size(), *size, "{name}");
        assert_eq!(kernel.iter().count(), fields.len(), "{name}");
        assert_places(name, &kernel, fields);
    }
}

#[test]
fn file_systems_are_seen_once_and_the_root_is_among_them() {
    let scan = everything();
    let devices: HashSet<_> = scan.file_systems.iter().map(|fs| fs.dev).collect();
    assert_eq!(devices.len(), scan.file_systems.len(), "{:#?}", scan.file_systems);
    let at_root = scan
        .file_systems
        .iter()
        .filter(|fs| fs.mount_point.as_deref().is_some_and(|at| at == std::path::Path::new("/")));
    assert!(at_root.count() >= 1);
    assert!(scan.file_systems.iter().any(|fs| fs.fs_type == "bdev" && fs.mount_point.is_none()));
    assert_eq!(scan.gap, None);
}

#[test]
fn files_come_largest_first_and_no_more_than_wanted() {
    // Right after drop_caches a host has few files in the cache; those that it runs from are mapped and stay.
    let scan = scan(&Request { top: 5, min_size_bytes: 0 }, &AtomicBool::new(false)).expect("scan");
    assert_eq!(scan.files.len(), 5);
    assert!(scan.files.windows(2).all(|pair| pair[0].cached_pages >= pair[1].cached_pages));
}

#[test]
fn a_file_that_runs_is_mapped_and_one_that_was_written_is_not() {
    let path = std::env::temp_dir().join(format!("hotset-inodes-{}", std::process::id()));
    std::fs::write(&path, vec![1; 1 << 20]).expect("a file");
    let request = Request { top: INODE_ROWS as usize, min_size_bytes: 1 << 20 };
    let scan = scan(&request, &AtomicBool::new(false)).expect("scan");
    let mapped = |path: &std::path::Path| {
        let ino = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).expect("metadata"));
        let path = path.canonicalize().expect("a path");
        let of = |file: &&CachedFile| file.id.ino == ino && file.path.as_value() == Some(&path);
        scan.files.iter().find(of).and_then(|file| file.mapped)
    };
    let own = std::env::current_exe().expect("its own path");
    assert_eq!((mapped(&own), mapped(&path)), (Some(true), Some(false)));
    std::fs::remove_file(&path).expect("removed");
}

#[test]
fn a_scan_that_was_stopped_says_so() {
    let request = Request { top: 5, min_size_bytes: 0 };
    let scan = scan(&request, &AtomicBool::new(true)).expect("scan");
    assert!(scan.interrupted);
    assert!(scan.file_systems.iter().all(|fs| fs.gap.is_some()));
}
