//! A command made ready to be started many times, so that nothing is left to do between a clock and the system call.

mod grouped;
mod inherited;
mod surroundings;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hotset_facts::{ExitStatus, Pid};

pub use surroundings::Surroundings;

use crate::child::{Usage, wait_for};

/// Descriptors below this one are the command's own standard streams.
const FIRST_FREE_FD: RawFd = 3;

/// The shell that reads a script whose first line names no interpreter.
const SHELL: &str = "/bin/sh";

/// A program, found already, and its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What is executed; nothing is looked up in PATH any more.
    pub program: PathBuf,
    /// The words, the program's name first.
    pub argv: Vec<OsString>,
}

impl Invocation {
    /// Words of which the first is what is executed.
    pub fn of(argv: Vec<OsString>) -> Self {
        Self { program: argv.first().map(PathBuf::from).unwrap_or_default(), argv }
    }

    /// What execvp(3) makes of a script whose first line names no interpreter: the shell's.
    fn as_script(&self) -> Self {
        let script = self.program.clone().into_os_string();
        let words = self.argv.iter().skip(1).cloned();
        let argv = [OsString::from(SHELL), script].into_iter().chain(words).collect();
        Self { program: SHELL.into(), argv }
    }
}

/// A program, its words and its standard streams, ready for posix_spawn(3). A script whose first line names no interpreter
/// becomes the shell's, as execvp(3) has it, at the first start.
///
/// The environment and the working directory are this process's at the time of each start, unless [`Launch::within`] says otherwise.
pub struct Launch {
    invocation: Invocation,
    surroundings: Surroundings,
    /// The same for the system calls.
    ready: surroundings::Ready,
    /// The shell reads it.
    is_script: bool,
    path: CString,
    /// Point into `_words` and end with null.
    argv: Vec<*mut libc::c_char>,
    _words: Vec<CString>,
    stdio: [Option<OwnedFd>; 3],
    attributes: Box<libc::posix_spawnattr_t>,
    actions: Box<libc::posix_spawn_file_actions_t>,
}

// SAFETY: the pointers lead to memory on the heap that this value owns and that nobody else knows.
unsafe impl Send for Launch {}

/// One timed start, from the call to the end of the process.
#[derive(Debug, Clone, Copy)]
pub struct Timed {
    /// Right before the call.
    pub started: Instant,
    /// From there to right after the wait.
    pub wall: Duration,
    /// How the process ended.
    pub exit: ExitStatus,
    /// What it used, with the descendants that it waited for.
    pub usage: Usage,
}

impl Launch {
    /// Makes `program` ready, which is executed as it is: nothing is looked up in PATH. A standard stream that is `None`
    /// is inherited.
    ///
    /// # Errors
    /// EINVAL where a word holds a NUL, EMFILE where no descriptor is left.
    pub fn new(program: &Path, argv: &[OsString], stdio: [Option<OwnedFd>; 3]) -> io::Result<Self> {
        let text =
            |word: &OsStr| CString::new(word.as_bytes()).map_err(|_| io::ErrorKind::InvalidInput);
        let path = text(program.as_os_str())?;
        let words = argv.iter().map(|word| text(word)).collect::<Result<Vec<_>, _>>()?;
        let mut pointers: Vec<*mut libc::c_char> =
            words.iter().map(|word| word.as_ptr().cast_mut()).collect();
        pointers.push(std::ptr::null_mut());
        let stdio = clear_of_standard_streams(stdio)?;
        let actions = file_actions(&stdio, None)?;
        Ok(Self {
            invocation: Invocation { program: program.to_owned(), argv: argv.to_vec() },
            surroundings: Surroundings::default(),
            ready: surroundings::Ready::default(),
            is_script: false,
            path,
            argv: pointers,
            _words: words,
            stdio,
            attributes: attributes(),
            actions,
        })
    }

    /// The same in another directory, with other variables. A program without a slash at its front is found from that directory on.
    ///
    /// # Errors
    /// EINVAL where a word holds a NUL, or a variable's name an equals sign.
    pub fn within(mut self, surroundings: &Surroundings) -> io::Result<Self> {
        let ready = surroundings::Ready::of(surroundings)?;
        let mut actions = file_actions(&self.stdio, ready.directory.as_deref())?;
        std::mem::swap(&mut self.actions, &mut actions);
        // SAFETY: what `swap` took out was initialised once and is used no more.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut *actions) };
        self.surroundings = surroundings.clone();
        self.ready = ready;
        Ok(self)
    }

    /// Gives the program to the shell where that is what `refused` calls for; the streams stay. False where it does not, or
    /// where the shell has it already.
    pub(crate) fn become_script(&mut self, refused: &io::Error) -> bool {
        if self.is_script || refused.raw_os_error() != Some(libc::ENOEXEC) {
            return false;
        }
        let Invocation { program, argv } = self.invocation.as_script();
        let script = Self::new(&program, &argv, std::mem::take(&mut self.stdio));
        match script.and_then(|script| script.within(&self.surroundings)) {
            Ok(script) => *self = script,
            Err(_) => return false,
        }
        self.is_script = true;
        true
    }

    /// Starts it with the signals blocked and ignored that were so when this process was started.
    ///
    /// # Errors
    /// As execve(2) gives them.
    pub fn start(&mut self) -> io::Result<Pid> {
        let pid = match self.spawn() {
            Err(error) if self.become_script(&error) => self.spawn(),
            spawned => spawned,
        };
        pid.and_then(|pid| Pid::try_from(pid).map_err(|_| io::ErrorKind::InvalidData.into()))
    }

    /// Starts it, waits for its end, and times both: between the clock's two answers there are the two system calls alone.
    ///
    /// # Errors
    /// As execve(2) gives them.
    pub fn time(&mut self) -> io::Result<Timed> {
        loop {
            let started = Instant::now();
            let pid = match self.spawn() {
                Err(error) if self.become_script(&error) => continue,
                spawned => spawned?,
            };
            let waited = wait_for(pid);
            let wall = started.elapsed();
            let (status, usage) = waited?;
            let exit = ExitStatus::from_wait_status(status);
            return Ok(Timed { started, wall, exit, usage: usage.into() });
        }
    }

    fn spawn(&self) -> io::Result<libc::pid_t> {
        let mut pid = 0;
        // SAFETY: path, words and environment end with NUL and null; attributes and actions are initialised; all of them
        // live until the call returns. Nothing here changes the environment.
        let error = unsafe {
            libc::posix_spawn(
                &raw mut pid,
                self.path.as_ptr(),
                &raw const *self.actions,
                &raw const *self.attributes,
                self.argv.as_ptr(),
                self.environment().cast(),
            )
        };
        if error == 0 { Ok(pid) } else { Err(io::Error::from_raw_os_error(error)) }
    }

    fn environment(&self) -> *const *const libc::c_char {
        // SAFETY: nothing here changes the environment.
        self.ready.environment().unwrap_or(unsafe { environ })
    }

    /// Turns this process into the command; comes back only with the error.
    ///
    /// # Safety
    /// Only in a child of fork(2) that has done nothing but async-signal-safe calls.
    pub(crate) unsafe fn execute(&self) -> i32 {
        // SAFETY: async-signal-safe calls on memory that was made ready before the fork.
        unsafe {
            for (target, fd) in (0..).zip(&self.stdio) {
                if let Some(fd) = fd {
                    libc::dup2(fd.as_raw_fd(), target);
                }
            }
            let signals = inherited::inherited();
            if !signals.ignores_pipe {
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            }
            libc::sigprocmask(libc::SIG_SETMASK, &raw const signals.blocked, std::ptr::null_mut());
            if let Some(directory) = &self.ready.directory
                && libc::chdir(directory.as_ptr()) != 0
            {
                return *libc::__errno_location();
            }
            let argv: *const *const libc::c_char = self.argv.as_ptr().cast();
            libc::execve(self.path.as_ptr(), argv, self.environment());
            *libc::__errno_location()
        }
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        // SAFETY: both were initialised once and are destroyed once.
        unsafe {
            libc::posix_spawnattr_destroy(&raw mut *self.attributes);
            libc::posix_spawn_file_actions_destroy(&raw mut *self.actions);
        }
    }
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch").field("path", &self.path).field("words", &self._words).finish()
    }
}

unsafe extern "C" {
    static environ: *const *const libc::c_char;
}

/// A descriptor that is 0, 1 or 2 here would be overwritten before it is used.
fn clear_of_standard_streams(stdio: [Option<OwnedFd>; 3]) -> io::Result<[Option<OwnedFd>; 3]> {
    let mut clear = [None, None, None];
    for (place, fd) in clear.iter_mut().zip(stdio) {
        *place = match fd {
            Some(fd) if fd.as_raw_fd() < FIRST_FREE_FD => {
                Some(rustix::io::fcntl_dupfd_cloexec(&fd, FIRST_FREE_FD)?)
            }
            other => other,
        };
    }
    Ok(clear)
}

fn file_actions(
    stdio: &[Option<OwnedFd>; 3],
    directory: Option<&CStr>,
) -> io::Result<Box<libc::posix_spawn_file_actions_t>> {
    let mut actions = Box::new(MaybeUninit::uninit());
    // SAFETY: initialises the actions, which the calls after it then only add to.
    let mut actions = unsafe {
        libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
        actions.assume_init()
    };
    let mut error = 0;
    for (target, fd) in (0..).zip(stdio) {
        if let (Some(fd), 0) = (fd, error) {
            let fd = fd.as_raw_fd();
            // SAFETY: the actions are initialised.
            error =
                unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut *actions, fd, target) };
        }
    }
    if let (Some(directory), 0) = (directory, error) {
        // SAFETY: the actions are initialised, and they copy the path.
        error = unsafe {
            libc::posix_spawn_file_actions_addchdir_np(&raw mut *actions, directory.as_ptr())
        };
    }
    if error != 0 {
        // SAFETY: initialised above and not used any more.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut *actions) };
        return Err(io::Error::from_raw_os_error(error));
    }
    Ok(actions)
}

fn attributes() -> Box<libc::posix_spawnattr_t> {
    let mut attributes = Box::new(MaybeUninit::uninit());
    let signals = inherited::inherited();
    // SAFETY: the attributes are initialised before use and the set by sigemptyset; the calls only write to them.
    unsafe {
        let mut ignored = MaybeUninit::uninit();
        libc::sigemptyset(ignored.as_mut_ptr());
        // Ignored by the standard library's start-up code.
        if !signals.ignores_pipe {
            libc::sigaddset(ignored.as_mut_ptr(), libc::SIGPIPE);
        }
        libc::posix_spawnattr_init(attributes.as_mut_ptr());
        libc::posix_spawnattr_setsigmask(attributes.as_mut_ptr(), &raw const signals.blocked);
        libc::posix_spawnattr_setsigdefault(attributes.as_mut_ptr(), ignored.as_ptr());
        let flags = libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
        libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), flags as libc::c_short);
        attributes.assume_init()
    }
}

/// Starts a program with the signals blocked and ignored that were so when this process was started, by vfork: until it
/// executes, the child touches no memory of its own that an observer could take for the program's.
///
/// # Errors
/// As execve(2) gives them; EINVAL where a word holds a NUL.
pub fn spawn(program: &Path, argv: &[OsString]) -> io::Result<Pid> {
    Launch::new(program, argv, [None, None, None])?.start()
}
