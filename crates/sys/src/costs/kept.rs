//! The host's cost table, measured once and kept.

use std::fs;
use std::path::Path;

use hotset_facts::{CostTable, Observed, Reason};
use serde::{Deserialize, Serialize};

use super::measure;
use crate::proc::status::is_traced;

/// A table whose system call takes longer is not kept: something stops each call, which may end before the next run. A call takes 50 to
/// 300 ns, one or two microseconds where a sandbox's own kernel answers; under strace it took 114 µs, and a table with 49 was found kept.
const SLOWEST_SYSCALL_NS: f64 = 5_000.0;

/// The kept form. A kernel, a processor or a boot that differs makes it void: with a boot, what protects against faults of the processor may
/// differ.
#[derive(Serialize, Deserialize)]
struct StoredCosts {
    host: String,
    #[serde(flatten)]
    table: CostTable,
}

/// Reads the table, or measures it (about 0.1 s) and keeps it under the user's cache directory.
///
/// Call it after the observed command has ended: measuring makes I/O of its own. A process that is traced does not measure.
pub fn table() -> Observed<CostTable> {
    obtain(None, "neither the cache directory nor the temporary directory can be written")
}

/// The same, measured in `directory` where neither the cache directory nor the temporary one can be written; `unwritable` is the reason for
/// no table where none of the three can.
pub fn table_or_in(directory: &Path, unwritable: &'static str) -> Observed<CostTable> {
    obtain(Some(directory), unwritable)
}

fn obtain(last: Option<&Path>, unwritable: &'static str) -> Observed<CostTable> {
    let host = host();
    let directory = crate::environment::cache_directory();
    let kept = directory.as_ref().map(|directory| directory.join("costs.json"));
    if let Some(table) = kept.as_ref().and_then(|path| read(path, &host)) {
        return Observed::Value(table);
    }
    if is_traced() {
        return Observed::Missing(Reason::not_measured(
            "a tracer, such as strace or a debugger, stops hotset at each system call, so it can't measure what they cost on this host; run hotset once without",
        ));
    }
    let usable = directory.filter(|directory| fs::create_dir_all(directory).is_ok());
    let measured = usable
        .and_then(|directory| measure(&directory).ok())
        .or_else(|| measure(&std::env::temp_dir()).ok())
        .or_else(|| measure(last?).ok());
    let Some(table) = measured else {
        return Observed::Missing(Reason::not_measured(unwritable));
    };
    // Measured again next time where it can't be kept.
    if let Some(path) = kept.filter(|_| is_plausible(&table)) {
        let kept = StoredCosts { host, table };
        let _ = serde_json::to_vec_pretty(&kept).map(|json| fs::write(path, json));
    }
    Observed::Value(table)
}

/// What the costs depend on.
fn host() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!(
        "{} / {} / {}",
        crate::environment::kernel_release(),
        model.trim_start_matches([' ', '\t', ':']),
        boot.trim()
    )
}

fn read(path: &Path, host: &str) -> Option<CostTable> {
    let kept: StoredCosts = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (kept.host == host && is_plausible(&kept.table)).then_some(kept.table)
}

fn is_plausible(table: &CostTable) -> bool {
    table.syscall_ns <= SLOWEST_SYSCALL_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_holds_for_its_host_and_not_if_something_stopped_each_call() {
        let dir = std::env::temp_dir().join(format!("hotset-kept-costs-{}", std::process::id()));
        fs::create_dir(&dir).expect("mkdir");
        let path = dir.join("costs.json");
        let quick = CostTable { syscall_ns: 90.0, ..measure(&dir).expect("costs") };
        let kept = |table: CostTable| {
            let stored = StoredCosts { host: "6.18 / EPYC / 1".into(), table };
            fs::write(&path, serde_json::to_vec(&stored).expect("JSON")).expect("a file");
            ["6.18 / EPYC / 1", "6.18 / EPYC / 2"].map(|host| read(&path, host).is_some())
        };
        assert_eq!(kept(quick), [true, false]);
        assert_eq!(kept(CostTable { syscall_ns: 49_333.0, ..quick }), [false, false]);
        fs::remove_dir_all(&dir).expect("rmdir");
    }
}
