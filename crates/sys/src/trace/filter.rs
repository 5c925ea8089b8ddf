//! The seccomp filter that stops a task for its tracer at calls that open, map or execute a file, and at no other.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_TRACE, sock_filter,
};

/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64` of <linux/audit.h>.
#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;

/// Where `struct seccomp_data` has what is asked for; of an argument, the low half on a little-endian host.
const NR_OFFSET: u32 = 0;
const ARCH_OFFSET: u32 = 4;
const MMAP_FLAGS_OFFSET: u32 = 16 + 8 * 3;

/// Calls that return a descriptor of a file that they opened.
#[cfg(target_arch = "x86_64")]
const OPENING: &[libc::c_long] = &[
    libc::SYS_openat,
    libc::SYS_open,
    libc::SYS_openat2,
    libc::SYS_creat,
    libc::SYS_open_by_handle_at,
];
#[cfg(not(target_arch = "x86_64"))]
const OPENING: &[libc::c_long] =
    &[libc::SYS_openat, libc::SYS_openat2, libc::SYS_open_by_handle_at];

/// What a stopped task is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// Open a file: the call's answer is its descriptor.
    Open,
    /// Map a file.
    Map,
    /// Execute one by its path.
    Execute,
    /// Execute one by a descriptor and a path.
    ExecuteAt,
}

impl Call {
    /// The call behind a system call's number.
    pub(super) fn of(number: u64) -> Option<Self> {
        let number = libc::c_long::try_from(number).ok()?;
        match number {
            libc::SYS_mmap => Some(Self::Map),
            libc::SYS_execve => Some(Self::Execute),
            libc::SYS_execveat => Some(Self::ExecuteAt),
            number if OPENING.contains(&number) => Some(Self::Open),
            _ => None,
        }
    }
}

/// The filter's program.
pub(super) fn program() -> Vec<sock_filter> {
    let allow = step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    let trace = step(BPF_RET | BPF_K, SECCOMP_RET_TRACE, 0, 0);
    let equals = |value: u32, otherwise| step(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise);
    // Numbers mean other calls where a program runs with another word size.
    let mut steps = vec![
        load(ARCH_OFFSET),
        step(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
        allow,
        load(NR_OFFSET),
    ];
    for &number in OPENING.iter().chain(&[libc::SYS_execve, libc::SYS_execveat]) {
        steps.extend([equals(number as u32, 1), trace]);
    }
    steps.extend([
        equals(libc::SYS_mmap as u32, 4),
        load(MMAP_FLAGS_OFFSET),
        step(BPF_JMP | BPF_JSET | BPF_K, libc::MAP_ANONYMOUS as u32, 0, 1),
        allow,
        trace,
        allow,
    ]);
    steps
}

fn load(offset: u32) -> sock_filter {
    step(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0)
}

fn step(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}
