//! What stands against locking memory, with the numbers, before anything is locked.

use std::path::PathBuf;

use rustix::process::{Resource, getrlimit};

use crate::capabilities::{self, Cap};
use crate::cgroup::Headroom;

/// Why files may not be pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinRefused {
    /// More than was allowed.
    #[error("{needed_bytes} bytes are needed, and the budget is {budget_bytes}")]
    Budget {
        /// Bytes of the files, in whole pages.
        needed_bytes: u64,
        /// The budget in bytes.
        budget_bytes: u64,
    },
    /// The limit on locked memory, which CAP_IPC_LOCK lifts.
    #[error(
        "{needed_bytes} bytes are needed, and this user may lock {limit_bytes} (RLIMIT_MEMLOCK), of which \
         {locked_bytes} are locked; raise it with `ulimit -l` or LimitMEMLOCK=, or give CAP_IPC_LOCK"
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
        "{needed_bytes} bytes are needed, and the control group {} leaves {room_bytes} of its limit of {limit_bytes}; raise the \
         limit", dir.display()
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
    #[error("{needed_bytes} bytes are needed, and the host has {room_bytes} available")]
    Host {
        /// Bytes of the files, in whole pages.
        needed_bytes: u64,
        /// Bytes that fit.
        room_bytes: u64,
    },
}

/// Whether `needed_bytes` more may be locked by this process.
///
/// # Errors
/// The first limit that is too small.
pub fn may_pin(
    needed_bytes: u64,
    budget_bytes: Option<u64>,
    headroom: &Headroom,
) -> Result<(), PinRefused> {
    if let Some(budget_bytes) = budget_bytes.filter(|budget| needed_bytes > *budget) {
        return Err(PinRefused::Budget { needed_bytes, budget_bytes });
    }
    if let Some((limit_bytes, locked_bytes)) = lock_limit()
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

/// Bytes that this process may lock and has locked; nothing where there is no limit.
fn lock_limit() -> Option<(u64, u64)> {
    if capabilities::effective().is_some_and(|caps| caps.has(Cap::IpcLock)) {
        return None;
    }
    let limit = getrlimit(Resource::Memlock).current?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    Some((limit, locked_bytes(&status)))
}

fn locked_bytes(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::GroupMemory;

    #[test]
    fn every_refusal_says_the_numbers() {
        let plenty = Headroom { group: None, host_bytes: Some(1000) };
        let message = |needed, budget, room: &Headroom| {
            may_pin(needed, budget, room).expect_err("refused").to_string()
        };
        let budget = message(77, Some(70), &plenty);
        assert!(budget.contains("77") && budget.contains("70"), "{budget}");
        let host = message(1001, None, &plenty);
        assert!(host.contains("1001") && host.contains("1000"), "{host}");
        let group = GroupMemory {
            dir: "/cg/box".into(),
            limit_bytes: 6400,
            used_bytes: 5400,
            file_bytes: 400,
        };
        let tight = Headroom { group: Some(group), host_bytes: Some(100_000) };
        let group = message(1301, None, &tight);
        assert!(
            ["1301", "1300", "6400", "/cg/box"].iter().all(|word| group.contains(word)),
            "{group}"
        );
        assert_eq!(may_pin(1300, Some(1300), &tight), Ok(()));
    }

    #[test]
    fn locked_memory_is_read_in_bytes() {
        assert_eq!(locked_bytes("VmPin:\t 9 kB\nVmLck:\t      12 kB\n"), 12 << 10);
        assert_eq!(locked_bytes(""), 0);
    }
}
