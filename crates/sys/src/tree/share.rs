//! What the threads of a walk share: the roots not begun, pieces of directories that a thread gave away, and the end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Selection;
use super::frame::Frame;
use super::roots::Roots;
use super::seen::Seen;

/// Descriptors that are left to the rest of the program.
const RESERVED_FDS: u64 = 64;
/// Directories that a thread keeps open at most, with a block of entries each.
const MOST_OPEN: u64 = 128;
/// And at least, however few descriptors there are.
const FEWEST_OPEN: u64 = 4;

/// Something to do.
pub(super) enum Task {
    /// A root that nobody began.
    Root(usize),
    /// A part of a directory.
    Piece(Piece),
}

/// A directory, or entries of one, that another thread can go on with.
pub(super) struct Piece {
    pub(super) frame: Frame,
    /// The directory's path.
    pub(super) path: Vec<u8>,
    pub(super) root: usize,
    pub(super) root_dev: u64,
}

/// The shared part of a walk.
pub(super) struct Shared<'a> {
    pub(super) selection: &'a Selection,
    pub(super) roots: Roots,
    pub(super) seen: Seen,
    /// Directories that each thread may keep open.
    pub(super) open_limit: usize,
    stop: &'a AtomicBool,
    interrupted: AtomicBool,
    next_root: AtomicUsize,
    /// Threads without work for which no piece was put up yet.
    hungry: AtomicUsize,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    pieces: Vec<Piece>,
    idle: usize,
    /// Threads of the walk, idle or not.
    threads: usize,
    over: bool,
}

impl<'a> Shared<'a> {
    pub(super) fn new(selection: &'a Selection, stop: &'a AtomicBool, threads: usize) -> Self {
        Self {
            selection,
            roots: Roots::new(&selection.roots),
            seen: Seen::new(),
            open_limit: open_limit(threads),
            stop,
            interrupted: AtomicBool::new(false),
            next_root: AtomicUsize::new(0),
            hungry: AtomicUsize::new(0),
            queue: Mutex::new(Queue { threads, ..Queue::default() }),
            changed: Condvar::new(),
        }
    }

    /// The next thing to do; waits for it, and is nothing once no thread can have any more.
    pub(super) fn next(&self) -> Option<Task> {
        let mut queue = self.lock();
        let mut waited = false;
        loop {
            if self.stopped() || queue.over {
                queue.over = true;
                self.changed.notify_all();
                return None;
            }
            if let Some(piece) = queue.pieces.pop() {
                queue.idle -= usize::from(waited);
                return Some(Task::Piece(piece));
            }
            let root = self.next_root.load(Ordering::Relaxed);
            if root < self.selection.roots.len() {
                // Under the lock, so nobody else moves it.
                self.next_root.store(root + 1, Ordering::Relaxed);
                queue.idle -= usize::from(waited);
                self.set_hungry(&queue);
                return Some(Task::Root(root));
            }
            queue.idle += usize::from(!waited);
            waited = true;
            if queue.idle >= queue.threads {
                queue.over = true;
                self.changed.notify_all();
                return None;
            }
            self.set_hungry(&queue);
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether another thread would take a piece.
    pub(super) fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    /// Puts a piece up.
    pub(super) fn give(&self, piece: Piece) {
        let mut queue = self.lock();
        queue.pieces.push(piece);
        self.set_hungry(&queue);
        drop(queue);
        self.changed.notify_one();
    }

    /// Whether to stop; whoever asks has work left.
    pub(super) fn stopped(&self) -> bool {
        let stopped = self.stop.load(Ordering::Relaxed);
        if stopped {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        stopped
    }

    /// Counts out a thread that could not be started: the others must not wait for it.
    pub(super) fn one_fewer(&self) {
        self.lock().threads -= 1;
        // One that waits already looks again whether it is the last.
        self.changed.notify_all();
    }

    /// Ends the walk for all, because a thread is about to die of a visitor's panic.
    pub(super) fn abandon(&self) {
        self.lock().over = true;
        self.changed.notify_all();
    }

    /// Whether a thread stopped with work left.
    pub(super) fn was_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn set_hungry(&self, queue: &Queue) {
        self.hungry.store(queue.idle.saturating_sub(queue.pieces.len()), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open_limit(threads: usize) -> usize {
    let all = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let each = all.unwrap_or(u64::MAX).saturating_sub(RESERVED_FDS) / (2 * threads.max(1) as u64);
    each.clamp(FEWEST_OPEN, MOST_OPEN) as usize
}
