//! Counters of the kernel's tracepoints, by perf_event_open(2). Requires root.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Mutex;

use hotset_sys::perf_event::{self, Event};
use hotset_sys::tracepoint::tracepoint_id;

use crate::filesystems::ensure_tracefs;

const PERF_TYPE_TRACEPOINT: u32 = 2;
/// The flag in perf_event_attr: what the thread starts is counted too.
const INHERIT: u64 = 1 << 1;
/// include/uapi/linux/perf_event.h: `_IOW('$', 6, char *)`.
const PERF_EVENT_IOC_SET_FILTER: libc::Ioctl = 0x4008_2406;

/// A tracepoint by its category and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tracepoint(pub(crate) &'static str, pub(crate) &'static str);

impl Tracepoint {
    /// Its number, by a thread of its own, so that no other has its mounts.
    fn id(self) -> u64 {
        static KNOWN: Mutex<BTreeMap<Tracepoint, u64>> = Mutex::new(BTreeMap::new());
        let look = move || {
            ensure_tracefs();
            tracepoint_id(self.0, self.1).expect("a tracepoint")
        };
        let mut known = KNOWN.lock().expect("no test panics with it");
        *known.entry(self).or_insert_with(|| {
            std::thread::spawn(look).join().expect("its number; this test needs root")
        })
    }
}

/// Counts what others do: processes that the calling thread did not start, and the kernel's threads.
#[derive(Default)]
pub(crate) struct Others {
    /// One for each CPU that is online.
    everyone: Vec<File>,
    /// Of the thread that made this, and of the threads and processes that it has started since.
    own: Vec<File>,
}

impl Others {
    /// Counts this too from now on, where the filter fits.
    pub(crate) fn add(&mut self, tracepoint: Tracepoint, filter: &str) {
        // Its own first: what falls between the two counts as done by others, and is not missed.
        self.own.push(of_this_thread(tracepoint, filter));
        self.everyone.extend(on_each_cpu(tracepoint, filter));
    }

    /// How often others did.
    pub(crate) fn count(&self) -> u64 {
        self.by_everyone().saturating_sub(sum(&self.own))
    }

    /// How often it was done at all.
    pub(crate) fn by_everyone(&self) -> u64 {
        sum(&self.everyone)
    }
}

/// Counts what the calling thread does, and the threads and processes that it starts from now on, where the filter fits.
pub(crate) fn of_this_thread(tracepoint: Tracepoint, filter: &str) -> File {
    counter(tracepoint, filter, 0, -1).expect("a counter of this thread")
}

/// Counts what anybody does, a counter for each CPU that is online.
fn on_each_cpu(tracepoint: Tracepoint, filter: &str) -> impl Iterator<Item = File> {
    // SAFETY: sysconf only answers.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    (0..cpus as i32).filter_map(move |cpu| match counter(tracepoint, filter, -1, cpu) {
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => None,
        opened => Some(opened.expect("a counter; this test needs root")),
    })
}

/// What they have counted.
pub(crate) fn sum(counters: &[File]) -> u64 {
    let count = |mut counter: &File| {
        let mut count = [0; 8];
        counter.read_exact(&mut count).expect("a count");
        u64::from_ne_bytes(count)
    };
    counters.iter().map(count).sum()
}

fn counter(tracepoint: Tracepoint, filter: &str, pid: i32, cpu: i32) -> io::Result<File> {
    let flags = if pid == 0 { INHERIT } else { 0 };
    let config = tracepoint.id();
    let event = Event { kind: PERF_TYPE_TRACEPOINT, config, flags, ..Event::default() };
    let counter = perf_event::open(event, pid, cpu)?;
    if !filter.is_empty() {
        set_filter(&counter, filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
    }
    Ok(File::from(counter))
}

fn set_filter(counter: &OwnedFd, filter: &str) -> io::Result<()> {
    let filter = std::ffi::CString::new(filter).expect("no NUL");
    // SAFETY: the call takes a descriptor and a C string, which outlives it.
    let answer =
        unsafe { libc::ioctl(counter.as_raw_fd(), PERF_EVENT_IOC_SET_FILTER, filter.as_ptr()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
