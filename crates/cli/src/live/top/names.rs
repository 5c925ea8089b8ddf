//! What people call users, control groups and this host, and what memory control groups have.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hotset_analysis::top::{GroupMemory, GroupNeeds, Names};
use hotset_facts::Interval;
use hotset_sys::cgroup::Hierarchies;
use hotset_sys::cgroup::names::GroupNames;

/// How old the list of users may be when a number is not in it.
const OLDEST_USERS: Duration = Duration::from_secs(60);

/// The host's names, each looked up once.
pub(super) struct HostNames {
    users: HashMap<u32, Arc<str>>,
    read: Instant,
    groups: GroupNames,
    hierarchies: Hierarchies,
    needs: GroupNeeds,
    /// Refaults of groups when they were looked at last, which the kernel counts from when a group was made.
    refaulted: HashMap<Arc<str>, u64>,
}

/// Groups whose refaults are remembered; all are forgotten when there are more.
const REMEMBERED_GROUPS: usize = 10_000;

impl HostNames {
    pub(super) fn new() -> Self {
        let users = hotset_sys::users::names();
        Self {
            users,
            read: Instant::now(),
            groups: GroupNames::default(),
            hierarchies: Hierarchies::now(),
            needs: GroupNeeds::default(),
            refaulted: HashMap::new(),
        }
    }

    /// Learns what control groups needed in an interval. Of the multi-gen LRU, a sample tells nothing.
    pub(super) fn learn(&mut self, interval: &Interval) {
        if let Some(curves) = &interval.curves
            && !hotset_sys::environment::reclaim().multi_gen_lru
        {
            self.needs.add(curves);
        }
    }
}

impl Names for HostNames {
    fn user(&mut self, uid: u32) -> Option<Arc<str>> {
        if !self.users.contains_key(&uid) && self.read.elapsed() > OLDEST_USERS {
            self.users = hotset_sys::users::names();
            self.read = Instant::now();
        }
        self.users.get(&uid).cloned()
    }

    fn group(&mut self, path: &Arc<str>) -> Option<Arc<str>> {
        self.groups.of(path)
    }

    fn memory(&mut self, path: &Arc<str>) -> GroupMemory {
        let need_bytes = self.needs.of(path);
        let Some(usage) = self.hierarchies.usage(path) else {
            return GroupMemory { need_bytes, ..GroupMemory::default() };
        };
        if self.refaulted.len() >= REMEMBERED_GROUPS && !self.refaulted.contains_key(path) {
            self.refaulted.clear();
        }
        let refaulted_pages = usage.refaulted_pages.and_then(|now| {
            let before = self.refaulted.insert(Arc::clone(path), now)?;
            Some(now.saturating_sub(before))
        });
        GroupMemory {
            cache_bytes: Some(usage.file_bytes),
            limit_bytes: usage.limit_bytes,
            refaulted_pages,
            need_bytes,
        }
    }
}

/// The host's name.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
