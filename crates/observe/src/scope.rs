//! Telling a loaded sensor who is observed.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use hotset_facts::Pid;
use libbpf_rs::{Map, MapCore, MapFlags, RingBuffer, RingBufferBuilder};

use crate::ObserveError;
use crate::load::Loaded;
use crate::observation::Scope;

/// `enum hs_scope`.
pub(crate) fn number(scope: &Scope) -> u32 {
    match scope {
        Scope::Children => 0,
        Scope::Processes(_) => 1,
        Scope::Cgroup(_) => 2,
        Scope::System => 3,
    }
}

/// Whether PIDs here are the kernel's own (include/linux/proc_ns.h, PROC_PID_INIT_INO).
///
/// # Errors
/// Where there is no /proc to ask.
pub(crate) fn in_initial_pid_namespace() -> Result<bool, ObserveError> {
    let link = std::fs::read_link("/proc/self/ns/pid").map_err(ObserveError::NoProc)?;
    Ok(link.as_os_str() == "pid:[4026531836]")
}

/// Admits the group or the processes of a scope; the descriptor must live as long as the session.
pub(crate) fn admit(loaded: &Loaded, scope: &Scope) -> Result<Option<OwnedFd>, ObserveError> {
    match scope {
        Scope::Cgroup(path) => admit_cgroup(loaded, path).map(Some),
        Scope::Processes(pids) => admit_processes(loaded, pids).map(|()| None),
        Scope::Children | Scope::System => Ok(None),
    }
}

/// Adds processes to those that are observed.
pub(crate) fn admit_processes(loaded: &Loaded, pids: &[Pid]) -> Result<(), ObserveError> {
    let roots = loaded.map("roots")?;
    for pid in pids {
        update(&roots, "roots", &pid.to_ne_bytes(), &1_u32.to_ne_bytes())?;
    }
    Ok(())
}

fn admit_cgroup(loaded: &Loaded, path: &Path) -> Result<OwnedFd, ObserveError> {
    let failed = |reason: String| ObserveError::Cgroup { path: path.display().to_string(), reason };
    let directory = File::open(path).map_err(|error| failed(error.to_string()))?;
    let cgroups = loaded.map("cgroups")?;
    let fd = directory.as_fd().as_raw_fd();
    cgroups.update(&0_u32.to_ne_bytes(), &fd.to_ne_bytes(), MapFlags::ANY).map_err(|error| {
        failed(format!(
            "is not a control group of version 2 ({error}); see `grep cgroup2 /proc/mounts`"
        ))
    })?;
    Ok(directory.into())
}

/// Writes an entry.
pub(crate) fn update(
    map: &Map<'_>,
    name: &'static str,
    key: &[u8],
    value: &[u8],
) -> Result<(), ObserveError> {
    map.update(key, value, MapFlags::ANY).map_err(|error| ObserveError::table(name, error))
}

/// What takes the records of a ring.
pub(crate) type Taker = Box<dyn FnMut(&[u8])>;

/// The ring of names and processes, with what takes its records.
pub(crate) fn open_ring(
    loaded: &Loaded,
    take: impl FnMut(&[u8]) + 'static,
) -> Result<RingBuffer<'static>, ObserveError> {
    open_rings(loaded, vec![("events", Box::new(take))])
}

/// Several rings, each with what takes its records.
pub(crate) fn open_rings(
    loaded: &Loaded,
    rings: Vec<(&'static str, Taker)>,
) -> Result<RingBuffer<'static>, ObserveError> {
    let maps = rings.iter().map(|(name, _)| loaded.map(name));
    let maps = maps.collect::<Result<Vec<_>, _>>()?;
    let mut builder = RingBufferBuilder::new();
    for ((name, mut take), map) in rings.into_iter().zip(&maps) {
        let take = move |bytes: &[u8]| {
            take(bytes);
            0
        };
        builder.add(map, take).map_err(|error| ObserveError::table(name, error))?;
    }
    builder.build().map_err(|error| ObserveError::table("events", error))
}
