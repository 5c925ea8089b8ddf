//! User namespaces: what the capabilities of this process reach, of files and of the host.

use std::os::unix::fs::MetadataExt;
use std::sync::LazyLock;

use crate::capabilities::has_bpf_behind_a_filter;

/// The number of the namespace that the host itself is in (PROC_USER_INIT_INO of include/linux/proc_ns.h).
const OF_THE_HOST: u64 = 0xEFFF_FFFD;

/// Whether this process is in the host's own user namespace. In another, as in a rootless container, root has no rights over the
/// kernel. Without /proc, it is taken for the host's.
pub fn is_of_host() -> bool {
    static ANSWER: LazyLock<bool> = LazyLock::new(|| {
        std::fs::metadata("/proc/self/ns/user").map_or(true, |there| there.ino() == OF_THE_HOST)
    });
    *ANSWER
}

/// How to have more rights over the kernel, for somebody who lacks them.
pub fn as_root() -> &'static str {
    if is_of_host() {
        return "run hotset as root";
    }
    "run hotset as root of the host, outside of this user namespace (container): its root has no rights over the kernel"
}

/// The same for those rights that capabilities give.
pub fn as_root_or_with_capabilities() -> &'static str {
    if is_of_host() {
        if has_bpf_behind_a_filter() {
            return "a seccomp profile forbids bpf(2), as those of containers do: use one that allows it, or --security-opt seccomp=unconfined";
        }
        return "run hotset as root, or give it CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep)";
    }
    as_root()
}

/// Whether an owner as stat(2) names it is one that this process's user namespace has. In a container, all owners from outside
/// show as one overflow id, and neither a capability nor having that id too gives any right to their files.
///
/// Where the overflow id is also a user of the namespace, its files are taken for strangers'.
pub(crate) fn knows_uid(uid: u32) -> bool {
    static OVERFLOW: LazyLock<Option<u32>> = LazyLock::new(overflow_uid);
    *OVERFLOW != Some(uid)
}

/// The id that stands for all strangers, if there are any.
fn overflow_uid() -> Option<u32> {
    const DEFAULT: u32 = 65534;
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if maps_everyone(&map) {
        return None;
    }
    let text = std::fs::read_to_string("/proc/sys/kernel/overflowuid").unwrap_or_default();
    Some(text.trim().parse().unwrap_or(DEFAULT))
}

fn maps_everyone(uid_map: &str) -> bool {
    let mut words = uid_map.split_whitespace();
    words.next() == Some("0") && words.nth(1) == Some("4294967295")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_namespace_of_everyone_has_no_strangers() {
        assert!(maps_everyone("         0          0 4294967295\n"));
        assert!(!maps_everyone("         0       1000          1\n"));
        assert!(!maps_everyone("0 100000 65536\n"));
        assert!(!maps_everyone(""));
    }
}
