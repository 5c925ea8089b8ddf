//! More processes and files than the sensor's tables hold. Whatever watches the whole host meanwhile finds its tables full as well, so that
//! tests/run.py runs this program alone.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use hotset_observe::Scope;
use hotset_observe::live::{LiveOptions, LiveSample, LiveSession};
use hotset_tests::children::{forked, pread_a_page, wait_for};
use hotset_tests::scratch::text;
use hotset_tests::watching::{Watching, sum};
use hotset_tests::{MIB, Scratch, Shell, warm_verified};

/// The next sample, and how many pages of a file each process read in it.
fn sampled(session: &mut LiveSession, path: &Path) -> (LiveSample, Vec<u64>) {
    let id = hotset_sys::file_id(&rustix::fs::stat(path).expect("stat"));
    let sample = session.sample().expect("a sample");
    for row in &sample.rows {
        let io = row.io.unpack();
        assert!(io.read_misses + io.readahead_hits <= io.read_pages, "{row:?}");
    }
    let file = sample.files.iter().position(|file| file.id.same_inode(&id)).map(|at| at as u32);
    let rows = sample.rows.iter().filter(|row| Some(row.file) == file);
    let pages = rows.map(|row| row.io.unpack().read_pages).collect();
    (sample, pages)
}

/// Reads a page and looks for a file that is not there.
extern "C" fn page_reader(fd: *mut libc::c_void) -> i32 {
    pread_a_page(fd.addr() as i32);
    // SAFETY: a name that ends in a zero.
    unsafe { libc::access(c"/hotset/is not here".as_ptr(), libc::F_OK) };
    0
}

/// A process that does this and borrows this one's memory, as after vfork(2): copying it for each of thousands takes most of the time.
fn read_a_page_cheaply(fd: i32) {
    let mut stack = [0_u128; 4096];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let argument = std::ptr::without_provenance_mut(fd as usize);
    // SAFETY: the child has a stack of its own, which stays until it has ended: this process waits for that. It makes system calls and
    // touches no lock and no heap.
    wait_for(unsafe {
        libc::clone(page_reader, stack.as_mut_ptr_range().end.cast(), flags, argument)
    });
}

/// More processes than the table holds, without a sample in between; then the table is free again.
#[test]
fn a_flood_of_processes_is_counted_with_others() {
    const FLOOD: u64 = 36_000;
    let scratch = Scratch::new("live-flood");
    let path = scratch.file("data", MIB);
    warm_verified(&path);
    let file = File::open(&path).expect("open");
    let fd = file.as_raw_fd();
    let (mut begin, mut go) = ([0; 2], [0; 2]);
    // SAFETY: places for two descriptors each.
    assert_eq!(unsafe { libc::pipe(begin.as_mut_ptr()) + libc::pipe(go.as_mut_ptr()) }, 0);
    let flooder = forked(|| {
        for round in [FLOOD, 1] {
            let mut byte = 0_u8;
            // SAFETY: one byte from our own pipe, and one to it.
            unsafe { libc::read(begin[0], (&raw mut byte).cast(), 1) };
            (0..round).for_each(|_| read_a_page_cheaply(fd));
            // SAFETY: as above.
            unsafe { libc::write(go[1], (&raw const byte).cast(), 1) };
        }
    });
    let turn = || {
        let mut byte = 0_u8;
        // SAFETY: one byte to our own pipe, and one from it.
        unsafe {
            assert_eq!(libc::write(begin[1], (&raw const byte).cast(), 1), 1);
            assert_eq!(libc::read(go[0], (&raw mut byte).cast(), 1), 1);
        }
    };
    let scope = Scope::Processes(vec![flooder as u32]);
    let options = LiveOptions { scope, lookups: true, ..LiveOptions::default() };
    let mut session = LiveSession::start(options).expect("the sensor loads (as root)");
    sampled(&mut session, &path);
    turn();
    let (seen, pages) = sampled(&mut session, &path);
    let own: u64 = pages.iter().sum();
    assert!(own < 32_768 && own > 30_000, "{own} told apart");
    assert_eq!(own + seen.others.read_pages, FLOOD, "{:?}", seen.others);
    assert!(seen.losses.unattributed >= FLOOD - own);
    let lookups = seen.lookups.expect("asked for");
    let of = |known: bool| {
        let groups = lookups.iter().filter(|group| group.cgroup.is_some() == known);
        groups.fold((0, 0), |sum, group| (sum.0 + group.calls, sum.1 + group.failed))
    };
    assert_eq!((of(true), of(false)), ((own, own), (FLOOD - own, FLOOD - own)), "{lookups:?}");
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(30));
        sampled(&mut session, &path);
    }
    let before = seen.losses.unattributed;
    turn();
    wait_for(flooder);
    let (seen, pages) = sampled(&mut session, &path);
    assert_eq!((pages, seen.losses.unattributed), (vec![1], before), "there is room");
}

/// Three readers of 36,000 files want more rows than the table has: the rest is counted without an owner, in bounded memory.
#[test]
fn more_files_than_rows_are_all_counted_in_bounded_memory() {
    const FILES: u64 = 36_000;
    let scratch = Scratch::new("stat-many");
    let many = scratch.path("many");
    std::fs::create_dir(&many).expect("mkdir");
    for n in 0..FILES {
        std::fs::write(many.join(n.to_string()), "x").expect("write");
    }
    let mut shell = Shell::new();
    let mut watching = Watching::start(&["--pid", &shell.pid().to_string(), "0.1"]);
    // Each is one process to the end, and nobody gives rows back meanwhile.
    let reader = "import os, sys\nfor name in os.listdir(sys.argv[1]):\n  \
                  fd = os.open(sys.argv[1] + '/' + name, os.O_RDONLY); os.read(fd, 9); os.close(fd)\n";
    let script = scratch.path("reader.py");
    std::fs::write(&script, reader).expect("write");
    let words = format!("python3 -S {} {} &", text(&script), text(&many));
    watching.send(libc::SIGSTOP);
    shell.run(&format!("{} wait", [words.as_str(); 3].join(" ")));
    watching.send(libc::SIGCONT);
    watching.until_now();
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", watching.pid())).expect("status");
    let (lines, said) = watching.end_by(libc::SIGINT);
    let pages = sum(&lines, "total");
    let own = pages.checked_sub(3 * FILES).expect("nothing is dropped");
    assert!(own < 3_000, "{own} pages of Python's own");
    assert!(said.contains("requests found the tables full"), "the table was not filled: {said}");
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("KiB")
    };
    assert!(kib("RssAnon:") < 40 << 10 && kib("VmHWM:") < 64 << 10, "{status}");
}
