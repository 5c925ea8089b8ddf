//! System calls of another ABI than the program's own.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::args::Args;
use super::truth::{FileTruth, Truth};
use super::{Doing, Outcome};

/// read(2) and getpid(2) as a 32-bit program has them.
const I386_READ: u32 = 3;
const I386_GETPID: u32 = 20;
/// read(2) of x32, which few kernels know.
const X32_READ: i64 = 0x4000_0000;

/// `int80 --count N`: N reads of `--file` by `int 0x80`, each followed by a getpid and a read of x32 that a kernel without it
/// refuses. `requests` are reads that were served.
pub(super) fn int80(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let count = args.number("--count", 10)?;
    let file = File::open(&path).doing(path.display())?;
    // SAFETY: a fresh mapping where nothing was asked to be; the ABI has 32 bits for an address.
    let memory = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT | libc::MAP_POPULATE;
        libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    let address = u32::try_from(memory as u64).doing("memory below 4 GiB")?;
    let fd = file.as_raw_fd();
    let mut truth = Truth {
        case: args.case().to_owned(),
        page_size: hotset_sys::page_size(),
        pid: std::process::id(),
        file: FileTruth::of(&path, &file)?,
        ..Truth::default()
    };
    for _ in 0..count {
        let read = i386(I386_READ, [fd as u32, address, 4096]);
        truth.requests += 1;
        truth.bytes += u64::try_from(read).doing("read by int 0x80")?;
        let pid = i386(I386_GETPID, [0; 3]);
        if u32::try_from(pid) != Ok(std::process::id()) {
            return Err(format!("getpid by int 0x80: {pid}").into());
        }
        // SAFETY: the memory is a page.
        let read = unsafe { libc::syscall(X32_READ, fd, memory, 4096) };
        if let Ok(bytes) = u64::try_from(read) {
            truth.requests += 1;
            truth.bytes += bytes;
        }
    }
    Ok(truth)
}

fn i386(number: u32, args: [u32; 3]) -> i32 {
    let mut result = number;
    // SAFETY: the kernel keeps every register but the result, and writes only where a call of this ABI was told to. rbx is
    // saved by hand, for the compiler keeps it to itself.
    unsafe {
        std::arch::asm!(
            "xchg rbx, {first:r}",
            "int 0x80",
            "xchg rbx, {first:r}",
            first = inout(reg) u64::from(args[0]) => _,
            inout("eax") result,
            in("ecx") args[1],
            in("edx") args[2],
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    result as i32
}
