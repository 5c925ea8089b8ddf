//! How the host of a session differs from that of a baseline, and what of it forbids a comparison.

use std::collections::BTreeSet;

use hotset_facts::units::bytes;
use hotset_facts::{BaselineSession, Environment, HostIdentity, LabBaselineSession, Observed};
use serde::Serialize;

hotset_facts::words! {
    /// What tells one host from another.
    pub enum HostPart {
        /// What the CPU calls itself.
        Cpu = "CPU",
        /// CPUs that are online.
        CpuCount = "number of CPUs",
        /// Memory of the host.
        Memory = "memory",
        /// Physical or virtual, with vendor and product.
        Machine = "machine",
        /// The base page size.
        PageSize = "page size",
        /// The memory limit of the control group.
        MemoryLimit = "memory limit",
        /// The kernel's release.
        Kernel = "kernel",
        /// Whether the kernel evicts idle page cache.
        IdleEviction = "eviction of idle page cache",
        /// Types of the file systems of the files.
        FileSystems = "file systems",
        /// Devices of these file systems.
        Devices = "devices",
        /// Read-ahead windows of these devices.
        ReadAhead = "read-ahead",
        /// The version of hotset that measured.
        Version = "version of hotset",
    }
}

/// Something in which the hosts differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostDifference {
    /// The part of the host.
    pub what: HostPart,
    /// As it was in the baseline.
    pub baseline: String,
    /// As it is now.
    pub now: String,
    /// True where times of the two say nothing about a change of the command, so that a comparison has to be asked for.
    pub forbids: bool,
}

/// Memory of a machine varies by what the kernel takes of it, and grows in steps far above this share.
const SAME_MEMORY: f64 = 0.05;

/// What a session was measured on, and by which version.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredOn<'a> {
    /// The version of hotset.
    pub version: &'a str,
    /// Which machine.
    pub host: &'a HostIdentity,
    /// What else is known of it.
    pub environment: &'a Environment,
}

impl<'a> From<&'a BaselineSession> for MeasuredOn<'a> {
    fn from(session: &'a BaselineSession) -> Self {
        Self { version: &session.version, host: &session.host, environment: &session.environment }
    }
}

impl<'a> From<&'a LabBaselineSession> for MeasuredOn<'a> {
    fn from(session: &'a LabBaselineSession) -> Self {
        Self { version: &session.version, host: &session.host, environment: &session.environment }
    }
}

/// How this host differs from those of a baseline, each difference once.
pub fn host_differences<'a>(
    then: impl IntoIterator<Item = MeasuredOn<'a>>,
    now: MeasuredOn<'_>,
) -> Vec<HostDifference> {
    let mut found: Vec<HostDifference> = Vec::new();
    for then in then {
        for difference in of_session(then, now) {
            if !found.contains(&difference) {
                found.push(difference);
            }
        }
    }
    found.sort_by_key(|difference| !difference.forbids);
    found
}

fn of_session(then: MeasuredOn<'_>, now_on: MeasuredOn<'_>) -> Vec<HostDifference> {
    let (was, now) = (then.environment, now_on.environment);
    let limit = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), bytes);
    let evicts = |yes| if yes { "yes" } else { "no" }.to_owned();
    let mut all = vec![
        identity(HostPart::Cpu, &then.host.cpu_model, &now_on.host.cpu_model),
        identity(HostPart::Machine, &then.host.machine, &now_on.host.machine),
        differs(HostPart::CpuCount, was.cpus.to_string(), now.cpus.to_string(), true),
        memory(was.memory_bytes, now.memory_bytes),
        differs(HostPart::PageSize, bytes(was.page_size_bytes), bytes(now.page_size_bytes), true),
        differs(
            HostPart::MemoryLimit,
            limit(was.memory_limit_bytes),
            limit(now.memory_limit_bytes),
            false,
        ),
        differs(HostPart::Kernel, was.kernel.clone(), now.kernel.clone(), false),
        differs(
            HostPart::IdleEviction,
            evicts(was.evicts_idle_cache),
            evicts(now.evicts_idle_cache),
            false,
        ),
        differs(HostPart::Version, then.version.to_owned(), now_on.version.to_owned(), false),
    ];
    // Before anything ran, no files are known.
    if !now.filesystems.is_empty() {
        let of = [HostPart::FileSystems, HostPart::Devices, HostPart::ReadAhead];
        all.extend(of.map(|what| differs(what, named(what, was), named(what, now), false)));
    }
    all.into_iter().flatten().collect()
}

fn differs(what: HostPart, baseline: String, now: String, forbids: bool) -> Option<HostDifference> {
    (baseline != now).then_some(HostDifference { what, baseline, now, forbids })
}

/// What is unknown on either side may be the same.
fn identity(
    what: HostPart,
    then: &Observed<String>,
    now: &Observed<String>,
) -> Option<HostDifference> {
    let words = |name: &Observed<String>| match name {
        Observed::Value(name) => name.clone(),
        Observed::Missing(reason) => format!("not measured ({})", reason.detail),
    };
    let forbids = then.as_value().is_some() && now.as_value().is_some();
    differs(what, words(then), words(now), forbids)
}

fn memory(then: u64, now: u64) -> Option<HostDifference> {
    let share = (then as f64 - now as f64).abs() / then.max(1) as f64;
    let found = differs(HostPart::Memory, bytes(then), bytes(now), true)?;
    (share > SAME_MEMORY).then_some(found)
}

/// What the file systems have of a kind, in words.
fn named(what: HostPart, environment: &Environment) -> String {
    let word = |one: &hotset_facts::Filesystem| match what {
        HostPart::FileSystems => one.fs_type.clone(),
        HostPart::Devices => one.device.clone(),
        _ => match one.read_ahead_kb {
            Observed::Value(kib) => bytes(kib.saturating_mul(1024)),
            Observed::Missing(_) => "not measured".to_owned(),
        },
    };
    let words: BTreeSet<String> = environment.filesystems.iter().map(word).collect();
    if words.is_empty() {
        return "none known".to_owned();
    }
    words.into_iter().collect::<Vec<_>>().join(", ")
}

/// True where both know file systems, and have no type in common.
pub(crate) fn on_other_file_systems(then: &Environment, now: &Environment) -> bool {
    let types = |environment: &Environment| -> BTreeSet<String> {
        environment.filesystems.iter().map(|one| one.fs_type.clone()).collect()
    };
    let (then, now) = (types(then), types(now));
    !then.is_empty() && !now.is_empty() && then.is_disjoint(&now)
}
