//! Children of the test, and what they do.

/// A child of this process that runs `work` and ends; its number. `work` makes system calls and touches no lock and no heap: other threads of
/// this process may have held them.
pub fn forked(work: impl FnOnce()) -> i32 {
    // SAFETY: what is run between fork and _exit touches no lock and no heap.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            work();
            // SAFETY: ends this process and nothing else.
            unsafe { libc::_exit(0) }
        }
        pid => pid,
    }
}

/// Waits until it has ended.
pub fn wait_for(pid: i32) {
    let mut status = 0;
    // SAFETY: the status is a valid place.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
}

/// Makes one call for a page.
pub fn pread_a_page(fd: i32) {
    let mut page = [0_u8; 4096];
    // SAFETY: the buffer is as long as the call is told.
    unsafe { libc::pread(fd, page.as_mut_ptr().cast(), page.len(), 0) };
}
