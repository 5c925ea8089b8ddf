//! What control groups and devices are called. A group is asked for once, since a label that changes would make another
//! series; a device that is mounted elsewhere is another file system, and is another series.

use std::collections::HashMap;
use std::sync::Arc;

use hotset_analysis::live::SeriesSet;
use hotset_facts::Dev;
use hotset_facts::fleet::Workload;
use hotset_sys::cgroup::{GroupUsage, Hierarchies};
use hotset_sys::proc::mountinfo::{self, Mount};
use hotset_view::metrics::{GroupLabels, MountLabels};

use crate::workloads::workload_of;

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

    /// Labels new devices, and ends the series of those that were unmounted or are another file system by now: the kernel
    /// gives the number of one overlay or tmpfs to the next.
    pub(super) fn update_mounts(&mut self, set: &mut SeriesSet<Dev>) {
        // Where the table can't be read for once, what is known stays.
        let Ok(mounts) = mountinfo::of_host() else { return };
        self.relabel(set, &mounts);
    }

    fn relabel(&mut self, set: &mut SeriesSet<Dev>, mounts: &[Mount]) {
        let mut now: HashMap<Dev, MountLabels> = HashMap::new();
        for mount in mounts {
            // The first of its places.
            now.entry(mount.dev).or_insert_with(|| MountLabels {
                mountpoint: mount.mount_point.to_string_lossy().into_owned(),
                fstype: mount.fs_type.clone(),
            });
        }
        let labels_of = |dev: &Dev| now.get(dev).cloned().unwrap_or_default();
        set.retain(|dev| self.mounts.get(dev).is_none_or(|before| *before == labels_of(dev)));
        self.mounts =
            set.series().iter().map(|series| (series.key, labels_of(&series.key))).collect();
    }

    /// What a group's memory is used for.
    pub(super) fn usage(&self, path: &str) -> Option<GroupUsage> {
        self.hierarchies.usage(path)
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
    let Workload { namespace, pod, container, .. } = workload_of(path);
    // A pod's name is its own only in its namespace.
    let pod = pod.map(|pod| match namespace {
        Some(namespace) => format!("{namespace}/{pod}"),
        None => pod.to_string(),
    });
    GroupLabels { container: container.map(|name| name.to_string()), pod }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use hotset_facts::LiveIo;

    use super::*;

    #[test]
    fn a_device_number_that_is_given_to_another_file_system_begins_at_zero() {
        let dev = Dev { major: 0, minor: 57 };
        let work = LiveIo { read_pages: 7, ..LiveIo::default() };
        let table = |place: &str| {
            let line = format!("36 35 0:57 / {place} rw - overlay overlay rw\n");
            mountinfo::parse(line.as_bytes()).expect("a mount")
        };
        let (mut known, mut set) = (Known::new(), SeriesSet::new(4));
        let mut pages = |known: &mut Known, mounts: &[Mount]| {
            set.begin(SystemTime::UNIX_EPOCH);
            set.add(&dev, &work);
            known.relabel(&mut set, mounts);
            set.series().first().map(|series| series.io.read_pages)
        };
        assert_eq!(pages(&mut known, &table("/a")), Some(7));
        assert_eq!(pages(&mut known, &table("/a")), Some(14));
        assert_eq!(known.mount(dev).mountpoint, "/a");
        // What was counted meanwhile can be either's, and is nobody's.
        assert_eq!(pages(&mut known, &table("/b")), None);
        assert_eq!(pages(&mut known, &table("/b")), Some(7));
        assert_eq!(known.mount(dev).mountpoint, "/b");
        assert_eq!(pages(&mut known, &[]), None, "unmounted");
        assert_eq!(pages(&mut known, &[]), Some(7), "used all the same");
        assert_eq!(known.mount(dev), MountLabels::default());
    }

    #[test]
    fn a_container_without_a_name_is_its_short_id() {
        let id = "0123456789abcdef".repeat(4);
        let labels = label(&format!("/system.slice/docker-{id}.scope"));
        assert_eq!(labels, GroupLabels { container: Some("0123456789ab".to_owned()), pod: None });
        assert_eq!(label("/system.slice/ssh.service"), GroupLabels::default());
    }
}
