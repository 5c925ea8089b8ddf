//! What this process itself uses.

use std::path::Path;

use super::{ProcError, stat};

/// Memory, time and descriptors of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnUse {
    /// User and system CPU time of all threads, in nanoseconds; the kernel tells it in clock ticks.
    pub cpu_ns: u64,
    /// Resident memory in bytes.
    pub resident_bytes: u64,
    /// Open descriptors.
    pub open_fds: u64,
}

/// What this process uses now.
///
/// # Errors
/// Where /proc can't be read.
pub fn now() -> Result<OwnUse, ProcError> {
    let lacking = |path: &str, error| ProcError::read(Path::new(path), error);
    let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
    let stat = stat::of(std::process::id())?.ok_or_else(|| lacking("/proc/self/stat", gone()))?;
    let statm = std::fs::read_to_string("/proc/self/statm")
        .map_err(|error| lacking("/proc/self/statm", error))?;
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    let fds =
        std::fs::read_dir("/proc/self/fd").map_err(|error| lacking("/proc/self/fd", error))?;
    Ok(OwnUse {
        cpu_ns: stat::ticks_to_ns(stat.user_ticks.saturating_add(stat.system_ticks)),
        resident_bytes: pages.saturating_mul(crate::page_size()),
        // The directory that is being read is one of them.
        open_fds: (fds.count() as u64).saturating_sub(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_more_is_counted() {
        // Other tests open and close files meanwhile: many at once stand out.
        let before = now().expect("/proc");
        assert!(before.resident_bytes > 0 && before.open_fds >= 3);
        let held: Vec<_> = (0..200).filter_map(|_| std::fs::File::open("/dev/null").ok()).collect();
        assert!(now().expect("/proc").open_fds >= before.open_fds + 100, "{}", held.len());
    }
}
