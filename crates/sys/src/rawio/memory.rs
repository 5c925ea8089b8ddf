//! Memory of the host under a guest, and the folios of a file.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

/// Makes the kernel hand out so many bytes of memory and takes them back. In a virtual machine, the host may back memory
/// only when it is first touched; what is touched right before is backed, and is handed out next.
pub fn touch_memory(bytes: usize) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE | libc::MAP_NORESERVE;
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping where the kernel has room for it, taken down before it returns. Where there is none, nothing
    // is done.
    unsafe {
        let start = libc::mmap(std::ptr::null_mut(), bytes, prot, flags, -1, 0);
        if start != libc::MAP_FAILED {
            libc::munmap(start, bytes);
        }
    }
}

/// Minor faults of touching every page of a cached file once: the fewer, the larger its folios. A fault maps up to 16 pages
/// of small folios around it, and a whole folio of 2 MiB.
///
/// # Errors
/// As mmap(2) gives them.
pub fn touching_faults(file: impl AsFd, bytes: u64) -> io::Result<u64> {
    let len = usize::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: a new mapping of an open file.
    let start =
        unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let before = own_minor_faults();
    let page = crate::page_size() as usize;
    for offset in (0..len).step_by(page) {
        // SAFETY: within the mapping of a file of this size.
        std::hint::black_box(unsafe { start.cast::<u8>().add(offset).read_volatile() });
    }
    let faults = own_minor_faults() - before;
    // SAFETY: the mapping made above, which nobody else knows.
    unsafe { libc::munmap(start, len) };
    Ok(faults)
}

/// Of this thread.
fn own_minor_faults() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: writes to `usage` only, for which all zeros is a valid value too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_minflt).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ScratchFile;

    #[test]
    fn touching_a_file_faults_at_most_once_a_page() {
        let page = crate::page_size();
        let scratch = ScratchFile::on_disk(&vec![1; 64 * page as usize]);
        let faults = touching_faults(&scratch.file, 64 * page).expect("touch");
        assert!((1..=64).contains(&faults), "{faults}");
        touch_memory(1 << 20);
    }
}
