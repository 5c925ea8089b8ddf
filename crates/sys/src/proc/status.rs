//! /proc/PID/status: a line a fact.

use std::path::Path;

use hotset_facts::Pid;

use super::{decimal, kilobytes, value_of};

/// What a line of this process says in kilobytes, in bytes.
pub(crate) fn own_bytes(name: &str) -> Option<u64> {
    kilobytes(value_of(&std::fs::read("/proc/self/status").ok()?, name)?)
}

/// The process that a task is a thread of, or nothing where it is gone.
pub(crate) fn process_of(task: Pid) -> Option<Pid> {
    let status = std::fs::read(Path::new("/proc").join(task.to_string()).join("status")).ok()?;
    decimal(value_of(&status, "Tgid")?)?.try_into().ok()
}

/// The PID that a process has in its own PID namespace, or nothing where it is gone: while it goes, the kernel says 0.
pub fn inner_pid(pid: Pid) -> Option<Pid> {
    innermost(&std::fs::read(Path::new("/proc").join(pid.to_string()).join("status")).ok()?)
}

fn innermost(status: &[u8]) -> Option<Pid> {
    let ids = value_of(status, "NSpid")?;
    let innermost = decimal(ids.rsplit(u8::is_ascii_whitespace).next()?)?;
    innermost.try_into().ok().filter(|&pid| pid != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_is_that_of_each_of_its_threads() {
        assert!(own_bytes("VmHWM") >= Some(crate::page_size()));
        assert_eq!(own_bytes("Vm"), None);
        // SAFETY: takes nothing and touches no memory.
        let thread = unsafe { libc::gettid() }.try_into().expect("a thread");
        assert_eq!(process_of(thread), Some(std::process::id()));
        assert_eq!(process_of(Pid::MAX), None);
        assert!(inner_pid(std::process::id()).is_some());
    }

    #[test]
    fn the_last_of_its_ids_is_that_of_its_own_namespace() {
        assert_eq!(innermost(b"Pid:\t70\nNSpid:\t70\t12\t1\n"), Some(1));
        assert_eq!(innermost(b"Pid:\t70\n"), None);
        assert_eq!(innermost(b"Pid:\t70\nNSpid:\t0\n"), None);
    }
}
