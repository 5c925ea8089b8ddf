//! From the number of a call to what it is.

use hotset_facts::trace::{Operation, OperationClass, RecordFlags};
use hotset_sys::advice::{Advice, FADVICE, MADVICE};

/// `enum hs_call`: behind the numbers of system calls.
const URING: u16 = 512;
const AIO: u16 = URING + 128;
const FAULT: u16 = AIO + 16;
const MAJOR_FAULT: u16 = FAULT + 1;
const BESIDE: u16 = FAULT + 2;
const WRITEBACK: u16 = FAULT + 3;
const PAGES_IN: u16 = FAULT + 4;
const PAGES_OUT: u16 = FAULT + 5;

const CALLS: &[(i64, Operation)] = &[
    (libc::SYS_read, Operation::Read),
    (libc::SYS_pread64, Operation::Pread),
    (libc::SYS_readv, Operation::Readv),
    (libc::SYS_preadv, Operation::Preadv),
    (libc::SYS_preadv2, Operation::Preadv2),
    (libc::SYS_sendfile, Operation::Sendfile),
    (libc::SYS_splice, Operation::Splice),
    (libc::SYS_copy_file_range, Operation::CopyFileRange),
    (libc::SYS_write, Operation::Write),
    (libc::SYS_pwrite64, Operation::Pwrite),
    (libc::SYS_writev, Operation::Writev),
    (libc::SYS_pwritev, Operation::Pwritev),
    (libc::SYS_pwritev2, Operation::Pwritev2),
    (libc::SYS_fsync, Operation::Fsync),
    (libc::SYS_fdatasync, Operation::Fdatasync),
    (libc::SYS_sync_file_range, Operation::SyncFileRange),
    (libc::SYS_msync, Operation::Msync),
    (libc::SYS_syncfs, Operation::Syncfs),
    (libc::SYS_sync, Operation::Sync),
    (libc::SYS_open, Operation::Open),
    (libc::SYS_creat, Operation::Creat),
    (libc::SYS_openat, Operation::Openat),
    (libc::SYS_openat2, Operation::Openat2),
    (libc::SYS_close, Operation::Close),
    (libc::SYS_stat, Operation::Stat),
    (libc::SYS_lstat, Operation::Lstat),
    (libc::SYS_newfstatat, Operation::Newfstatat),
    (libc::SYS_statx, Operation::Statx),
    (libc::SYS_access, Operation::Access),
    (libc::SYS_faccessat, Operation::Faccessat),
    (libc::SYS_faccessat2, Operation::Faccessat2),
    (libc::SYS_readlink, Operation::Readlink),
    (libc::SYS_readlinkat, Operation::Readlinkat),
    (libc::SYS_execve, Operation::Execve),
    (libc::SYS_execveat, Operation::Execveat),
    (libc::SYS_fadvise64, Operation::Fadvise),
    (libc::SYS_madvise, Operation::Madvise),
    (libc::SYS_readahead, Operation::Readahead),
    (libc::SYS_mmap, Operation::Mmap),
    (libc::SYS_munmap, Operation::Munmap),
    (libc::SYS_truncate, Operation::Truncate),
    (libc::SYS_ftruncate, Operation::Ftruncate),
    (libc::SYS_fallocate, Operation::Fallocate),
    (libc::SYS_rename, Operation::Rename),
    (libc::SYS_renameat, Operation::Renameat),
    (libc::SYS_renameat2, Operation::Renameat2),
    (libc::SYS_unlink, Operation::Unlink),
    (libc::SYS_unlinkat, Operation::Unlinkat),
    (libc::SYS_link, Operation::Link),
    (libc::SYS_linkat, Operation::Linkat),
    (libc::SYS_symlink, Operation::Symlink),
    (libc::SYS_symlinkat, Operation::Symlinkat),
    (libc::SYS_mkdir, Operation::Mkdir),
    (libc::SYS_mkdirat, Operation::Mkdirat),
    (libc::SYS_rmdir, Operation::Rmdir),
];

/// The operations by their number, for those that are followed.
pub(super) struct Calls {
    by_number: [Option<Operation>; PAGES_OUT as usize + 1],
}

impl Calls {
    pub(super) fn new() -> Self {
        let mut by_number = [None; PAGES_OUT as usize + 1];
        let mut set = |number: usize, operation| {
            if let Some(slot) = by_number.get_mut(number) {
                *slot = Some(operation);
            }
        };
        for &(number, operation) in CALLS {
            if let Ok(number) = usize::try_from(number) {
                set(number, operation);
            }
        }
        for number in 0..128 {
            if let Some(operation) = uring(number) {
                set(usize::from(URING + number), operation);
            }
        }
        for number in 0..16 {
            if let Some(operation) = aio(number) {
                set(usize::from(AIO + number), operation);
            }
        }
        for (number, operation) in [
            (FAULT, Operation::MinorFault),
            (MAJOR_FAULT, Operation::MajorFault),
            (BESIDE, Operation::DeviceRead),
            (WRITEBACK, Operation::Writeback),
            (PAGES_IN, Operation::PageIn),
            (PAGES_OUT, Operation::PageOut),
        ] {
            set(usize::from(number), operation);
        }
        Self { by_number }
    }

    pub(super) fn operation(&self, call: u16) -> Option<Operation> {
        self.by_number.get(usize::from(call)).copied().flatten()
    }
}

/// include/uapi/linux/io_uring.h
fn uring(operation: u16) -> Option<Operation> {
    Some(match operation {
        1 | 4 | 22 | 60 => Operation::UringRead,
        2 | 5 | 23 | 61 => Operation::UringWrite,
        3 | 8 => Operation::UringSync,
        18 | 28 => Operation::UringOpen,
        21 => Operation::UringStatx,
        30 => Operation::UringSplice,
        _ => return None,
    })
}

/// include/uapi/linux/aio_abi.h
fn aio(command: u16) -> Option<Operation> {
    Some(match command {
        0 | 7 => Operation::AioRead,
        1 | 8 => Operation::AioWrite,
        2 | 3 => Operation::AioSync,
        _ => return None,
    })
}

/// What a call was told: the flags of opens and mappings, advice.
pub(super) fn told(operation: Operation, how: u64) -> RecordFlags {
    let low = (how & 0xffff_ffff) as i32;
    let high = (how >> 32) as i32;
    let mut flags = RecordFlags::NONE;
    let mut set = |is_set: bool, flag| {
        if is_set {
            flags = flags.with(flag);
        }
    };
    match operation {
        Operation::Creat => {
            set(true, RecordFlags::CREATE);
            set(true, RecordFlags::TRUNCATE);
        }
        Operation::Mmap => {
            set(low & libc::PROT_WRITE != 0, RecordFlags::STORE);
            set(low & libc::PROT_EXEC != 0, RecordFlags::EXECUTE);
            set(
                high & libc::MAP_PRIVATE != 0 && high & libc::MAP_SHARED == 0,
                RecordFlags::PRIVATE,
            );
            set(high & libc::MAP_POPULATE != 0, RecordFlags::POPULATE);
        }
        Operation::Fallocate => {
            set(low & libc::FALLOC_FL_KEEP_SIZE != 0, RecordFlags::KEEP_SIZE);
            set(low & libc::FALLOC_FL_PUNCH_HOLE != 0, RecordFlags::PUNCH_HOLE);
            set(low & libc::FALLOC_FL_ZERO_RANGE != 0, RecordFlags::ZERO_RANGE);
            set(low & libc::FALLOC_FL_COLLAPSE_RANGE != 0, RecordFlags::COLLAPSE_RANGE);
            set(low & libc::FALLOC_FL_INSERT_RANGE != 0, RecordFlags::INSERT_RANGE);
        }
        Operation::Renameat2 => {
            set(how & u64::from(libc::RENAME_NOREPLACE) != 0, RecordFlags::NOREPLACE);
            set(how & u64::from(libc::RENAME_EXCHANGE) != 0, RecordFlags::EXCHANGE);
        }
        Operation::Lstat => set(true, RecordFlags::NOFOLLOW),
        Operation::Newfstatat | Operation::Statx => {
            set(low & libc::AT_SYMLINK_NOFOLLOW != 0, RecordFlags::NOFOLLOW);
        }
        Operation::Fadvise => set_advice(low, FADVICE, &mut set),
        Operation::Madvise => set_advice(low, MADVICE, &mut set),
        _ if operation.class() == OperationClass::Open => {
            set(low & libc::O_DIRECT != 0, RecordFlags::DIRECT);
            set(low & libc::O_APPEND != 0, RecordFlags::APPEND);
            set(low & libc::O_DSYNC != 0, RecordFlags::SYNC);
            set(low & libc::O_NONBLOCK != 0, RecordFlags::NOWAIT);
            set(low & libc::O_CREAT != 0, RecordFlags::CREATE);
            set(low & libc::O_TRUNC != 0, RecordFlags::TRUNCATE);
            set(low & libc::O_NOFOLLOW != 0, RecordFlags::NOFOLLOW);
            set(low & libc::O_TMPFILE == libc::O_TMPFILE, RecordFlags::TMPFILE);
        }
        _ => {}
    }
    flags
}

fn set_advice(told: i32, known: Advice, set: &mut impl FnMut(bool, RecordFlags)) {
    for (advice, flag) in known {
        set(told == *advice, *flag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_its_operation() {
        let calls = Calls::new();
        assert_eq!(calls.operation(libc::SYS_pread64 as u16), Some(Operation::Pread));
        assert_eq!(calls.operation(URING + 23), Some(Operation::UringWrite));
        assert_eq!(calls.operation(AIO + 7), Some(Operation::AioRead));
        assert_eq!(calls.operation(PAGES_OUT), Some(Operation::PageOut));
        assert_eq!((calls.operation(39), calls.operation(PAGES_OUT + 1)), (None, None));
        for &(number, operation) in CALLS {
            assert_eq!(calls.operation(number as u16), Some(operation));
        }
    }

    #[test]
    fn what_a_call_was_told_is_in_words() {
        let open =
            told(Operation::Openat, (libc::O_CREAT | libc::O_DIRECT | libc::O_WRONLY) as u64);
        assert_eq!(open.to_string(), "direct|create");
        let map = (libc::PROT_READ | libc::PROT_WRITE) as u64 | (libc::MAP_PRIVATE as u64) << 32;
        assert_eq!(told(Operation::Mmap, map).to_string(), "store|private");
        let code = (libc::PROT_READ | libc::PROT_EXEC) as u64 | (libc::MAP_PRIVATE as u64) << 32;
        assert_eq!(told(Operation::Mmap, code).to_string(), "private|execute");
        let punch = (libc::FALLOC_FL_KEEP_SIZE | libc::FALLOC_FL_PUNCH_HOLE) as u64;
        assert_eq!(told(Operation::Fallocate, punch).to_string(), "keep_size|punch_hole");
        let exchange = u64::from(libc::RENAME_EXCHANGE);
        assert_eq!(told(Operation::Renameat2, exchange).to_string(), "exchange");
        assert_eq!(told(Operation::Renameat, exchange), RecordFlags::NONE, "it is told nothing");
        assert_eq!(told(Operation::Newfstatat, 0x100).to_string(), "nofollow");
        assert_eq!(told(Operation::Openat, libc::O_TMPFILE as u64).to_string(), "tmpfile");
        assert_eq!(told(Operation::Openat, libc::O_DIRECTORY as u64), RecordFlags::NONE);
        assert_eq!(told(Operation::Fadvise, 4).to_string(), "dontneed");
        assert_eq!(told(Operation::Madvise, 3).to_string(), "willneed");
    }
}
