//! What is asked for with O_DIRECT and served from the cache all the same: by calls, io_uring and Linux AIO (Linux 6.5).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

use hotset_tests::filesystems::{FileSystem, Kind, kinds};
use hotset_tests::pageflags::resident_pages;
use hotset_tests::scratch::text;
use hotset_tests::{
    Cache, MIB, Mounted, Observed, PAGE, Scratch, evict_verified, lost_counts, number,
    observe_files, profile_of, row_at, undisturbed,
};
use rustix::fs::syncfs;

const BLOCK: &str = "65536";

/// A call; requests one at a time, so that what is cached before each is known; by a worker; and several at once.
const READS: [&[&str]; 6] = [
    &["direct-read"],
    &["aio", "--depth", "1"],
    &["uring", "--depth", "1"],
    &["uring", "--depth", "1", "--async"],
    &["aio", "--depth", "8"],
    &["uring", "--depth", "8"],
];

const WRITES: [&[&str]; 6] = [
    &["direct-write"],
    &["aio", "--write", "--depth", "1"],
    &["uring", "--write", "--depth", "1"],
    &["uring", "--write", "--depth", "1", "--async"],
    &["aio", "--write", "--depth", "8"],
    &["uring", "--write", "--depth", "8"],
];

/// A file of a mebibyte on a file system that serves all of it from the cache.
struct Served {
    fs: FileSystem,
    /// The file, and where its pages are cached.
    path: PathBuf,
    cached: PathBuf,
}

impl Served {
    fn every() -> impl Iterator<Item = Self> {
        let kinds = kinds();
        let some = [
            (Kind::Ext4, "noatime,data=journal"),
            (Kind::Overlay, "noatime,data=journal"),
            (Kind::Btrfs, "noatime,compress-force=zstd"),
        ];
        some.into_iter().filter(move |(kind, _)| kinds.contains(kind)).map(|(kind, options)| {
            let fs = FileSystem::with_options(kind, options);
            let path = fs.path("f");
            let cached = match kind {
                Kind::Overlay => fs.caching_root().join("upper/f"),
                _ => path.clone(),
            };
            std::fs::write(&path, vec![7; MIB as usize]).expect("write");
            File::open(&path).and_then(|file| file.sync_all()).expect("sync");
            Self { fs, path, cached }
        })
    }

    fn observe(&self, scratch: &Scratch, cache: Cache, words: &[&str]) -> Observed {
        let words = [words, &["--direct", "--block", BLOCK, "--probe", text(&self.cached)]];
        let run = observe_files(scratch, &self.path, &[&self.cached], cache, &words.concat());
        run.assert_counts(&[
            ("/direct/read_calls", 0),
            ("/direct/read_bytes", 0),
            ("/direct/write_calls", 0),
            ("/direct/write_bytes", 0),
            ("/time/direct_ns", 0),
        ]);
        assert_eq!(lost_counts(&run.profile), 0, "{:?}", self.fs.kind());
        run
    }
}

#[test]
fn reads_are_hits_and_misses() {
    let scratch = Scratch::new("cached-direct-reads");
    for served in Served::every() {
        for words in READS {
            let cold = served.observe(&scratch, Cache::Cold, words);
            cold.assert_same(&[
                ("/read/calls", "/requests"),
                ("/read/bytes", "/bytes"),
                ("/read/pages", "/pages"),
            ]);
            cold.assert_misses(!words.contains(&"8"));
            let (misses, all) = (cold.seen("/read/misses"), cold.truth("/pages_cached_after"));
            cold.assert_counts(&[
                ("/read/from_device", MIB / PAGE),
                ("/readahead/pages", all - misses),
            ]);
            if served.fs.kind() != Kind::Btrfs {
                cold.assert_same(&[("/device/read_bytes", "/block_read_bytes")]);
            }
            let warm = served.observe(&scratch, Cache::Warm, words);
            warm.assert_same(&[("/read/hits", "/pages"), ("/read/calls", "/requests")]);
            warm.assert_counts(&[("/device/read_bytes", 0), ("/readahead/pages", 0)]);
        }
    }
}

#[test]
fn writes_are_buffered() {
    let scratch = Scratch::new("cached-direct-writes");
    for served in Served::every() {
        for words in WRITES {
            let states = [(Cache::Cold, MIB / PAGE), (Cache::Warm, 0)];
            // Btrfs drops the pages again.
            let states = &states[..if served.fs.kind() == Kind::Btrfs { 1 } else { 2 }];
            for &(cache, new) in states {
                // What a journal has to keep stays in the cache until it is written.
                File::open(served.fs.root()).and_then(|root| Ok(syncfs(root)?)).expect("syncfs");
                let run = served.observe(&scratch, cache, words);
                run.assert_same(&[
                    ("/write/calls", "/requests"),
                    ("/write/bytes", "/bytes"),
                    ("/write/pages", "/pages"),
                ]);
                run.assert_counts(&[("/write/new_pages", new), ("/readahead/pages", 0)]);
            }
        }
    }
}

/// Btrfs reads what is not compressed past the cache, and the rest of the request from it.
#[test]
fn a_request_of_which_a_part_is_cached_is_of_both_kinds() {
    if !kinds().contains(&Kind::Btrfs) {
        return;
    }
    let scratch = Scratch::new("cached-direct-parts");
    let fs = FileSystem::with_options(Kind::Btrfs, "noatime,compress=zstd");
    let path = fs.path("f");
    let file = File::create(&path).expect("create");
    let mixed = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as u8;
    file.write_all_at(&(0..MIB / 2).map(mixed).collect::<Vec<u8>>(), 0).expect("write");
    file.sync_all().expect("sync");
    file.write_all_at(&vec![7; MIB as usize / 2], MIB / 2).expect("write");
    file.sync_all().expect("sync");
    let (workload, block) = (env!("CARGO_BIN_EXE_workload"), MIB.to_string());
    for case in ["aio", "uring"] {
        undisturbed(&[&path], || {
            evict_verified(&path);
            let words = [
                workload,
                case,
                "--file",
                text(&path),
                "--direct",
                "--depth",
                "1",
                "--block",
                &block,
            ];
            let profile = profile_of(&scratch, &words);
            let row = row_at(&profile, &path);
            let past = resident_pages(&path).iter().position(|cached| *cached);
            assert_eq!(past, Some((MIB / 2 / PAGE) as usize), "what was cached first");
            for (pointer, wanted) in [
                ("/direct/read_calls", 1),
                ("/direct/read_bytes", MIB / 2),
                ("/read/calls", 1),
                ("/read/bytes", MIB / 2),
                ("/read/from_device", MIB / 2 / PAGE),
            ] {
                assert_eq!(number(row, pointer), wanted, "{case} {pointer}: {row}");
            }
        });
    }
}

/// Once requests for a file went past the cache, those that follow are marked only when they are found to go through it. Here
/// ext4 finds a hole in a file without extents.
#[test]
fn a_request_that_is_cached_after_others_were_not_is_counted() {
    let scratch = Scratch::new("cached-direct-later");
    let [image, root] = ["image", "root"].map(|name| scratch.path(name));
    std::fs::create_dir(&root).expect("mkdir");
    File::create(&image).and_then(|file| file.set_len(64 * MIB)).expect("an image");
    let words = ["-q", "-F", "-b", "4096", "-O", "^extents,^64bit", text(&image)];
    assert!(Command::new("mkfs.ext4").args(words).status().expect("mkfs.ext4").success());
    let _mounted = Mounted::new(&["-o", "loop,noatime", text(&image), text(&root)]);
    let path = root.join("f");
    let file = File::create(&path).expect("create");
    file.write_all_at(&[7; 32768], 0).and_then(|()| file.set_len(MIB)).expect("write");
    let script = "import ctypes,json,mmap,os,struct,sys\n\
         libc = ctypes.CDLL(None, use_errno=True); buffer = mmap.mmap(-1, 16384)\n\
         memory = ctypes.addressof(ctypes.c_char.from_buffer(buffer))\n\
         context = ctypes.c_ulong(0); libc.syscall(206, 8, ctypes.byref(context))\n\
         fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT); word = ctypes.c_long\n\
         def write(offset):\n\
         \x20 iocb = struct.pack('=QIIHhIQQqQII', 0, 0, 0, 1, 0, fd, memory, 16384, offset, 0, 0, 0)\n\
         \x20 iocb = ctypes.create_string_buffer(iocb, 64); list = (ctypes.c_void_p * 1)(ctypes.addressof(iocb))\n\
         \x20 libc.syscall(209, context, word(1), list); event = ctypes.create_string_buffer(32)\n\
         \x20 libc.syscall(208, context, word(1), word(1), event, None)\n\
         \x20 assert struct.unpack('QQqq', event.raw)[2] == 16384\n\
         for offset in 0, 16384, 65536, 131072, 262144: write(offset)\n\
         json.dump({}, open(sys.argv[2], 'w'))";
    let truth = scratch.path("truth.json");
    let profile = profile_of(&scratch, &["python3", "-c", script, text(&path), text(&truth)]);
    let row = row_at(&profile, &path);
    let direct = (number(row, "/direct/write_calls"), number(row, "/direct/write_bytes"));
    assert_eq!(direct, (2, 32768), "{row}");
    let written = ["calls", "pages", "new_pages"].map(|n| number(row, &format!("/write/{n}")));
    assert_eq!(written, [3, 12, 12], "{row}");
    assert_eq!(number(row, "/readahead/pages"), 0, "{row}");
    assert_eq!(lost_counts(&profile), 0, "{}", profile["sensor"]);
}
