//! The words of the job.

use std::str::FromStr;

use crate::rawio::JobError;
use crate::rawio::words::words;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Opening, reading and closing the file.
    Read,
    /// The same, and parsing what was read.
    ReadParse,
    /// Parsing alone; the document lies in memory.
    Parse,
    /// Getting memory of the file's size and touching each page of it: its page faults, in which it is zeroed.
    Touch,
    /// Giving such memory back.
    Release,
    /// Writing zeros to memory that was touched before.
    Zero,
}

impl What {
    /// Whether a file is read in the timed part.
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadParse)
    }

    /// Whether something is parsed.
    pub fn parses(self) -> bool {
        matches!(self, Self::Parse | Self::ReadParse)
    }
}

/// How the page cache takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheUse {
    /// The whole file is cached before each read.
    Warm,
    /// Nothing of it is cached before each read.
    Evicted,
    /// Nothing of it is cached before the first read; then everybody leaves it alone.
    Kept,
    /// It is read with O_DIRECT, and nothing of it is cached.
    Direct,
}

/// Where the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferKind {
    /// A new mapping for each read, given back after it: what malloc(3) does for large blocks.
    Fresh,
    /// The same touched memory for each read.
    Reused,
    /// As `Fresh`, with MADV_HUGEPAGE.
    Huge,
    /// The file is mapped, and each cache line looked at.
    Mmap,
    /// The same with MAP_POPULATE.
    MmapPopulate,
}

words!(What, "what", "read" => Read, "read+parse" => ReadParse, "parse" => Parse, "touch" => Touch,
    "release" => Release, "zero" => Zero);
words!(CacheUse, "cache", "warm" => Warm, "evicted" => Evicted, "kept" => Kept, "direct" => Direct);
words!(BufferKind, "buffer", "fresh" => Fresh, "reused" => Reused, "huge" => Huge, "mmap" => Mmap,
    "mmap-populate" => MmapPopulate);
