//! What this host offers to hotset, as facts: what was seen, what is lost without it, what a person can do.
//!
//! What only the sensor can try (tracepoints, loading) is its own; these are the checks that need no BPF.

mod kernel;
mod memory;
mod perf;
mod privilege;

use hotset_facts::{Capability, Verdict};

/// Everything that can be told without loading a program, in the order in which it matters.
pub fn host_capabilities() -> Vec<Capability> {
    vec![
        privilege::root(),
        privilege::bpf(),
        privilege::perfmon(),
        privilege::sys_admin(),
        kernel::btf(),
        kernel::unprivileged_bpf(),
        kernel::lockdown(),
        perf::perf_events(),
        kernel::cachestat(),
        memory::cgroup_v2(),
        memory::pressure(),
        memory::limit(),
        memory::idle_cache(),
    ]
}

/// A check of the host: its id, and what holds where it succeeds.
pub type Check = (&'static str, &'static str);

/// A check that succeeded.
pub fn supported((id, title): Check, detail: impl Into<String>) -> Capability {
    Capability {
        id,
        title,
        verdict: Verdict::Yes,
        detail: detail.into(),
        consequence: String::new(),
        remedy: String::new(),
    }
}

/// A check that failed, or did in part: what is lost, and what a person can do.
pub fn unsupported(
    (id, title): Check,
    verdict: Verdict,
    detail: impl Into<String>,
    consequence: impl Into<String>,
    remedy: &str,
) -> Capability {
    Capability {
        id,
        title,
        verdict,
        detail: detail.into(),
        consequence: consequence.into(),
        remedy: remedy.to_owned(),
    }
}

/// The text of a small file of /proc or /sys without its line end.
fn text_of(path: &str) -> std::io::Result<String> {
    Ok(std::fs::read_to_string(path)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lack_says_what_it_costs_and_ids_are_unique() {
        let all = host_capabilities();
        for (index, capability) in all.iter().enumerate() {
            assert!(!capability.detail.is_empty(), "{capability:?}");
            let lacks = capability.verdict != Verdict::Yes;
            assert_eq!(lacks, !capability.consequence.is_empty(), "{capability:?}");
            assert!(!all[..index].iter().any(|other| other.id == capability.id));
        }
    }
}
