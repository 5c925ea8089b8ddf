//! What each thread did last.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use hotset_facts::trace::{FileIndex, OperationClass};

use super::Seen;

/// Threads that are told apart: of a trace with more, those that came first.
const MOST: usize = 1 << 14;

/// A thread's record before another.
#[derive(Debug, Clone, Copy)]
pub(in crate::explain) struct Before {
    /// What it did.
    pub(in crate::explain) class: OperationClass,
    /// Whether it came to anything: its result is not below zero.
    pub(in crate::explain) succeeded: bool,
    /// A hash of its path, of opens and lookups.
    pub(in crate::explain) path: Option<u64>,
    /// How long it took, in nanoseconds.
    pub(in crate::explain) ns: u64,
}

/// What a thread read last.
#[derive(Debug, Clone, Copy)]
pub(in crate::explain) struct Data {
    /// The file.
    pub(in crate::explain) file: Option<FileIndex>,
    /// Bytes that were read.
    pub(in crate::explain) bytes: u64,
    /// Of these, bytes that the process had read before, unchanged since.
    pub(in crate::explain) again_bytes: u64,
    /// Whether the file was read in order from its beginning up to here.
    pub(in crate::explain) from_start: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Thread {
    end_ns: Option<u64>,
    before: Option<Before>,
    data: Option<Data>,
}

/// Threads, by their IDs.
#[derive(Debug, Default)]
pub(super) struct Threads {
    at: HashMap<u32, usize>,
    rows: Vec<Thread>,
    /// Of the record before: most often the same.
    last: Option<(u32, usize)>,
}

impl Threads {
    /// Says what the thread did before, and remembers what it does.
    pub(super) fn follow(&mut self, seen: &mut Seen<'_>) {
        let Some(tid) = seen.record.tid.filter(|_| seen.kind.is_request()) else { return };
        let path = path_hash(seen);
        let Some(thread) = self.row(tid) else { return };
        if let Some(end_ns) = thread.end_ns {
            seen.own_ns = seen.record.start_ns.saturating_sub(end_ns);
        }
        thread.end_ns = Some(thread.end_ns.unwrap_or(0).max(seen.end_ns));
        let class = seen.record.class;
        // Faults come at any time, also in the middle of what a program does with its data.
        if class == OperationClass::Fault {
            return;
        }
        (seen.before, seen.data, seen.path) = (thread.before, thread.data, path);
        let succeeded = seen.record.result.is_some_and(|result| result >= 0);
        thread.before = Some(Before { class, succeeded, path, ns: seen.ns });
        match class {
            OperationClass::Read if seen.bytes > 0 => {
                let from_start = seen.run.is_some_and(|run| run.from == 0);
                let again_bytes = seen.again.process_bytes;
                let (file, bytes) = (seen.record.file, seen.bytes);
                thread.data = Some(Data { file, bytes, again_bytes, from_start });
            }
            OperationClass::Read | OperationClass::Close => {}
            _ => thread.data = None,
        }
    }

    fn row(&mut self, tid: u32) -> Option<&mut Thread> {
        let place = match self.last {
            Some((last, place)) if last == tid => place,
            _ => {
                let next = self.rows.len();
                let place = match self.at.get(&tid) {
                    Some(&place) => place,
                    None if next >= MOST => return None,
                    None => {
                        self.at.insert(tid, next);
                        self.rows.push(Thread::default());
                        next
                    }
                };
                self.last = Some((tid, place));
                place
            }
        };
        self.rows.get_mut(place)
    }
}

fn path_hash(seen: &Seen<'_>) -> Option<u64> {
    if !matches!(seen.record.class, OperationClass::Open | OperationClass::Lookup) {
        return None;
    }
    let path = seen.batch.path(seen.record.path?)?;
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    Some(hasher.finish())
}
