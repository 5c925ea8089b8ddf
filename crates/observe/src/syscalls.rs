//! Which system call is which kind of request; the mirror of `enum hs_kind`.

use crate::record::SYSCALLS;

const READ: u8 = 1;
const PREAD: u8 = 2;
const READV: u8 = 3;
const PREADV: u8 = 4;
const SENDFILE: u8 = 5;
const SPLICE: u8 = 6;
const COPY_RANGE: u8 = 7;
const WRITE: u8 = 8;
const PWRITE: u8 = 9;
const WRITEV: u8 = 10;
const PWRITEV2: u8 = 11;
const PWRITEV: u8 = 12;
const SYNC: u8 = 13;
const MSYNC: u8 = 14;
const SYNC_FS: u8 = 15;
const SYNC_ALL: u8 = 16;
const PAGEOUT: u8 = 17;
const AIO_SETUP: u8 = 18;
const AIO_SUBMIT: u8 = 19;
const AIO_EVENTS: u8 = 20;
const AIO_DESTROY: u8 = 21;
const EXIT: u8 = 22;
const OPEN: u8 = 24;
const OPENAT: u8 = 25;
const STAT: u8 = 26;
const STATAT: u8 = 27;
const STATX: u8 = 28;
const ACCESSAT: u8 = 29;
const EXEC: u8 = 30;
const EXECAT: u8 = 31;
const TRUNCATE: u8 = 32;
const UNLINK: u8 = 33;
const UNLINKAT: u8 = 34;
const RENAME: u8 = 35;
const RENAMEAT: u8 = 36;
const SYMLINKAT: u8 = 37;
const CLOSE: u8 = 38;
const MMAP: u8 = 40;
const MUNMAP: u8 = 41;
const FADVISE: u8 = 42;
const READAHEAD: u8 = 43;
const FTRUNCATE: u8 = 44;
const FALLOCATE: u8 = 45;
/// Beside a kind: the i386 call of this number does what would be counted, were it decoded.
const I386: u8 = 0x80;

/// Not in libc for this target.
const SYS_IO_PGETEVENTS: i64 = 333;

const TABLE: &[(i64, u8)] = &[
    (libc::SYS_read, READ),
    (libc::SYS_pread64, PREAD),
    (libc::SYS_readv, READV),
    (libc::SYS_preadv, PREADV),
    (libc::SYS_preadv2, PREADV),
    (libc::SYS_sendfile, SENDFILE),
    (libc::SYS_splice, SPLICE),
    (libc::SYS_copy_file_range, COPY_RANGE),
    (libc::SYS_write, WRITE),
    (libc::SYS_pwrite64, PWRITE),
    (libc::SYS_writev, WRITEV),
    (libc::SYS_pwritev, PWRITEV),
    (libc::SYS_pwritev2, PWRITEV2),
    (libc::SYS_fsync, SYNC),
    (libc::SYS_fdatasync, SYNC),
    (libc::SYS_sync_file_range, SYNC),
    (libc::SYS_msync, MSYNC),
    (libc::SYS_syncfs, SYNC_FS),
    (libc::SYS_sync, SYNC_ALL),
    (libc::SYS_madvise, PAGEOUT),
    (libc::SYS_io_setup, AIO_SETUP),
    (libc::SYS_io_submit, AIO_SUBMIT),
    (libc::SYS_io_getevents, AIO_EVENTS),
    (SYS_IO_PGETEVENTS, AIO_EVENTS),
    (libc::SYS_io_destroy, AIO_DESTROY),
    (libc::SYS_exit, EXIT),
    (libc::SYS_exit_group, EXIT),
    (libc::SYS_open, OPEN),
    (libc::SYS_creat, OPEN),
    (libc::SYS_openat, OPENAT),
    (libc::SYS_openat2, OPENAT),
    (libc::SYS_stat, STAT),
    (libc::SYS_lstat, STAT),
    (libc::SYS_access, STAT),
    (libc::SYS_readlink, STAT),
    (libc::SYS_newfstatat, STATAT),
    (libc::SYS_statx, STATX),
    (libc::SYS_faccessat, ACCESSAT),
    (libc::SYS_faccessat2, ACCESSAT),
    (libc::SYS_readlinkat, ACCESSAT),
    (libc::SYS_execve, EXEC),
    (libc::SYS_execveat, EXECAT),
];

/// Calls that only a recording has.
const RECORDED: &[(i64, u8)] = &[
    (libc::SYS_truncate, TRUNCATE),
    (libc::SYS_unlink, UNLINK),
    (libc::SYS_rmdir, UNLINK),
    (libc::SYS_mkdir, UNLINK),
    (libc::SYS_unlinkat, UNLINKAT),
    (libc::SYS_mkdirat, UNLINKAT),
    (libc::SYS_rename, RENAME),
    (libc::SYS_link, RENAME),
    (libc::SYS_symlink, RENAME),
    (libc::SYS_renameat, RENAMEAT),
    (libc::SYS_renameat2, RENAMEAT),
    (libc::SYS_linkat, RENAMEAT),
    (libc::SYS_symlinkat, SYMLINKAT),
    (libc::SYS_close, CLOSE),
    (libc::SYS_mmap, MMAP),
    (libc::SYS_munmap, MUNMAP),
    (libc::SYS_fadvise64, FADVISE),
    (libc::SYS_readahead, READAHEAD),
    (libc::SYS_ftruncate, FTRUNCATE),
    (libc::SYS_fallocate, FALLOCATE),
];

/// What a 32-bit program (or `int 0x80`) does by these numbers would be counted: read, write, vectors, copies, syncs,
/// Linux AIO. From arch/x86/entry/syscalls/syscall_32.tbl.
const I386_IO: &[usize] = &[
    3, 4, 36, 118, 144, 145, 146, 148, 180, 181, 187, 239, 248, 313, 314, 333, 334, 344, 377, 378,
    379,
];
/// The same for path lookups and starting programs.
const I386_PATHS: &[usize] =
    &[5, 8, 11, 33, 85, 106, 107, 195, 196, 295, 300, 305, 307, 358, 383, 437, 439];

/// The kind of each system call of this architecture, for the sensor's configuration.
pub(crate) fn kinds() -> [u8; SYSCALLS] {
    kinds_of(TABLE.iter())
}

/// The same with those that only a recording has.
pub(crate) fn recorded_kinds() -> [u8; SYSCALLS] {
    kinds_of(TABLE.iter().chain(RECORDED))
}

fn kinds_of<'t>(table: impl Iterator<Item = &'t (i64, u8)>) -> [u8; SYSCALLS] {
    let mut kinds = [0; SYSCALLS];
    for &(number, kind) in table {
        if let Some(slot) = usize::try_from(number).ok().and_then(|number| kinds.get_mut(number)) {
            *slot = kind;
        }
    }
    for &number in I386_IO.iter().chain(I386_PATHS) {
        kinds[number] |= I386;
    }
    kinds
}

/// The same without pages that are dropped, which no interval shows, and without path lookups where they are not wanted. Programs
/// that are being started stay: what comes up then was not read ahead.
pub(crate) fn live_kinds(lookups: bool) -> [u8; SYSCALLS] {
    let mut kinds = kinds();
    if !lookups {
        for &number in I386_PATHS {
            kinds[number] &= !I386;
        }
    }
    kinds.map(|kind| match kind & !I386 {
        PAGEOUT => kind & I386,
        OPEN..EXEC if !lookups => kind & I386,
        _ => kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_its_kind() {
        let kinds = kinds();
        let kind = |number: i64| kinds[number as usize] & !I386;
        assert_eq!(kind(libc::SYS_read), READ);
        assert_eq!(kind(libc::SYS_openat2), OPENAT);
        assert_eq!(kind(libc::SYS_sync), SYNC_ALL);
        assert_eq!(kind(libc::SYS_getppid), 0);
        assert_eq!(kind(libc::SYS_io_submit), AIO_SUBMIT);
        assert_eq!(kinds.iter().filter(|&&kind| kind & !I386 != 0).count(), TABLE.len());
        let live = live_kinds(false);
        assert_eq!(live[libc::SYS_read as usize] & !I386, READ);
        assert_eq!(live[libc::SYS_openat as usize] & !I386, 0);
        assert_eq!(live[libc::SYS_execve as usize] & !I386, EXEC);
        let differs = |number: &i64| live_kinds(true)[*number as usize] != kinds[*number as usize];
        let numbers: Vec<i64> = (0..SYSCALLS as i64).filter(differs).collect();
        assert_eq!(numbers, [libc::SYS_madvise], "with lookups");
    }

    #[test]
    fn tracing_counts_the_same_lookups() {
        for (number, kind) in (0..).zip(kinds()) {
            let looks_up = (OPEN..=EXECAT).contains(&(kind & !I386));
            assert_eq!(hotset_sys::trace::looks_up(number), looks_up, "call {number}");
        }
    }

    #[test]
    fn numbers_of_the_other_width_are_marked_apart() {
        // read is 3 there, which is close here; exit is 1, which is write here.
        assert_eq!(kinds()[3], I386);
        assert_eq!(kinds()[1], WRITE);
        // write is 4, stat here; open is 5, fstat here: no interval shows lookups.
        assert_eq!((kinds()[4], live_kinds(false)[4]), (I386 | STAT, I386));
        assert_eq!((kinds()[5], live_kinds(false)[5]), (I386, 0));
    }
}
