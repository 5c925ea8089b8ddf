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
const PWRITEV: u8 = 11;
const SYNC: u8 = 12;
const MSYNC: u8 = 13;
const SYNC_FS: u8 = 14;
const SYNC_ALL: u8 = 15;
const PAGEOUT: u8 = 16;
const OPEN: u8 = 17;
const OPENAT: u8 = 18;
const STAT: u8 = 19;
const STATAT: u8 = 20;
const STATX: u8 = 21;
const ACCESSAT: u8 = 22;
const EXEC: u8 = 23;
const EXECAT: u8 = 24;

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
    (libc::SYS_pwritev2, PWRITEV),
    (libc::SYS_fsync, SYNC),
    (libc::SYS_fdatasync, SYNC),
    (libc::SYS_sync_file_range, SYNC),
    (libc::SYS_msync, MSYNC),
    (libc::SYS_syncfs, SYNC_FS),
    (libc::SYS_sync, SYNC_ALL),
    (libc::SYS_madvise, PAGEOUT),
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

/// The kind of each system call of this architecture, for the sensor's configuration.
pub(crate) fn kinds() -> [u8; SYSCALLS] {
    let mut kinds = [0; SYSCALLS];
    for &(number, kind) in TABLE {
        if let Some(slot) = usize::try_from(number).ok().and_then(|number| kinds.get_mut(number)) {
            *slot = kind;
        }
    }
    kinds
}

/// The same without path lookups and pages that are dropped, which no interval shows. Programs that are being started stay: what comes up then was not
/// read ahead.
pub(crate) fn live_kinds() -> [u8; SYSCALLS] {
    kinds().map(|kind| if (PAGEOUT..EXEC).contains(&kind) { 0 } else { kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_its_kind() {
        let kinds = kinds();
        assert_eq!(kinds[libc::SYS_read as usize], READ);
        assert_eq!(kinds[libc::SYS_openat2 as usize], OPENAT);
        assert_eq!(kinds[libc::SYS_sync as usize], SYNC_ALL);
        assert_eq!(kinds[libc::SYS_getppid as usize], 0);
        assert_eq!(kinds.iter().filter(|&&kind| kind != 0).count(), TABLE.len());
        let live = live_kinds();
        assert_eq!(live[libc::SYS_read as usize], READ);
        assert_eq!(live[libc::SYS_openat as usize], 0);
        assert_eq!(live[libc::SYS_execve as usize], EXEC);
    }
}
