//! A real thread, stopped where it waits in read(2), with what a sensor would send of it.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use hotset_sites::{Image, Sample};
use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// Registers and the top of the stack of a thread.
#[derive(Debug, Clone)]
pub(crate) struct Copy {
    /// Its process, and what that runs.
    pub(crate) image: Image,
    /// rip, rsp, rbp.
    pub(crate) registers: [u64; 3],
    /// From rsp up.
    pub(crate) stack: Vec<u8>,
}

impl Copy {
    /// Waits until a thread of `pid` reads from descriptor `fd`, stops it there, copies at most `length` bytes of its stack,
    /// and lets it go on waiting.
    pub(crate) fn of(pid: u32, fd: u64, length: usize) -> Self {
        let tid = Pid::from_raw(waiting(pid, fd).try_into().expect("a thread"));
        ptrace::attach(tid).unwrap_or_else(|error| panic!("can't trace {tid}: {error}"));
        waitpid(tid, Some(WaitPidFlag::__WALL)).expect("stopped");
        let registers = ptrace::getregs(tid).expect("registers");
        let memory = File::open(format!("/proc/{pid}/mem")).expect("memory");
        let mut stack = vec![0; length];
        // The stack may end before: up to there, as the sensor copies it.
        while memory.read_exact_at(&mut stack, registers.rsp).is_err() {
            stack.truncate(stack.len().checked_sub(8).expect("a stack"));
        }
        ptrace::detach(tid, None).expect("detached");
        let image = Image::of(pid).expect("a process that lives");
        Self { image, registers: [registers.rip, registers.rsp, registers.rbp], stack }
    }

    /// As the sensor would send it, with at most `length` bytes of the stack.
    pub(crate) fn sample(&self, length: usize, time_ns: u64) -> Sample<'_> {
        let [ip, sp, bp] = self.registers;
        let stack = &self.stack[..length.min(self.stack.len())];
        Sample { image: self.image, ip, sp, bp, stack, time_ns }
    }
}

/// The thread of `pid` that waits in read(2) or readv(2) of `fd`.
fn waiting(pid: u32, fd: u64) -> u32 {
    let started = Instant::now();
    let calls = [format!("0 {fd:#x} "), format!("19 {fd:#x} ")];
    while started.elapsed() < Duration::from_secs(60) {
        for task in std::fs::read_dir(format!("/proc/{pid}/task")).expect("a process").flatten() {
            let call = std::fs::read_to_string(task.path().join("syscall")).unwrap_or_default();
            if calls.iter().any(|prefix| call.starts_with(prefix)) {
                return task.file_name().to_str().expect("a number").parse().expect("a number");
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no thread of {pid} read from descriptor {fd} within a minute");
}
