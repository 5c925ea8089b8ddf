//! Who runs hotset, and what the kernel lets them do.

use hotset_facts::{Capability, Verdict};

use super::kernel::is_older_than;
use super::{Check, supported, unsupported};
use crate::capabilities::{Cap, effective};

const AS_ROOT: &str = "run hotset as root";

pub(super) fn root() -> Capability {
    let euid = rustix::process::geteuid();
    let name = ("root", "runs as root");
    let detail = format!("effective user id {}", euid.as_raw());
    if euid.is_root() {
        return supported(name, detail);
    }
    let consequence = "files and processes of other users can't be looked at";
    unsupported(name, Verdict::No, detail, consequence, AS_ROOT)
}

pub(super) fn bpf() -> Capability {
    capability(
        ("cap_bpf", "may load BPF programs"),
        Cap::Bpf,
        "no kernel sensor: only what /proc, rusage and cachestat(2) say",
        "run hotset as root, or give it CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep)",
    )
}

pub(super) fn perfmon() -> Capability {
    capability(
        ("cap_perfmon", "may attach to tracepoints"),
        Cap::Perfmon,
        "no kernel sensor: only what /proc, rusage and cachestat(2) say",
        "run hotset as root, or give it CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep)",
    )
}

pub(super) fn sys_admin() -> Capability {
    let name = ("cap_sys_admin", "may do what older kernels ask administrators for");
    let held = effective().is_some_and(|caps| caps.has(Cap::SysAdmin));
    if !held && !is_older_than((5, 8)) {
        return supported(name, "not held, and not needed since Linux 5.8");
    }
    let consequence = "before Linux 5.8, loading BPF programs needs this capability";
    capability(name, Cap::SysAdmin, consequence, AS_ROOT)
}

fn capability(name: Check, cap: Cap, consequence: &str, remedy: &str) -> Capability {
    match effective() {
        // CAP_SYS_ADMIN still stands for the two that were split from it in 5.8.
        Some(caps) if caps.has(cap) => supported(name, "in the effective set"),
        Some(caps) if caps.has(Cap::SysAdmin) => supported(name, "through CAP_SYS_ADMIN"),
        Some(_) => unsupported(name, Verdict::No, "not in the effective set", consequence, remedy),
        None => unsupported(
            name,
            Verdict::No,
            "unknown: /proc/thread-self/status has no CapEff line",
            consequence,
            "mount /proc",
        ),
    }
}
