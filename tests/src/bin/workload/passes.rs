//! The same reads several times, past the cache.

use std::time::Duration;

use super::truth::DirectTruth;

/// What the first pass took, and what all others did.
#[derive(Default)]
pub(super) struct Passes {
    done: u64,
    first_ns: u64,
    again_ns: u64,
    again_bytes: u64,
}

impl Passes {
    pub(super) fn end(&mut self, took: Duration, bytes: usize) {
        let ns = took.as_nanos() as u64;
        if self.done == 0 {
            self.first_ns = ns;
        } else {
            self.again_ns += ns;
            self.again_bytes += bytes as u64;
        }
        self.done += 1;
    }

    pub(super) fn truth(&self, read_calls: u64, read_bytes: u64) -> DirectTruth {
        DirectTruth {
            read_calls,
            read_bytes,
            reread_bytes: self.again_bytes,
            reread_time_ns: self.again_ns,
            first_time_ns: self.first_ns,
            ..DirectTruth::default()
        }
    }
}
