//! The parent and its children. They are forked and run no other program, so that all that a child does is in its books.

use std::io::{BufRead, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Barrier;

use hotset_tests::books::Books;
use rustix::pipe::PipeFlags;

use super::args::Args;
use super::ledger::Ledger;
use super::worker::{Place, Worker};
use super::{Failure, Outcome, table};

/// One child, seen from the parent.
struct Child {
    pid: i32,
    /// Where its books come from; at the end, whether it may go.
    books: OwnedFd,
    leave: OwnedFd,
}

/// Runs all children at once and prints their books, an array.
pub(super) fn run(args: &Args) -> Outcome<()> {
    let mut line = String::new();
    if args.waits() {
        std::io::stdin().lock().read_line(&mut line)?;
    }
    let processes = args.number("--processes", 2)?;
    let children: Vec<Child> =
        (0..processes).map(|index| start(args, index)).collect::<Outcome<_>>()?;
    let books: Vec<Books> = children.into_iter().map(collect).collect::<Outcome<_>>()?;
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &books)?;
    writeln!(out)?;
    out.flush()?;
    if args.waits() {
        std::io::stdin().lock().read_line(&mut line)?;
    }
    Ok(())
}

fn start(args: &Args, index: u64) -> Outcome<Child> {
    let (books, books_in) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (leave_out, leave) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error().into()),
        0 => {
            // The parent's ends: its going away must be seen here.
            drop((books, leave));
            let code = match child(args, index, books_in, &leave_out) {
                Ok(()) => 0,
                Err(error) => {
                    let _ = writeln!(std::io::stderr(), "mix: child {index}: {error}");
                    1
                }
            };
            // SAFETY: ends the process at once; what the parent had buffered is the parent's.
            unsafe { libc::_exit(code) }
        }
        pid => Ok(Child { pid, books, leave }),
    }
}

fn child(args: &Args, index: u64, books: OwnedFd, leave: &OwnedFd) -> Outcome<()> {
    let threads = args.number("--threads", 2)?;
    let place = Place { dir: args.dir()?, process: index };
    let operations = args.number("--operations", 100)?;
    let chosen = table::chosen(&args.without())?;
    let seed = args.seed()?;
    let (begin, mut sum) = (Barrier::new(threads as usize), Ledger::default());
    let results: Vec<Outcome<Ledger>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let (place, chosen, begin) = (&place, &chosen, &begin);
                scope.spawn(move || {
                    let worker = Worker::new(place, thread, seed);
                    begin.wait();
                    worker.and_then(|worker| worker.work(chosen, operations))
                })
            })
            .collect();
        let panicked = |_| Err(Failure::from("a thread panicked"));
        running.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
    });
    for ledger in results {
        sum.merge(ledger?);
    }
    let text = serde_json::to_string(&sum.books())?;
    let mut pipe = std::fs::File::from(books);
    pipe.write_all(text.as_bytes())?;
    drop(pipe);
    // The parent looks into /proc while this process is there.
    rustix::io::read(leave, &mut [0; 1])?;
    Ok(())
}

fn collect(child: Child) -> Outcome<Books> {
    let mut text = String::new();
    std::fs::File::from(child.books).read_to_string(&mut text)?;
    let io = hotset_sys::proc::pid_io::of(child.pid.unsigned_abs())?;
    // A byte, and not the pipe's end: children that were forked later have that too. One that is gone by now says why below.
    let _ = rustix::io::write(&child.leave, &[0]);
    let (mut status, mut usage) = (0, None);
    // SAFETY: all bytes zero is a valid rusage, and both places are valid for the call.
    unsafe {
        let mut raw: libc::rusage = std::mem::zeroed();
        if libc::wait4(child.pid, &raw mut status, 0, &raw mut raw) == child.pid {
            usage = Some(raw);
        }
    }
    let usage = usage.ok_or_else(std::io::Error::last_os_error)?;
    if status != 0 {
        return Err(format!("child {} ended with status {status:#x}", child.pid).into());
    }
    let mut books: Books = serde_json::from_str(&text)?;
    books.device_read_bytes = io.ok_or("no /proc/PID/io")?.read_bytes;
    books.major_faults = usage.ru_majflt.unsigned_abs();
    Ok(books)
}
