//! Direct I/O whose memory is another file's: mapped and shared, or shared memory. It is not that file's I/O.

use std::path::Path;

use hotset_tests::filesystems::{FileSystem, Kind};
use hotset_tests::scratch::text;
use hotset_tests::{
    HotsetRun, MIB, PAGE, Scratch, assert_invariants, evict_verified, number, profile_of, row_at,
    run_hotset, undisturbed, warm_verified,
};

/// Moves 4 MiB past the cache, four times as much as the memory that a file lends for it.
fn assert_not_the_lenders(scratch: &Scratch, file: &Path, lent: &Path, compat: bool) {
    let options = if compat { &["-q", "--compat-sensor"][..] } else { &["-q"] };
    for (case, kind) in [("direct-read", "read"), ("direct-write", "write")] {
        undisturbed(&[lent], || {
            if !hotset_tests::scratch::is_in_memory(lent) {
                warm_verified(lent);
            }
            let words = [case, "--file", text(file), "--file2", text(lent)];
            let HotsetRun { profile, .. } = run_hotset(scratch, options, &words);
            assert_invariants(&profile);
            let (row, lender) = (row_at(&profile, file), row_at(&profile, lent));
            assert_eq!(number(row, &format!("/direct/{kind}_bytes")), 4 * MIB, "{case}: {row}");
            assert_eq!(number(row, &format!("/device/{kind}_bytes")), 4 * MIB, "{case}: {row}");
            assert_eq!(number(lender, &format!("/device/{kind}_bytes")), 0, "{case}: {lender}");
            assert_eq!(number(lender, "/direct/read_calls"), 0, "{lender}");
        });
    }
}

#[test]
fn direct_io_into_a_mapped_file_is_not_that_files() {
    let scratch = Scratch::new("lent");
    let (file, lent) = (scratch.file("f", 4 * MIB), scratch.file("memory", MIB));
    for compat in [false, true] {
        assert_not_the_lenders(&scratch, &file, &lent, compat);
    }
}

#[test]
fn direct_io_into_shared_memory_is_the_files() {
    let (scratch, shared) = (Scratch::new("lent-shm"), FileSystem::new(Kind::Tmpfs));
    let (file, lent) = (scratch.file("f", 4 * MIB), shared.path("memory"));
    std::fs::write(&lent, vec![7; MIB as usize]).expect("write");
    for compat in [false, true] {
        assert_not_the_lenders(&scratch, &file, &lent, compat);
    }
}

/// Reads two pages past the cache, into a page of a mapped file and one that userfaultfd(2) gives once the first was cut off.
const LENDER_CUT_OFF: &str = "import ctypes, mmap, os, select, struct, sys, threading\n\
     libc = ctypes.CDLL(None, use_errno=True); word = ctypes.c_long; libc.mmap.restype = word\n\
     fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT); lent = os.open(sys.argv[2], os.O_RDWR)\n\
     room = mmap.mmap(-1, 3 << 12); first = ctypes.addressof(ctypes.c_char.from_buffer(room))\n\
     assert libc.mmap(word(first), word(4096), 3, 0x11, lent, word(0)) == first\n\
     given = libc.syscall(323, os.O_CLOEXEC | os.O_NONBLOCK)\n\
     api = ctypes.create_string_buffer(struct.pack('QQQ', 0xaa, 0, 0), 24)\n\
     assert libc.ioctl(given, ctypes.c_ulong(0xc018aa3f), api) == 0\n\
     region = ctypes.create_string_buffer(struct.pack('QQQQ', first + 4096, 4096, 1, 0), 32)\n\
     assert libc.ioctl(given, ctypes.c_ulong(0xc020aa00), region) == 0\n\
     read = []; into = ctypes.c_void_p(first)\n\
     reader = threading.Thread(target=lambda: read.append(libc.pread(fd, into, word(8192), word(0))))\n\
     reader.start(); select.select([given], [], [])\n\
     os.ftruncate(lent, 0)\n\
     zeros = ctypes.create_string_buffer(struct.pack('QQQq', first + 4096, 4096, 0, 0), 32)\n\
     assert libc.ioctl(given, ctypes.c_ulong(0xc020aa04), zeros) == 0\n\
     reader.join(); sys.exit(read != [8192])";

#[test]
fn direct_io_into_a_mapped_page_that_is_cut_off_meanwhile_is_the_files() {
    let scratch = Scratch::new("lent-cut-off");
    let file = scratch.file("f", MIB);
    let lent = scratch.file("memory", MIB);
    undisturbed(&[&file], || {
        std::fs::write(&lent, vec![7; MIB as usize]).expect("write");
        std::fs::File::open(&lent).and_then(|file| file.sync_all()).expect("sync");
        evict_verified(&lent);
        let words = ["python3", "-c", LENDER_CUT_OFF, text(&file), text(&lent)];
        let profile = profile_of(&scratch, &words);
        assert_invariants(&profile);
        let (row, lender) = (row_at(&profile, &file), row_at(&profile, &lent));
        assert_eq!(number(row, "/device/read_bytes"), 2 * PAGE, "{row}");
        let read = number(lender, "/device/read_bytes");
        assert_eq!((read > 0, number(lender, "/mmap/pages_read") * PAGE), (true, read), "{lender}");
    });
}
