//! Who runs hotset, and what the kernel lets them do.

use hotset_facts::{Capability, Verdict};

use super::kernel::is_older_than;
use super::{Check, supported, unsupported};
use crate::capabilities::{Cap, effective};
use crate::userns::{as_root, as_root_or_with_capabilities, is_of_host};

pub(super) fn root() -> Capability {
    let euid = rustix::process::geteuid();
    let name = ("root", "runs as root");
    let whose = if is_of_host() { "" } else { " of a user namespace (container)" };
    let detail = format!("effective user id {}{whose}", euid.as_raw());
    if euid.is_root() && is_of_host() {
        return supported(name, detail);
    }
    let consequence = "files and processes of other users can't be looked at";
    unsupported(name, Verdict::No, detail, consequence, as_root())
}

pub(super) fn bpf() -> Capability {
    capability(
        ("cap_bpf", "may load BPF programs"),
        Cap::Bpf,
        "no kernel sensor: only what /proc, rusage and cachestat(2) say",
        as_root_or_with_capabilities(),
    )
}

pub(super) fn perfmon() -> Capability {
    capability(
        ("cap_perfmon", "may attach to tracepoints"),
        Cap::Perfmon,
        "no kernel sensor: only what /proc, rusage and cachestat(2) say",
        as_root_or_with_capabilities(),
    )
}

pub(super) fn sys_admin() -> Capability {
    let name = ("cap_sys_admin", "may do what older kernels ask administrators for");
    let held = effective().is_some_and(|caps| caps.has(Cap::SysAdmin));
    if !held && !is_older_than((5, 8)) {
        return supported(name, "not held, and not needed since Linux 5.8");
    }
    let consequence = "before Linux 5.8, loading BPF programs needs this capability";
    capability(name, Cap::SysAdmin, consequence, as_root())
}

fn capability(name: Check, cap: Cap, consequence: &str, remedy: &str) -> Capability {
    match effective() {
        // CAP_SYS_ADMIN still stands for the two that were split from it in 5.8.
        Some(caps) if caps.has(cap) => supported(name, "in the effective set"),
        Some(caps) if caps.has(Cap::SysAdmin) => supported(name, "through CAP_SYS_ADMIN"),
        Some(_) => {
            let detail = match is_of_host() {
                true => "not in the effective set",
                false => "no capability of a user namespace (container) holds for the kernel",
            };
            unsupported(name, Verdict::No, detail, consequence, remedy)
        }
        None => unsupported(
            name,
            Verdict::No,
            "unknown: /proc/thread-self/status has no CapEff line",
            consequence,
            "mount /proc",
        ),
    }
}
