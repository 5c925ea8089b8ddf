//! Trees walked in two ways: by hotset's own walker, and by the fewest system calls that can answer.

use std::error::Error;
use std::ffi::{CStr, CString};
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hotset_facts::ListingTotals;
use hotset_sys::cache::Prober;
use hotset_sys::tree::{Found, Selection, Visitor, walk};

const SYS_CACHESTAT: libc::c_long = 451;
const BLOCK_BYTES: usize = 64 << 10;

/// Files and pages that a walk found, and its time.
pub(crate) struct Walked {
    files: u64,
    cached_pages: u64,
    nanoseconds: f64,
}

impl Display for Walked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let each = self.nanoseconds / self.files.max(1) as f64;
        write!(f, "{each:.1} ns a file, {} files, {} pages cached", self.files, self.cached_pages)
    }
}

/// hotset's walker and its question to the kernel, and nothing around them.
pub(crate) fn walker(path: &Path, threads: u64) -> Walked {
    let start = Instant::now();
    let selection = Selection { roots: vec![path.to_owned()], ..Selection::default() };
    let visitors = (0..threads).map(|_| Counter::default()).collect();
    let walked = walk(&selection, &AtomicBool::new(false), visitors);
    let nanoseconds = start.elapsed().as_nanos() as f64;
    let mut totals = ListingTotals::default();
    walked.visitors.iter().for_each(|counter| totals.merge(&counter.totals));
    Walked { files: totals.files, cached_pages: totals.cached_pages, nanoseconds }
}

#[derive(Default)]
struct Counter {
    prober: Prober,
    totals: ListingTotals,
}

impl Visitor for Counter {
    fn file(&mut self, file: &Found<'_>) {
        let state = self.prober.state(file);
        self.totals.add(hotset_sys::pages_of(file.size_bytes), file.size_bytes, &state);
    }

    fn unreadable(&mut self, _: &Path, _: &dyn Display) {}
}

/// The floor: getdents64, and openat with O_NOATIME, cachestat and close for each regular file. It knows no sizes, owners or
/// hard links, and cannot fail politely. Threads share directories.
pub(crate) fn floor(path: &Path, threads: u64) -> Result<Walked, Box<dyn Error>> {
    let start = Instant::now();
    let floor = Floor {
        waiting: Mutex::new(vec![CString::new(path.as_os_str().as_bytes())?]),
        unfinished: AtomicUsize::new(1),
    };
    let mut sums = (0, 0);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| floor.work())).collect();
        sums = floor.work();
        for (files, pages) in others.into_iter().filter_map(|thread| thread.join().ok()) {
            sums = (sums.0 + files, sums.1 + pages);
        }
    });
    let nanoseconds = start.elapsed().as_nanos() as f64;
    Ok(Walked { files: sums.0, cached_pages: sums.1, nanoseconds })
}

struct Floor {
    waiting: Mutex<Vec<CString>>,
    unfinished: AtomicUsize,
}

impl Floor {
    fn work(&self) -> (u64, u64) {
        let mut sums = (0, 0);
        let mut block = vec![0_u8; BLOCK_BYTES];
        while self.unfinished.load(Ordering::Acquire) > 0 {
            let next = self.lock().pop();
            let Some(path) = next else {
                std::thread::yield_now();
                continue;
            };
            self.directory(&path, &mut block, &mut sums);
            self.unfinished.fetch_sub(1, Ordering::Release);
        }
        sums
    }

    fn directory(&self, path: &CStr, block: &mut [u8], sums: &mut (u64, u64)) {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC | libc::O_NOATIME;
        // SAFETY: the path ends with NUL.
        let dir = unsafe { libc::open(path.as_ptr(), flags) };
        if dir < 0 {
            return;
        }
        loop {
            // SAFETY: the kernel writes at most as many bytes as the block has.
            let read = unsafe {
                libc::syscall(libc::SYS_getdents64, dir, block.as_mut_ptr(), block.len())
            };
            let Ok(read @ 1..) = usize::try_from(read) else { break };
            let mut rest = &block[..read];
            while let Some(length) = rest.get(16..18) {
                let length = usize::from(u16::from_ne_bytes([length[0], length[1]]));
                let Ok(name) = CStr::from_bytes_until_nul(&rest[19..length]) else { break };
                match rest[18] {
                    libc::DT_REG => file(dir, name, sums),
                    libc::DT_DIR if name != c"." && name != c".." => self.later(path, name),
                    _ => {}
                }
                rest = &rest[length..];
            }
        }
        // SAFETY: opened above, and known to nobody else.
        unsafe { libc::close(dir) };
    }

    fn later(&self, parent: &CStr, name: &CStr) {
        let path = [parent.to_bytes(), b"/", name.to_bytes()].concat();
        if let Ok(path) = CString::new(path) {
            self.unfinished.fetch_add(1, Ordering::Relaxed);
            self.lock().push(path);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<CString>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn file(dir: libc::c_int, name: &CStr, sums: &mut (u64, u64)) {
    let range = [0_u64, 0];
    let mut answer = [0_u64; 5];
    // SAFETY: the name ends with NUL, the range has two numbers and the answer five, as the kernel's structures do.
    unsafe {
        let fd = libc::openat(dir, name.as_ptr(), libc::O_RDONLY | libc::O_NOATIME);
        if fd < 0 {
            return;
        }
        libc::syscall(SYS_CACHESTAT, fd, range.as_ptr(), answer.as_mut_ptr(), 0);
        libc::close(fd);
    }
    sums.0 += 1;
    sums.1 += answer[0];
}
