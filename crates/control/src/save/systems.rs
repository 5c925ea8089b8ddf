//! The file systems of saved files, by device.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;

use hotset_facts::Dev;
use hotset_snapshot::FileSystem;
use hotset_sys::proc::mountinfo;

/// Where udev puts a link a UUID.
const BY_UUID: &str = "/dev/disk/by-uuid";

/// What is known of the mounted file systems.
#[derive(Debug, Default)]
pub(super) struct Systems {
    by_dev: HashMap<Dev, FileSystem>,
}

impl Systems {
    /// As they are mounted now.
    pub(super) fn now() -> Self {
        let uuids = uuids();
        let mut by_dev = HashMap::new();
        for mount in mountinfo::own().unwrap_or_default() {
            // The first mount of several is the one that has been there longest.
            by_dev.entry(mount.dev).or_insert_with(|| FileSystem {
                dev: mount.dev,
                kind: mount.fs_type,
                mount: mount.mount_point.as_os_str().as_bytes().to_vec(),
                uuid: uuids.get(&mount.dev).cloned(),
            });
        }
        Self { by_dev }
    }

    /// The one with this device; little is known of a subvolume's or a layer's.
    pub(super) fn of(&self, dev: Dev) -> FileSystem {
        self.by_dev.get(&dev).cloned().unwrap_or_else(|| FileSystem {
            dev,
            kind: String::new(),
            mount: Vec::new(),
            uuid: None,
        })
    }
}

fn uuids() -> HashMap<Dev, String> {
    let entries = std::fs::read_dir(BY_UUID).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let device = rustix::fs::stat(entry.path()).ok()?.st_rdev;
            let dev = Dev { major: rustix::fs::major(device), minor: rustix::fs::minor(device) };
            Some((dev, entry.file_name().into_string().ok()?))
        })
        .collect()
}
