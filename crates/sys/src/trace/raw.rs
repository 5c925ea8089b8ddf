//! ptrace(2), wait4(2) and the start of a traced child.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::time::Instant;

use rustix::pipe::{PipeFlags, pipe_with};

use super::TraceError;
use super::filter::{self, Wanted};
use crate::launch::Launch;

/// `PTRACE_GET_SYSCALL_INFO` and the stops that it tells apart, of <linux/ptrace.h> (Linux 5.3).
const PTRACE_GET_SYSCALL_INFO: u32 = 0x420e;
const OP_EXIT: u8 = 2;
const OP_SECCOMP: u8 = 3;

/// Every way to make a task is followed, and nothing outlives its tracer.
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_EXITKILL;

/// What the child could not do, as the first byte of what it reports; errno follows.
const NO_FILTER: u8 = 1;
const NO_EXEC: u8 = 2;

/// `struct ptrace_syscall_info` of <linux/ptrace.h>.
#[repr(C)]
#[derive(Default)]
struct RawInfo {
    op: u8,
    pad: [u8; 3],
    arch: u32,
    instruction_pointer: u64,
    stack_pointer: u64,
    data: [u64; 8],
}

/// A system call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// Whose numbers and registers it uses.
    pub(super) arch: u32,
    pub(super) number: u64,
    pub(super) arguments: [u64; 6],
}

/// Where in a system call a task has stopped.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// Before it.
    Before(Call),
    /// After it, with what it returned: an error from -4095 to -1.
    After(i64),
    /// The kernel does not say.
    Untold,
}

/// A task that has stopped or ended.
pub(super) struct Event {
    pub(super) task: libc::pid_t,
    /// As wait4(2) gives it.
    pub(super) status: i32,
    /// What a process used that has ended, with the descendants that it waited for.
    pub(super) usage: libc::rusage,
}

/// How to go on with a stopped task.
#[derive(Debug, Clone, Copy)]
pub(super) enum Resume {
    /// To the next event.
    Run,
    /// To the end of the system call.
    ToEndOfCall,
    /// Stay stopped as its user wants, and tell of it when it goes on.
    StayStopped,
}

/// The command, traced from before its first instruction.
pub(super) struct Born {
    pub(super) pid: libc::pid_t,
    /// Right before it was made.
    pub(super) started: Instant,
    report: OwnedFd,
}

/// Forks a child that waits until it is traced, puts the filter on itself, and executes the command.
pub(super) fn start(command: &Launch, wanted: Wanted) -> Result<Born, TraceError> {
    let pipe = |_| pipe_with(PipeFlags::CLOEXEC);
    let pipes = pipe(()).and_then(|gate| Ok((gate, pipe(())?)));
    let ((gate, opener), (report, reporter)) =
        pipes.map_err(|errno| TraceError::Refused { call: "pipe2", error: errno.into() })?;
    let steps = filter::program(wanted);
    let options = match wanted {
        Wanted::Files => OPTIONS,
        Wanted::Lookups => OPTIONS | libc::PTRACE_O_TRACEEXIT,
    };
    let started = Instant::now();
    // SAFETY: until it executes or exits, the child makes async-signal-safe calls on memory made ready here.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: this is the child of fork.
        unsafe { be_child(command, &steps, gate.as_raw_fd(), opener.as_raw_fd(), &reporter) }
    }
    if pid < 0 {
        return Err(TraceError::refused("fork"));
    }
    if request(libc::PTRACE_SEIZE, pid, 0, options as usize) != 0 {
        let refused = TraceError::refused("ptrace");
        // The child sees the end of the pipe and exits.
        drop(opener);
        // SAFETY: no memory is touched where the status pointer is null.
        unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
        return Err(refused);
    }
    // A failure means that the child has died, which the first wait tells.
    let _ = rustix::io::write(&opener, &[1]);
    Ok(Born { pid, started, report })
}

/// # Safety
/// Only in a child of fork(2).
unsafe fn be_child(
    command: &Launch,
    steps: &[libc::sock_filter],
    gate: i32,
    opener: i32,
    reporter: &OwnedFd,
) -> ! {
    // SAFETY: async-signal-safe calls; every pointer leads to memory that lives on in this copy of the parent.
    unsafe {
        // Else the end of the pipe would never come.
        libc::close(opener);
        let mut byte = 0_u8;
        if libc::read(gate, (&raw mut byte).cast(), 1) != 1 {
            libc::_exit(127);
        }
        let (what, error) = match set_filter(steps) {
            Err(error) => (NO_FILTER, error),
            Ok(()) => (NO_EXEC, command.execute()),
        };
        let mut message = [what; 5];
        message[1..].copy_from_slice(&error.to_ne_bytes());
        libc::write(reporter.as_raw_fd(), message.as_ptr().cast(), message.len());
        libc::_exit(127)
    }
}

/// Puts the filter on the calling thread; without CAP_SYS_ADMIN it has to give up gaining privileges first.
fn set_filter(steps: &[libc::sock_filter]) -> Result<(), i32> {
    let program =
        libc::sock_fprog { len: steps.len() as libc::c_ushort, filter: steps.as_ptr().cast_mut() };
    // SAFETY: prctl reads the program and touches nothing else.
    unsafe {
        let set = || {
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::c_ulong::from(libc::SECCOMP_MODE_FILTER),
                &raw const program,
            )
        };
        let [one, zero]: [libc::c_ulong; 2] = [1, 0];
        let done = set() == 0
            || (libc::prctl(libc::PR_SET_NO_NEW_PRIVS, one, zero, zero, zero) == 0 && set() == 0);
        if done { Ok(()) } else { Err(*libc::__errno_location()) }
    }
}

impl Born {
    /// What the child could not do, if it ended before the command began. Ask once it has ended.
    pub(super) fn failure(&self) -> Option<TraceError> {
        let _ = rustix::io::ioctl_fionbio(&self.report, true);
        let mut message = [0_u8; 5];
        let read = rustix::io::read(&self.report, &mut message).ok()?;
        let errno = message[1..].first_chunk::<4>().filter(|_| read == message.len())?;
        let error = io::Error::from_raw_os_error(i32::from_ne_bytes(*errno));
        Some(match message[0] {
            NO_FILTER => TraceError::Refused { call: "prctl(PR_SET_SECCOMP)", error },
            _ => TraceError::Execute(error),
        })
    }
}

/// The next stop or end of a task of this thread's, or nothing when none is left.
pub(super) fn wait_any() -> Option<Event> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        let mut status = 0;
        let flags = libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: both are valid places to write to.
        let task = unsafe { libc::wait4(-1, &raw mut status, flags, usage.as_mut_ptr()) };
        if task > 0 {
            // SAFETY: all zeros is a valid value too.
            return Some(Event { task, status, usage: unsafe { usage.assume_init() } });
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// Lets a stopped task go on, with a signal if one is to be delivered. One that was killed meanwhile is no error.
pub(super) fn resume(task: libc::pid_t, how: Resume, signal: i32) {
    let how = match how {
        Resume::Run => libc::PTRACE_CONT,
        Resume::ToEndOfCall => libc::PTRACE_SYSCALL,
        Resume::StayStopped => libc::PTRACE_LISTEN,
    };
    request(how, task, 0, signal as usize);
}

/// The number that came with an event: the former id of a task that executed.
pub(super) fn event_message(task: libc::pid_t) -> Option<libc::pid_t> {
    let mut message: libc::c_ulong = 0;
    let place = (&raw mut message) as usize;
    (request(libc::PTRACE_GETEVENTMSG, task, 0, place) == 0)
        .then(|| libc::pid_t::try_from(message).ok())?
}

/// Kills the process of a task that this thread traces and has not waited for, so that the number is still its own.
pub(super) fn kill(task: libc::pid_t) {
    // SAFETY: touches no memory.
    unsafe { libc::kill(task, libc::SIGKILL) };
}

/// Where in a system call the task has stopped; nothing where it was killed meanwhile.
pub(super) fn stop_of(task: libc::pid_t) -> Option<Stop> {
    let mut info = RawInfo::default();
    let place = (&raw mut info) as usize;
    if request(PTRACE_GET_SYSCALL_INFO, task, size_of::<RawInfo>(), place) <= 0 {
        let is_gone = io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
        return (!is_gone).then_some(Stop::Untold);
    }
    match (info.op, info.data) {
        (OP_SECCOMP, [number, arguments @ .., _]) => {
            Some(Stop::Before(Call { arch: info.arch, number, arguments }))
        }
        (OP_EXIT, [value, ..]) => Some(Stop::After(value as i64)),
        _ => None,
    }
}

fn request(request: libc::c_uint, task: libc::pid_t, address: usize, data: usize) -> libc::c_long {
    // SAFETY: of the requests used here, those that write do so to `data`, which their callers made a valid place of
    // the size that the kernel knows or was told in `address`.
    unsafe { libc::ptrace(request, task, address, data) }
}
