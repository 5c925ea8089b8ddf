//! Requests that are under way at once over the same pages.

use std::fs::File;

use hotset_tests::{MIB, Scratch, number};

use crate::script::python;

/// A read by Linux AIO of `asked` pages that waits for memory to read into, with its pages in the cache, while the file is used
/// by others. The memory is given by userfaultfd(2).
const READ_BEGINS: &str = "import ctypes,json,mmap,os,select,struct,sys,threading\n\
     libc = ctypes.CDLL(None, use_errno=True); word = ctypes.c_long\n\
     at = lambda map: ctypes.addressof(ctypes.c_char.from_buffer(map))\n\
     fd = os.open(sys.argv[1], os.O_RDWR)\n\
     def moved(op, memory, pages, offset):\n\
     \x20 context = ctypes.c_ulong(0); libc.syscall(206, 8, ctypes.byref(context))\n\
     \x20 iocb = struct.pack('=QIIHhIQQqQII', 0, 0, 0, op, 0, fd, memory, pages << 12, offset << 12, 0, 0, 0)\n\
     \x20 iocb = ctypes.create_string_buffer(iocb, 64); list = (ctypes.c_void_p * 1)(ctypes.addressof(iocb))\n\
     \x20 libc.syscall(209, context, word(1), list); event = ctypes.create_string_buffer(32)\n\
     \x20 libc.syscall(208, context, word(1), word(1), event, None)\n\
     \x20 return struct.unpack('QQqq', event.raw)[2]\n\
     caught = mmap.mmap(-1, asked << 12); memory = at(caught)\n\
     given = libc.syscall(323, os.O_CLOEXEC | os.O_NONBLOCK)\n\
     api = ctypes.create_string_buffer(struct.pack('QQQ', 0xaa, 0, 0), 24)\n\
     assert libc.ioctl(given, ctypes.c_ulong(0xc018aa3f), api) == 0\n\
     region = ctypes.create_string_buffer(struct.pack('QQQQ', memory, asked << 12, 1, 0), 32)\n\
     assert libc.ioctl(given, ctypes.c_ulong(0xc020aa00), region) == 0\n\
     source = mmap.mmap(-1, 4 << 12); source[:] = b'x' * (4 << 12); truth = {}\n\
     reader = threading.Thread(target=lambda: truth.update(read=moved(0, memory, asked, 0))); reader.start()\n\
     select.select([given], [], [])\n";

/// It goes on.
const READ_ENDS: &str = "truth['waited'] = 'read' not in truth\n\
     zeros = ctypes.create_string_buffer(struct.pack('QQQq', memory, asked << 12, 0, 0), 32)\n\
     assert libc.ioctl(given, ctypes.c_ulong(0xc020aa04), zeros) == 0\n\
     reader.join(); json.dump(truth, open(sys.argv[2], 'w'))";

/// A script that does something during a read of so many pages.
fn during_a_read(pages: u64, something: &str) -> String {
    format!("asked = {pages}\n{READ_BEGINS}{something}\n{READ_ENDS}")
}

#[test]
fn pages_that_a_read_brought_in_are_not_new_to_a_write_that_is_done_before_it() {
    let scratch = Scratch::new("at-once");
    let path = scratch.file("f", 4 * MIB);
    let (row, truth) =
        python(&scratch, &path, &during_a_read(16, "truth['wrote'] = moved(1, at(source), 4, 4)"));
    assert_eq!((number(&truth, "/read"), number(&truth, "/wrote")), (65_536, 16_384), "{truth}");
    assert_eq!(truth["waited"], true);
    let read = |what: &str| number(&row, &format!("/read/{what}"));
    assert_eq!((read("calls"), read("pages"), read("misses")), (1, 16, 16), "{row}");
    let write = |what: &str| number(&row, &format!("/write/{what}"));
    assert_eq!((write("calls"), write("pages"), write("new_pages")), (1, 4, 0), "{row}");
}

/// Of the pages in the cache some are then asked for by a call too, which finds others that are made of zeros.
#[test]
fn pages_of_zeros_that_two_ask_for_at_once_are_none_of_the_device() {
    let scratch = Scratch::new("at-once-zeros");
    let path = scratch.path("f");
    File::create(&path).and_then(|file| file.set_len(4 * MIB)).expect("a sparse file");
    let script = during_a_read(16, "truth['got'] = len(os.pread(fd, 200 << 12, 8 << 12))");
    let (row, truth) = python(&scratch, &path, &script);
    assert_eq!(truth["waited"], true);
    assert_eq!((number(&truth, "/read"), number(&truth, "/got")), (65_536, 200 << 12), "{truth}");
    let read = |what: &str| number(&row, &format!("/read/{what}"));
    assert!(read("misses") > 16, "{row}");
    assert_eq!(
        (read("pages"), read("zeros")),
        (216, read("misses") + read("readahead_hits")),
        "{row}"
    );
    assert_eq!((read("from_device"), number(&row, "/device/read_bytes")), (0, 0), "{row}");
}

/// The kernel holds the first 31 pages of a read at most (FOLIO_BATCH), so that the last ones can be evicted before it uses them.
#[test]
fn pages_that_two_requests_had_read_for_them_are_two_reads() {
    const ADVISED: [&str; 2] = ["RANDOM", "DONTNEED"];
    let scratch = Scratch::new("at-once-evicted");
    let path = scratch.file("f", 4 * MIB);
    let advise =
        ADVISED.map(|advice| format!("os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_{advice})"));
    let again =
        format!("{}; {}; truth['again'] = moved(0, at(source), 4, 60)", advise[0], advise[1]);
    let (row, truth) = python(&scratch, &path, &during_a_read(64, &again));
    assert_eq!((number(&truth, "/read"), number(&truth, "/again")), (64 << 12, 4 << 12), "{truth}");
    assert_eq!(truth["waited"], true);
    let read = |what: &str| number(&row, &format!("/read/{what}"));
    assert_eq!((read("calls"), read("pages"), read("misses")), (2, 68, 64), "{row}");
    assert!(number(&row, "/dropped_by_run_pages") > 4, "{row}");
    let added = read("misses") + number(&row, "/readahead/pages");
    assert_eq!(added << 12, number(&row, "/device/read_bytes"), "{row}");
}
