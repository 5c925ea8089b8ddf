//! The software event "major fault", one on each CPU: it fires once at the end of such a fault.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_PAGE_FAULTS_MAJ: u64 = 6;
/// struct perf_event_attr of Linux 4.x (PERF_ATTR_SIZE_VER5); newer kernels take it as it is.
const ATTR_SIZE: usize = 112;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;

/// Opens the event on a CPU for all processes.
///
/// # Errors
/// The kernel's answer, e.g. EACCES without CAP_PERFMON, ENODEV for a CPU that is offline.
pub(crate) fn open_major_faults(cpu: i32) -> io::Result<OwnedFd> {
    let mut attr = [0_u64; ATTR_SIZE / 8];
    // type (u32) and size (u32), config, sample_period.
    attr[0] = u64::from(PERF_TYPE_SOFTWARE) | (ATTR_SIZE as u64) << 32;
    attr[1] = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
    attr[2] = 1;
    // SAFETY: the attribute is initialised memory of the size that it states; the kernel only reads it.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, attr.as_ptr(), -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Opens the event on every CPU that is online; `None` where that is refused.
pub(crate) fn open_everywhere() -> Option<Vec<OwnedFd>> {
    let mut events = Vec::new();
    for cpu in 0..libbpf_rs::num_possible_cpus().ok()? {
        match open_major_faults(i32::try_from(cpu).ok()?) {
            Ok(fd) => {
                debug_assert!(fd.as_raw_fd() >= 0);
                events.push(fd);
            }
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
            Err(_) => return None,
        }
    }
    Some(events)
}
