//! A command that is in a control group from its first instant on.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use hotset_facts::Pid;
use rustix::pipe::{PipeFlags, pipe_with};

use super::Launch;

/// What execve(2) or write(2) said, as the child reports it.
const REPORT_BYTES: usize = size_of::<i32>();

impl Launch {
    /// Starts it in the control group whose list of members (`cgroup.procs`) is open for writing as `members`, so that all memory that it
    /// uses is charged there.
    ///
    /// # Errors
    /// As execve(2) gives them, and as write(2) does where the group takes no process.
    pub fn start_in(&mut self, members: impl AsFd) -> io::Result<Pid> {
        let pid = match self.fork_into(members.as_fd()) {
            Err(error) if self.become_script(&error) => self.fork_into(members.as_fd()),
            forked => forked,
        };
        pid.and_then(|pid| Pid::try_from(pid).map_err(|_| io::ErrorKind::InvalidData.into()))
    }

    fn fork_into(&self, members: BorrowedFd<'_>) -> io::Result<libc::pid_t> {
        let (report, writable) = pipe_with(PipeFlags::CLOEXEC)?;
        // A descriptor that is 0, 1 or 2 would be replaced by a stream of the command's.
        let reporter = rustix::io::fcntl_dupfd_cloexec(&writable, super::FIRST_FREE_FD)?;
        drop(writable);
        // SAFETY: until it executes or exits, the child makes async-signal-safe calls on memory that was made ready before.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: this is the child of fork.
            unsafe { self.be_child(members, &reporter) }
        }
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        drop(reporter);
        let mut message = [0_u8; REPORT_BYTES];
        // The end of the pipe says that the command runs.
        match rustix::io::read(&report, &mut message) {
            Ok(REPORT_BYTES) => {
                let mut status = 0;
                // SAFETY: the status is a valid place to write to.
                unsafe { libc::waitpid(pid, &raw mut status, 0) };
                Err(io::Error::from_raw_os_error(i32::from_ne_bytes(message)))
            }
            _ => Ok(pid),
        }
    }

    /// # Safety
    /// Only in a child of fork(2).
    unsafe fn be_child(&self, members: BorrowedFd<'_>, reporter: &OwnedFd) -> ! {
        // SAFETY: async-signal-safe calls; every pointer leads to memory that lives on in this copy of the parent.
        unsafe {
            // 0 is the process that writes.
            let error = match libc::write(members.as_raw_fd(), b"0".as_ptr().cast(), 1) {
                1 => self.execute(),
                _ => *libc::__errno_location(),
            };
            let message = error.to_ne_bytes();
            libc::write(reporter.as_raw_fd(), message.as_ptr().cast(), message.len());
            libc::_exit(127)
        }
    }
}
