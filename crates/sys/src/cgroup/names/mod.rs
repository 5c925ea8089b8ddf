//! What people call a control group: the container, the pod, or the unit that it is.

mod containers;
mod workload;

use std::collections::HashMap;
use std::sync::Arc;

pub use containers::{ContainerName, look_up, parse_docker, parse_oci};
pub use workload::{Workload, workload_of_pod};

/// What a control group's path says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupRole {
    /// A container, by the runtime that made it and its id.
    Container {
        /// The runtime, as far as the path tells.
        runtime: Runtime,
        /// 64 hexadecimal digits, or what the runtime uses.
        id: String,
        /// The pod's number, in a Kubernetes node.
        pod: Option<String>,
    },
    /// A pod of Kubernetes.
    Pod(String),
    /// A unit of systemd.
    Unit(String),
    /// None of these.
    Other,
}

/// Who runs a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// The Docker daemon.
    Docker,
    /// containerd, as Kubernetes uses it.
    Containerd,
    /// CRI-O.
    Crio,
    /// Containers of Podman.
    Podman,
    /// Containers of LXC.
    Lxc,
    /// A container below a pod whose runtime the path does not tell.
    Unknown,
}

impl Runtime {
    /// As people write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Containerd => "containerd",
            Self::Crio => "cri-o",
            Self::Podman => "podman",
            Self::Lxc => "lxc",
            Self::Unknown => "container",
        }
    }
}

/// What systemd puts before a container's id, and whose it is.
const SCOPES: [(&str, Runtime); 5] = [
    ("docker-", Runtime::Docker),
    ("cri-containerd-", Runtime::Containerd),
    ("crio-", Runtime::Crio),
    ("libpod-", Runtime::Podman),
    ("lxc.payload.", Runtime::Lxc),
];

/// The beginning of a container's id, which stands for it where there is no name, as `docker ps` has it.
pub fn short_id(id: &str) -> String {
    const SHORT_ID: usize = 12;
    id.chars().take(SHORT_ID).collect()
}

/// What a path of a control group says of it: the innermost container that it is in, else the pod, else the unit.
pub fn role(path: &str) -> GroupRole {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let pod = parts.iter().rev().find_map(|part| pod_of(part));
    for (place, part) in parts.iter().enumerate().rev() {
        let above = place.checked_sub(1).and_then(|above| parts.get(above)).copied();
        if let Some((runtime, id)) = container_of(part, above, pod.is_some()) {
            return GroupRole::Container { runtime, id, pod };
        }
    }
    match (pod, parts.iter().rev().find_map(|part| unit_of(part))) {
        (Some(pod), _) => GroupRole::Pod(pod),
        (None, Some(unit)) => GroupRole::Unit(unit),
        (None, None) => GroupRole::Other,
    }
}

fn container_of(part: &str, above: Option<&str>, in_pod: bool) -> Option<(Runtime, String)> {
    let bare = part.strip_suffix(".scope").unwrap_or(part);
    for (prefix, runtime) in SCOPES {
        if let Some(id) = bare.strip_prefix(prefix) {
            let known = runtime == Runtime::Lxc || is_id(id);
            return (known && !id.is_empty()).then(|| (runtime, id.to_owned()));
        }
    }
    match above {
        Some("docker") if is_id(bare) => Some((Runtime::Docker, bare.to_owned())),
        Some("libpod_parent" | "machine.slice") if is_id(bare) => {
            Some((Runtime::Podman, bare.to_owned()))
        }
        Some("lxc" | "lxc.payload") => Some((Runtime::Lxc, bare.to_owned())),
        _ if in_pod && is_id(bare) => Some((Runtime::Unknown, bare.to_owned())),
        _ => None,
    }
}

/// Runtimes name containers by 32 random bytes in hexadecimal.
fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `pod<uid>`, or with the systemd driver `kubepods-burstable-pod<uid>.slice` with `_` for `-`.
fn pod_of(part: &str) -> Option<String> {
    let bare = part.strip_suffix(".slice").unwrap_or(part);
    let uid = match bare.strip_prefix("kubepods") {
        Some(rest) => rest.rsplit_once("-pod")?.1,
        None => bare.strip_prefix("pod")?,
    };
    let uid = uid.replace('_', "-");
    let is_uid = uid.len() >= 32 && uid.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    is_uid.then_some(uid)
}

fn unit_of(part: &str) -> Option<String> {
    let known = [".service", ".scope", ".socket", ".mount", ".slice"];
    known.iter().any(|suffix| part.ends_with(suffix)).then(|| part.to_owned())
}

/// Looks up names, and remembers them: each group is asked for once, and one that was not found again some time later.
#[derive(Debug, Default)]
pub struct GroupNames {
    known: HashMap<Arc<str>, (Option<Arc<str>>, u32)>,
}

/// A group without a name is looked up again after so many questions, for its runtime may not have written it yet.
const ASK_AGAIN_AFTER: u32 = 30;
/// Groups that are remembered. When there are more, all are forgotten: groups come and go, and each can be asked for again.
const REMEMBERED: usize = 10_000;

impl GroupNames {
    /// The name of a container, pod or unit; nothing where the path is all that is known.
    pub fn of(&mut self, path: &Arc<str>) -> Option<Arc<str>> {
        if let Some((name, questions)) = self.known.get_mut(path) {
            *questions = questions.saturating_add(1);
            if name.is_some() || *questions < ASK_AGAIN_AFTER {
                return name.clone();
            }
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let (name, whole) = name_of(&role(path), &containers::look_up);
        let name = name.map(Arc::from);
        // What is only an id may get a name later.
        let kept = if whole { name.clone() } else { None };
        self.known.insert(path.clone(), (kept, 0));
        name
    }
}

/// The name, and whether it is the whole of what can be known.
fn name_of(
    role: &GroupRole,
    look_up: &dyn Fn(Runtime, &str) -> Option<ContainerName>,
) -> (Option<String>, bool) {
    match role {
        GroupRole::Container { runtime, id, pod } => {
            let short = short_id(id);
            match (look_up(*runtime, id), pod) {
                (Some(ContainerName { pod: Some(pod), name, .. }), _) => {
                    (Some(format!("{pod}/{name}")), true)
                }
                (Some(ContainerName { pod: None, name, .. }), _) => {
                    (Some(format!("{} {name}", runtime.as_str())), true)
                }
                (None, _) if *runtime == Runtime::Lxc => (Some(format!("lxc {id}")), true),
                (None, Some(pod)) => (Some(format!("pod {pod}: {short}")), false),
                (None, None) => (Some(format!("{} {short}", runtime.as_str())), false),
            }
        }
        GroupRole::Pod(uid) => (Some(format!("pod {uid}")), true),
        GroupRole::Unit(unit) => (Some(unit.clone()), true),
        GroupRole::Other => (None, true),
    }
}

#[cfg(test)]
mod tests;
