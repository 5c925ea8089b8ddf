//! Kernel memory that no limit around this process counts.
//!
//! The kernel charges what it allocates for a system call, BPF tables above all, to the control group of the task that calls.
//! So the calls are made by a task that left the group for a moment: a child that shares this process's memory and
//! descriptors, as that of vfork(2) does. This process never moves, and what it starts stays where it is.

use std::ffi::{c_int, c_void};
use std::fs::{File, OpenOptions};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::thread;

use super::{MemoryGroup, own_groups, parse_limit};
use crate::mapping::Mapping;

/// Takes a process as its number; 0 is the one that writes.
const MEMBERS: &str = "cgroup.procs";
/// As much as a thread of the standard library has.
const STACK_BYTES: usize = 2 << 20;

/// Kernel memory counts against a limit around this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limited {
    /// The tightest limit that it counts against, in bytes.
    pub limit_bytes: u64,
    /// Why it could not be allocated elsewhere.
    pub why: &'static str,
}

/// Does `work` where no memory limit counts what the kernel allocates for it; here, where no limit is above this process, or where
/// this process may not leave its group: then it says so.
///
/// No thread but the calling one waits for `work`, which sees this process's memory and descriptors, but is another process to
/// the kernel: what belongs to a process, such as its limits, is the child's.
pub fn outside_limits<T>(work: impl FnOnce() -> T) -> (T, Option<Limited>) {
    let groups = own_groups();
    let limited = groups.iter().filter_map(|group| Some((tightest(group)?, group)));
    let Some((limit_bytes, group)) = limited.min_by_key(|(limit, _)| *limit) else {
        return (work(), None);
    };
    let places = places(group);
    if places.is_empty() {
        let why = "no control group without a limit can be written to from here";
        return (work(), Some(Limited { limit_bytes, why }));
    }
    match elsewhere(&places, work) {
        Ok(answer) => (answer, None),
        Err((work, why)) => (work(), Some(Limited { limit_bytes, why })),
    }
}

/// The tightest limit on a group and its ancestors. memory.high slows down and evicts as the hard one does.
fn tightest(group: &MemoryGroup) -> Option<u64> {
    group.dirs().filter_map(|dir| limit_of(group, dir)).min()
}

fn limit_of(group: &MemoryGroup, dir: &Path) -> Option<u64> {
    let high = (group.limit_file == "memory.max").then_some("memory.high");
    let files = [Some(group.limit_file), high].into_iter().flatten();
    files
        .filter_map(|file| std::fs::read_to_string(dir.join(file)).ok())
        .filter_map(|text| parse_limit(&text))
        .min()
}

/// The groups above every limit that may be joined, the highest first.
fn places(group: &MemoryGroup) -> Vec<File> {
    let dirs: Vec<&Path> = group.dirs().collect();
    let above = dirs.iter().rev().take_while(|dir| limit_of(group, dir).is_none());
    above.filter_map(|dir| OpenOptions::new().write(true).open(dir.join(MEMBERS)).ok()).collect()
}

/// What the child is handed, and what it leaves.
struct Job<'a, W, T> {
    places: &'a [File],
    work: Option<W>,
    answer: Option<thread::Result<T>>,
}

/// Has a child join the first of the groups that takes it, and do the work there. The work comes back undone where there is no
/// such child or no such group.
fn elsewhere<T, W: FnOnce() -> T>(places: &[File], work: W) -> Result<T, (W, &'static str)> {
    let Ok(stack) = Mapping::anonymous(STACK_BYTES) else {
        return Err((work, "no memory is left for a second stack"));
    };
    let mut job = Job { places, work: Some(work), answer: None };
    let started = run(&stack, do_job::<T, W>, (&raw mut job).cast());
    match (job.answer, job.work) {
        (Some(Ok(answer)), _) => Ok(answer),
        (Some(Err(panic)), _) => resume_unwind(panic),
        (None, Some(work)) if started => {
            Err((work, "no control group above it takes this process"))
        }
        (None, Some(work)) => Err((work, "the kernel refused a child process")),
        // The child was killed amidst the work, and may have held a lock or left a list half made.
        (None, None) => std::process::abort(),
    }
}

extern "C" fn do_job<T, W: FnOnce() -> T>(job: *mut c_void) -> c_int {
    // SAFETY: `elsewhere` hands over its job, waits for this function, and looks at it only afterwards.
    let job = unsafe { &mut *job.cast::<Job<'_, W, T>>() };
    if job.places.iter().any(|place| rustix::io::write(place, b"0").is_ok())
        && let Some(work) = job.work.take()
    {
        job.answer = Some(catch_unwind(AssertUnwindSafe(work)));
    }
    0
}

/// Calls `main` in a child that shares memory and descriptors, while the calling thread waits; false where there is no child. No
/// signal reaches the child: an end amidst the work would leave this process's memory in pieces.
fn run(stack: &Mapping, main: extern "C" fn(*mut c_void) -> c_int, job: *mut c_void) -> bool {
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_FILES;
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the sets are written before they are read. The child runs on a stack of its own, which ends where the mapping does
    // and outlives it: this thread goes on when the child has ended (CLONE_VFORK), and the child uses this thread's
    // thread-local memory meanwhile. It leaves by returning, which ends it alone. Without an exit signal it is waited
    // for by nobody who does not ask for such children.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let top = stack.start().wrapping_add(stack.bytes()).cast();
        let child = libc::clone(main, top, flags, job);
        if child > 0 {
            let mut status = 0;
            while libc::waitpid(child, &raw mut status, libc::__WALL) < 0
                && *libc::__errno_location() == libc::EINTR
            {}
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        child > 0
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_child_shares_memory_and_descriptors_and_is_another_process() {
        let place = tempfile();
        let mut seen = Vec::new();
        let work = || {
            seen.push(std::process::id());
            File::open("/dev/null").expect("a descriptor")
        };
        let file = elsewhere(&[place], work).map_err(|(_, why)| why).expect("done");
        assert!(file.metadata().expect("the descriptor is this process's too").rdev() > 0);
        assert!(seen.len() == 1 && seen[0] != std::process::id(), "{seen:?}");
    }

    #[test]
    fn a_panic_of_the_work_is_this_process_s() {
        let place = [tempfile()];
        let caught = catch_unwind(|| elsewhere(&place, || panic!("amidst")).is_ok());
        assert_eq!(caught.expect_err("it panics").downcast_ref(), Some(&"amidst"));
    }

    #[test]
    fn without_a_place_the_work_is_left_to_do() {
        let read_only = [File::open("/dev/null").expect("open")];
        let Err((work, why)) = elsewhere(&read_only, || 5) else { panic!("there is no place") };
        assert_eq!((work(), why), (5, "no control group above it takes this process"));
    }

    #[test]
    fn the_place_is_the_highest_above_every_limit() {
        let top = std::env::temp_dir().join(format!("hotset-outside-{}", std::process::id()));
        let dir = top.join("a/b/c");
        std::fs::create_dir_all(&dir).expect("mkdir");
        let write = |path: &str, text: &str| std::fs::write(top.join(path), text).expect("write");
        for group in ["", "a", "a/b", "a/b/c"] {
            std::fs::write(top.join(group).join(MEMBERS), "").expect("write");
        }
        let group = MemoryGroup { dir, top: top.clone(), limit_file: "memory.max" };
        let of = |path: &str| std::fs::metadata(top.join(path).join(MEMBERS)).expect("file").ino();
        let found = |group| -> Vec<u64> {
            places(group).iter().map(|file| file.metadata().expect("file").ino()).collect()
        };
        assert_eq!((tightest(&group), found(&group).len()), (None, 4));
        write("a/b/memory.high", "5000\n");
        let limited = (tightest(&group), found(&group));
        write("memory.max", "9000\n");
        let everywhere = found(&group);
        let wanted = vec![of(""), of("a")];
        std::fs::remove_dir_all(&top).expect("cleanup");
        assert_eq!(limited, (Some(5000), wanted));
        assert!(everywhere.is_empty(), "a limit on the highest is a limit on all");
    }

    /// A file that takes what is written.
    fn tempfile() -> File {
        OpenOptions::new().write(true).open(PathBuf::from("/dev/null")).expect("/dev/null")
    }
}
