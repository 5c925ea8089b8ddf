//! Faults on mappings that no instruction of the program makes, and such as fail.

use hotset_tests::filesystems::{FileSystem, Kind};
use hotset_tests::{MIB, PAGE, Scratch, number};

use crate::script::python;

#[test]
fn faults_of_a_mapping_that_is_filled_at_once_are_major_where_they_read() {
    let scratch = Scratch::new("populate");
    let path = scratch.file("f", MIB);
    // Python's own code is mapped by a call for nothing, lest its faults be among those that are counted.
    let script = "import ctypes,json,mmap,os,resource,sys\n\
         libc = ctypes.CDLL(None); faults = lambda: resource.getrusage(0).ru_majflt\n\
         map = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 0)\n\
         at = ctypes.addressof(ctypes.c_char.from_buffer(map)); faults()\n\
         fill = lambda some: libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(some), 22)\n\
         fill(0); before = faults(); failed = fill(len(map))\n\
         json.dump({'major': faults() - before, 'failed': failed}, open(sys.argv[2], 'w'))";
    let (row, truth) = python(&scratch, &path, script);
    assert_eq!(number(&truth, "/failed"), 0, "MADV_POPULATE_READ (Linux 5.14)");
    assert_eq!(number(&row, "/mmap/pages_read"), MIB / PAGE, "{row}");
    assert_eq!(number(&row, "/mmap/major_faults"), number(&truth, "/major"), "{row}");
}

#[test]
fn a_mapping_that_is_filled_by_a_task_that_is_killed_then_has_its_major_fault() {
    let scratch = Scratch::new("populate-killed");
    let path = scratch.file("f", PAGE);
    // All that the child has mapped before is locked, so that no fault of its code comes behind the one that counts.
    let script = "import ctypes,json,mmap,os,resource,struct,sys,time\n\
         libc = ctypes.CDLL(None); fd = os.open(sys.argv[1], os.O_RDWR)\n\
         said = mmap.mmap(-1, 4096); child = os.fork()\n\
         if not child:\n\
         \x20   locked = libc.mlockall(1); map = mmap.mmap(fd, 0); map.madvise(mmap.MADV_RANDOM)\n\
         \x20   at = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(map))); length = ctypes.c_size_t(len(map))\n\
         \x20   libc.madvise(at, ctypes.c_size_t(0), 22)\n\
         \x20   struct.pack_into('Q', said, 8, resource.getrusage(0).ru_majflt)\n\
         \x20   said[0] = 1 + ((locked | libc.madvise(at, length, 22)) & 1)\n\
         \x20   while True: pass\n\
         while not said[0] and not os.waitpid(child, os.WNOHANG)[0]: time.sleep(0.001)\n\
         os.kill(child, 9); _, _, usage = os.wait4(child, 0); before, = struct.unpack_from('Q', said, 8)\n\
         json.dump({'failed': said[0] - 1, 'major': usage.ru_majflt - before}, open(sys.argv[2], 'w'))";
    let (row, truth) = python(&scratch, &path, script);
    assert_eq!(number(&truth, "/failed"), 0, "mlockall, or MADV_POPULATE_READ (Linux 5.14)");
    assert_eq!(number(&truth, "/major"), 1, "{truth}");
    assert_eq!(number(&row, "/mmap/major_faults"), 1, "{row}");
}

/// Direct I/O that reads into a mapping: where somebody has the page cleaned before it is written to, the kernel makes the fault
/// again, and counts it again. Nothing is mapped before, for a fault that only makes a page writable has no event.
#[test]
fn faults_for_direct_io_into_a_mapping_are_as_many_as_the_kernel_counts() {
    let scratch = Scratch::new("cleaned");
    let path = scratch.file("f", MIB);
    let script = "import ctypes,json,mmap,os,resource,sys,threading,time\n\
         libc = ctypes.CDLL(None); faults = lambda: resource.getrusage(0).ru_majflt; word = ctypes.c_long\n\
         open(sys.argv[2] + '.from', 'wb').write(bytes(4096)); done = False\n\
         source = os.open(sys.argv[2] + '.from', os.O_RDONLY | os.O_DIRECT); ready = threading.Barrier(3)\n\
         def meanwhile(work):\n\
         \x20   fd = os.open(sys.argv[1], os.O_RDWR); ready.wait()\n\
         \x20   while not done: work(fd)\n\
         clean = lambda fd: libc.sync_file_range(fd, word(0), word(0), 7)\n\
         evict = lambda fd: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)\n\
         threads = [threading.Thread(target=meanwhile, args=[work]) for work in (clean, evict)]\n\
         map = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 0); map.madvise(mmap.MADV_RANDOM)\n\
         at = ctypes.addressof(ctypes.c_char.from_buffer(map)); read = lambda page: libc.pread(\n\
         \x20   source, ctypes.c_void_p(at + (page << 12)), ctypes.c_size_t(4096), word(0))\n\
         unmap = lambda: libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(len(map)), 4)\n\
         for thread in threads: thread.start()\n\
         ready.wait(); assert libc.mlockall(1) == 0 and libc.munlock(ctypes.c_void_p(at), ctypes.c_size_t(len(map))) == 0\n\
         faults(); unmap(); before = faults(); end = time.time() + 2; failed = 0\n\
         while time.time() < end:\n\
         \x20   for page in range(256): failed += read(page) != 4096\n\
         \x20   unmap()\n\
         done = True; major = faults() - before\n\
         for thread in threads: thread.join()\n\
         json.dump({'major': major, 'failed': failed}, open(sys.argv[2], 'w'))";
    let (row, truth) = python(&scratch, &path, script);
    assert!(number(&truth, "/major") > 100 && number(&truth, "/failed") == 0, "{truth}");
    assert_eq!(number(&row, "/mmap/major_faults"), number(&truth, "/major"), "{row}");
}

/// A page past the end of another file, whose first page the fault maps on its way: the kernel does not count such a fault,
/// so that the next has its number.
#[test]
fn a_fault_after_one_that_failed_is_counted_for_its_file() {
    let scratch = Scratch::new("failed-fault");
    let path = scratch.file("f", 4 * MIB);
    let script = "import ctypes,json,mmap,os,resource,sys\n\
         libc = ctypes.CDLL(None); faults = lambda: resource.getrusage(0).ru_majflt\n\
         short = os.open(sys.argv[2] + '.short', os.O_RDWR | os.O_CREAT); os.pwrite(short, b'x' * 4096, 0)\n\
         _, pipe = os.pipe(); at = lambda map: ctypes.addressof(ctypes.c_char.from_buffer(map))\n\
         os.ftruncate(short, 8192); beyond = mmap.mmap(short, 8192); os.ftruncate(short, 4096)\n\
         past = ctypes.c_void_p(at(beyond) + 4096); one = ctypes.c_size_t(1); target = ctypes.create_string_buffer(8)\n\
         fail = lambda: libc.write(pipe, past, one); failed = fail(); faults()\n\
         assert libc.mlockall(1) == 0\n\
         map = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 0); map.madvise(mmap.MADV_RANDOM); start = at(map)\n\
         before = faults()\n\
         for page in range(0, 1024, 32):\n\
         \x20   source = ctypes.c_void_p(start + (page << 12)); failed += fail(); libc.memcpy(target, source, one)\n\
         json.dump({'major': faults() - before, 'failed': failed}, open(sys.argv[2], 'w'))";
    let (row, truth) = python(&scratch, &path, script);
    assert_eq!((truth["failed"].as_i64(), number(&truth, "/major")), (Some(-33), 32), "{truth}");
    let mapped = |what: &str| number(&row, &format!("/mmap/{what}"));
    assert_eq!(
        (mapped("faults"), mapped("major_faults"), mapped("pages_read")),
        (32, 32, 32),
        "{row}"
    );
}

/// A write whose memory is a mapping of the same file: the write has begun to fill a large folio, and a fault on a page of it
/// needs what is behind.
#[test]
fn what_a_fault_reads_of_a_folio_that_is_being_written_is_said() {
    let scratch = Scratch::new("partly-written");
    let fs = FileSystem::new(Kind::Ext4);
    let path = fs.path("f");
    std::fs::write(&path, [7; 77 * PAGE as usize]).expect("write");
    let script = "import json,mmap,os,sys\n\
         fd = os.open(sys.argv[1], os.O_RDWR); map = mmap.mmap(fd, 0); map.madvise(mmap.MADV_RANDOM)\n\
         wrote = os.pwrite(fd, memoryview(map)[:290000], 4 * 4096 + 1000)\n\
         json.dump({'wrote': wrote}, open(sys.argv[2], 'w'))";
    let (row, truth) = python(&scratch, &path, script);
    assert_eq!(number(&truth, "/wrote"), 290_000);
    let said = ["/write/misses", "/mmap/pages_read", "/readahead/pages"].map(|n| number(&row, n));
    let read = number(&row, "/device/read_bytes");
    assert_eq!(said.iter().sum::<u64>() * PAGE, read, "{row}");
}
