//! Whose a pod is: its controller, or the controller of that one.

use std::collections::HashMap;

use super::documents::{Metadata, OwnerReference, PodDocument};

/// Kinds that hotset gives a meaning to: another API's object of such a kind is told by its group as well.
const KNOWN: [&str; 14] = [
    "deployment",
    "statefulset",
    "daemonset",
    "replicaset",
    "replicationcontroller",
    "job",
    "cronjob",
    "node",
    "pod",
    "container",
    "controller",
    "unit",
    "cgroup",
    "other",
];

/// A pod, as far as rows tell of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pod {
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Whose it is; none where the API server does not tell.
    pub(crate) owner: Option<Owner>,
    pub(crate) containers: Vec<Container>,
}

/// Who has pods made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// In lower case.
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// A container of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    pub(crate) name: String,
    /// None before it is made.
    pub(crate) id: Option<String>,
    pub(crate) image: Option<String>,
}

/// What is known of a replicaset or a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parent {
    /// Its controller.
    Owner(Owner),
    /// It has none.
    Nobody,
    /// The API server knows it no more, or does not say.
    Unknown,
}

/// What may itself have a controller, and where it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParentKey {
    pub(super) uid: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// As in a URL.
    pub(super) resource: &'static str,
}

/// What has to be asked to know whose the pod is.
pub(super) fn parent_of(pod: &PodDocument) -> Option<ParentKey> {
    let owner = pod.metadata.controller()?;
    let resource = match (owner.group(), owner.kind.as_str()) {
        ("apps", "ReplicaSet") => "apis/apps/v1",
        ("batch", "Job") => "apis/batch/v1",
        _ => return None,
    };
    Some(ParentKey {
        uid: owner.uid.clone(),
        namespace: pod.metadata.namespace.clone(),
        name: owner.name.clone(),
        resource,
    })
}

impl ParentKey {
    /// The parts of its path.
    pub(super) fn path(&self) -> Vec<&str> {
        let plural = if self.resource == "apis/apps/v1" { "replicasets" } else { "jobs" };
        let api = self.resource.split('/');
        api.chain(["namespaces", &self.namespace, plural, &self.name]).collect()
    }
}

/// Whose the replicaset or job is.
pub(super) fn parent(object: &Metadata) -> Parent {
    object.controller().map_or(Parent::Nobody, |owner| Parent::Owner(owner_of(owner)))
}

fn owner_of(reference: &OwnerReference) -> Owner {
    let kind = reference.kind.to_ascii_lowercase();
    let is_foreign = !matches!(reference.group(), "" | "apps" | "batch");
    let kind = match is_foreign && KNOWN.contains(&kind.as_str()) {
        true => format!("{kind}.{}", reference.group()),
        false => kind,
    };
    Owner { kind, name: reference.name.clone() }
}

/// The uids that a pod has in paths of control groups, and what is told of it.
pub(super) fn pod(
    document: &PodDocument,
    node: &str,
    parents: &HashMap<String, Parent>,
) -> (Vec<String>, Pod) {
    let PodDocument { metadata, spec, status } = document;
    let id_of = |name: &str| {
        let all = status.iter().flat_map(|status| status.all());
        all.filter(|one| one.name == name).find_map(|one| one.id()).map(str::to_owned)
    };
    let containers = spec.iter().flat_map(|spec| spec.all()).map(|container| Container {
        name: container.name.clone(),
        id: id_of(&container.name),
        image: container.image.clone().filter(|image| !image.is_empty()),
    });
    let hash = metadata.annotations.as_ref().and_then(|all| all.config_hash.clone());
    let uids = std::iter::once(metadata.uid.clone()).chain(hash).collect();
    let pod = Pod {
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        owner: owner(metadata, node, parents),
        containers: containers.collect(),
    };
    (uids, pod)
}

fn owner(pod: &Metadata, node: &str, parents: &HashMap<String, Parent>) -> Option<Owner> {
    let bare = |name: &str| Some(Owner { kind: "pod".to_owned(), name: name.to_owned() });
    let Some(controller) = pod.controller() else { return bare(&pod.name) };
    if controller.group().is_empty() && controller.kind == "Node" {
        // The mirror of a static pod, which has the node's name behind its own.
        let name = pod.name.strip_suffix(node).and_then(|name| name.strip_suffix('-'));
        return bare(name.filter(|name| !name.is_empty()).unwrap_or(&pod.name));
    }
    match parents.get(&controller.uid) {
        Some(Parent::Owner(owner)) => Some(owner.clone()),
        Some(Parent::Unknown) => None,
        Some(Parent::Nobody) | None => Some(owner_of(controller)),
    }
}
