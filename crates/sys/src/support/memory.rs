//! What limits the cache, and what shrinks it.

use hotset_facts::{Capability, Verdict};

use super::{supported, text_of, unsupported};
use crate::cgroup;
use crate::damon::{IdleEviction, idle_eviction};
use crate::proc::mountinfo;

const PRESSURE: &str = "/proc/pressure/memory";

pub(super) fn cgroup_v2() -> Capability {
    let name = ("cgroup_v2", "control groups of version 2 are mounted");
    let mounts = mountinfo::own().unwrap_or_default();
    match cgroup::v2_mount(&mounts) {
        Some(path) => supported(name, path.display().to_string()),
        None => unsupported(
            name,
            Verdict::No,
            "no mount of type cgroup2",
            "nothing can be attributed to control groups",
            "boot with systemd.unified_cgroup_hierarchy=1, or: mount -t cgroup2 none /sys/fs/cgroup",
        ),
    }
}

pub(super) fn pressure() -> Capability {
    let name = ("psi", "the kernel measures memory pressure (PSI)");
    match text_of(PRESSURE) {
        Ok(text) => supported(name, text.lines().next().unwrap_or("no line").to_owned()),
        Err(error) => unsupported(
            name,
            Verdict::No,
            format!("{PRESSURE}: {error}"),
            "stalls for want of memory can't be shown",
            "boot with psi=1",
        ),
    }
}

pub(super) fn limit() -> Capability {
    let name = ("memory_limit", "no control group limits the cache");
    match cgroup::memory_limit_bytes() {
        None => supported(name, "no limit among this process's control groups"),
        Some(bytes) => unsupported(
            name,
            Verdict::Partly,
            format!("{} MiB", bytes >> 20),
            "page cache counts against this limit, so files larger than it can't stay cached",
            "raise memory.max of the control group, where that is meant to be",
        ),
    }
}

pub(super) fn idle_cache() -> Capability {
    let name = ("idle_cache", "idle page cache stays where it is");
    match idle_eviction() {
        IdleEviction::NotSeen => supported(name, "no DAMON scheme evicts"),
        IdleEviction::Running(what) => unsupported(
            name,
            Verdict::Partly,
            what,
            "files turn cold by themselves after some seconds: a state that was set does not last",
            "run right after setting a state; hotset verifies it",
        ),
        IdleEviction::Denied(path) => unsupported(
            name,
            Verdict::Partly,
            format!("{} may not be read", path.display()),
            "unknown whether files turn cold by themselves",
            "run hotset as root",
        ),
    }
}
