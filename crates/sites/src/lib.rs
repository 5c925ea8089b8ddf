//! Call sites in user space: a copy of registers and of the top of a thread's stack becomes a chain of calls with names.
//!
//! [`Sites::resolve`] unwinds a [`Sample`] (`chain`) by the tables of the files that its process has mapped (`image`,
//! `process`, `binaries`, `unwind`) and names what it finds by symbols, debug information, and the maps that runtimes write (`symbols`,
//! `lines`, `go`, `jit`). A file is read once for all processes that run it; what is kept of it is the same for all of them.
//!
//! It reads /proc and files, those of other mount namespaces among them, and must not know BPF, stop or change a process, map a
//! file, or print. Of a process's memory it reads the kernel's `[vdso]` and nothing else.

#![forbid(unsafe_code)]

mod binaries;
mod binary;
mod chain;
mod debug;
mod elf;
mod go;
mod image;
mod interned;
mod jit;
mod lines;
mod names;
mod open;
mod process;
mod runtimes;
mod signal;
mod sites;
mod symbols;
mod trampoline;
mod unwind;

pub use image::{Image, Images, Mappings, ToldMapping};
pub use runtimes::perf_maps;
pub use sites::{ReadNames, SiteCounts, Sites, UnreadNames, Unwound};

/// What was copied of a thread at one moment: of the thread as it was in user space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample<'a> {
    /// Its process, and what that ran.
    pub image: Image,
    /// The instruction pointer: in a system call, the instruction behind `syscall`.
    pub ip: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer, or whatever `rbp` holds.
    pub bp: u64,
    /// The stack, from `sp` up, as far as it was copied.
    pub stack: &'a [u8],
    /// When that was, in nanoseconds from any beginning that all samples share.
    pub time_ns: u64,
}

#[cfg(test)]
mod tests {
    #[test]
    fn sites_can_be_made_in_a_thread_of_their_own() {
        fn is_send<T: Send>(_: T) {}
        is_send(crate::Sites::new());
    }
}
