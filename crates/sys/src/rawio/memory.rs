//! Memory of the host under a guest, and the folios of a file.

use std::io;
use std::os::fd::AsFd;

use crate::child::own_usage;
use crate::mapping::{FileView, Mapping};

/// Makes the kernel hand out so many bytes of memory and takes them back. In a virtual machine, the host may back memory
/// only when it is first touched; what is touched right before is backed, and is handed out next.
pub fn touch_memory(bytes: usize) {
    // Where there is none, nothing is done.
    let _ = Mapping::populated(bytes);
}

/// Minor faults of touching every page of a cached file once: the fewer, the larger its folios. A fault maps up to 16 pages
/// of small folios around it, and a whole folio of 2 MiB.
///
/// # Errors
/// As mmap(2) gives them.
pub fn touching_faults(file: impl AsFd, bytes: u64) -> io::Result<u64> {
    let len = usize::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    let map = Mapping::of_file(file, 0, len, FileView::default())?;
    let faults = || own_usage(libc::RUSAGE_THREAD).minor_faults;
    let before = faults();
    let page = crate::page_size() as usize;
    for offset in (0..len).step_by(page) {
        // SAFETY: within the mapping of a file of this size.
        std::hint::black_box(unsafe { map.start().add(offset).read_volatile() });
    }
    Ok(faults() - before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::ScratchFile;

    #[test]
    fn touching_a_file_faults_at_most_once_a_page() {
        let page = crate::page_size();
        let scratch = ScratchFile::on_disk(&vec![1; 64 * page as usize]);
        let faults = touching_faults(&scratch.file, 64 * page).expect("touch");
        assert!((1..=64).contains(&faults), "{faults}");
        touch_memory(1 << 20);
    }
}
