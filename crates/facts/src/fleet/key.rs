//! Of which interval a row is, and of whom.

crate::fleet_columns! {
    /// One interval of one host. `host_id`, `session` and `sequence` together are of no other: rows that come twice can be told, and
    /// intervals that are missing.
    pub struct IntervalKey {
        /// When the interval, or the span, ended
        ts: time Key;
        /// How long it was, by a clock that is never set
        length_ns: number Counter Nanoseconds;
        /// The host's name
        host: text Key;
        /// The host's identity: a hash of /etc/machine-id, for names may be given twice
        host_id: text Key;
        /// The identity of the host's present boot
        boot_id: text Key;
        /// When this hotset began, in microseconds since 1970: its counters and numbers of intervals begin with it
        session: number Key;
        /// The number of the interval in the session, from 0; of a span, that of its last interval
        sequence: number Key;
    }
}

crate::fleet_columns! {
    /// Whose work it is, as far as it is known on the host.
    pub struct Workload {
        /// The control group's path; "" for what belongs to no known group, and "other" for all that have no rows of their own
        cgroup: text Key;
        /// The Kubernetes namespace
        namespace: maybe_text Key;
        /// The pod's name, or its uid where the name is not known
        pod: maybe_text Key;
        /// The container's name, or its short id
        container: maybe_text Key;
        /// The container's image, as it was asked for: with its tag or digest; null where neither a file of the runtime nor the API server tells
        image: maybe_text Key;
        /// The unit of systemd
        unit: maybe_text Key;
        /// What the workload is: deployment, statefulset, daemonset, replicaset, cronjob, job or another controller's kind, controller, pod, container, unit, cgroup or other
        workload_kind: text Key;
        /// Its name, the same on every host that runs a part of it
        workload: text Key;
    }
}
