//! The host's cost table, measured once and kept.

use std::fs;
use std::path::PathBuf;

use hotset_facts::{CostTable, Observed, Reason};
use serde::{Deserialize, Serialize};

/// The kept form. A kernel or a processor that differs makes it void.
#[derive(Serialize, Deserialize)]
struct StoredCosts {
    host: String,
    #[serde(flatten, with = "Numbers")]
    table: CostTable,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CostTable")]
struct Numbers {
    syscall_ns: f64,
    read_4b_ns: f64,
    read_4k_ns: f64,
    read_64k_ns: f64,
    write_4b_ns: f64,
    write_4k_ns: f64,
    write_64k_ns: f64,
    stat_ns: f64,
    stat_enoent_ns: f64,
    open_close_ns: f64,
}

/// Reads the table, or measures it (about 0.1 s) and keeps it under the user's cache directory.
///
/// Call it after the observed command has ended: measuring makes I/O of its own.
pub(crate) fn table() -> Observed<CostTable> {
    let host = host();
    let kept = cache_file();
    if let Some(table) = kept.as_ref().and_then(|path| read(path, &host)) {
        return Observed::Value(table);
    }
    let directory = kept.as_ref().and_then(|path| path.parent().map(PathBuf::from));
    let usable = directory.filter(|directory| fs::create_dir_all(directory).is_ok());
    let measured = usable
        .and_then(|directory| hotset_sys::costs::measure(&directory).ok())
        .or_else(|| hotset_sys::costs::measure(&std::env::temp_dir()).ok());
    let Some(table) = measured else {
        return Observed::Missing(Reason::not_measured(
            "neither the cache directory nor the temporary directory can be written",
        ));
    };
    if let Some(path) = kept {
        // Measured again next time where it can't be kept.
        let kept = StoredCosts { host, table };
        let _ = serde_json::to_vec_pretty(&kept).map(|json| fs::write(path, json));
    }
    Observed::Value(table)
}

/// What the costs depend on.
fn host() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("");
    format!(
        "{} / {}",
        hotset_sys::environment::kernel_release(),
        model.trim_start_matches([' ', '\t', ':'])
    )
}

fn cache_file() -> Option<PathBuf> {
    let home = || {
        std::env::var_os("HOME")
            .filter(|home| !home.is_empty())
            .map(|home| PathBuf::from(home).join(".cache"))
    };
    let base = std::env::var_os("XDG_CACHE_HOME")
        .filter(|base| !base.is_empty())
        .map(PathBuf::from)
        .or_else(home)?;
    base.is_absolute().then(|| base.join("hotset").join("costs.json"))
}

fn read(path: &PathBuf, host: &str) -> Option<CostTable> {
    let kept: StoredCosts = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (kept.host == host).then_some(kept.table)
}
