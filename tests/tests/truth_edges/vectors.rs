//! Calls whose vector, or path, is not in memory as they begin.

use hotset_tests::run::profile_of;
use hotset_tests::scratch::text;
use hotset_tests::{MIB, Scratch, lost_counts, number, read_json};

use crate::script::python;

/// A vector in a mapping of a file that nobody has touched, so that the kernel has to fault it in.
const VECTOR: &str = "import ctypes,json,mmap,os,struct,sys\n\
     libc = ctypes.CDLL(None, use_errno=True); buffer = mmap.mmap(-1, 1 << 20); buffer[:] = bytes(1 << 20)\n\
     at = lambda map: ctypes.addressof(ctypes.c_char.from_buffer(map))\n\
     pieces = struct.pack('QQQQ', at(buffer), 9000, at(buffer) + 9000, 40152)\n\
     open(sys.argv[2] + '.v', 'wb').write(pieces.ljust(4096))\n\
     vector = mmap.mmap(os.open(sys.argv[2] + '.v', os.O_RDWR), 4096)\n\
     pointer = ctypes.c_void_p(at(vector))\n\
     fd = os.open(sys.argv[1], os.O_RDWR)\n";

#[test]
fn what_a_vector_that_is_not_in_memory_asks_for_is_counted_all_the_same() {
    let scratch = Scratch::new("vector");
    let script = VECTOR.to_owned()
        + "read = libc.preadv(fd, pointer, 2, ctypes.c_long(0))\n\
           libc.madvise(pointer, ctypes.c_size_t(4096), 4)\n\
           wrote = libc.pwritev(fd, pointer, 2, ctypes.c_long(4 << 20))\n\
           json.dump({'read': read, 'wrote': wrote}, open(sys.argv[2], 'w'))";
    let path = scratch.file("f", 4 * MIB);
    let (row, truth) = python(&scratch, &path, &script);
    assert_eq!((number(&truth, "/read"), number(&truth, "/wrote")), (49_152, 49_152));
    let read = |what: &str| number(&row, &format!("/read/{what}"));
    assert_eq!((read("calls"), read("pages"), read("misses")), (1, 12, 12), "{row}");
    let write = |what: &str| number(&row, &format!("/write/{what}"));
    assert_eq!((write("calls"), write("pages"), write("new_pages")), (1, 12, 12), "{row}");
    assert_eq!(number(&row, "/readahead/pages") + 24, number(&row, "/cached_after"), "{row}");
}

#[test]
fn a_request_of_linux_aio_whose_vector_is_not_in_memory_is_said_to_be_lost() {
    let scratch = Scratch::new("vector-aio");
    let script = VECTOR.to_owned()
        + "context = ctypes.c_ulong(0); libc.syscall(206, 8, ctypes.byref(context))\n\
           iocb = struct.pack('=QIIHhIQQqQII', 0, 0, 0, 7, 0, fd, pointer.value, 2, 0, 0, 0, 0)\n\
           iocb = ctypes.create_string_buffer(iocb, 64); list = (ctypes.c_void_p * 1)(ctypes.addressof(iocb))\n\
           libc.syscall(209, context, ctypes.c_long(1), list); event = ctypes.create_string_buffer(32)\n\
           libc.syscall(208, context, ctypes.c_long(1), ctypes.c_long(1), event, None)\n\
           json.dump({'read': struct.unpack('QQqq', event.raw)[2]}, open(sys.argv[2], 'w'))";
    let path = scratch.file("f", 4 * MIB);
    let truth = scratch.path("truth.json");
    let profile = profile_of(&scratch, &["python3", "-c", &script, text(&path), text(&truth)]);
    assert_eq!(number(&read_json(&truth), "/read"), 49_152);
    assert_eq!(lost_counts(&profile), 1, "{}", profile["sensor"]);
}

/// `fstat` as glibc makes it, by a path without a letter, is no lookup.
#[test]
fn a_path_that_is_not_in_memory_is_read_once_the_call_is_over() {
    let scratch = Scratch::new("path");
    let (path, empty) = (scratch.file("f", 4096), scratch.path("empty"));
    std::fs::write(&empty, [0; 4096]).expect("a page of zeros");
    let script = "import ctypes,mmap,os,sys\n\
         libc = ctypes.CDLL(None); fd = os.open(sys.argv[1], os.O_RDONLY); status = ctypes.create_string_buffer(256)\n\
         map = mmap.mmap(os.open(sys.argv[2], os.O_RDWR), 4096)\n\
         path = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(map)))\n\
         for _ in range(int(sys.argv[3])):\n\
         \x20   libc.madvise(path, ctypes.c_size_t(4096), 4); libc.syscall(262, fd, path, status, 0x1000)";
    let lookups = |stats: &str| {
        let words = ["python3", "-I", "-S", "-c", script, text(&path), text(&empty), stats];
        number(&profile_of(&scratch, &words), "/lookups/calls")
    };
    lookups("1"); // what Python writes when it runs for the first time
    assert_eq!(lookups("0"), lookups("64"));
}
