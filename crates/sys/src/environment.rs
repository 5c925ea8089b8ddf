//! The host that a run happens on.

use std::path::{Path, PathBuf};

use hotset_facts::trace::Reclaim;
use hotset_facts::{Dev, Environment, Filesystem, Observed, Reason};

use crate::damon::{IdleEviction, idle_eviction};
use crate::proc::mountinfo::{self, Mount};

/// What this host is, and the file systems behind the devices that the run touched. Of `subvolumes` of btrfs it has to be told
/// by which device each one's file system is mounted.
///
/// Never fails: what can't be read is left out or says so.
pub fn environment(touched: &[Dev], subvolumes: &[(Dev, Dev)]) -> Environment {
    Environment {
        kernel: kernel_release(),
        page_size_bytes: crate::page_size(),
        cpus: online_cpus(),
        memory_bytes: memory_bytes(),
        memory_limit_bytes: crate::cgroup::memory_limit_bytes(),
        filesystems: filesystems(touched, subvolumes, &mountinfo::own().unwrap_or_default()),
        evicts_idle_cache: matches!(idle_eviction(), IdleEviction::Running(_)),
    }
}

/// How this host reclaims memory.
pub fn reclaim() -> Reclaim {
    let info = rustix::system::sysinfo();
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the architecture")]
    let swap = info.totalswap as u64;
    Reclaim {
        multi_gen_lru: std::fs::read_to_string(MULTI_GEN_LRU).is_ok_and(|text| is_on(&text)),
        swap_bytes: swap.saturating_mul(u64::from(info.mem_unit)),
    }
}

/// Bits in hexadecimal, the lowest is the main switch (Documentation/admin-guide/mm/multigen_lru.rst). A kernel without this file has
/// no multi-gen LRU.
const MULTI_GEN_LRU: &str = "/sys/kernel/mm/lru_gen/enabled";

fn is_on(enabled: &str) -> bool {
    let digits = enabled.trim().trim_start_matches("0x");
    u32::from_str_radix(digits, 16).is_ok_and(|bits| bits & 1 != 0)
}

/// `uname -r`.
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// `hotset` below the user's cache directory; none where the user has no home.
pub fn cache_directory() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    base.is_absolute().then(|| base.join("hotset"))
}

/// MemTotal in bytes.
fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the architecture")]
    let total = info.totalram as u64;
    total.saturating_mul(u64::from(info.mem_unit))
}

fn online_cpus() -> u32 {
    // SAFETY: sysconf takes a number and has no preconditions.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(cpus).unwrap_or(1).max(1)
}

/// One entry a device, in the order of `touched`; devices that are mounted nowhere here are left out.
fn filesystems(touched: &[Dev], subvolumes: &[(Dev, Dev)], mounts: &[Mount]) -> Vec<Filesystem> {
    let mut found: Vec<Filesystem> = Vec::new();
    for &dev in touched {
        if found.iter().any(|known| known.dev == dev) {
            continue;
        }
        let above = subvolumes.iter().find(|(own, _)| *own == dev);
        if let Some(mount) = main_mount(above.map_or(dev, |(_, mounted)| *mounted), mounts) {
            found.push(Filesystem { dev, ..filesystem(mount) });
        }
    }
    found
}

/// The mount that people think of: of the whole file system rather than of a part, and the shortest path.
fn main_mount(dev: Dev, mounts: &[Mount]) -> Option<&Mount> {
    mounts
        .iter()
        .filter(|mount| mount.dev == dev)
        .min_by_key(|mount| (mount.root != Path::new("/"), mount.mount_point.components().count()))
}

fn filesystem(mount: &Mount) -> Filesystem {
    Filesystem {
        mount: mount.mount_point.clone(),
        fs_type: mount.fs_type.clone(),
        device: mount.source.clone(),
        dev: mount.dev,
        options: all_options(mount),
        read_ahead_kb: read_ahead_kb(mount.dev),
    }
}

/// Options of the mount, then those of the file system that are not among them.
fn all_options(mount: &Mount) -> String {
    let mut options: Vec<&str> = mount.options.split(',').collect();
    for option in mount.super_options.split(',') {
        // A read-only mount of a writable file system says `ro` first and `rw` second.
        let repeated = options.contains(&option) || matches!(option, "rw" | "ro" | "");
        if !repeated {
            options.push(option);
        }
    }
    options.join(",")
}

/// The read-ahead window of `dev` in KiB.
pub fn read_ahead_kb(dev: Dev) -> Observed<u64> {
    let candidates = [
        format!("/sys/class/bdi/{dev}/read_ahead_kb"),
        format!("/sys/dev/block/{dev}/queue/read_ahead_kb"),
        // A partition has the window of its disk.
        format!("/sys/dev/block/{dev}/../queue/read_ahead_kb"),
    ];
    let value = candidates.iter().map(PathBuf::from).find_map(|path| {
        std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok())
    });
    match value {
        Some(kib) => Observed::Value(kib),
        None => Observed::Missing(Reason::unsupported("no read-ahead window in /sys/class/bdi")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: Dev = Dev { major: 254, minor: 0 };

    #[test]
    fn the_lowest_bit_switches_the_multi_gen_lru() {
        assert!(is_on("0x0007\n") && is_on("0x0001") && is_on("7"));
        assert!(!is_on("0x0000\n") && !is_on("0x0006") && !is_on("y") && !is_on(""));
    }

    #[test]
    fn the_whole_file_system_wins_over_bind_mounts() {
        let mounts = mountinfo::parse(
            b"50 1 254:0 /etc/hosts /h rw - ext4 /dev/vda rw\n\
              51 1 254:0 / /mnt/deep/er rw - ext4 /dev/vda rw\n\
              52 1 254:0 / /mnt ro,noatime - ext4 /dev/vda rw,discard,noatime\n",
        )
        .expect("mounts");
        let found = filesystems(&[ROOT, ROOT, Dev { major: 9, minor: 9 }], &[], &mounts);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].mount, Path::new("/mnt"));
        assert_eq!(found[0].options, "ro,noatime,discard");
    }

    #[test]
    fn a_subvolume_is_where_its_file_system_is_mounted() {
        let mounts =
            mountinfo::parse(b"50 1 0:50 / /mnt rw - btrfs /dev/vdb rw\n").expect("mounts");
        let (own, mounted) = (Dev { major: 0, minor: 61 }, Dev { major: 0, minor: 50 });
        let found = filesystems(&[own], &[(own, mounted)], &mounts);
        assert_eq!((found[0].dev, found[0].mount.as_path()), (own, Path::new("/mnt")));
        assert!(filesystems(&[own], &[], &mounts).is_empty());
    }

    #[test]
    fn this_host_has_memory_and_a_kernel() {
        let here = environment(&[], &[]);
        assert!(here.memory_bytes > 1 << 20);
        assert!(here.cpus >= 1);
        assert!(here.kernel.contains('.'));
        assert!(here.filesystems.is_empty());
    }
}
