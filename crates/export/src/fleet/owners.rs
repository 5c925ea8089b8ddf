//! Whose pods are, as the API server tells it, in the place of what their names tell.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::Result;
use hotset_facts::fleet::Workload;
use hotset_fleet::Rows;
use hotset_sys::cgroup::names::{GroupRole, role, workload_of_pod};

use crate::Say;
use crate::kubernetes::{Container, Owner, Pod, Pods};

/// Corrects rows before they are kept, where sampling does not wait for it.
pub(super) struct Owners {
    pods: Pods,
}

impl Owners {
    /// # Errors
    /// Where this is no pod.
    pub(super) fn start(node: &str, say: Say) -> Result<Self> {
        Pods::start(node, say).map(|pods| Self { pods })
    }

    /// Says whose work rows are.
    pub(super) fn tell(&mut self, rows: &mut Rows) {
        let mut places: HashMap<Arc<str>, Place> = HashMap::new();
        for who in all(rows) {
            if !places.contains_key(&who.cgroup)
                && let Some(place) = place(&who.cgroup)
            {
                places.insert(Arc::clone(&who.cgroup), place);
            }
        }
        let uids: HashSet<String> = places.values().map(|place| place.uid.clone()).collect();
        if uids.is_empty() {
            return;
        }
        let pods = self.pods.of(&uids);
        for who in all(rows) {
            if let Some(place) = places.get(&who.cgroup)
                && let Some(pod) = pods.get(&place.uid)
            {
                correct(who, pod, place.container.as_deref());
            }
        }
    }
}

fn all(rows: &mut Rows) -> impl Iterator<Item = &mut Workload> {
    let Rows { host: _, groups, files, curves, findings } = rows;
    let groups = groups.iter_mut().map(|row| &mut row.who);
    let files = files.iter_mut().map(|row| &mut row.who);
    let curves = curves.iter_mut().map(|row| &mut row.who);
    groups.chain(files).chain(curves).chain(findings.iter_mut().map(|row| &mut row.who))
}

/// Where in Kubernetes a control group is.
struct Place {
    uid: String,
    container: Option<String>,
}

fn place(cgroup: &str) -> Option<Place> {
    match role(cgroup) {
        GroupRole::Container { id, pod, .. } => Some(Place { uid: pod?, container: Some(id) }),
        GroupRole::Pod(uid) => Some(Place { uid, container: None }),
        GroupRole::Unit(_) | GroupRole::Other => None,
    }
}

fn correct(who: &mut Workload, pod: &Pod, id: Option<&str>) {
    let Owner { kind, name } = pod.owner.clone().unwrap_or_else(|| {
        let by_name = workload_of_pod(&pod.name);
        Owner { kind: by_name.kind.to_owned(), name: by_name.name }
    });
    let by_id = |one: &&Container| id.is_some() && one.id.as_deref() == id;
    // The host's files have told the container's name where they have told the namespace.
    let is_named = who.namespace.is_some();
    let by_name = |one: &&Container| is_named && who.container.as_deref() == Some(&*one.name);
    let container = pod.containers.iter().find(by_id);
    let container = container.or_else(|| pod.containers.iter().find(by_name));
    let told = container.map(|container| container.name.as_str());
    let told = told.or(who.container.as_deref().filter(|_| is_named)).map(str::to_owned);
    who.namespace = Some(pod.namespace.as_str().into());
    who.pod = Some(pod.name.as_str().into());
    if let Some(image) = container.and_then(|container| container.image.as_deref())
        && who.image.is_none()
    {
        who.image = Some(image.into());
    }
    let workload = match (&told, id) {
        (Some(container), _) => format!("{}/{name}/{container}", pod.namespace),
        // The pod itself.
        (None, None) => format!("{}/{name}", pod.namespace),
        // What holds a pod's network is no container of it, and stays what it was.
        (None, Some(_)) => return,
    };
    who.container = told.map(|name| name.as_str().into());
    who.workload_kind = kind.as_str().into();
    who.workload = workload.as_str().into();
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn pod(owner: Option<(&str, &str)>) -> Pod {
        Pod {
            namespace: "shop".to_owned(),
            name: "agent-w9d2k".to_owned(),
            owner: owner.map(|(kind, name)| Owner { kind: kind.to_owned(), name: name.to_owned() }),
            containers: vec![Container {
                name: "app".to_owned(),
                id: Some(ID.to_owned()),
                image: Some("shop/agent:3".to_owned()),
            }],
        }
    }

    fn unnamed() -> Workload {
        Workload {
            pod: Some("uid".into()),
            container: Some("0123456789ab".into()),
            workload_kind: "container".into(),
            workload: "0123456789ab".into(),
            ..Workload::default()
        }
    }

    /// Its kind, its workload, pod, container and image.
    fn words(who: &Workload) -> Vec<String> {
        assert_eq!(who.namespace.as_deref(), Some("shop"));
        let maybe = [&who.pod, &who.container, &who.image];
        let maybe = maybe.map(|text| text.as_deref().unwrap_or("-").to_owned());
        let sure = [&who.workload_kind, &who.workload].map(|text| text.to_string());
        sure.into_iter().chain(maybe).collect()
    }

    #[test]
    fn a_container_that_no_file_names_is_known_by_its_id() {
        let mut who = unnamed();
        correct(&mut who, &pod(Some(("daemonset", "agent"))), Some(ID));
        let named = ["daemonset", "shop/agent/app", "agent-w9d2k", "app", "shop/agent:3"];
        assert_eq!(words(&who), named);
        // What nobody owns as far as is told, follows from names.
        let mut who = unnamed();
        correct(&mut who, &pod(None), Some(ID));
        assert_eq!(words(&who)[..2], ["controller", "shop/agent/app"]);
    }

    #[test]
    fn what_files_tell_of_a_container_stays() {
        // The API server does not know its id yet.
        let mut who = Workload {
            namespace: Some("shop".into()),
            pod: Some("agent-w9d2k".into()),
            container: Some("app".into()),
            image: Some("shop/agent:2".into()),
            workload_kind: "controller".into(),
            workload: "shop/agent/app".into(),
            ..Workload::default()
        };
        correct(&mut who, &pod(Some(("job", "agent"))), Some("another"));
        let named = ["job", "shop/agent/app", "agent-w9d2k", "app", "shop/agent:2"];
        assert_eq!(words(&who), named);
    }

    #[test]
    fn a_pods_own_group_and_its_sandbox_are_no_containers() {
        let owner = pod(Some(("statefulset", "db")));
        let mut who = Workload { pod: Some("uid".into()), ..Workload::default() };
        correct(&mut who, &owner, None);
        assert_eq!(words(&who), ["statefulset", "shop/db", "agent-w9d2k", "-", "-"]);
        let mut who = unnamed();
        correct(&mut who, &owner, Some("sandbox"));
        assert_eq!(words(&who)[..3], ["container", "0123456789ab", "agent-w9d2k"]);
    }

    #[test]
    fn groups_of_pods_are_told_from_others() {
        let uid = "1f2e3d4c-5b6a-7988-9706-a5b4c3d2e1f0";
        let path = format!("/kubepods/burstable/pod{uid}/{ID}");
        let found = place(&path).expect("a pod");
        assert_eq!((found.uid.as_str(), found.container.as_deref()), (uid, Some(ID)));
        // Static pods have a hash for a uid.
        let hash = "a3b1c6d2e5f4a3b1c6d2e5f4a3b1c6d2";
        let path = format!("/kubepods.slice/kubepods-burstable-pod{hash}.slice");
        assert_eq!(place(&path).map(|place| place.uid).as_deref(), Some(hash));
        assert!(place("/system.slice/ssh.service").is_none());
        assert!(place(&format!("/docker/{ID}")).is_none());
    }
}
