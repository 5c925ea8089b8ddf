//! What a stopped task has in its memory, and what its paths mean.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::proc::fds::{DELETED, without_suffix};

/// A path has at most so many bytes, the NUL included.
const PATH_MAX: usize = 4096;

/// The byte at an address; nothing where there is none.
pub(super) fn byte_at(task: libc::pid_t, address: u64) -> Option<u8> {
    let mut byte = [0];
    (read(task, address, &mut byte)? == 1).then_some(byte[0])
}

/// The text at an address, up to its NUL.
pub(super) fn string_at(task: libc::pid_t, address: u64) -> Option<PathBuf> {
    let mut text = Vec::new();
    while text.len() < PATH_MAX {
        let at = address.checked_add(text.len() as u64)?;
        // Not across a page's end, because the next one may not be there.
        let mut piece = vec![0; 256.min(crate::page_size() - at % crate::page_size()) as usize];
        let read = read(task, at, &mut piece).filter(|&read| read > 0)?;
        match piece[..read].iter().position(|&byte| byte == 0) {
            Some(end) => {
                text.extend_from_slice(&piece[..end]);
                return Some(OsString::from_vec(text).into());
            }
            None => text.extend_from_slice(&piece[..read]),
        }
    }
    None
}

/// The path that a call asked for, absolute where the directory in which it begins is known.
pub(super) fn path_asked(task: libc::pid_t, directory: i32, address: u64) -> Option<PathBuf> {
    let path = string_at(task, address)?;
    if path.is_absolute() {
        return Some(path);
    }
    Some(match directory_named(&base(task, directory)) {
        Some(base) => base.join(path),
        None => path,
    })
}

/// The link of /proc that leads to the directory in which a relative path begins.
pub(super) fn base(task: libc::pid_t, directory: i32) -> PathBuf {
    PathBuf::from(match directory {
        libc::AT_FDCWD => format!("/proc/{task}/cwd"),
        fd => format!("/proc/{task}/fd/{fd}"),
    })
}

fn directory_named(link: &Path) -> Option<PathBuf> {
    let name = std::fs::read_link(link).ok().filter(|name| name.is_absolute())?;
    let may_be_gone = name.as_os_str().as_bytes().ends_with(DELETED);
    let is_gone = may_be_gone && rustix::fs::stat(link).is_ok_and(|stat| stat.st_nlink == 0);
    Some(without_suffix(name, is_gone))
}

/// As many bytes as there are, up to the length of `to`.
fn read(task: libc::pid_t, address: u64, to: &mut [u8]) -> Option<usize> {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: to.len() };
    // SAFETY: writes to `to` alone, at most as many bytes as it has; the other address is looked up in the other task.
    let read =
        unsafe { libc::process_vm_readv(task, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).ok().or_else(|| {
        // Kernels can lack that call, and filters refuse it.
        File::open(format!("/proc/{task}/mem")).ok()?.read_at(to, address).ok()
    })
}
