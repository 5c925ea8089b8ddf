//! Calls that end short of what they asked for: the pages they leave behind came from the device all the same.

use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use hotset_tests::run::profile_of;
use hotset_tests::scratch::text;
use hotset_tests::{
    Scratch, assert_invariants, evict_verified, hotset, number, read_json, row_at, undisturbed,
    until,
};

const PAGES: u64 = 4096;

/// Sends a file over a socket that takes a little at a time, as a web server does; run as its own process by the test.
const SERVER: &str = r"
import os, socket, sys
path, number = sys.argv[1], int(sys.argv[2])
out = socket.socket(fileno=number)
out.setblocking(False)
file = os.open(path, os.O_RDONLY)
size, at = os.fstat(file).st_size, 0
while at < size:
    try:
        at += os.sendfile(out.fileno(), file, at, size - at)
    except BlockingIOError:
        import select
        select.select([], [out], [])
";

fn take_all(mut stream: UnixStream) -> u64 {
    let (mut buffer, mut total) = (vec![0; 32 << 10], 0);
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        total += n as u64;
    }
    total
}

#[test]
fn a_server_that_sends_in_pieces_reads_everything_from_the_device() {
    let scratch = Scratch::new("short-sendfile");
    let file = scratch.path("f");
    let mut out = std::fs::File::create(&file).expect("create");
    for i in 0..PAGES {
        out.write_all(&[i as u8; 4096]).expect("write");
    }
    out.sync_all().expect("sync");
    drop(out);
    undisturbed(&[&file], || assert_sent_from_the_device(&scratch, &file));
}

fn assert_sent_from_the_device(scratch: &Scratch, file: &Path) {
    let profile = scratch.path("p.json");
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let reader = std::thread::spawn(move || take_all(ours));
    let theirs = OwnedFd::from(theirs);
    rustix::io::fcntl_setfd(&theirs, rustix::io::FdFlags::empty()).expect("inherited");
    evict_verified(file);
    let status = Command::new(hotset())
        .args(["run", "-q", "--json", text(&profile), "--", "python3", "-c", SERVER, text(file)])
        .arg(theirs.as_raw_fd().to_string())
        .status()
        .expect("hotset");
    drop(theirs);
    assert!(status.success());
    assert_eq!(reader.join().expect("reader"), PAGES * 4096);
    let profile = read_json(&profile);
    assert_invariants(&profile);
    let row = profile["files"]
        .as_array()
        .expect("files")
        .iter()
        .find(|row| row["path"] == text(file))
        .expect("its row");
    assert_eq!(number(row, "/device/read_bytes"), PAGES * 4096, "{row}");
    assert_eq!(number(row, "/read/bytes"), PAGES * 4096, "{row}");
    // A page that two calls share is asked for twice, and comes from the device once.
    assert_eq!(number(row, "/read/from_device"), PAGES, "{row}");
}

/// Reads some pages alone, then all of them to where there is no memory, and all of them at last; says which error the second
/// call ended with.
const FAULT: &str = r"
import ctypes, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
for page in map(int, sys.argv[2].split(',')):
    os.pread(file, 4096, page << 12)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_NORMAL)
libc, size = ctypes.CDLL(None, use_errno=True), os.fstat(file).st_size
libc.pread(file, ctypes.c_void_p(4096), ctypes.c_size_t(size), ctypes.c_long(0))
if ctypes.get_errno() != 14 or len(os.pread(file, size, 0)) != size:
    sys.exit('no EFAULT, or too little')
";

/// What was cached before a call that fails is no part of what it read ahead.
#[test]
fn pages_between_those_that_a_failed_read_leaves_behind_come_from_the_cache() {
    const SIZE: u64 = 16;
    let scratch = Scratch::new("failed-read");
    let file = scratch.file("f", SIZE * 4096);
    for cached in [&[9][..], &[5, 6, 9], &[0, 2, 4, 8, 15]] {
        let words = cached.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let counted = || {
            let row = until("nothing else read the file", || {
                evict_verified(&file);
                let profile = profile_of(&scratch, &["python3", "-c", FAULT, text(&file), &words]);
                let row = row_at(&profile, &file).clone();
                (number(&row, "/cached_before") == 0).then_some(row)
            });
            assert_eq!(number(&row, "/device/read_bytes"), SIZE * 4096, "{words}: {row}");
            assert_eq!(number(&row, "/read/from_device"), SIZE, "{words}: {row}");
            assert_eq!(number(&row, "/read/from_cache"), cached.len() as u64, "{words}: {row}");
        };
        undisturbed(&[&file], counted);
    }
}
