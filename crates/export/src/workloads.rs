//! Whose work a control group is.

use std::collections::HashMap;
use std::sync::Arc;

use hotset_facts::fleet::Workload;
use hotset_sys::cgroup::names::{
    ContainerName, GroupRole, Runtime, look_up, role, short_id, workload_of_pod,
};

/// Groups that are remembered; when there are more, all are asked for again.
const REMEMBERED: usize = 10_000;
/// A container without a name is looked up again after so many intervals: its runtime may not have written it yet.
const ASK_AGAIN_AFTER: u32 = 10;

/// The path of what stands for all groups without rows of their own.
const OTHER: &str = "other";

/// Workloads by control group.
#[derive(Debug, Default)]
pub(super) struct Workloads {
    known: HashMap<Arc<str>, (Workload, u32)>,
}

impl Workloads {
    pub(super) fn of(&mut self, path: &Arc<str>) -> Workload {
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let known = self.known.get_mut(path).map(|(workload, age)| {
            *age += 1;
            (workload.clone(), *age)
        });
        if let Some((workload, age)) = known
            && (age < ASK_AGAIN_AFTER || !is_nameless(&workload))
        {
            return workload;
        }
        let workload = workload_of(path);
        self.known.insert(Arc::clone(path), (workload.clone(), 0));
        workload
    }
}

fn is_nameless(workload: &Workload) -> bool {
    workload.workload_kind.as_ref() == "container" && workload.pod.is_some()
}

/// What stands for all others.
pub(super) fn other() -> Workload {
    plain(OTHER, OTHER, OTHER)
}

fn plain(cgroup: &str, kind: &str, name: &str) -> Workload {
    Workload {
        cgroup: cgroup.into(),
        workload_kind: kind.into(),
        workload: name.into(),
        ..Workload::default()
    }
}

/// Whose work a group is, asked now.
pub(super) fn workload_of(path: &str) -> Workload {
    workload(path, &|runtime, id| look_up(runtime, id))
}

type LookUp<'a> = &'a dyn Fn(Runtime, &str) -> Option<ContainerName>;

fn workload(path: &str, look_up: LookUp<'_>) -> Workload {
    match role(path) {
        GroupRole::Container { runtime, id, pod } => {
            container(path, &id, pod, look_up(runtime, &id))
        }
        GroupRole::Pod(uid) => {
            Workload { pod: Some(uid.as_str().into()), ..plain(path, "pod", &uid) }
        }
        GroupRole::Unit(unit) => {
            Workload { unit: Some(unit.as_str().into()), ..plain(path, "unit", template(&unit)) }
        }
        GroupRole::Other => plain(path, "cgroup", path),
    }
}

fn container(path: &str, id: &str, uid: Option<String>, found: Option<ContainerName>) -> Workload {
    let (pod, name, image) = match found {
        Some(ContainerName { pod, name, image }) => (pod, name, image),
        None => (None, short_id(id), None),
    };
    let image = image.map(|image| image.as_str().into());
    let Some(pod) = pod else {
        return Workload {
            pod: uid.map(|uid| uid.as_str().into()),
            container: Some(name.as_str().into()),
            image,
            ..plain(path, "container", &name)
        };
    };
    let (namespace, pod) = pod.split_once('/').unwrap_or(("", &pod));
    let owner = workload_of_pod(pod);
    // Each container of a pod has a limit of its own.
    let workload = format!("{namespace}/{}/{name}", owner.name);
    Workload {
        namespace: Some(namespace.into()),
        pod: Some(pod.into()),
        container: Some(name.as_str().into()),
        image,
        ..plain(path, owner.kind, &workload)
    }
}

/// Units that are made from a template are replicas of one workload, and scopes of sessions of none.
fn template(unit: &str) -> &str {
    match unit.split_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_have_one_workload() {
        let id = "0123456789abcdef".repeat(4);
        let path = format!(
            "/kubepods.slice/kubepods-pod1a2b3c4d_0000_0000_0000_000000000001.slice/cri-containerd-{id}.scope"
        );
        let named = |pod: &str| {
            workload(&path, &|_, _| {
                let image = Some("shop/api:2".to_owned());
                Some(ContainerName {
                    pod: Some(format!("shop/{pod}")),
                    name: "api".to_owned(),
                    image,
                })
            })
        };
        let (a, b) = (named("web-7d4b9c6f5d-x2x4z"), named("web-7d4b9c6f5d-bbbbb"));
        assert_eq!(a.workload.as_ref(), "shop/web/api");
        assert_eq!((&a.workload, &a.workload_kind), (&b.workload, &b.workload_kind));
        assert_ne!(a.pod, b.pod);
        assert_eq!(a.workload_kind.as_ref(), "deployment");
        assert_eq!(a.image.as_deref(), Some("shop/api:2"));
        let unnamed = workload(&path, &|_, _| None);
        assert_eq!(unnamed.pod.as_deref(), Some("1a2b3c4d-0000-0000-0000-000000000001"));
        assert_eq!(unnamed.workload.as_ref(), "0123456789ab");
    }

    #[test]
    fn units_and_plain_groups_are_their_own_workloads() {
        let of = |path: &str| {
            let found = workload(path, &|_, _| None);
            (found.workload_kind.to_string(), found.workload.to_string(), found.unit.is_some())
        };
        let unit = |name: &str| ("unit".to_owned(), name.to_owned(), true);
        assert_eq!(of("/system.slice/postgresql@15-main.service"), unit("postgresql"));
        assert_eq!(of("/system.slice/ssh.service"), unit("ssh.service"));
        assert_eq!(of("/jobs/a"), ("cgroup".to_owned(), "/jobs/a".to_owned(), false));
    }
}
