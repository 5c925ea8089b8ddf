//! A command started over and over: the floor under every tool that times commands.

use std::error::Error;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Instant;

/// Runs `program` so many times by posix_spawn(3) and wait4(2) and nothing else; the wall times in nanoseconds.
pub(crate) fn bare(program: &str, count: u64) -> Result<Vec<u64>, Box<dyn Error>> {
    let path = CString::new(program)?;
    let argv = [path.as_ptr().cast_mut(), ptr::null_mut()];
    let devnull = c"/dev/null";
    let mut actions = MaybeUninit::uninit();
    // SAFETY: initialises the actions and adds to them.
    unsafe {
        libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
        for fd in 0..3 {
            let (from, mode) = (devnull.as_ptr(), libc::O_RDWR);
            libc::posix_spawn_file_actions_addopen(actions.as_mut_ptr(), fd, from, mode, 0);
        }
    }
    let mut times = Vec::with_capacity(usize::try_from(count)?);
    for _ in 0..count {
        let (mut pid, mut status) = (0, 0);
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        let start = Instant::now();
        // SAFETY: path, words and environment end with NUL and null; the places for answers are valid.
        let (error, waited) = unsafe {
            let error = libc::posix_spawn(
                &raw mut pid,
                path.as_ptr(),
                actions.as_ptr(),
                ptr::null(),
                argv.as_ptr(),
                environ,
            );
            (error, libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()))
        };
        times.push(start.elapsed().as_nanos() as u64);
        if error != 0 || waited != pid {
            return Err(format!("{program} can't be run").into());
        }
    }
    Ok(times)
}

unsafe extern "C" {
    static environ: *const *mut libc::c_char;
}
