//! Reads past the cache: of what such a read fetched before, with their time by the workload's own clock, and of holes.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};

use hotset_tests::filesystems::{FILE_PAGES, FileSystem, Kind, kinds};
use hotset_tests::pageflags::resident_pages;
use hotset_tests::scratch::text;
use hotset_tests::{
    Cache, MIB, Observed, PAGE, Scratch, evict_verified, number, observe, profile_of, row_at,
    undisturbed,
};

/// The workload's clock goes around each call, so that neither part of the time can be longer than it says; together they are
/// all of it. Time that is booked to the wrong part breaks one of the two.
fn assert_time(run: &Observed) {
    run.assert_same(&[
        ("/direct/read_calls", "/direct/read_calls"),
        ("/direct/read_bytes", "/direct/read_bytes"),
        ("/direct/reread_bytes", "/direct/reread_bytes"),
    ]);
    let (all, again) = (run.seen("/direct/time_ns"), run.seen("/direct/reread_time_ns"));
    assert!(again > 0 && again <= run.truth("/direct/reread_time_ns"), "{}", run.both());
    assert!(again < all && all - again <= run.truth("/direct/first_time_ns"), "{}", run.both());
}

#[test]
fn time_of_rereads_is_that_of_the_calls_that_reread() {
    let scratch = Scratch::new("direct-mixed");
    let file = scratch.file("f", 8 * MIB);
    assert_time(&observe(&scratch, &file, Cache::Cold, &["direct-mixed"]));
}

#[test]
fn requests_of_io_uring_and_aio_reread_alike() {
    let scratch = Scratch::new("direct-requests");
    let file = scratch.file("f", 2 * MIB);
    for case in ["uring", "aio"] {
        let words = [case, "--direct", "--depth", "1", "--block", "65536", "--passes", "4"];
        assert_time(&observe(&scratch, &file, Cache::Cold, &words));
    }
}

/// Direct I/O that ends in interrupts comes in the middle of the sensor's programs for others' that ends in tasks, as that of
/// holes does.
#[test]
fn requests_beside_others_that_end_in_tasks() {
    let scratch = Scratch::new("direct-beside");
    let file = scratch.file("f", 8 * MIB);
    let holes = scratch.path("holes");
    File::create(&holes).expect("create").set_len(256 * MIB).expect("size");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| read_holes(&holes, &done));
        }
        let _end = SetAtEnd(&done);
        for depth in ["1", "16"] {
            let words = ["uring", "--direct", "--depth", depth, "--block", "4096", "--passes", "4"];
            let run = observe(&scratch, &file, Cache::Cold, &words);
            run.assert_counts(&[
                ("/direct/read_calls", 4 * 2048),
                ("/direct/read_bytes", 32 * MIB),
                ("/read/calls", 0),
                ("/device/read_bytes", 32 * MIB),
            ]);
            assert_eq!(run.profile["sensor"]["losses"]["requests"], 0, "{}", run.both());
        }
    });
}

/// However the test ends, or its threads would go on.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn read_holes(path: &Path, done: &AtomicBool) {
    let flags = OFlags::DIRECT | OFlags::RDONLY;
    let file = rustix::fs::open(path, flags, Mode::empty()).expect("open");
    let mut pages = vec![0_u8; 2 * PAGE as usize];
    let skip = pages.as_ptr().align_offset(PAGE as usize);
    let page = &mut pages[skip..][..PAGE as usize];
    for offset in (0..256 * MIB).step_by(PAGE as usize).cycle() {
        if done.load(Ordering::Relaxed) {
            return;
        }
        rustix::io::pread(&file, &mut *page, offset).expect("read");
    }
}

/// Every fourth block is data; between them are holes, and from the middle on space that was never written.
fn sparse(path: &Path) {
    let file = File::create(path).expect("create");
    file.set_len(MIB).expect("size");
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), MIB / 2, MIB / 2)
        .expect("fallocate");
    for block in (0..16).step_by(4) {
        file.write_all_at(&[7; 65536], block * 65536).expect("write");
    }
    file.sync_all().expect("sync");
}

/// By any task that serves the request, and also where several requests are under way at once.
#[test]
fn requests_for_holes_ask_no_device() {
    let scratch = Scratch::new("direct-holes");
    for kind in [Kind::Ext4, Kind::Xfs].into_iter().filter(|kind| kinds().contains(kind)) {
        let fs = FileSystem::new(kind);
        let path = fs.path("sparse");
        sparse(&path);
        for words in [
            &["uring", "--depth", "1"][..],
            &["uring", "--depth", "16"],
            &["uring", "--async"],
            &["uring", "--sqpoll", "--fixed"],
            &["aio", "--depth", "16"],
            &["aio", "--refused"],
        ] {
            let words = [words, &["--direct", "--block", "65536"]].concat();
            let run = observe(&scratch, &path, Cache::AsItIs, &words);
            let data = ("/device/read_bytes", 4 * 65536);
            run.assert_counts(&[("/direct/read_calls", 16), ("/direct/read_bytes", MIB), data]);
            run.assert_same(&[("/device/read_bytes", "/block_read_bytes")]);
        }
    }
}

/// Sends so many bytes of a file, from its first on, by one call.
const SEND: &str = "import os,sys\n\
     source, target = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), os.open('/dev/null', os.O_WRONLY)\n\
     count = int(sys.argv[2]); assert os.sendfile(target, source, 0, count) == count";

/// sendfile(2) reads some pages at a time. Btrfs serves the last piece from the cache where it does not end with a block: the
/// call is in both kinds, each with its bytes. What is cached of a cold file afterwards says which were.
#[test]
fn a_call_of_which_a_piece_is_cached_is_a_read_of_both_kinds() {
    let scratch = Scratch::new("direct-pieces");
    if !kinds().contains(&Kind::Btrfs) {
        return;
    }
    let fs = FileSystem::new(Kind::Btrfs);
    let path = fs.file();
    let all = FILE_PAGES * PAGE;
    for asked in [all, all - 100, 100] {
        undisturbed(&[&path], || {
            evict_verified(&path);
            let words = ["python3", "-c", SEND, text(&path), &asked.to_string()];
            let profile = profile_of(&scratch, &words);
            let row = row_at(&profile, &path);
            let n = |pointer| number(row, pointer);
            let first = resident_pages(&path).iter().position(|cached| *cached);
            let past = first.map_or(asked, |first| first as u64 * PAGE);
            let cached = asked - past;
            let seen = [n("/direct/read_calls"), n("/direct/read_bytes"), n("/read/calls")];
            assert_eq!(seen, [(past > 0).into(), past, (cached > 0).into()], "{asked}: {row}");
            assert_eq!(n("/read/bytes"), cached, "{asked}: {row}");
            assert_eq!(n("/read/pages"), cached.div_ceil(PAGE), "{asked}: {row}");
        });
    }
}
