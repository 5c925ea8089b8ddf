//! /proc/PID/status: a line a fact.

use std::path::{Path, PathBuf};

use hotset_facts::Pid;

use super::{ProcError, decimal, kilobytes, read, value_of};

/// What a line of this process says in kilobytes, in bytes.
pub(crate) fn own_bytes(name: &str) -> Option<u64> {
    kilobytes(value_of(&std::fs::read("/proc/self/status").ok()?, name)?)
}

/// Whether another process of this PID namespace stops this thread at its calls, as strace and debuggers do.
pub(crate) fn is_traced() -> bool {
    let status = std::fs::read("/proc/thread-self/status").unwrap_or_default();
    value_of(&status, "TracerPid").and_then(decimal).is_some_and(|tracer| tracer != 0)
}

/// The process that a task is a thread of, or nothing where it is gone.
pub(crate) fn process_of(task: Pid) -> Option<Pid> {
    let status = std::fs::read(Path::new("/proc").join(task.to_string()).join("status")).ok()?;
    decimal(value_of(&status, "Tgid")?)?.try_into().ok()
}

/// Whose privileges a process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EffectiveIds {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// The effective user and group of a process, or nothing where it is gone.
pub(crate) fn effective_ids(pid: Pid) -> Option<EffectiveIds> {
    let status = std::fs::read(file_of(pid, "status")).ok()?;
    // The real one, the effective one, and two more.
    let effective = |name| {
        let mut ids = value_of(&status, name)?.split(u8::is_ascii_whitespace);
        decimal(ids.nth(1)?)?.try_into().ok()
    };
    Some(EffectiveIds { user: effective("Uid")?, group: effective("Gid")? })
}

/// The PID that a process has in its own PID namespace, or nothing where it is gone: while it goes, the kernel says 0.
pub fn inner_pid(pid: Pid) -> Option<Pid> {
    innermost(&std::fs::read(Path::new("/proc").join(pid.to_string()).join("status")).ok()?)
}

/// Memory of a process that is no file cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnMemory {
    /// Bytes of anonymous memory, resident or swapped.
    pub anon_bytes: u64,
    /// Bytes of shared memory, and of files of tmpfs that it mapped.
    pub shmem_bytes: u64,
    /// Bytes of its page tables.
    pub page_tables_bytes: u64,
}

/// The memory of a process, or nothing where it is gone or has none, as kernel threads and what has ended and is not waited for. What a fork
/// left to both is in that of each.
///
/// # Errors
/// Where the file can't be read.
pub fn memory_of(pid: Pid) -> Result<Option<OwnMemory>, ProcError> {
    Ok(read(&file_of(pid, "status"))?.and_then(|status| memory(&status)))
}

/// The same, where each process has its part of what several have. The kernel looks at every page for that: some milliseconds a gigabyte.
/// Nothing also where the kernel does not tell (before 5.9).
///
/// # Errors
/// Where a file can't be read: it needs the right to trace the process.
pub fn memory_part_of(pid: Pid) -> Result<Option<OwnMemory>, ProcError> {
    let Some(whole) = memory_of(pid)? else { return Ok(None) };
    Ok(read(&file_of(pid, "smaps_rollup"))?.and_then(|rollup| part(&rollup, whole)))
}

fn file_of(pid: Pid, name: &str) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join(name)
}

fn memory(status: &[u8]) -> Option<OwnMemory> {
    let bytes = |name| kilobytes(value_of(status, name)?);
    Some(OwnMemory {
        anon_bytes: bytes("RssAnon")?.saturating_add(bytes("VmSwap").unwrap_or(0)),
        shmem_bytes: bytes("RssShmem").unwrap_or(0),
        page_tables_bytes: bytes("VmPTE").unwrap_or(0),
    })
}

fn part(rollup: &[u8], whole: OwnMemory) -> Option<OwnMemory> {
    let bytes = |name| kilobytes(value_of(rollup, name)?);
    Some(OwnMemory {
        anon_bytes: bytes("Pss_Anon")?.saturating_add(bytes("SwapPss").unwrap_or(0)),
        shmem_bytes: bytes("Pss_Shmem")?,
        ..whole
    })
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
    fn memory_is_that_of_the_process_and_swap_counts() {
        let status = b"VmPTE:\t  40 kB\nRssAnon:\t 100 kB\nRssFile:\t 900 kB\nRssShmem:\t 8 kB\nVmSwap:\t 20 kB\n";
        let whole =
            OwnMemory { anon_bytes: 120 << 10, shmem_bytes: 8 << 10, page_tables_bytes: 40 << 10 };
        assert_eq!(memory(status), Some(whole));
        assert_eq!(memory(b"Name:\tkthreadd\n"), None);
        let before = memory_of(std::process::id()).expect("/proc").expect("memory");
        let held = vec![1_u8; 64 << 20];
        let after = memory_of(std::process::id()).expect("/proc").expect("memory");
        // Other tests let go of some meanwhile.
        assert!(after.anon_bytes > before.anon_bytes + (32 << 20), "{} {after:?}", held.len());
        assert_eq!(memory_of(Pid::MAX).expect("no error"), None);
        let rollup = b"55 ---p 00:00 0 [rollup]\nPss_Anon:\t 60 kB\nPss_File:\t 9 kB\nPss_Shmem:\t 4 kB\nSwapPss:\t 10 kB\n";
        let part = part(rollup, whole).expect("a part");
        assert_eq!((part.anon_bytes, part.shmem_bytes), (70 << 10, 4 << 10));
        assert_eq!(part.page_tables_bytes, 40 << 10);
        let own = memory_part_of(std::process::id()).expect("/proc").expect("memory");
        assert!(own.anon_bytes > 32 << 20, "{own:?}");
    }

    #[test]
    fn the_last_of_its_ids_is_that_of_its_own_namespace() {
        assert_eq!(innermost(b"Pid:\t70\nNSpid:\t70\t12\t1\n"), Some(1));
        assert_eq!(innermost(b"Pid:\t70\n"), None);
        assert_eq!(innermost(b"Pid:\t70\nNSpid:\t0\n"), None);
    }
}
