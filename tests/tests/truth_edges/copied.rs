//! Copies into files with O_DIRECT, and other ways to write to them.

use std::fs::File;
use std::path::Path;

use hotset_sys::tracepoint::tracepoint_id;
use hotset_tests::filesystems::{FILE_PAGES, FileSystem, Kind, ensure_tracefs, file_bytes};
use hotset_tests::json::number;
use hotset_tests::programs::workload;
use hotset_tests::run::profile_of;
use hotset_tests::scratch::text;
use hotset_tests::{PAGE, Scratch, evict_verified, read_json, warm_verified};
use serde_json::Value;

/// Writes a file over, 64 KiB a call, from another by the way that is its third word, and says of each call how many bytes it
/// wrote, and how often the kernel says meanwhile that the caller makes pages of the file dirty (perf_event_open(2) of the
/// tracepoint that is its fourth word): only a call that goes through the cache does.
const COPY: &str = "import ctypes,fcntl,json,mmap,os,struct,sys\n\
     source, target = os.open(sys.argv[1] + '.source', os.O_RDONLY), os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)\n\
     some, (read, write) = 1 << 16, os.pipe(); memory = mmap.mmap(-1, some)\n\
     event = struct.pack('IIQ', 2, 112, int(sys.argv[4])).ljust(112, b'\\0')\n\
     event = ctypes.CDLL(None).syscall(298, event, 0, -1, -1, ctypes.c_ulong(0)); assert event >= 0\n\
     fcntl.ioctl(event, 0x40082406, b'ino == %d\\0' % os.fstat(target).st_ino)\n\
     def plain(at): os.preadv(source, [memory], at); return os.pwrite(target, memory, at)\n\
     def vector(at): os.preadv(source, [memory], at); return os.pwritev(target, [memory], at, os.RWF_DSYNC)\n\
     def send(at): os.lseek(target, at, 0); return os.sendfile(target, source, at, some)\n\
     def splice(at): os.splice(source, write, some, at); return os.splice(read, target, some, None, at)\n\
     def copy(at): return os.copy_file_range(source, target, some, at, at)\n\
     def dirtied(): return struct.unpack('Q', os.read(event, 8))[0]\n\
     def call(at): before = dirtied(); return [globals()[sys.argv[3]](at), dirtied() - before]\n\
     json.dump([call(at) for at in range(0, os.fstat(target).st_size, some)], open(sys.argv[2], 'w'))";

/// Calls and bytes through the cache and past it, and pages.
type Counts = [u64; 5];

const BYTES: u64 = FILE_PAGES * PAGE;
const CALLS: u64 = BYTES >> 16;
const PAST: Counts = [0, 0, CALLS, BYTES, 0];
const THROUGH: Counts = [CALLS, BYTES, 0, 0, FILE_PAGES];

fn make(path: &Path) {
    std::fs::write(path, file_bytes()).expect("write");
    File::open(path).and_then(|file| file.sync_all()).expect("sync");
}

/// All pages cached and dirty, as far as nobody writes them back meanwhile.
fn dirty(path: &Path) {
    warm_verified(path);
    let mut file = File::options().write(true).open(path).expect("open");
    std::io::Write::write_all(&mut file, &file_bytes()).expect("write");
}

/// Its name up to 5.17 and since.
fn dirty_event() -> String {
    let named = |name| tracepoint_id("writeback", name);
    let id = named("writeback_dirty_folio").or_else(|_| named("writeback_dirty_page"));
    id.expect("a tracepoint of the page cache").to_string()
}

/// What hotset counts of the file.
fn seen(profile: &Value, path: &Path) -> Counts {
    let row = (profile["files"].as_array().expect("files"))
        .iter()
        .find(|row: &&Value| row["path"] == text(path))
        .unwrap_or_else(|| panic!("no row of {}: {profile}", path.display()));
    ["/write/calls", "/write/bytes", "/direct/write_calls", "/direct/write_bytes", "/write/pages"]
        .map(|pointer| number(row, pointer))
}

/// The same of a copy, and what the kernel told of each of its calls.
fn copied(scratch: &Scratch, path: &Path, way: &str) -> (Counts, Counts) {
    let truth = scratch.path("truth.json");
    let words = ["python3", "-c", COPY, text(path), text(&truth), way, &dirty_event()];
    let seen = seen(&profile_of(scratch, &words), path);
    let mut told = Counts::default();
    for call in read_json(&truth).as_array().expect("calls") {
        let (bytes, through) = (number(call, "/0"), number(call, "/1") > 0);
        let at = if through { 0 } else { 2 };
        told[at] += 1;
        told[at + 1] += bytes;
        told[4] += if through { bytes / PAGE } else { 0 };
    }
    assert_eq!([told[0] + told[2], told[1] + told[3]], [CALLS, BYTES], "{way}");
    (seen, told)
}

/// What hotset counts where requests of io_uring or Linux AIO write the file over.
fn requested(scratch: &Scratch, path: &Path, words: &[&str]) -> Counts {
    let workload = workload();
    let file = ["--file", text(path), "--write", "--direct", "--block", "65536"];
    seen(&profile_of(scratch, &[&[text(&workload)], words, &file].concat()), path)
}

/// By whatever call it is written, and whether its pages are cached, dirty or neither. Which writes pass the cache is for the
/// file system to say: ext4's do but where its journal keeps data; of Btrfs's, by its version, the kernel says of each call.
#[test]
fn what_is_copied_is_written_through_the_cache_or_past_it_as_by_other_calls() {
    ensure_tracefs();
    let scratch = Scratch::new("copied");
    for (kind, options, always) in [
        (Kind::Ext4, "noatime", Some(PAST)),
        (Kind::Ext4, "noatime,data=journal", Some(THROUGH)),
        (Kind::Btrfs, "noatime,compress-force=zstd", None),
        (Kind::Btrfs, "noatime,nodatacow", None),
    ] {
        if !kind.is_in_kernel() {
            continue;
        }
        let fs = FileSystem::with_options(kind, options);
        let path = fs.path("f");
        make(&fs.path("f.source"));
        let mut last = None;
        for state in [evict_verified, warm_verified] {
            // Btrfs shares blocks instead of copying them.
            let own = if kind == Kind::Ext4 { "copy" } else { "vector" };
            for way in ["plain", "send", "splice", own] {
                make(&path);
                state(&path);
                let (seen, told) = copied(&scratch, &path, way);
                assert_eq!(seen, always.unwrap_or(told), "{kind:?} {options}: {way}");
                last = Some(seen);
            }
        }
        // Pages that are dirty already tell nobody that they are written over, nor does a request who serves it.
        let last = last.expect("a copy");
        for way in ["plain", "splice"] {
            make(&path);
            dirty(&path);
            assert_eq!(copied(&scratch, &path, way).0, last, "{kind:?} {options}, dirty: {way}");
        }
        for state in [evict_verified, warm_verified] {
            let ways: [&[&str]; 3] = [&["uring"], &["uring", "--async"], &["aio", "--depth", "4"]];
            for way in ways.into_iter().filter(|_| kind == Kind::Btrfs) {
                make(&path);
                state(&path);
                assert_eq!(requested(&scratch, &path, way), last, "{kind:?} {options}: {way:?}");
            }
        }
    }
}
