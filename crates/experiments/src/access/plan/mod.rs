//! The plan of `lab access`: ways and orders of reading, cold and warm, each cell from its own verified state.
//!
//! Cold cells, warm cells and those of small folios have a file each, so that a warm file stays warm while others are
//! evicted. What a round can't do in seconds is cut short: `amounts` says how many reads a cell makes.

mod amounts;
mod cells;
mod chain;

use hotset_facts::{FilledBy, LabSize, WantedState};
use hotset_lab::experiment::{CellPlan, Contents, ExperimentPlan, TestFile, require_room};
use hotset_sys::rawio::access::{Advice, Method, uring_refused};
use hotset_sys::rawio::order::Order;

use crate::Request;

use amounts::Amounts;
use cells::Maker;

/// The files, by what is done to them.
pub(super) const COLD: &str = "cold";
pub(super) const WARM: &str = "warm";
pub(super) const SMALL: &str = "small";
/// So many of them.
const FILES: u64 = 3;

/// The state of cells that reproduce what an earlier sequential pass leaves: `("state", Name("after-sequential"))`.
const AFTER_SEQUENTIAL: &str = "after-sequential";

/// What is typed for the article's three orders one after the other, and their state.
pub(super) const CHAIN: &str = "chain";

/// Makes the plan.
///
/// # Errors
/// Where a method, a block or a size can't be meant.
pub(super) fn plan(request: &Request) -> Result<ExperimentPlan, String> {
    let amounts = Amounts::of(request)?;
    // Before anything is counted over a file that can't be made.
    let needed = amounts.file_bytes.saturating_mul(FILES);
    require_room(&request.place.directory, needed, request.place.free_bytes)
        .map_err(|error| error.to_string())?;
    let asked = asked_methods(request)?;
    let mut plan = ExperimentPlan::new(
        super::NAME,
        request.size,
        request.rounds_of_size(15, budget_s(request)),
    );
    if request.place.in_memory {
        let why = format!(
            "files on {} are only in memory and cannot be evicted",
            request.place.filesystem
        );
        plan.skip("state cold", why);
    }
    let mut methods = Vec::new();
    for &method in Method::ALL.iter().filter(|method| asked.contains(method)) {
        match refused(request, method) {
            Some(why) => plan.skip(format!("method {}", method.as_str()), why),
            None => methods.push(method),
        }
    }
    let maker = Maker::new(request, &amounts);
    for &block in &amounts.blocks {
        for &method in &methods {
            if !amounts.has(request, method, block) {
                continue;
            }
            if method.is_direct() && !is_aligned(request, block) {
                continue;
            }
            let orders = amounts.orders(method, block);
            plan.cells.extend(orders.iter().flat_map(|&order| maker.states(method, order, block)));
        }
        if methods.iter().any(|method| method.is_direct()) && !is_aligned(request, block) {
            let what = format!("O_DIRECT with blocks of {block} bytes");
            plan.skip(what, "direct I/O needs whole blocks of the device");
        }
    }
    plan.cells.extend(maker.small_folios(&methods));
    plan.cells.extend(maker.after_sequential(&methods));
    plan.cells.extend(maker.chains(&methods));
    plan.cells.extend(twins(&plan.cells));
    plan.prepare = files(request, &amounts, &plan.cells);
    plan.facts = amounts.facts();
    Ok(plan)
}

fn budget_s(request: &Request) -> Option<u64> {
    match request.size {
        LabSize::Quick => None,
        LabSize::Default => Some(600),
        LabSize::Full => Some(3600),
    }
}

fn asked_methods(request: &Request) -> Result<Vec<Method>, String> {
    let named = &request.options.methods;
    if named.is_empty() {
        return Ok(amounts::methods(request.size).to_vec());
    }
    let known = || Method::ALL.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(", ");
    let each = named.iter().map(|name| {
        name.parse().map_err(|_| format!("--methods {name}: unknown method; expected {}", known()))
    });
    each.collect()
}

/// Why this host can't do it, if it can't.
fn refused(request: &Request, method: Method) -> Option<String> {
    match method {
        method if method.is_direct() => match &request.place.direct {
            Err(why) => Some(format!("no O_DIRECT on {}: {why}", request.place.filesystem)),
            Ok(_) if method.is_uring() => uring_refused().map(no_uring),
            Ok(_) => None,
        },
        method if method.is_uring() => uring_refused().map(no_uring),
        Method::Mmap(Advice::HugePages) => no_huge_pages(),
        _ => None,
    }
}

fn no_uring(error: std::io::Error) -> String {
    format!("io_uring_setup: {error}; sysctl kernel.io_uring_disabled may forbid it")
}

fn no_huge_pages() -> Option<String> {
    const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    match std::fs::read_to_string(ENABLED) {
        Err(_) => Some("this kernel has no transparent huge pages".to_owned()),
        Ok(text) if text.contains("[never]") => Some(format!("{ENABLED} says never")),
        Ok(_) => None,
    }
}

fn is_aligned(request: &Request, block: u32) -> bool {
    request.place.direct.as_ref().is_ok_and(|alignment| block.is_multiple_of(alignment.0))
}

/// One warm and one cold cell is measured twice: what differs between the two is noise.
fn twins(cells: &[CellPlan]) -> Vec<CellPlan> {
    let states = [WantedState::Warm, WantedState::Cold];
    let twin_in = |state| {
        let is_typical = |cell: &&CellPlan| {
            cell.state == state
                && cell.filled_by != FilledBy::SmallFolios
                && cells::is(cell, "order", Order::Random.as_str())
        };
        let preferred = cells
            .iter()
            .filter(is_typical)
            .find(|cell| cells::is(cell, "method", Method::Pread.as_str()));
        preferred.or_else(|| cells.iter().find(|cell| cell.state == state)).map(CellPlan::twin)
    };
    states.into_iter().filter_map(twin_in).collect()
}

/// Only the files that some cell uses.
fn files(request: &Request, amounts: &Amounts, cells: &[CellPlan]) -> Vec<TestFile> {
    let all = [COLD, WARM, SMALL].map(|name| request.path(name));
    let used = all.into_iter().filter(|path| cells.iter().any(|cell| cell.files.contains(path)));
    let contents = || Contents::Pattern { bytes: amounts.file_bytes };
    used.map(|path| TestFile { path, contents: contents() }).collect()
}

#[cfg(test)]
mod tests;
