//! The methods by name.

use super::direct::Direct;
use super::mapped::{Advice, Mapped};
use super::plain::{NoWait, Pread, SeekRead};
use super::stdio::{Buffering, Stdio};
use super::uring::{Registered, Uring};
use super::{Answer, Blocks, JobError, measure as of};

/// A way of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// fseek(3) and fread(3), with the buffer that the C library makes.
    Fread,
    /// The same without a buffer.
    FreadUnbuffered,
    /// The same with a buffer of 64 KiB of the caller: a size without a buffer is ignored by glibc.
    Fread64k,
    /// lseek(2) and read(2).
    Read,
    /// pread(2).
    Pread,
    /// preadv2(2) with `RWF_NOWAIT`, and pread(2) where that would wait.
    PreadNoWait,
    /// mmap(2) and memcpy(3).
    Mmap(Advice),
    /// io_uring with one read in flight.
    Uring1,
    /// io_uring with 32 in flight.
    Uring32,
    /// The same with the file and the buffers registered.
    Uring32Fixed,
    /// pread(2) past the cache.
    Direct,
    /// io_uring past the cache, 32 in flight, file and buffers registered.
    DirectUring32,
}

impl Method {
    /// All, in the order of tables.
    pub const ALL: [Self; 16] = [
        Self::Fread,
        Self::FreadUnbuffered,
        Self::Fread64k,
        Self::Read,
        Self::Pread,
        Self::PreadNoWait,
        Self::Mmap(Advice::None),
        Self::Mmap(Advice::Random),
        Self::Mmap(Advice::Sequential),
        Self::Mmap(Advice::Populate),
        Self::Mmap(Advice::HugePages),
        Self::Uring1,
        Self::Uring32,
        Self::Uring32Fixed,
        Self::Direct,
        Self::DirectUring32,
    ];

    /// The name that is typed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fread => "fread",
            Self::FreadUnbuffered => "fread-unbuffered",
            Self::Fread64k => "fread-64k",
            Self::Read => "read",
            Self::Pread => "pread",
            Self::PreadNoWait => "pread-nowait",
            Self::Mmap(Advice::None) => "mmap",
            Self::Mmap(Advice::Random) => "mmap-random",
            Self::Mmap(Advice::Sequential) => "mmap-sequential",
            Self::Mmap(Advice::Populate) => "mmap-populate",
            Self::Mmap(Advice::HugePages) => "mmap-hugepages",
            Self::Uring1 => "io_uring-1",
            Self::Uring32 => "io_uring-32",
            Self::Uring32Fixed => "io_uring-32-fixed",
            Self::Direct => "direct",
            Self::DirectUring32 => "direct-io_uring-32",
        }
    }

    /// The method of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }

    /// Reads past the cache.
    pub fn is_direct(self) -> bool {
        matches!(self, Self::Direct | Self::DirectUring32)
    }

    /// Needs io_uring.
    pub fn is_uring(self) -> bool {
        matches!(self, Self::Uring1 | Self::Uring32 | Self::Uring32Fixed | Self::DirectUring32)
    }

    /// Maps the file.
    pub fn is_mapped(self) -> bool {
        matches!(self, Self::Mmap(_))
    }
}

/// Opens the file in the way of the method and measures.
pub(super) fn measure(
    method: Method,
    blocks: Blocks<'_>,
    checked: bool,
) -> Result<Answer, JobError> {
    match method {
        Method::Fread => of(Stdio::open(blocks, Buffering::Default)?, blocks, checked),
        Method::FreadUnbuffered => of(Stdio::open(blocks, Buffering::None)?, blocks, checked),
        Method::Fread64k => of(Stdio::open(blocks, Buffering::Own(64 << 10))?, blocks, checked),
        Method::Read => of(SeekRead::open(blocks)?, blocks, checked),
        Method::Pread => of(Pread::open(blocks)?, blocks, checked),
        Method::PreadNoWait => of(NoWait::open(blocks)?, blocks, checked),
        Method::Mmap(advice) => of(Mapped::open(blocks, advice)?, blocks, checked),
        Method::Uring1 => of(Uring::open(blocks, 1, Registered::Nothing)?, blocks, checked),
        Method::Uring32 => of(Uring::open(blocks, 32, Registered::Nothing)?, blocks, checked),
        Method::Uring32Fixed => of(Uring::open(blocks, 32, Registered::All)?, blocks, checked),
        Method::Direct => of(Direct::open(blocks)?, blocks, checked),
        Method::DirectUring32 => {
            of(Uring::open_direct(blocks, 32, Registered::All)?, blocks, checked)
        }
    }
}
