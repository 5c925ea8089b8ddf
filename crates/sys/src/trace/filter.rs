//! The seccomp filter that stops a task for its tracer at the calls that matter, and at no other.

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W,
    SECCOMP_RET_ALLOW, SECCOMP_RET_TRACE, c_long, sock_filter,
};

use super::gap::TraceGap;
use super::lookup::{self, Aim, LookupCall};
use super::raw::Call as RawCall;

/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64` of <linux/audit.h>.
#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;

/// Numbers of the x32 ABI are those of 64 bits with this bit (`__X32_SYSCALL_BIT`).
const X32: u32 = 0x4000_0000;

/// Path lookups by a 32-bit program, from arch/x86/entry/syscalls/syscall_32.tbl: open, creat, execve, access, readlink, stat and the
/// like.
const I386_LOOKUPS: [u32; 17] =
    [5, 8, 11, 33, 85, 106, 107, 195, 196, 295, 300, 305, 307, 358, 383, 437, 439];

/// Where `struct seccomp_data` has what is asked for; of an argument, the low half on a little-endian host.
const NR_OFFSET: u32 = 0;
const ARCH_OFFSET: u32 = 4;
const fn argument_offset(argument: u32) -> u32 {
    16 + 8 * argument
}

/// `SECCOMP_FILTER_FLAG_NEW_LISTENER` of <linux/seccomp.h>.
const NEW_LISTENER: u32 = 1 << 3;

/// Requests that make the caller a tracer, or its parent one.
const TO_TRACE: [u64; 3] =
    [libc::PTRACE_TRACEME as u64, libc::PTRACE_ATTACH as u64, libc::PTRACE_SEIZE as u64];

/// What a tracer wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Files that are opened, mapped and executed.
    Files,
    /// Every lookup of a path, and what makes their count wrong.
    Lookups,
}

/// What a stopped task is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// Look a path up.
    Lookup(&'static LookupCall),
    /// Open a file without a path.
    OpenByHandle,
    /// Map a file.
    Map,
    /// Something that, if it is done, has effects that a tracer does not see or can't allow.
    Gap(TraceGap),
}

impl Call {
    /// The call behind a stop.
    pub(super) fn of(stop: &RawCall) -> Option<Self> {
        let (number, native) = (stop.number, stop.arch == ARCH);
        if !native || number & u64::from(X32) != 0 {
            return Some(Self::Gap(TraceGap::CompatCalls));
        }
        let number = c_long::try_from(number).ok()?;
        if let Some(call) = lookup::all().find(|call| call.number == number) {
            return Some(Self::Lookup(call));
        }
        Some(match number {
            libc::SYS_open_by_handle_at => Self::OpenByHandle,
            libc::SYS_mmap => Self::Map,
            libc::SYS_io_uring_setup => Self::Gap(TraceGap::IoUring),
            libc::SYS_clone => Self::Gap(TraceGap::Untraced),
            libc::SYS_seccomp => Self::Gap(TraceGap::Supervised),
            libc::SYS_ptrace if TO_TRACE.contains(&stop.arguments[0]) => {
                Self::Gap(TraceGap::NoTracer)
            }
            _ => return None,
        })
    }
}

/// Whether a call that ended so has the effects.
pub(super) fn has_happened(gap: TraceGap, answer: i64) -> bool {
    match gap {
        // A kernel without the other ABI refuses all of it.
        TraceGap::CompatCalls => answer != -i64::from(libc::ENOSYS),
        TraceGap::NoTracer => answer == -i64::from(libc::EPERM),
        _ => answer >= 0,
    }
}

/// The filter's program.
pub(super) fn program(wanted: Wanted) -> Vec<sock_filter> {
    let allow = step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    let stop = step(BPF_RET | BPF_K, SECCOMP_RET_TRACE, 0, 0);
    let stops_at = |number: u32| [step(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), stop];
    // Numbers mean other calls where a program runs with another word size.
    let mut foreign = vec![load(NR_OFFSET)];
    if wanted == Wanted::Lookups {
        foreign.extend(I386_LOOKUPS.iter().flat_map(|&number| stops_at(number)));
    }
    foreign.push(allow);
    let mut steps =
        vec![load(ARCH_OFFSET), step(BPF_JMP | BPF_JEQ | BPF_K, ARCH, foreign.len() as u8, 0)];
    steps.extend(foreign);
    steps.push(load(NR_OFFSET));
    match wanted {
        Wanted::Files => {
            let calls = lookup::all().filter(|call| call.aim != Aim::Ask);
            steps.extend(calls.flat_map(|call| stops_at(call.number as u32)));
            steps.extend(stops_at(libc::SYS_open_by_handle_at as u32));
            let flags = (argument_offset(3), libc::MAP_ANONYMOUS as u32);
            steps.extend(by_flag(libc::SYS_mmap, flags, [allow, stop]));
        }
        Wanted::Lookups => {
            steps.push(step(BPF_ALU | BPF_AND | BPF_K, !X32, 0, 0));
            let others = [libc::SYS_io_uring_setup, libc::SYS_ptrace];
            let calls = lookup::all().map(|call| call.number).chain(others);
            steps.extend(calls.flat_map(|number| stops_at(number as u32)));
            let flags = (argument_offset(0), libc::CLONE_UNTRACED as u32);
            steps.extend(by_flag(libc::SYS_clone, flags, [stop, allow]));
            let flags = (argument_offset(1), NEW_LISTENER);
            steps.extend(by_flag(libc::SYS_seccomp, flags, [stop, allow]));
        }
    }
    steps.push(allow);
    steps
}

/// What to do at a call with one of these bits in an argument, and without. Other calls go on behind it.
fn by_flag(
    number: c_long,
    (argument, bits): (u32, u32),
    [with, without]: [sock_filter; 2],
) -> [sock_filter; 5] {
    [
        step(BPF_JMP | BPF_JEQ | BPF_K, number as u32, 0, 4),
        load(argument),
        step(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
        with,
        without,
    ]
}

fn load(offset: u32) -> sock_filter {
    step(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0)
}

fn step(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}
