//! The words of the job.

use std::str::FromStr;

use crate::rawio::JobError;
use crate::rawio::words::words;

/// When what was written must be on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncKind {
    /// Whenever the kernel likes.
    None,
    /// Once at the end of a file, by fsync(2).
    Fsync,
    /// At the end of each write(2), by O_DSYNC.
    Dsync,
}

/// Who keeps the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriterKind {
    /// A buffer of our own, filled by memcpy and written when it is full.
    Native,
    /// fwrite(3), with memory that the program hands to setvbuf(3).
    Stdio,
    /// fwrite(3), with a size handed to setvbuf(3) and no memory: glibc takes no notice of it.
    StdioNull,
}

/// What is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A file that was made a moment before: the file system finds room for each page.
    New,
    /// A file that has its size, all cached: pages are written over.
    Existing,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Writing, between opening and closing.
    Write,
    /// Opening, which makes new files, and closing; nothing is written.
    Open,
}

words!(SyncKind, "sync", "none" => None, "fsync" => Fsync, "dsync" => Dsync);
words!(WriterKind, "writer", "native" => Native, "stdio" => Stdio, "stdio-null" => StdioNull);
words!(FileKind, "file", "new" => New, "existing" => Existing);
words!(Phase, "phase", "write" => Write, "open+close" => Open);
