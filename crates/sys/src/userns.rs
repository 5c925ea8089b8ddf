//! User namespaces: whose files the capabilities of this process reach.

use std::sync::LazyLock;

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
