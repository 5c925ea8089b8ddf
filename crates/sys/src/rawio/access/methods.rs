//! The methods by name.

use std::str::FromStr;

use rustix::fs::OFlags;

use super::mapped::{Advice, Mapped};
use super::serial::{NoWait, Pread, SeekRead, serial};
use super::stdio::{Buffering, Stdio};
use super::uring::{DIRECT_GROUP, Registered, Uring};
use super::{Answer, Blocks, JobError, measure as of};
use crate::rawio::open::open;
use crate::rawio::words::words;

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
    /// Reads past the cache.
    pub fn is_direct(self) -> bool {
        matches!(self, Self::Direct | Self::DirectUring32)
    }

    /// Needs io_uring.
    pub fn is_uring(self) -> bool {
        matches!(self, Self::Uring1 | Self::Uring32 | Self::Uring32Fixed | Self::DirectUring32)
    }
}

words!(Method, "method", "fread" => Fread, "fread-unbuffered" => FreadUnbuffered,
    "fread-64k" => Fread64k, "read" => Read, "pread" => Pread, "pread-nowait" => PreadNoWait,
    "mmap" => Mmap(Advice::None), "mmap-random" => Mmap(Advice::Random),
    "mmap-sequential" => Mmap(Advice::Sequential), "mmap-populate" => Mmap(Advice::Populate),
    "mmap-hugepages" => Mmap(Advice::HugePages), "io_uring-1" => Uring1, "io_uring-32" => Uring32,
    "io_uring-32-fixed" => Uring32Fixed, "direct" => Direct, "direct-io_uring-32" => DirectUring32);

/// Opens the file in the way of the method and measures.
pub(super) fn measure(
    method: Method,
    blocks: Blocks<'_>,
    checked: bool,
) -> Result<Answer, JobError> {
    let cached = || open(blocks.path, OFlags::empty());
    let direct = || open(blocks.path, OFlags::DIRECT);
    match method {
        Method::Fread => serial(Stdio::open(blocks, Buffering::Default)?, blocks, checked),
        Method::FreadUnbuffered => serial(Stdio::open(blocks, Buffering::None)?, blocks, checked),
        Method::Fread64k => serial(Stdio::open(blocks, Buffering::Own(64 << 10))?, blocks, checked),
        Method::Read => serial(SeekRead(cached()?), blocks, checked),
        Method::Pread => serial(Pread(cached()?), blocks, checked),
        Method::PreadNoWait => {
            serial(NoWait { pread: Pread(cached()?), waited: 0 }, blocks, checked)
        }
        Method::Mmap(advice) => of(Mapped::open(blocks, advice)?, blocks, checked),
        Method::Uring1 => {
            of(Uring::new(blocks, cached()?, 1, Registered::Nothing)?, blocks, checked)
        }
        Method::Uring32 => {
            of(Uring::new(blocks, cached()?, 32, Registered::Nothing)?, blocks, checked)
        }
        Method::Uring32Fixed => {
            of(Uring::new(blocks, cached()?, 32, Registered::All)?, blocks, checked)
        }
        Method::Direct => serial(Pread(direct()?), blocks, checked),
        Method::DirectUring32 => {
            let ring = Uring::new(blocks, direct()?, 32, Registered::All)?;
            of(ring.in_groups(DIRECT_GROUP), blocks, checked)
        }
    }
}
