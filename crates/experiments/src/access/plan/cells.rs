//! One cell of each kind.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

use hotset_facts::{FilledBy, Level, WantedState};
use hotset_lab::experiment::{CellPlan, Expects, ProbeCommand, Prologue, name, number};
use hotset_sys::rawio::access::{Advice, Method};
use hotset_sys::rawio::order::{Order, touched_pages};

use crate::Request;

use super::amounts::Amounts;
use super::{AFTER_SEQUENTIAL, COLD, SMALL, WARM};

/// Every order is drawn from this seed, so that each round reads the same blocks.
const SEED: u64 = 1;
/// The buffer of [`Method::Fread64k`].
const LARGE_BUFFER: u64 = 64 << 10;

/// Whether a factor has this level.
pub(super) fn is(cell: &CellPlan, factor: &str, level: &str) -> bool {
    cell.factors.iter().any(|known| {
        known.name == factor && matches!(&known.level, Level::Name(name) if name == level)
    })
}

/// Makes cells.
pub(super) struct Maker<'a> {
    pub(super) request: &'a Request,
    pub(super) amounts: &'a Amounts,
    /// Pages that so many reads of blocks of a size touch: the same for every method, and counted read by read.
    touched: RefCell<HashMap<(Order, u32, u32), u64>>,
}

/// What a cell is about.
#[derive(Clone, Copy)]
pub(super) struct About {
    pub(super) method: Method,
    pub(super) order: Order,
    pub(super) block: u32,
    pub(super) state: WantedState,
}

impl<'a> Maker<'a> {
    pub(super) fn new(request: &'a Request, amounts: &'a Amounts) -> Self {
        Self { request, amounts, touched: RefCell::default() }
    }

    /// The same cold and warm. Reads past the cache have one state: nothing of the file is cached.
    pub(super) fn states(&self, method: Method, order: Order, block: u32) -> Vec<CellPlan> {
        let cold = !self.request.place.in_memory;
        let states = [(WantedState::Cold, cold), (WantedState::Warm, !method.is_direct())];
        let some = states.into_iter().filter(|(_, is_there)| *is_there);
        some.map(|(state, _)| {
            self.cell(About { method, order, block, state }, FilledBy::LargeFolios)
        })
        .collect()
    }

    /// The same 100 % cached file through small folios.
    pub(super) fn small_folios(&self, methods: &[Method]) -> Vec<CellPlan> {
        let block = self.amounts.blocks.iter().find(|&&block| block >= 4096);
        let Some(&block) = block.filter(|_| !self.request.place.in_memory) else {
            return Vec::new();
        };
        let known = [Method::Pread, Method::Mmap(Advice::None)];
        let known = known.into_iter().filter(|method| methods.contains(method));
        let orders = [Order::Sequential, Order::Random];
        let state = WantedState::Warm;
        known
            .flat_map(|method| orders.map(|order| About { method, order, block, state }))
            .filter(|about| self.amounts.wants(about.order))
            .map(|about| self.cell(about, FilledBy::SmallFolios))
            .collect()
    }

    /// The article's author suspected that mapping won its backward run because the run before had filled the cache: the
    /// backward run as a sequential one by the same method left the cache.
    pub(super) fn after_sequential(&self, methods: &[Method]) -> Vec<CellPlan> {
        let block = self.amounts.blocks.first();
        let possible = !self.request.place.in_memory && self.amounts.wants(Order::Reverse);
        let Some(&block) = block.filter(|_| possible) else {
            return Vec::new();
        };
        let known = [Method::Fread, Method::Read, Method::Mmap(Advice::None)];
        let known = known.into_iter().filter(|method| methods.contains(method));
        known
            .map(|method| {
                let about =
                    About { method, order: Order::Reverse, block, state: WantedState::Cold };
                let cold = self.cell(about, FilledBy::LargeFolios);
                let all = self.amounts.blocks_of(block);
                let before = About { order: Order::Sequential, ..about };
                let mut cell = CellPlan {
                    state: WantedState::AsIs,
                    prologue: Some(Prologue {
                        state: WantedState::Cold,
                        probe: self.probe(before, all, &self.request.path(COLD)),
                    }),
                    expects: Expects {
                        min_device_bytes: None,
                        inserted_pages: None,
                        ..cold.expects.clone()
                    },
                    ..cold
                };
                for factor in cell.factors.iter_mut().filter(|factor| factor.name == "state") {
                    factor.level = Level::Name(AFTER_SEQUENTIAL.to_owned());
                }
                cell
            })
            .collect()
    }

    pub(super) fn cell(&self, about: About, folios: FilledBy) -> CellPlan {
        let About { method, order, block, state } = about;
        let operations = self.amounts.operations(method, order, block, state);
        let file = self.request.path(match (state, folios) {
            (WantedState::Warm, FilledBy::SmallFolios) => SMALL,
            (WantedState::Warm, _) => WARM,
            _ => COLD,
        });
        let probe = self.probe(about, operations, &file);
        let mut factors = vec![
            name("method", method.as_str()),
            name("order", order.as_str()),
            number("block_bytes", u64::from(block)),
            name("state", state.to_string()),
        ];
        if state == WantedState::Warm {
            let small = folios == FilledBy::SmallFolios;
            factors.push(name("folios", if small { "small" } else { "large" }));
        }
        let cell = CellPlan::new(factors, state, probe);
        let filled_by = if state == WantedState::Warm { folios } else { FilledBy::Nothing };
        let expects = self.expects(about, operations);
        // The state changes the time of calls and not their number.
        let count_calls = filled_by == FilledBy::LargeFolios || method.is_direct();
        CellPlan { filled_by, files: vec![file], expects, count_calls, ..cell }
    }

    fn probe(&self, about: About, operations: u32, file: &PathBuf) -> ProbeCommand {
        let About { method, order, block, .. } = about;
        let words = [
            ("method", method.as_str().into()),
            ("order", order.as_str().into()),
            ("block", block.to_string().into()),
            ("operations", operations.to_string().into()),
            ("seed", SEED.to_string().into()),
            ("file", file.into()),
        ];
        ProbeCommand::native("access", words)
    }

    pub(super) fn expects(&self, about: About, operations: u32) -> Expects {
        let About { method, order, block, state } = about;
        let bytes = u64::from(operations) * u64::from(block);
        let base = match state {
            _ if method.is_direct() => {
                Expects { min_device_bytes: Some(bytes), ..Expects::default() }
            }
            WantedState::Warm => Expects::warm(),
            _ => {
                let pages = self.touched_pages(order, block, operations);
                Expects::cold(pages * hotset_sys::page_size())
            }
        };
        let counted = u64::from(operations);
        Expects {
            bytes: Some(bytes),
            operations: Some(counted),
            read_calls: read_calls(method, order, counted, bytes, u64::from(block)),
            ..base
        }
    }

    fn touched_pages(&self, order: Order, block: u32, operations: u32) -> u64 {
        let count = || {
            let file_bytes = self.amounts.file_bytes;
            let numbers = order.blocks(order.places(block, file_bytes), operations, SEED);
            touched_pages(&numbers, order.step_bytes(block), u64::from(block), file_bytes)
        };
        let mut touched = self.touched.borrow_mut();
        *touched.entry((order, block, operations)).or_insert_with(count)
    }
}

/// The read calls that the kernel must have counted if the method was what it says. How many a stream with a buffer makes is
/// the library's matter; one that ignores its buffer is told by the number.
fn read_calls(
    method: Method,
    order: Order,
    operations: u64,
    bytes: u64,
    block: u64,
) -> Option<(u64, u64)> {
    match method {
        Method::Read | Method::Pread | Method::Direct | Method::FreadUnbuffered => {
            Some((operations, operations))
        }
        Method::PreadNoWait => Some((operations, 2 * operations)),
        Method::Fread64k if order == Order::Sequential && block < LARGE_BUFFER => {
            let full = bytes / LARGE_BUFFER;
            Some((full, full + full / 4 + 2))
        }
        Method::Fread | Method::Fread64k => None,
        _ => Some((0, 0)),
    }
}
