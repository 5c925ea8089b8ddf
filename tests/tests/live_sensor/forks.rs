//! Processes made by this one: which is which when PIDs are reused, their calls by size, and their names after an exec or another change.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_observe::{DEFAULT_MAX_ROWS, Scope};
use hotset_tests::children::{forked, pread_a_page, wait_for};
use hotset_tests::scratch::text;
use hotset_tests::{MIB, Scratch, until, warm_verified};

use crate::{done_to, id_of, sample, session};

/// A process that reads a page and ends; its number.
fn read_a_page(file: &File) -> u32 {
    let fd = file.as_raw_fd();
    let pid = forked(|| pread_a_page(fd));
    wait_for(pid);
    pid as u32
}

/// Asks the kernel to go on numbering after `pid - 1`.
fn next_pid_is(pid: u32) {
    std::fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string())
        .expect("kernel.ns_last_pid (as root)");
}

fn reuse_never_mixes(compat: bool) {
    let scratch = Scratch::new("live-reuse");
    let path = scratch.file("data", MIB);
    let id = id_of(&path);
    warm_verified(&path);
    let file = File::open(&path).expect("open");
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, compat);
    // Within one interval, and across two.
    for pause in [false, true] {
        until("the same number twice", || {
            sample(&mut session);
            let first = read_a_page(&file);
            let between = pause.then(|| sample(&mut session));
            next_pid_is(first);
            let second = read_a_page(&file);
            let last = sample(&mut session);
            if first != second {
                return None;
            }
            let samples = between.iter().chain(Some(&last));
            let mine = samples.flat_map(|sample| done_to(sample, id));
            let ids: Vec<(u32, u64)> = mine
                .filter(|(process, _)| process.pid == first)
                .map(|(process, io)| (process.id, io.read_pages))
                .collect();
            assert_eq!(ids.len(), 2, "{ids:?}");
            assert_ne!(ids[0].0, ids[1].0, "two processes");
            assert_eq!((ids[0].1, ids[1].1), (1, 1));
            Some(())
        });
    }
}

#[test]
fn a_number_that_is_used_again_is_another_process() {
    reuse_never_mixes(false);
    reuse_never_mixes(true);
}

/// Reads of 16 bytes and of a page and writes of a page, by a process that stays until it may go.
fn histograms_are_exact(compat: bool) {
    let scratch = Scratch::new("live-histogram");
    let path = scratch.file("data", MIB);
    let id = id_of(&path);
    warm_verified(&path);
    let file = File::options().read(true).write(true).open(&path).expect("open");
    let fd = file.as_raw_fd();
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, compat);
    let ([mut done, mut go], mut byte) = ([[0; 2]; 2], 0_u8);
    // SAFETY: places for two descriptors each.
    assert_eq!(unsafe { libc::pipe(done.as_mut_ptr()) + libc::pipe(go.as_mut_ptr()) }, 0);
    let child = forked(|| {
        let mut bytes = [7_u8; 4096];
        let buffer: *mut libc::c_void = bytes.as_mut_ptr().cast();
        // SAFETY: the buffer is as long as each call is told, and a byte goes over our own pipes.
        unsafe {
            (0..3).for_each(|_| _ = libc::pread(fd, buffer, 16, 0));
            (0..5).for_each(|_| _ = libc::pread(fd, buffer, 4096, 0));
            (0..2).for_each(|_| _ = libc::pwrite(fd, buffer, 4096, 8192));
            libc::write(done[1], buffer, 1);
            libc::read(go[0], buffer, 1);
        }
    });
    // SAFETY: one byte from our own pipe.
    assert_eq!(unsafe { libc::read(done[0], (&raw mut byte).cast(), 1) }, 1);
    let seen = sample(&mut session);
    let rows = done_to(&seen, id);
    assert_eq!((rows.len(), rows[0].0.pid), (1, child as u32), "{rows:?}");
    let owner = rows[0].0.id;
    // With its generation, which stat(2) does not tell.
    let id = seen.files.iter().find(|file| file.id.same_inode(&id)).expect("the file").id;
    for (reads, writes) in [session.histogram_of_process(owner), session.histogram_of_file(id)]
        .map(|h| h.expect("calls"))
    {
        assert_eq!((reads.calls_up_to(16), reads.0.iter().sum::<u64>()), (3, 8), "{reads:?}");
        assert_eq!((reads.calls_up_to(1024), reads.calls_up_to(4096)), (3, 8), "{reads:?}");
        assert_eq!((writes.calls_up_to(1024), writes.calls_up_to(4096)), (0, 2), "{writes:?}");
    }
    assert!(
        session.histogram_of_process(0).is_none() && session.histogram_of_process(!0).is_none()
    );
    // SAFETY: one byte to our own pipe.
    assert_eq!(unsafe { libc::write(go[1], (&raw const byte).cast(), 1) }, 1);
    wait_for(child);
    sample(&mut session);
    assert!(session.histogram_of_process(owner).is_none(), "its rows are given up");
}

#[test]
fn calls_by_size_are_those_that_were_made() {
    histograms_are_exact(false);
    histograms_are_exact(true);
}

/// Processes that read a page of one file and then execute cat(1) on another, one after the other until told to end; how many there were.
fn readers_that_execute_cat(first: &File, second: &CStr, end: &AtomicBool) -> u64 {
    let nowhere = File::options().write(true).open("/dev/null").expect("/dev/null");
    let words = [c"cat".as_ptr(), second.as_ptr(), std::ptr::null()];
    let mut readers = 0;
    while !end.load(Ordering::Relaxed) {
        wait_for(forked(|| {
            pread_a_page(first.as_raw_fd());
            // SAFETY: descriptors that are open, and words that end in a zero in a list that does.
            unsafe {
                libc::dup2(nowhere.as_raw_fd(), 1);
                libc::execv(c"/bin/cat".as_ptr(), words.as_ptr());
            }
        }));
        readers += 1;
    }
    readers
}

/// A sample reads processes and then rows. What happens in between is neither lost nor told of the program that ran before.
fn an_exec_is_never_told_of_the_former_program(compat: bool) {
    let scratch = Scratch::new("live-exec");
    let [first, second] = ["first", "second"].map(|name| scratch.file(name, MIB / 4));
    [&first, &second].iter().for_each(|path| warm_verified(path));
    let id = id_of(&second);
    let first = File::open(first).expect("open");
    let name = CString::new(text(&second)).expect("a name");
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, compat);
    let end = AtomicBool::new(false);
    let mut pages = BTreeMap::new();
    let mut look = || {
        let seen = sample(&mut session);
        for (process, io) in done_to(&seen, id) {
            *pages.entry(process.comm.to_string()).or_insert(0) += io.read_pages;
        }
        let file = seen.files.iter().find(|file| file.id.same_inode(&id));
        let is_named = file.is_none_or(|file| file.path.as_value().is_some());
        assert!(is_named, "{file:?}; lost: {:?}", seen.losses);
    };
    let readers = std::thread::scope(|threads| {
        let readers = threads.spawn(|| readers_that_execute_cat(&first, &name, &end));
        (0..60).for_each(|_| look());
        end.store(true, Ordering::Relaxed);
        readers.join().expect("readers")
    });
    (0..2).for_each(|_| look());
    assert_eq!(pages, BTreeMap::from([("cat".to_owned(), readers * 64)]));
}

#[test]
fn what_follows_an_exec_is_told_of_the_new_program() {
    an_exec_is_never_told_of_the_former_program(false);
    an_exec_is_never_told_of_the_former_program(true);
}

/// A process that takes another name, as servers do, has it from the next file on that it meets.
fn a_name_is_asked_for_at_each_new_file(compat: bool) {
    let scratch = Scratch::new("live-rename");
    let paths = ["first", "second"].map(|name| scratch.file(name, MIB));
    paths.iter().for_each(|path| warm_verified(path));
    let [first, second] = paths.each_ref().map(|path| File::open(path).expect("open"));
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, compat);
    wait_for(forked(|| {
        pread_a_page(first.as_raw_fd());
        // SAFETY: a name that ends in a zero.
        unsafe { libc::prctl(libc::PR_SET_NAME, c"worker 7".as_ptr()) };
        pread_a_page(second.as_raw_fd());
    }));
    let seen = sample(&mut session);
    let rows = done_to(&seen, id_of(&paths[1]));
    assert_eq!((rows.len(), &*rows[0].0.comm, rows[0].1.read_pages), (1, "worker 7", 1));
}

#[test]
fn a_process_that_renames_itself_is_shown_by_its_new_name() {
    a_name_is_asked_for_at_each_new_file(false);
    a_name_is_asked_for_at_each_new_file(true);
}
