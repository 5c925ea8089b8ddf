//! Writes that make the kernel do more, or something else, than their arguments say.

use std::fs::File;
use std::io::{Seek as _, Write};
use std::os::unix::fs::FileExt;
use std::process::Command;

use hotset_tests::filesystems::{FileSystem, Kind};
use hotset_tests::scratch::text;
use hotset_tests::{
    PAGE, Scratch, evict_verified, hotset, number, profile_of, read_json, row_at, undisturbed,
};

/// The kernel brings the page of the old end in to fill its rest with zeros: the write did not ask for it.
#[test]
fn the_page_of_the_old_end_is_no_new_page_of_a_write_beyond_it() {
    let scratch = Scratch::new("beyond");
    let path = scratch.path("f");
    let mut file = File::create(&path).expect("create");
    undisturbed(&[&path], || {
        file.set_len(0).and_then(|()| file.rewind()).expect("empty");
        file.write_all(&[7; PAGE as usize + 100]).expect("write");
        file.sync_all().expect("fsync");
        evict_verified(&path);
        let to = format!("of={}", text(&path));
        let words = ["dd", "if=/dev/zero", &to, "bs=8192", "seek=5", "count=1", "conv=notrunc"];
        let profile = profile_of(&scratch, &words);
        let row = row_at(&profile, &path);
        let n = |pointer| number(row, pointer);
        assert_eq!(
            (n("/write/calls"), n("/write/pages"), n("/write/new_pages")),
            (1, 2, 2),
            "{row}"
        );
        // It was read, for a part of it is written.
        assert_eq!((n("/device/read_bytes"), n("/write/misses")), (PAGE, 1), "{row}");
    });
}

/// By a call, and by a request of Linux AIO. It fails only once ext4 has begun, which then fills the rest of the page of the end
/// with zeros.
#[test]
fn what_is_read_for_a_write_that_fails_is_no_miss() {
    let scratch = Scratch::new("beyond-refused");
    let fs = FileSystem::new(Kind::Ext4);
    let path = fs.path("f");
    let file = File::create(&path).expect("create");
    file.write_all_at(&[7; 1000], 0).and_then(|()| file.sync_all()).expect("write");
    let called = "try: os.pwrite(fd, data, 8191)\n\
        except OSError: sys.exit(0)\n\
        sys.exit('it was written')";
    let submitted = "libc = ctypes.CDLL(None); context = ctypes.c_ulong(0); word = ctypes.c_long\n\
        libc.syscall(206, 8, ctypes.byref(context)); at = ctypes.cast(data, ctypes.c_void_p).value\n\
        iocb = struct.pack('=QIIHhIQQqQII', 0, 0, 0, 1, 0, fd, at, 100, 1000, 0, 0, 0)\n\
        iocb = ctypes.create_string_buffer(iocb, 64)\n\
        libc.syscall(209, context, word(1), (ctypes.c_void_p * 1)(ctypes.addressof(iocb)))\n\
        event = ctypes.create_string_buffer(32)\n\
        libc.syscall(208, context, word(1), word(1), event, None)\n\
        sys.exit(struct.unpack('QQqq', event.raw)[2] != -22)";
    for how in [called, submitted] {
        let script = format!(
            "import ctypes, os, struct, sys\n\
             fd = os.open(sys.argv[1], os.O_WRONLY | os.O_DIRECT); data = b'x' * 100\n{how}"
        );
        undisturbed(&[&path], || {
            evict_verified(&path);
            let profile = profile_of(&scratch, &["python3", "-c", &script, text(&path)]);
            let row = row_at(&profile, &path);
            let n = |pointer| number(row, pointer);
            assert_eq!((n("/device/read_bytes"), n("/write/dirtied_pages")), (PAGE, 1), "{row}");
            assert_eq!((n("/write/calls"), n("/write/misses")), (0, 0), "{how} {row}");
        });
    }
}

#[test]
fn what_is_sent_into_a_file_past_the_cache_is_a_direct_write() {
    let scratch = Scratch::new("sent-direct");
    let (from, to) = (scratch.file("from", 4 * PAGE), scratch.path("to"));
    let script = "import os, sys\n\
        source = os.open(sys.argv[1], os.O_RDONLY)\n\
        target = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_DIRECT)\n\
        assert os.sendfile(target, source, 0, 16384) == 16384\n";
    let profile = profile_of(&scratch, &["python3", "-c", script, text(&from), text(&to)]);
    let row = row_at(&profile, &to);
    let n = |pointer| number(row, pointer);
    assert_eq!((n("/direct/write_calls"), n("/direct/write_bytes")), (1, 4 * PAGE), "{row}");
    assert_eq!((n("/write/calls"), n("/write/new_pages")), (0, 0), "{row}");
    assert_eq!(number(row_at(&profile, &from), "/read/bytes"), 4 * PAGE);
    // Its pages are only the memory of the write.
    assert_eq!(n("/device/write_bytes"), 4 * PAGE, "{row}");
    assert_eq!(number(row_at(&profile, &from), "/device/write_bytes"), 0);
}

/// Through a pipe, in pages of the kernel's own.
#[test]
fn what_is_sent_from_a_file_past_the_cache_is_read_from_its_device() {
    let scratch = Scratch::new("sent-from-direct");
    let (from, to) = (scratch.file("from", 64 * PAGE), scratch.path("to"));
    let script = "import os, sys\n\
        source = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)\n\
        target = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)\n\
        assert os.sendfile(target, source, 0, 64 * 4096) == 64 * 4096\n";
    for options in [&["-q"][..], &["-q", "--compat-sensor"]] {
        let profile = scratch.path("profile.json");
        let mut command = Command::new(hotset());
        command.args(["run", "--json", text(&profile)]).args(options);
        command.args(["--", "python3", "-c", script, text(&from), text(&to)]);
        assert!(command.status().expect("hotset").success());
        let profile = read_json(&profile);
        let (row, target) = (row_at(&profile, &from), row_at(&profile, &to));
        assert_eq!(number(row, "/direct/read_bytes"), 64 * PAGE, "{row}");
        assert_eq!(number(row, "/device/read_bytes"), 64 * PAGE, "{row}");
        assert_eq!(number(target, "/write/bytes"), 64 * PAGE, "{target}");
        assert_eq!(number(target, "/device/read_bytes"), 0, "{target}");
        assert_eq!(number(target, "/mmap/pages_read"), 0, "{target}");
    }
}

/// A part of a page that is not cached, from another file.
#[test]
fn what_is_sent_into_a_part_of_a_page_misses_it() {
    let scratch = Scratch::new("sent-part");
    let (from, to) = (scratch.file("from", PAGE), scratch.file("to", 4 * PAGE));
    let script = "import os, sys\n\
        source = os.open(sys.argv[1], os.O_RDONLY)\n\
        target = os.open(sys.argv[2], os.O_RDWR)\n\
        os.lseek(target, 4096 + 100, 0)\n\
        assert os.sendfile(target, source, 0, 1000) == 1000\n";
    undisturbed(&[&to], || {
        File::open(&to).and_then(|file| file.sync_all()).expect("sync");
        evict_verified(&to);
        let profile = profile_of(&scratch, &["python3", "-c", script, text(&from), text(&to)]);
        let row = row_at(&profile, &to);
        let n = |pointer| number(row, pointer);
        assert_eq!((n("/write/pages"), n("/write/misses"), n("/device/read_bytes")), (1, 1, PAGE));
    });
}

/// Blocks of 1 KiB: both ends of a page are read apart, and a page of pieces comes in several requests.
#[test]
fn blocks_that_are_smaller_than_a_page_are_no_pages() {
    let scratch = Scratch::new("blocks");
    let fs = FileSystem::new(Kind::Overlay);
    let (path, other) = (fs.path("f"), fs.path("other"));
    // Pieces of two files by turns lie by turns on the device, too.
    let pair = [&path, &other].map(|path| File::create(path).expect("create"));
    for piece in 0..64 {
        for file in &pair {
            file.write_all_at(&[7; 1024], piece * 1024).expect("write");
            file.sync_all().expect("fsync");
        }
    }
    let pages = 64 * 1024 / PAGE;
    let read = "import mmap, os, sys\nm = mmap.mmap(os.open(sys.argv[1], os.O_RDONLY), 0, prot=1)\n\
        sum(m[::4096])\n";
    let write =
        "import os, sys\nos.pwrite(os.open(sys.argv[1], os.O_RDWR), b'x' * 2048, 8192 + 512)\n";
    for (script, group, wanted) in [(read, "/mmap/pages_read", pages), (write, "/write/misses", 1)]
    {
        undisturbed(&[&path], || {
            pair[0].sync_all().expect("fsync");
            evict_verified(&path);
            let profile = profile_of(&scratch, &["python3", "-c", script, text(&path)]);
            let rows = profile["files"].as_array().expect("files");
            let row = rows.iter().find(|row| row["path"] == text(&path)).expect("the file's row");
            assert_eq!(number(row, group), wanted, "{row}");
        });
    }
}

/// The memory of a call is a mapping of the file that it writes: what the faults read is no part of the write.
#[test]
fn pages_that_a_writes_own_memory_faults_in_are_the_faults() {
    let scratch = Scratch::new("own-memory");
    let path = scratch.file("f", 64 * PAGE);
    let script = "import ctypes, mmap, os, sys\n\
        file = os.open(sys.argv[1], os.O_RDWR)\n\
        m = mmap.mmap(file, 0)\n\
        at = ctypes.addressof(ctypes.c_char.from_buffer(m))\n\
        write = ctypes.CDLL(None).pwrite\n\
        write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]\n\
        assert write(file, at, 16 * 4096, 64 * 4096) == 16 * 4096\n";
    undisturbed(&[&path], || {
        let file = File::options().write(true).open(&path).expect("open");
        file.set_len(64 * PAGE).and_then(|()| file.sync_all()).expect("its first length");
        evict_verified(&path);
        let profile = profile_of(&scratch, &["python3", "-c", script, text(&path)]);
        let row = row_at(&profile, &path);
        let n = |pointer| number(row, pointer);
        assert_eq!(
            (n("/write/pages"), n("/write/new_pages"), n("/write/misses")),
            (16, 16, 0),
            "{row}"
        );
        assert_eq!(n("/mmap/pages_read") * PAGE, n("/device/read_bytes"), "{row}");
        assert!(n("/mmap/pages_read") >= 16, "{row}");
    });
}
