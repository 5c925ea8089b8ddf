//! What stands against locking memory, with the numbers, before anything is locked.

use std::path::PathBuf;

use hotset_facts::units::{exact_bytes, parse_size};
use hotset_sys::cache::LockLimit;
use hotset_sys::cgroup::Headroom;

/// Why files may not be pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinRefused {
    /// More than was allowed.
    #[error("{} are needed, and the budget is {}", size(needed_bytes), size(budget_bytes))]
    Budget {
        /// Bytes of the files, in whole pages.
        needed_bytes: u64,
        /// The budget in bytes.
        budget_bytes: u64,
    },
    /// The limit on locked memory, which CAP_IPC_LOCK lifts.
    #[error(
        "{} are needed, and this user may lock {} (RLIMIT_MEMLOCK), of which {} are locked; raise it with `ulimit -l` or \
         LimitMEMLOCK=, or give CAP_IPC_LOCK",
        size(needed_bytes),
        size(limit_bytes),
        size(locked_bytes)
    )]
    Limit {
        /// Bytes of the files, in whole pages.
        needed_bytes: u64,
        /// The limit in bytes.
        limit_bytes: u64,
        /// Bytes that this process has locked already.
        locked_bytes: u64,
    },
    /// A control group's limit.
    #[error(
        "{} are needed, and the control group {} leaves {} of its limit of {}; raise the limit",
        size(needed_bytes), dir.display(), size(room_bytes), size(limit_bytes)
    )]
    Group {
        /// Bytes of the files, in whole pages.
        needed_bytes: u64,
        /// Bytes that fit.
        room_bytes: u64,
        /// The limit in bytes.
        limit_bytes: u64,
        /// The group.
        dir: PathBuf,
    },
    /// The host's memory.
    #[error("{} are needed, and the host has {} available", size(needed_bytes), size(room_bytes))]
    Host {
        /// Bytes of the files, in whole pages.
        needed_bytes: u64,
        /// Bytes that fit.
        room_bytes: u64,
    },
}

/// With the exact number where a rounded one would hide by how little it is too much: `16.0 MiB (16781312 bytes)`.
fn size(bytes: &u64) -> String {
    let text = exact_bytes(*bytes);
    if parse_size(&text.replace(' ', "")) == Ok(*bytes) {
        text
    } else {
        format!("{text} ({bytes} bytes)")
    }
}

/// Whether `needed_bytes` more may be locked by this process, which `lock` limits.
///
/// # Errors
/// The first limit that is too small.
pub(super) fn may_pin(
    needed_bytes: u64,
    budget_bytes: Option<u64>,
    lock: Option<LockLimit>,
    headroom: &Headroom,
) -> Result<(), PinRefused> {
    if let Some(budget_bytes) = budget_bytes.filter(|budget| needed_bytes > *budget) {
        return Err(PinRefused::Budget { needed_bytes, budget_bytes });
    }
    if let Some(LockLimit { limit_bytes, locked_bytes }) = lock
        && needed_bytes > limit_bytes.saturating_sub(locked_bytes)
    {
        return Err(PinRefused::Limit { needed_bytes, limit_bytes, locked_bytes });
    }
    if let Some(group) = headroom.group.as_ref().filter(|group| needed_bytes > group.room_bytes()) {
        return Err(PinRefused::Group {
            needed_bytes,
            room_bytes: group.room_bytes(),
            limit_bytes: group.limit_bytes,
            dir: group.dir.clone(),
        });
    }
    match headroom.host_bytes {
        Some(room_bytes) if needed_bytes > room_bytes => {
            Err(PinRefused::Host { needed_bytes, room_bytes })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use hotset_sys::cgroup::GroupMemory;

    use super::*;

    /// A group that leaves 1,300 bytes, on a host with more.
    fn tight() -> Headroom {
        let group = GroupMemory {
            dir: "/cg/box".into(),
            limit_bytes: 6400,
            used_bytes: 5400,
            file_bytes: 400,
        };
        Headroom { group: Some(group), host_bytes: Some(100_000) }
    }

    fn host(bytes: u64) -> Headroom {
        Headroom { group: None, host_bytes: Some(bytes) }
    }

    #[test]
    fn what_fits_exactly_may_be_locked() {
        let lock = Some(LockLimit { limit_bytes: 1500, locked_bytes: 200 });
        assert_eq!(may_pin(1300, Some(1300), lock, &tight()), Ok(()));
        let unknown = Headroom { group: None, host_bytes: None };
        assert_eq!(may_pin(u64::MAX, None, None, &unknown), Ok(()));
        assert_eq!(may_pin(0, Some(0), lock, &host(0)), Ok(()), "an empty file needs nothing");
    }

    #[test]
    fn the_first_limit_that_is_too_small_refuses() {
        let refused = |needed, budget, lock, room: &Headroom| {
            may_pin(needed, budget, lock, room).expect_err("refused")
        };
        let budget = PinRefused::Budget { needed_bytes: 77, budget_bytes: 76 };
        let lock = LockLimit { limit_bytes: 70, locked_bytes: 60 };
        assert_eq!(refused(77, Some(76), Some(lock), &host(1)), budget);
        let limit = PinRefused::Limit { needed_bytes: 11, limit_bytes: 70, locked_bytes: 60 };
        assert_eq!(refused(11, Some(76), Some(lock), &host(1)), limit);
        // More can be locked than a limit that was lowered since.
        let lowered = LockLimit { limit_bytes: 50, ..lock };
        let limit = PinRefused::Limit { needed_bytes: 1, limit_bytes: 50, locked_bytes: 60 };
        assert_eq!(refused(1, None, Some(lowered), &host(1)), limit);
        let group = refused(1301, None, None, &tight());
        assert!(matches!(&group, PinRefused::Group { room_bytes: 1300, .. }), "{group}");
        let host = refused(1001, None, None, &host(1000));
        assert_eq!(host, PinRefused::Host { needed_bytes: 1001, room_bytes: 1000 });
    }

    #[test]
    fn every_refusal_says_the_numbers() {
        let message = |needed, budget, room: &Headroom| {
            may_pin(needed, budget, None, room).expect_err("refused").to_string()
        };
        for (message, words) in [
            (message(9 << 20, Some(7 << 20), &host(1000)), &["9 MiB", "7 MiB"][..]),
            (message(1001, None, &host(1000)), &["1001 B", "1000 B"]),
            (message(1301, None, &tight()), &["1301 B", "1300 B", "6400 B", "/cg/box"]),
        ] {
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
    }

    #[test]
    fn a_budget_that_lacks_a_page_is_told_from_what_is_needed() {
        for (mib, needed) in [
            (16, "16.0 MiB (16781312 bytes)"),
            (100, "100 MiB (104861696 bytes)"),
            (5000, "4.88 GiB (5242884096 bytes)"),
        ] {
            let refused = may_pin((mib << 20) + 4096, Some(mib << 20), None, &host(0));
            let budget =
                if mib == 5000 { "4.88 GiB (5242880000 bytes)" } else { &format!("{mib} MiB") };
            let wanted = format!("{needed} are needed, and the budget is {budget}");
            assert_eq!(refused.expect_err("refused").to_string(), wanted);
        }
        assert_eq!(size(&(3 << 29)), "1.50 GiB");
    }
}
