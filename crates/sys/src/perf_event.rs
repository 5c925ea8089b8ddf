//! perf_event_open(2), as far as it is used here.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// struct perf_event_attr of Linux 4.x (PERF_ATTR_SIZE_VER5); newer kernels take it as it is.
const ATTR_SIZE: usize = 112;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;
/// include/uapi/linux/perf_event.h: `_IOW('$', 8, __u32)`.
const PERF_EVENT_IOC_SET_BPF: libc::Ioctl = 0x4004_2408;

/// What is counted: the fields of struct perf_event_attr; those that aren't here are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Event {
    /// `PERF_TYPE_...`.
    pub kind: u32,
    /// Which one of that type.
    pub config: u64,
    /// Occurrences between two overflows.
    pub sample_period: u64,
    /// The bits that begin with `disabled`.
    pub flags: u64,
}

/// The end of each major fault: PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ.
pub const MAJOR_FAULTS: Event = Event { kind: 1, config: 6, sample_period: 1, flags: 0 };

/// Opens an event for a process, or -1 for all, on a CPU, or -1 for any; 0 is the calling thread.
///
/// # Errors
/// The kernel's answer, e.g. EACCES without CAP_PERFMON (or CAP_SYS_ADMIN, if kernel.perf_event_paranoid is above 2 on Debian), ENODEV
/// for a CPU that is offline.
pub fn open(event: Event, pid: i32, cpu: i32) -> io::Result<OwnedFd> {
    let mut attr = [0_u64; ATTR_SIZE / 8];
    // type and size share the first word; sample_type and read_format stand between the period and the flags.
    attr[0] = u64::from(event.kind) | (ATTR_SIZE as u64) << 32;
    (attr[1], attr[2], attr[5]) = (event.config, event.sample_period, event.flags);
    // SAFETY: the attribute is initialised memory of the size that it states; the kernel only reads it.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, attr.as_ptr(), pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Has a BPF program run at each overflow of an event, until the event is closed.
///
/// # Errors
/// The kernel's answer, e.g. EEXIST where the event has a program.
pub fn set_program(event: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call takes two descriptors and no memory.
    let answer =
        unsafe { libc::ioctl(event.as_raw_fd(), PERF_EVENT_IOC_SET_BPF, program.as_raw_fd()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
