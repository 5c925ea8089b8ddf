//! This thread's effective capabilities.

use crate::proc::value_of;
use crate::userns;

/// The capabilities that matter here, by their number in <linux/capability.h>.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cap {
    Fowner = 3,
    IpcLock = 14,
    SysAdmin = 21,
    Perfmon = 38,
    Bpf = 39,
}

/// A set of capabilities, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CapSet(u64);

impl CapSet {
    pub(crate) fn has(self, cap: Cap) -> bool {
        self.0 & (1 << (cap as u32)) != 0
    }

    fn only(self, cap: Cap) -> Self {
        Self(self.0 & (1 << (cap as u32)))
    }
}

/// Those that mean something, or nothing where /proc is not mounted. In a user namespace of its own, a process has them all, and
/// the kernel asks for all but one in the host's.
pub(crate) fn effective() -> Option<CapSet> {
    let held = parse(&std::fs::read("/proc/thread-self/status").ok()?)?;
    Some(if userns::is_of_host() { held } else { held.only(Cap::Fowner) })
}

/// Whether a seccomp filter decides which system calls this thread may make, although it has the capabilities that loading BPF programs
/// takes. That of a container forbids bpf(2) as a rule.
pub(crate) fn has_bpf_behind_a_filter() -> bool {
    let Ok(status) = std::fs::read("/proc/thread-self/status") else { return false };
    effective().is_some_and(can_load) && is_filtered(&status)
}

fn can_load(caps: CapSet) -> bool {
    caps.has(Cap::SysAdmin) || caps.has(Cap::Bpf) && caps.has(Cap::Perfmon)
}

/// Mode 2 of prctl(PR_GET_SECCOMP).
fn is_filtered(status: &[u8]) -> bool {
    value_of(status, "Seccomp") == Some(b"2")
}

fn parse(status: &[u8]) -> Option<CapSet> {
    let digits = std::str::from_utf8(value_of(status, "CapEff")?).ok()?;
    u64::from_str_radix(digits, 16).ok().map(CapSet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_capabilities() {
        let caps = parse(b"Name:\tx\nCapPrm:\t0\nCapEff:\t000000c000000008\n").expect("CapEff");
        assert!(caps.has(Cap::Bpf) && caps.has(Cap::Perfmon) && caps.has(Cap::Fowner));
        assert!(!caps.has(Cap::SysAdmin));
        assert!(!caps.only(Cap::Fowner).has(Cap::Bpf) && caps.only(Cap::Fowner).has(Cap::Fowner));
        assert_eq!(parse(b"Name:\tx\n"), None);
        assert!(can_load(caps) && !can_load(caps.only(Cap::Bpf)));
        assert!(is_filtered(b"Name:\tx\nSeccomp:\t2\n") && !is_filtered(b"Seccomp:\t0\n"));
    }
}
