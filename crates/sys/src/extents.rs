//! Where a file's bytes lie on its device, so that many files can be read in the order of the device.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::io::Errno;

/// `_IOWR('f', 11, struct fiemap)` of <linux/fs.h>.
const FS_IOC_FIEMAP: libc::Ioctl =
    rustix::ioctl::opcode::read_write::<Request>(b'f', 11) as libc::Ioctl;
/// No more follow.
const LAST: u32 = 0x1;
/// The place is not known, or none yet: unknown, delayed allocation, inline data, data packed with other files' tails.
const NO_PLACE: u32 = 0x2 | 0x4 | 0x200 | 0x400;
/// What is on the device is not the file's bytes: they are compressed, as a rule.
const ENCODED: u32 = 0x8;
/// Space that was asked for and never written: it is read as zeros.
const UNWRITTEN: u32 = 0x800;
/// What is asked for at a time: 7 KiB.
const BATCH: usize = 128;

/// `struct fiemap` of <linux/fiemap.h>, without its array.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// The request with room for the answer behind it, as the kernel wants it.
#[repr(C)]
struct Exchange {
    request: Request,
    extents: [RawExtent; BATCH],
}

/// A run of a file's bytes that lies in one piece on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Where it begins on the file system's device, in bytes; nothing where it has no place, or shares one (inline data,
    /// bytes that are yet to be written).
    pub physical: Option<u64>,
    /// What is on the device is not the file's own bytes (compressed).
    pub is_encoded: bool,
    /// Space that was never written, and is read as zeros without the device.
    pub is_unwritten: bool,
}

/// What reading a file whole takes from its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// Bytes of the file that nothing is read for: holes, and space that was never written.
    pub hole_bytes: u64,
    /// The rest may take fewer bytes on the device than in the cache: it is compressed, or the file system doesn't tell.
    pub may_be_compressed: bool,
}

/// How the first `bytes` bytes of a file are stored. EROFS does not mark what it compresses, and Squashfs does not tell.
pub fn stored(fd: impl AsFd, bytes: u64) -> Stored {
    let fd = fd.as_fd();
    let (mut data_bytes, mut is_encoded) = (0_u64, false);
    let told = visit(fd, 0, bytes, |extent| {
        is_encoded |= extent.is_encoded;
        if !extent.is_unwritten {
            let end = extent.offset.saturating_add(extent.bytes).min(bytes);
            data_bytes += end.saturating_sub(extent.offset);
        }
        ControlFlow::Continue(())
    });
    let may_be_compressed = told.is_err() || is_encoded || is_erofs(fd);
    let hole_bytes = if told.is_ok() { bytes.saturating_sub(data_bytes) } else { 0 };
    Stored { hole_bytes, may_be_compressed }
}

fn is_erofs(fd: BorrowedFd<'_>) -> bool {
    // EROFS_SUPER_MAGIC_V1 of <linux/magic.h>.
    const EROFS: u64 = 0xe0f5_e1e2;
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the architecture")]
    rustix::fs::fstatfs(fd).is_ok_and(|fs| fs.f_type as u64 & 0xffff_ffff == EROFS)
}

/// Hands each extent that overlaps `bytes` bytes from `offset` on to `visit`, in file order, until that breaks. Holes have
/// none. Some file systems cut the first and the last to what was asked for. Nothing is written back for it, so bytes that have no place yet say so.
///
/// # Errors
/// `OPNOTSUPP` or `NOTTY` where the file system doesn't tell (tmpfs, network file systems); others as ioctl_fiemap gives
/// them.
pub fn visit(
    fd: impl AsFd,
    offset: u64,
    bytes: u64,
    mut visit: impl FnMut(Extent) -> ControlFlow<()>,
) -> Result<(), Errno> {
    let fd = fd.as_fd();
    let end = offset.saturating_add(bytes);
    let mut exchange = empty();
    let mut start = offset;
    while start < end {
        exchange.request = request(start, end - start);
        ask(fd, &mut exchange)?;
        let mapped = (exchange.request.mapped as usize).min(BATCH);
        for raw in &exchange.extents[..mapped] {
            let next = raw.logical.saturating_add(raw.length);
            // A file that changes meanwhile must not hold this up.
            if next <= start {
                return Ok(());
            }
            start = next;
            let physical = Some(raw.physical).filter(|_| raw.flags & NO_PLACE == 0);
            let extent = Extent {
                offset: raw.logical,
                bytes: raw.length,
                physical,
                is_encoded: raw.flags & ENCODED != 0,
                is_unwritten: raw.flags & UNWRITTEN != 0,
            };
            if visit(extent).is_break() || raw.flags & LAST != 0 {
                return Ok(());
            }
        }
        if mapped == 0 {
            return Ok(());
        }
    }
    Ok(())
}

fn request(start: u64, length: u64) -> Request {
    Request { start, length, flags: 0, mapped: 0, room: BATCH as u32, reserved: 0 }
}

fn empty() -> Box<Exchange> {
    let none = RawExtent {
        logical: 0,
        physical: 0,
        length: 0,
        reserved64: [0; 2],
        flags: 0,
        reserved: [0; 3],
    };
    Box::new(Exchange { request: request(0, 0), extents: [none; BATCH] })
}

fn ask(fd: BorrowedFd<'_>, exchange: &mut Exchange) -> Result<(), Errno> {
    // SAFETY: the kernel reads the request and writes at most `room` extents behind it, which the struct has.
    let result =
        unsafe { libc::ioctl(fd.as_raw_fd(), FS_IOC_FIEMAP, std::ptr::from_mut(exchange)) };
    if result == 0 { Ok(()) } else { Err(crate::cache::last_errno()) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::test_support::ScratchFile;

    /// All extents of the first `bytes` bytes.
    fn of(fd: impl AsFd, bytes: u64) -> Result<Vec<Extent>, Errno> {
        let mut extents = Vec::new();
        visit(fd, 0, bytes, |extent| {
            extents.push(extent);
            ControlFlow::Continue(())
        })?;
        Ok(extents)
    }

    #[test]
    fn the_kernels_structures_have_their_sizes() {
        assert_eq!(size_of::<Request>(), 32);
        assert_eq!(size_of::<RawExtent>(), 56);
        assert_eq!(FS_IOC_FIEMAP as u32, 0xc020_660b);
    }

    #[test]
    fn holes_and_space_that_was_never_written_are_not_stored() {
        let scratch = ScratchFile::on_disk(&vec![7; 64 << 10]);
        scratch.file.sync_all().expect("sync");
        let whole = Stored { hole_bytes: 0, may_be_compressed: false };
        assert_eq!(stored(&scratch.file, 64 << 10), whole);
        scratch.file.set_len(1 << 20).expect("a hole");
        let holes = Stored { hole_bytes: (1 << 20) - (64 << 10), ..whole };
        assert_eq!(stored(&scratch.file, 1 << 20), holes);
        let flags = rustix::fs::FallocateFlags::empty();
        rustix::fs::fallocate(&scratch.file, flags, 0, 1 << 20).expect("space");
        assert_eq!(stored(&scratch.file, 1 << 20), holes);
        assert_eq!(stored(&scratch.file, 1_000), whole);
        let memory = rustix::fs::memfd_create("m", rustix::fs::MemfdFlags::empty()).expect("memfd");
        assert!(stored(&memory, 1_000).may_be_compressed, "it doesn't tell");
    }

    #[test]
    fn extents_cover_what_was_written_and_leave_out_holes() {
        let scratch = ScratchFile::on_disk(&vec![7; 64 << 10]);
        scratch.file.set_len(8 << 20).expect("a hole");
        scratch.file.write_all_at(&vec![9; 64 << 10], 4 << 20).expect("write");
        scratch.file.sync_all().expect("sync");
        let extents = of(&scratch.file, 8 << 20).expect("extents");
        let covered: u64 = extents.iter().map(|extent| extent.bytes).sum();
        assert_eq!(covered, 128 << 10, "{extents:?}");
        assert!(extents.iter().all(|extent| extent.physical.is_some()), "{extents:?}");
        assert!(extents.iter().all(|e| e.offset < 64 << 10 || e.offset >= 4 << 20), "{extents:?}");
        let second = extents.iter().find(|extent| extent.offset >= 4 << 20).expect("the second");
        let mut only = Vec::new();
        visit(&scratch.file, 4 << 20, 1, |extent| {
            only.push(extent);
            ControlFlow::Break(())
        })
        .expect("extents");
        let place = |extent: &Extent| (extent.offset, extent.physical);
        assert_eq!(only.iter().map(place).collect::<Vec<_>>(), [place(second)]);
    }

    #[test]
    fn more_extents_than_fit_in_one_answer() {
        let count = 3 * BATCH as u64;
        let scratch = ScratchFile::on_disk(b"");
        for n in 0..count {
            scratch.file.write_all_at(b"x", n * (64 << 10)).expect("write");
        }
        scratch.file.sync_all().expect("sync");
        let extents = of(&scratch.file, count * (64 << 10)).expect("extents");
        let offsets: Vec<u64> = extents.iter().map(|extent| extent.offset).collect();
        assert_eq!(offsets, (0..count).map(|n| n * (64 << 10)).collect::<Vec<_>>());
    }

    #[test]
    fn a_file_system_in_memory_does_not_tell() {
        let memory = rustix::fs::memfd_create("hotset-test", rustix::fs::MemfdFlags::CLOEXEC)
            .expect("memfd");
        rustix::fs::ftruncate(&memory, 1 << 20).expect("truncate");
        let error = of(&memory, 1 << 20).expect_err("no device");
        assert!(matches!(error, Errno::OPNOTSUPP | Errno::NOTTY), "{error}");
    }
}
