//! What the kernel was built with, and what it was told to forbid.

use std::io::ErrorKind;

use hotset_facts::{Capability, Verdict};
use rustix::io::Errno;

use super::{supported, text_of, unsupported};
use crate::capabilities::{Cap, effective};

const BTF: &str = "/sys/kernel/btf/vmlinux";
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";
const UNPRIVILEGED_BPF: &str = "/proc/sys/kernel/unprivileged_bpf_disabled";

pub(super) fn btf() -> Capability {
    let name = ("btf", "the kernel describes its types (BTF)");
    match std::fs::metadata(BTF) {
        Ok(meta) => supported(name, format!("{BTF}, {} KiB", meta.len() / 1024)),
        Err(error) => unsupported(
            name,
            Verdict::No,
            format!("{BTF}: {error}"),
            "the sensor can't find the kernel's fields: only what /proc, rusage and cachestat(2) say",
            "use a kernel built with CONFIG_DEBUG_INFO_BTF=y (most distributions since 2021)",
        ),
    }
}

pub(super) fn unprivileged_bpf() -> Capability {
    let name = ("unprivileged_bpf", "BPF is not restricted for this user");
    let privileged = effective().is_some_and(|caps| caps.has(Cap::Bpf) || caps.has(Cap::SysAdmin));
    let detail = match text_of(UNPRIVILEGED_BPF) {
        Ok(value) => format!("kernel.unprivileged_bpf_disabled = {value}"),
        Err(error) => format!("{UNPRIVILEGED_BPF}: {error}"),
    };
    if privileged {
        return supported(name, format!("{detail}, which does not concern CAP_BPF"));
    }
    // Tracing programs need privileges whatever this setting says.
    unsupported(
        name,
        Verdict::No,
        detail,
        "tracing needs CAP_BPF and CAP_PERFMON, whatever this setting says",
        "run hotset as root",
    )
}

pub(super) fn lockdown() -> Capability {
    let name = ("lockdown", "the kernel is not locked down");
    match text_of(LOCKDOWN) {
        Ok(text) => match lockdown_mode(&text) {
            "confidentiality" => unsupported(
                name,
                Verdict::No,
                "lockdown=confidentiality",
                "the kernel refuses to let BPF programs read its memory: no kernel sensor",
                "boot with lockdown=integrity, or without Secure Boot",
            ),
            mode => supported(name, format!("lockdown={mode}")),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => {
            supported(name, format!("{LOCKDOWN} does not exist (no lockdown, or no securityfs)"))
        }
        Err(error) => unsupported(
            name,
            Verdict::Partly,
            format!("{LOCKDOWN}: {error}"),
            "unknown; where it is set to confidentiality, there is no kernel sensor",
            "run hotset as root",
        ),
    }
}

/// The word in brackets of `none [integrity] confidentiality`.
fn lockdown_mode(text: &str) -> &str {
    text.split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
        .unwrap_or("none")
}

pub(super) fn cachestat() -> Capability {
    let name = ("cachestat", "cachestat(2) tells what is cached");
    let answer = std::fs::File::open("/proc/self/exe")
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
        .and_then(|program| crate::cache::cachestat(program, 0, crate::page_size()));
    let detail = match answer {
        Ok(_) => return supported(name, "answers"),
        // Refused, so it is there, and the program is someone else's file.
        Err(Errno::PERM) if !is_older_than((6, 5)) => {
            return supported(name, "answers for files that this user may write");
        }
        Err(Errno::PERM) => "refused by a filter (seccomp), and this kernel has none".to_owned(),
        Err(Errno::NOSYS) => "not in this kernel".to_owned(),
        Err(errno) => format!("/proc/self/exe: {errno}"),
    };
    unsupported(
        name,
        Verdict::Partly,
        detail,
        "mincore(2) answers instead: no dirty or evicted pages, and for own files only",
        "use Linux 6.5 or later",
    )
}

/// True where the kernel says that it is older than this version.
pub(super) fn is_older_than(wanted: (u32, u32)) -> bool {
    version_of(&crate::environment::kernel_release()).is_some_and(|version| version < wanted)
}

/// Major and minor number of `6.18.44-fc-v445`.
fn version_of(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracketed_word_is_the_mode() {
        assert_eq!(lockdown_mode("none [integrity] confidentiality"), "integrity");
        assert_eq!(lockdown_mode(""), "none");
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(version_of("6.18.44-fc-v445"), Some((6, 18)));
        assert_eq!(version_of("5.4-rc1"), Some((5, 4)));
        assert!(version_of("6.18").expect("version") > (6, 5));
        assert_eq!(version_of("unknown"), None);
    }
}
