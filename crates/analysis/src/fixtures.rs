//! Facts made by hand, which the tests of this crate and of others begin with.

use std::time::UNIX_EPOCH;

use hotset_facts::{
    Command, CostTable, Environment, ExitStatus, Io, LookupCounters, Lookups, Observed, ProcessRow,
    Profile, Sensor, SensorLevel, SensorLosses, Target,
};

/// A small host without a limit.
pub fn host() -> Environment {
    Environment {
        kernel: "6.18.0".to_owned(),
        page_size_bytes: 4096,
        cpus: 2,
        memory_bytes: 8 << 30,
        memory_limit_bytes: None,
        filesystems: Vec::new(),
        evicts_idle_cache: false,
    }
}

/// The prices of a usual host.
pub fn costs() -> CostTable {
    crate::explain::USUAL_COSTS
}

/// One process that ran for a second and did no I/O, all of it measured.
pub fn profile() -> Profile {
    Profile {
        started_at: UNIX_EPOCH,
        environment: host(),
        command: Command {
            target: Target::Command,
            argv: vec!["true".into()],
            exit: Observed::Value(ExitStatus::Code(0)),
            wall_ns: 1_000_000_000,
            user_ns: Observed::Value(0),
            system_ns: Observed::Value(0),
            max_rss_bytes: Observed::Value(1 << 20),
            still_running: 0,
        },
        sensor: Sensor {
            name: "bpf",
            level: SensorLevel::Full,
            losses: SensorLosses::default(),
            not_measured: Vec::new(),
        },
        totals: Io::zero(),
        files: Vec::new(),
        processes: vec![process(1)],
        lookups: Observed::Value(Lookups::default()),
        sites: None,
    }
}

/// A process that did nothing.
pub fn process(pid: u32) -> ProcessRow {
    ProcessRow {
        pid,
        ppid: 0,
        comm: "true".to_owned(),
        argv: vec!["true".into()],
        exit: Observed::Value(ExitStatus::Code(0)),
        minor_faults: Observed::Value(0),
        major_faults: Observed::Value(0),
        lookups: Observed::Value(LookupCounters::default()),
        io: Io::zero(),
    }
}
