//! The article's tests in one go: the file is read from its start, backwards and at random, one after the other, and nothing is
//! evicted in between.

use hotset_facts::{FilledBy, Level, WantedState};
use hotset_lab::experiment::{CellPlan, Expects, Part, ProbeCommand, Splits, name};
use hotset_sys::rawio::access::{Advice, Method};
use hotset_sys::rawio::order::Order;

use super::CHAIN;
use super::cells::{About, Maker};

/// The article's orders, as it ran them.
const ORDERS: [Order; 3] = [Order::Sequential, Order::Reverse, Order::Random];
/// The article's methods.
const METHODS: [Method; 3] = [Method::Fread, Method::Read, Method::Mmap(Advice::None)];

impl Maker<'_> {
    /// A cell for each of the article's methods, or for each that was asked for and reads through the cache.
    pub(super) fn chains(&self, methods: &[Method]) -> Vec<CellPlan> {
        let block = self.amounts.blocks.first();
        let is_possible = self.amounts.has_chain && !self.request.place.in_memory;
        let Some(&block) = block.filter(|_| is_possible) else { return Vec::new() };
        let are_asked = !self.request.options.methods.is_empty();
        let known = methods
            .iter()
            .filter(|method| METHODS.contains(method) || are_asked && !method.is_direct());
        known.map(|&method| self.chain(method, block)).collect()
    }

    fn chain(&self, method: Method, block: u32) -> CellPlan {
        let about = |order| About { method, order, block, state: WantedState::Cold };
        let mut cell = self.cell(about(Order::Sequential), FilledBy::LargeFolios);
        for factor in cell.factors.iter_mut().filter(|factor| factor.name == "state") {
            factor.level = Level::Name(CHAIN.to_owned());
        }
        let operations = self.amounts.blocks_of(block);
        if let ProbeCommand::Native { words, .. } = &mut cell.probe {
            let then: Vec<&str> = ORDERS[1..].iter().map(|order| order.as_str()).collect();
            words.push(("then", then.join(",").into()));
        }
        let parts = ORDERS.iter().enumerate().map(|(place, &order)| {
            let expects = self.expects(about(order), operations);
            // What a later one reads from the device is what the one before it left to be read.
            let left = || Expects { read_calls: expects.read_calls, ..Expects::default() };
            let factors = vec![name("order", order.as_str())];
            Part::at(place, factors, if place == 0 { expects.clone() } else { left() })
        });
        cell.splits = Splits::Parts(parts.collect());
        let all = u64::from(operations) * ORDERS.len() as u64;
        // What each order reads, and by how many calls, is asked of its part.
        cell.expects = Expects {
            operations: Some(all),
            bytes: Some(all * u64::from(block)),
            ..Expects::default()
        };
        cell.count_calls = false;
        cell
    }
}
