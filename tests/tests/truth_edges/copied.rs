//! Copies into files with O_DIRECT.

use std::fs::File;
use std::path::Path;

use hotset_tests::filesystems::{FileSystem, Kind, file_bytes};
use hotset_tests::json::number;
use hotset_tests::run::profile_of;
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, evict_verified, read_json, warm_verified};
use serde_json::Value;

/// Writes a file over, 64 KiB a call, from another by the way that is its third word, and says how many bytes that were.
const COPY: &str = "import json,mmap,os,sys\n\
     source, target = os.open(sys.argv[1] + '.source', os.O_RDONLY), os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)\n\
     some, (read, write) = 1 << 16, os.pipe(); memory = mmap.mmap(-1, some)\n\
     def plain(at): os.preadv(source, [memory], at); return os.pwrite(target, memory, at)\n\
     def send(at): os.lseek(target, at, 0); return os.sendfile(target, source, at, some)\n\
     def splice(at): os.splice(source, write, some, at); return os.splice(read, target, some, None, at)\n\
     def copy(at): return os.copy_file_range(source, target, some, at, at)\n\
     done = [globals()[sys.argv[3]](at) for at in range(0, os.fstat(target).st_size, some)]\n\
     json.dump({'calls': len(done), 'bytes': sum(done)}, open(sys.argv[2], 'w'))";

fn make(path: &Path) {
    std::fs::write(path, file_bytes()).expect("write");
    File::open(path).and_then(|file| file.sync_all()).expect("sync");
}

/// Calls and bytes through the cache and past it, of what was written to the file.
fn written(scratch: &Scratch, path: &Path, way: &str) -> [u64; 5] {
    let truth = scratch.path("truth.json");
    let profile = profile_of(scratch, &["python3", "-c", COPY, text(path), text(&truth), way]);
    let row = (profile["files"].as_array().expect("files"))
        .iter()
        .find(|row: &&Value| row["path"] == text(path))
        .unwrap_or_else(|| panic!("no row of {}: {profile}", path.display()));
    let n = |pointer: &str| number(row, pointer);
    let truth = read_json(&truth);
    let seen =
        [n("/write/calls"), n("/write/bytes"), n("/direct/write_calls"), n("/direct/write_bytes")];
    assert_eq!(seen[0] + seen[2], number(&truth, "/calls"), "{way}: {row}");
    assert_eq!(seen[1] + seen[3], number(&truth, "/bytes"), "{way}: {row}");
    assert_eq!(number(&truth, "/bytes"), file_bytes().len() as u64, "{way}");
    [seen[0], seen[1], seen[2], seen[3], n("/write/pages")]
}

/// By whatever call it is written, and whether its pages are cached or not. Which writes pass the cache is for the file system
/// to say: ext4's do but where its journal keeps data, Btrfs's by its version.
#[test]
fn what_is_copied_is_written_through_the_cache_or_past_it_as_by_other_calls() {
    let scratch = Scratch::new("copied");
    for (kind, options, passes) in [
        (Kind::Ext4, "noatime", Some(true)),
        (Kind::Ext4, "noatime,data=journal", Some(false)),
        (Kind::Btrfs, "noatime,compress-force=zstd", None),
        (Kind::Btrfs, "noatime,nodatacow", None),
    ] {
        if !kind.is_in_kernel() {
            continue;
        }
        let fs = FileSystem::with_options(kind, options);
        let path = fs.path("f");
        make(&fs.path("f.source"));
        for state in [evict_verified, warm_verified] {
            let count = |way| {
                make(&path);
                state(&path);
                written(&scratch, &path, way)
            };
            let plain = count("plain");
            if let Some(passes) = passes {
                assert_eq!([plain[0] == 0, plain[2] > 0], [passes; 2], "{options}: {plain:?}");
            }
            // Btrfs shares blocks instead of copying them.
            let ways = ["send", "splice", "copy"];
            for way in ways.into_iter().filter(|way| kind == Kind::Ext4 || *way != "copy") {
                let copied = count(way);
                // Btrfs was seen to send one of four pieces another way: of it only the sums are held, in written().
                if kind == Kind::Ext4 {
                    assert_eq!(copied, plain, "{kind:?} {options}: {way}");
                }
            }
        }
    }
}
