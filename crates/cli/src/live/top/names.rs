//! What people call users, control groups and this host.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hotset_analysis::top::Names;
use hotset_sys::cgroup::names::GroupNames;

/// How old the list of users may be when a number is not in it.
const OLDEST_USERS: Duration = Duration::from_secs(60);

/// The host's names, each looked up once.
pub(super) struct HostNames {
    users: HashMap<u32, Arc<str>>,
    read: Instant,
    groups: GroupNames,
}

impl HostNames {
    pub(super) fn new() -> Self {
        let users = hotset_sys::users::names();
        Self { users, read: Instant::now(), groups: GroupNames::default() }
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
}

/// The host's name.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
