//! Reading a whole hash, and deleting from it, in batches.
//!
//! libbpf-rs's own iterator takes a batch that is not full for the last one; a hash hands out whole buckets, so almost
//! every batch is not full, and all but the first thousand entries were lost.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{Map, MapCore, libbpf_sys};

use crate::record::{Plain, bytes_of};

/// Entries to ask for at first; a bucket that holds more makes it grow.
const ENTRIES: u32 = 1024;
/// A bucket never holds more than the map; this only ends a loop that a broken kernel would make endless.
const MAX_ENTRIES: u32 = 1 << 22;

/// Calls `each` with the bytes of every key and value.
///
/// # Errors
/// The kernel's answer; maps of hosts before 5.6 don't know batches.
pub(crate) fn for_each(map: &Map<'_>, mut each: impl FnMut(&[u8], &[u8])) -> io::Result<()> {
    let (key_size, value_size) = (map.key_size() as usize, map.value_size() as usize);
    let mut capacity = ENTRIES;
    // The kernel's mark of where to go on: for a hash a bucket's number, in at most a key's room and at least 4 bytes.
    let mut mark = vec![0_u8; key_size.max(4)];
    let mut next = mark.clone();
    let mut first = true;
    loop {
        let mut keys = vec![0_u8; capacity as usize * key_size];
        let mut values = vec![0_u8; capacity as usize * value_size];
        let mut count = capacity;
        let from = if first { std::ptr::null_mut() } else { mark.as_mut_ptr() };
        // SAFETY: the buffers hold `capacity` keys and values of this map's sizes and the marks one key each; the kernel
        // writes at most `count` entries, which begins as `capacity`.
        let answer = unsafe {
            libbpf_sys::bpf_map_lookup_batch(
                map.as_fd().as_raw_fd(),
                from.cast(),
                next.as_mut_ptr().cast(),
                keys.as_mut_ptr().cast(),
                values.as_mut_ptr().cast(),
                &raw mut count,
                std::ptr::null(),
            )
        };
        let error = io::Error::from_raw_os_error(-answer);
        match error.raw_os_error() {
            Some(0 | libc::ENOENT) => {
                let keys = keys.chunks_exact(key_size).take(count as usize);
                keys.zip(values.chunks_exact(value_size)).for_each(|(key, value)| each(key, value));
                if answer != 0 {
                    return Ok(());
                }
                std::mem::swap(&mut mark, &mut next);
                first = false;
            }
            Some(libc::ENOSPC) if capacity < MAX_ENTRIES => capacity *= 2,
            Some(libc::EINTR) => {}
            _ => return Err(error),
        }
    }
}

/// Keys a call.
const DELETED_AT_ONCE: usize = 4096;

/// Deletes keys; those that are not there are none.
///
/// # Errors
/// The kernel's answer.
pub(crate) fn delete<K: Plain>(map: &Map<'_>, keys: &[K]) -> io::Result<()> {
    let size = size_of::<K>();
    debug_assert_eq!(size, map.key_size() as usize);
    for part in keys.chunks(DELETED_AT_ONCE) {
        let mut bytes: Vec<u8> = part.iter().flat_map(|key| bytes_of(key).to_vec()).collect();
        let mut done = 0;
        while done < part.len() {
            let mut count = (part.len() - done) as u32;
            // SAFETY: the buffer holds `count` keys of this map's size from that place on; the kernel only reads them.
            let answer = unsafe {
                libbpf_sys::bpf_map_delete_batch(
                    map.as_fd().as_raw_fd(),
                    bytes[done * size..].as_mut_ptr().cast(),
                    &raw mut count,
                    std::ptr::null(),
                )
            };
            let error = io::Error::from_raw_os_error(-answer);
            done += count as usize;
            match error.raw_os_error() {
                Some(0 | libc::EINTR) => {}
                // It stopped at this key.
                Some(libc::ENOENT) => done += 1,
                _ => return Err(error),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use libbpf_rs::MapFlags;

    use super::*;
    use crate::configure::Setup;
    use crate::load;
    use crate::record::{FileKey, read};

    /// Runs on the real kernel: as many entries as a run with many files has.
    #[test]
    fn every_entry_comes_once() {
        let loaded = load::load(&Setup { max_rows: 16, ..Default::default() }, false)
            .expect("the sensor loads (as root)");
        let map = loaded.object.maps().find(|map| map.name() == "files").expect("files");
        let value = vec![7_u8; map.value_size() as usize];
        for i in 0..20_000_u64 {
            let key: Vec<u8> = [i.to_ne_bytes(), 0_u64.to_ne_bytes()].concat();
            map.update(&key, &value, MapFlags::ANY).expect("room");
        }
        let mut seen = HashSet::new();
        for_each(&map, |key, bytes| {
            assert_eq!(bytes, value);
            assert!(seen.insert(key.to_vec()), "a key came twice");
        })
        .expect("read");
        assert_eq!(seen.len(), 20_000);
        let mut keys: Vec<FileKey> =
            (0..20_000).map(|ino| FileKey { ino, dev: 0, generation: 0 }).collect();
        keys.insert(7, FileKey { ino: 99_999, dev: 0, generation: 0 });
        delete(&map, &keys[..keys.len() - 1]).expect("deleted");
        let mut left = Vec::new();
        for_each(&map, |key, _| left.extend(read::<FileKey>(key).map(|key| key.ino)))
            .expect("read");
        assert_eq!(left, [19_999]);
    }
}
