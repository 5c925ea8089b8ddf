//! The host's cost table, measured once and kept.

use std::fs;
use std::path::Path;

use hotset_facts::{CostTable, Observed, Reason};
use serde::{Deserialize, Serialize};

use super::measure;

/// The kept form. A kernel or a processor that differs makes it void.
#[derive(Serialize, Deserialize)]
struct StoredCosts {
    host: String,
    #[serde(flatten)]
    table: CostTable,
}

/// Reads the table, or measures it (about 0.1 s) and keeps it under the user's cache directory.
///
/// Call it after the observed command has ended: measuring makes I/O of its own.
pub fn table() -> Observed<CostTable> {
    let host = host();
    let directory = crate::environment::cache_directory();
    let kept = directory.as_ref().map(|directory| directory.join("costs.json"));
    if let Some(table) = kept.as_ref().and_then(|path| read(path, &host)) {
        return Observed::Value(table);
    }
    let usable = directory.filter(|directory| fs::create_dir_all(directory).is_ok());
    let measured = usable
        .and_then(|directory| measure(&directory).ok())
        .or_else(|| measure(&std::env::temp_dir()).ok());
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
        crate::environment::kernel_release(),
        model.trim_start_matches([' ', '\t', ':'])
    )
}

fn read(path: &Path, host: &str) -> Option<CostTable> {
    let kept: StoredCosts = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (kept.host == host).then_some(kept.table)
}
