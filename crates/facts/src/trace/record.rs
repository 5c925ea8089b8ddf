//! One record of a trace.

use std::fmt;

use super::{Operation, OperationClass, TraceLists};

/// A file of a trace, by its place in the list of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileIndex(pub u32);

/// A process of a trace, by its place in the list of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessIndex(pub u32);

/// A call site of a trace, by its place in the list of sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteIndex(pub u32);

/// A path of a batch of records, by its place in the batch's list of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathIndex(pub u32);

macro_rules! flags {
    ($($(#[$doc:meta])* $NAME:ident = $word:literal $bit:literal,)*) => {
        impl RecordFlags {
            $($(#[$doc])* pub const $NAME: Self = Self(1 << $bit);)*

            /// Every flag with its word, in the order in which they are written.
            pub const WORDS: &[(Self, &str)] = &[$((Self::$NAME, $word),)*];
        }
    };
}

/// What matters of how a request was made, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RecordFlags(pub u32);

flags! {
    /// The file was opened with O_DIRECT, and the request went past the page cache, at least in part.
    DIRECT = "direct" 0,
    /// It writes at the end of the file (O_APPEND, RWF_APPEND).
    APPEND = "append" 1,
    /// It returns when the data is on the device (O_SYNC, O_DSYNC, RWF_SYNC, RWF_DSYNC).
    SYNC = "sync" 2,
    /// It fails where it would have to wait (O_NONBLOCK, RWF_NOWAIT).
    NOWAIT = "nowait" 3,
    /// Its pages are dropped after use (RWF_DONTCACHE).
    DONTCACHE = "dontcache" 4,
    /// It used and moved the position of the open file.
    POSITION = "position" 5,
    /// The thread slept before the request was done.
    WAITED = "waited" 6,
    /// The file is made where it is not there (O_CREAT).
    CREATE = "create" 7,
    /// The file is made empty (O_TRUNC).
    TRUNCATE = "truncate" 8,
    /// A store, or a mapping that stores go into.
    STORE = "store" 9,
    /// A mapping that is the process's own: stores don't reach the file.
    PRIVATE = "private" 10,
    /// Advice: the range will be needed soon.
    WILLNEED = "willneed" 11,
    /// Advice: it won't be needed soon.
    DONTNEED = "dontneed" 12,
    /// Advice: it will be read in order.
    SEQUENTIAL = "sequential" 13,
    /// Advice: it will be read in random order.
    RANDOM = "random" 14,
    /// Advice: it will be used once, or is used less than other memory.
    NOREUSE = "noreuse" 15,
    /// Advice: its pages are to be evicted (MADV_PAGEOUT).
    PAGEOUT = "pageout" 16,
    /// Advice: its pages are to be mapped now (MADV_POPULATE_READ, MADV_POPULATE_WRITE).
    POPULATE = "populate" 17,
    /// A symbolic link at the end of the path is not followed (O_NOFOLLOW, AT_SYMLINK_NOFOLLOW).
    NOFOLLOW = "nofollow" 18,
    /// A file without a name is made in the directory of the path (O_TMPFILE).
    TMPFILE = "tmpfile" 19,
    /// The size of the file stays (FALLOC_FL_KEEP_SIZE).
    KEEP_SIZE = "keep_size" 20,
    /// The range becomes a hole (FALLOC_FL_PUNCH_HOLE).
    PUNCH_HOLE = "punch_hole" 21,
    /// The range becomes zeros (FALLOC_FL_ZERO_RANGE).
    ZERO_RANGE = "zero_range" 22,
    /// The range is taken out of the file (FALLOC_FL_COLLAPSE_RANGE).
    COLLAPSE_RANGE = "collapse_range" 23,
    /// A hole is put into the file (FALLOC_FL_INSERT_RANGE).
    INSERT_RANGE = "insert_range" 24,
    /// It fails where the new name is there (RENAME_NOREPLACE).
    NOREPLACE = "noreplace" 25,
    /// Two names change places (RENAME_EXCHANGE).
    EXCHANGE = "exchange" 26,
    /// A mapping that code is run from (PROT_EXEC).
    EXECUTE = "execute" 27,
}

impl RecordFlags {
    /// Without any.
    pub const NONE: Self = Self(0);

    /// Whether all of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Words joined by `|`, as [`fmt::Display`] writes them; unknown words are left out.
    pub fn parse(text: &str) -> Self {
        text.split('|').fold(Self::NONE, |flags, word| {
            let known = Self::WORDS.iter().find(|(_, known)| *known == word);
            known.map_or(flags, |(flag, _)| flags.with(*flag))
        })
    }
}

impl fmt::Display for RecordFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Self::WORDS.iter().filter(|(flag, _)| self.has(*flag));
        if let Some((_, first)) = words.next() {
            f.write_str(first)?;
        }
        words.try_for_each(|(_, word)| write!(f, "|{word}"))
    }
}

/// Where the pages that a record is about were. Base pages, whatever the folio size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordPages {
    /// Pages that were asked for and returned; of a fault, pages that it brought into the cache.
    pub pages: u32,
    /// Of these, pages that were cached before. Of a write: pages that it did not create.
    pub hits: u32,
    /// Of the hits, pages that were cached only because the kernel read ahead during the recording.
    pub ahead_hits: u32,
    /// Of a read: pages that were brought in for it, `pages - hits`. Of a write: pages that were read first because only a part
    /// of them was written.
    pub misses: u32,
    /// Of the misses and read-ahead hits, pages that nothing was read for: holes of the file.
    pub zeros: Option<u32>,
    /// Pages that were read ahead beside.
    pub read_ahead: u32,
}

/// One record: a request, a fault, a path that was looked up. What was not measured is `None`, and not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    /// When it began, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: Option<u64>,
    /// The process.
    pub process: Option<ProcessIndex>,
    /// The thread's ID.
    pub tid: Option<u32>,
    /// What was done.
    pub operation: Operation,
    /// What that does to `file`: of a call with two files, such as sendfile, each has a record of its own.
    pub class: OperationClass,
    /// The file.
    pub file: Option<FileIndex>,
    /// Its path; of a lookup, the path that was asked for, absolute where its base was known.
    pub path: Option<PathIndex>,
    /// The second path, of operations that have two.
    pub new_path: Option<PathIndex>,
    /// The open file description: what open made, and dup and fork share.
    pub description: Option<u64>,
    /// Where in the file it began.
    pub offset: Option<u64>,
    /// Bytes asked for.
    pub asked_bytes: Option<u64>,
    /// What the call returned: below zero an error number.
    pub result: Option<i64>,
    /// How it was made, and what came of it.
    pub flags: RecordFlags,
    /// Where its pages were.
    pub pages: Option<RecordPages>,
    /// Bytes that the block layer was asked to read for it while it was under way.
    pub device_read_bytes: Option<u64>,
    /// The same written.
    pub device_write_bytes: Option<u64>,
    /// The code that made it.
    pub site: Option<SiteIndex>,
}

/// Records that come together, in the order in which they ended, and what they point into.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceBatch {
    /// The records.
    pub records: Vec<TraceRecord>,
    /// Paths, by the [`PathIndex`] of these records: that of another batch is another path.
    pub paths: Vec<Vec<u8>>,
    /// What is new in the lists of the whole trace.
    pub added: TraceLists,
}

impl TraceBatch {
    /// A path of a record of this batch.
    pub fn path(&self, index: PathIndex) -> Option<&[u8]> {
        self.paths.get(index.0 as usize).map(Vec::as_slice)
    }
}

impl TraceRecord {
    /// A record with an operation and a time, and nothing else known.
    pub const fn new(start_ns: u64, operation: Operation) -> Self {
        Self {
            start_ns,
            duration_ns: None,
            process: None,
            tid: None,
            operation,
            class: operation.class(),
            file: None,
            path: None,
            new_path: None,
            description: None,
            offset: None,
            asked_bytes: None,
            result: None,
            flags: RecordFlags::NONE,
            pages: None,
            device_read_bytes: None,
            device_write_bytes: None,
            site: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_words_both_ways() {
        let flags = RecordFlags::DIRECT.with(RecordFlags::WAITED);
        assert_eq!(flags.to_string(), "direct|waited");
        assert_eq!(RecordFlags::parse("direct|waited"), flags);
        assert_eq!(RecordFlags::parse("waited|unheard of"), RecordFlags::WAITED);
        assert_eq!(
            (RecordFlags::NONE.to_string(), RecordFlags::parse("")),
            (String::new(), RecordFlags::NONE)
        );
        for (at, (flag, word)) in RecordFlags::WORDS.iter().enumerate() {
            assert_eq!((flag.0, RecordFlags::parse(word)), (1 << at, *flag));
        }
    }

    #[test]
    fn every_operation_has_a_word_of_its_own() {
        let mut words: Vec<&str> =
            Operation::ALL.iter().map(|operation| operation.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Operation::ALL.len());
    }
}
