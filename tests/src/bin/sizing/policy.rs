//! Which policy the kernel has, and could have.

use std::path::Path;

use super::args::Args;
use super::{Doing, Outcome};

/// The switch of the multi-gen LRU, where the kernel has it.
const MULTI_GEN_LRU: &str = "/sys/kernel/mm/lru_gen/enabled";

/// `policy --name classic|mglru`
pub(super) fn run(args: &Args) -> Outcome<()> {
    match args.text("--name")? {
        "classic" => set(false),
        "mglru" => set(true),
        other => Err(format!("no policy \"{other}\"; expected classic or mglru").into()),
    }
}

/// Whether the multi-gen LRU is on, for each policy there is.
pub(super) fn all() -> Vec<bool> {
    if Path::new(MULTI_GEN_LRU).exists() { vec![false, true] } else { vec![false] }
}

/// Switches the multi-gen LRU on or off.
pub(super) fn set(is_mglru: bool) -> Outcome<()> {
    if !is_mglru && !Path::new(MULTI_GEN_LRU).exists() {
        return Ok(());
    }
    std::fs::write(MULTI_GEN_LRU, if is_mglru { "y" } else { "n" }).doing(MULTI_GEN_LRU)
}

/// Whether the multi-gen LRU is on.
pub(super) fn is_mglru() -> bool {
    let parts = std::fs::read_to_string(MULTI_GEN_LRU).unwrap_or_default();
    // Bits of its parts; without the first, it is off.
    let parts = parts.trim().trim_start_matches("0x");
    u64::from_str_radix(parts, 16).is_ok_and(|parts| parts & 1 != 0)
}
