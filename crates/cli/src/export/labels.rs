//! What control groups and devices are called. Asked once: a label that changes would make another series.

use std::collections::HashMap;
use std::sync::Arc;

use hotset_analysis::live::SeriesSet;
use hotset_facts::Dev;
use hotset_sys::cgroup::Hierarchies;
use hotset_sys::cgroup::names::{GroupRole, look_up, role};
use hotset_sys::proc::mountinfo;
use hotset_view::metrics::{GroupLabels, MountLabels};

/// Characters of a container's id that stand for it where its name is not known, as `docker ps` has it.
const SHORT_ID: usize = 12;

/// The labels of the series that there are.
pub(super) struct Known {
    hierarchies: Hierarchies,
    groups: HashMap<Arc<str>, GroupLabels>,
    mounts: HashMap<Dev, MountLabels>,
}

impl Known {
    pub(super) fn new() -> Self {
        let hierarchies = Hierarchies::now();
        Self { hierarchies, groups: HashMap::new(), mounts: HashMap::new() }
    }

    /// Ends the series of groups that were removed, and labels the new ones.
    pub(super) fn update_groups(&mut self, set: &mut SeriesSet<Arc<str>>) {
        set.retain(|path| self.hierarchies.has(path));
        self.groups.retain(|path, _| set.series().iter().any(|series| series.key == *path));
        for series in set.series() {
            if !self.groups.contains_key(&series.key) {
                self.groups.insert(Arc::clone(&series.key), label(&series.key));
            }
        }
    }

    /// Labels new devices.
    pub(super) fn update_mounts(&mut self, set: &SeriesSet<Dev>) {
        let known = |dev: &Dev| self.mounts.contains_key(dev);
        if set.series().iter().all(|series| known(&series.key)) {
            return;
        }
        let mounts = mountinfo::own().unwrap_or_default();
        for series in set.series() {
            self.mounts.entry(series.key).or_insert_with(|| {
                let found = mounts.iter().find(|mount| mount.dev == series.key);
                found.map_or_else(MountLabels::default, |mount| MountLabels {
                    mountpoint: mount.mount_point.to_string_lossy().into_owned(),
                    fstype: mount.fs_type.clone(),
                })
            });
        }
    }

    /// What a group is called.
    pub(super) fn group(&self, path: &str) -> GroupLabels {
        self.groups.get(path).cloned().unwrap_or_default()
    }

    /// Where a device is mounted.
    pub(super) fn mount(&self, dev: Dev) -> MountLabels {
        self.mounts.get(&dev).cloned().unwrap_or_default()
    }
}

fn label(path: &str) -> GroupLabels {
    match role(path) {
        GroupRole::Container { runtime, id, pod } => {
            let known = look_up(runtime, &id);
            let (name, named_pod) =
                known.map_or((None, None), |known| (Some(known.name), known.pod));
            let short = || id.chars().take(SHORT_ID).collect();
            GroupLabels { container: Some(name.unwrap_or_else(short)), pod: named_pod.or(pod) }
        }
        GroupRole::Pod(pod) => GroupLabels { container: None, pod: Some(pod) },
        GroupRole::Unit(_) | GroupRole::Other => GroupLabels::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_without_a_name_is_its_short_id() {
        let id = "0123456789abcdef".repeat(4);
        let labels = label(&format!("/system.slice/docker-{id}.scope"));
        assert_eq!(labels, GroupLabels { container: Some("0123456789ab".to_owned()), pod: None });
        assert_eq!(label("/system.slice/ssh.service"), GroupLabels::default());
    }
}
