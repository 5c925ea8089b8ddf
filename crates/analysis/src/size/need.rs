//! What a program holds beside its cache, and what is recommended for both.

use hotset_facts::trace::TraceMemory;
use serde::{Deserialize, Serialize};

/// A part that is added to what was seen: a run can need a little more than one that was recorded.
pub(super) const MARGIN: f64 = 0.1;

/// Memory that a limit has to leave: without it, the program is killed or swaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Must {
    /// Bytes of anonymous memory at its peak.
    pub anon_bytes: u64,
    /// Bytes of shared memory and of files of tmpfs at their peak.
    pub shmem_bytes: u64,
    /// Bytes of page tables at their peak.
    pub page_tables_bytes: u64,
    /// Bytes of program code that is used, in mapped files. A program that waits for its own code does hardly anything else.
    pub code_bytes: u64,
    /// Bytes of kernel memory for its files and their pages, cached or not.
    pub index_bytes: u64,
}

impl Must {
    /// As it was seen, with code and the index of so many bytes.
    pub(super) fn of(memory: &TraceMemory, code_bytes: u64, index_bytes: u64) -> Self {
        Self {
            anon_bytes: memory.anon_peak_bytes,
            shmem_bytes: memory.shmem_peak_bytes,
            page_tables_bytes: memory.page_tables_peak_bytes,
            code_bytes,
            index_bytes,
        }
    }

    /// All but code and the index, which follow from the pages of files.
    pub(super) fn other_bytes(&self) -> u64 {
        self.anon_bytes.saturating_add(self.shmem_bytes).saturating_add(self.page_tables_bytes)
    }

    /// All of it.
    pub fn bytes(&self) -> u64 {
        self.other_bytes().saturating_add(self.index_bytes).saturating_add(self.code_bytes)
    }
}

/// A number that is recommended, and what it consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recommended {
    /// Bytes, rounded up to whole MiB.
    pub bytes: u64,
    /// Of these, bytes that must be there.
    pub must_bytes: u64,
    /// Bytes for files.
    pub cache_bytes: u64,
    /// The margin.
    pub margin_bytes: u64,
}

impl Recommended {
    /// For what must be there and so much cache.
    pub(super) fn of(must_bytes: u64, cache_bytes: u64) -> Self {
        const MIB: u64 = 1 << 20;
        let margin_bytes = (must_bytes as f64 * MARGIN) as u64;
        let bytes = must_bytes.saturating_add(cache_bytes).saturating_add(margin_bytes);
        Self {
            bytes: bytes.div_ceil(MIB).saturating_mul(MIB),
            must_bytes,
            cache_bytes,
            margin_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_there_has_a_margin_and_the_cache_has_none() {
        let recommended = Recommended::of(100 << 20, 50 << 20);
        assert_eq!((recommended.bytes, recommended.margin_bytes), (160 << 20, 10 << 20));
        assert_eq!(Recommended::of(1, 0).bytes, 1 << 20);
    }
}
