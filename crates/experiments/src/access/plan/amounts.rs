//! How much is read.

use hotset_facts::{LabFact, LabSize, WantedState};
use hotset_sys::rawio::access::{Advice, Method};
use hotset_sys::rawio::order::Order;

use super::CHAIN;
use crate::Request;

/// The smallest file: fewer reads would be shorter than the clock is precise.
const LEAST_BYTES: u64 = 1 << 20;

/// What the article compared, and pread.
const ARTICLE: [Method; 4] =
    [Method::Fread, Method::Read, Method::Pread, Method::Mmap(Advice::None)];

/// Blocks of 64 KiB are read by these only.
const LARGE: [Method; 7] = [
    Method::Fread,
    Method::Read,
    Method::Pread,
    Method::Mmap(Advice::None),
    Method::Uring32Fixed,
    Method::Direct,
    Method::DirectUring32,
];

const QUICK: [Method; 7] = [
    Method::Fread,
    Method::Read,
    Method::Pread,
    Method::Mmap(Advice::None),
    Method::Uring32Fixed,
    Method::Direct,
    Method::DirectUring32,
];

/// The methods of a size.
pub(super) fn methods(size: LabSize) -> &'static [Method] {
    match size {
        LabSize::Quick => &QUICK,
        LabSize::Default | LabSize::Full => Method::ALL,
    }
}

/// Sizes, and the reads of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amounts {
    pub(super) file_bytes: u64,
    pub(super) blocks: Vec<u32>,
    /// Reads of a cold cell in random order: each costs a wait for the device.
    cold_random: u32,
    /// The same in any order but forwards, where it was asked for.
    reads: Option<u32>,
    /// The orders that were asked for; none: those of the size.
    orders: Option<Vec<Order>>,
    /// The article's three orders one after the other are read too.
    pub(super) has_chain: bool,
    /// Bytes that a cold cell reads backwards: the kernel reads nothing ahead there.
    cold_reverse_bytes: u64,
    is_quick: bool,
    is_full: bool,
}

impl Amounts {
    /// By the size, unless the options say otherwise.
    pub(super) fn of(request: &Request) -> Result<Self, String> {
        let (file_bytes, blocks, cold_random, cold_reverse_bytes) = match request.size {
            LabSize::Quick => (16 << 20, vec![1000, 4096], 500, 4 << 20),
            LabSize::Default => (256 << 20, vec![1000, 4096, 65_536], 5_000, 64 << 20),
            // The article: a million blocks of 1000 bytes.
            LabSize::Full => (1_000_000_000, vec![1000, 4096, 65_536], 20_000, 1_000_000_000),
        };
        let options = &request.options;
        let file_bytes = options.file_bytes.unwrap_or(file_bytes);
        if file_bytes < LEAST_BYTES {
            return Err(format!("--size {file_bytes}: expected at least {LEAST_BYTES} bytes"));
        }
        let blocks = if options.blocks_bytes.is_empty() {
            blocks
        } else {
            let block = |&bytes: &u64| {
                let fits = (1..=file_bytes / 16).contains(&bytes);
                u32::try_from(bytes).ok().filter(|_| fits).ok_or_else(|| {
                    let most = file_bytes / 16;
                    format!("--block {bytes}: expected 1 to {most} bytes for this size")
                })
            };
            options.blocks_bytes.iter().map(block).collect::<Result<_, _>>()?
        };
        let is_quick = request.size == LabSize::Quick;
        let (orders, has_chain) = match options.orders.is_empty() {
            true => (None, !is_quick),
            false => asked_orders(&options.orders).map(|(orders, chain)| (Some(orders), chain))?,
        };
        Ok(Self {
            file_bytes,
            blocks,
            cold_random: options.reads.unwrap_or(cold_random),
            reads: options.reads,
            orders,
            has_chain,
            cold_reverse_bytes,
            is_quick,
            is_full: request.size == LabSize::Full,
        })
    }

    /// Whether this size reads blocks of this size in this way. What was asked for by name is always read.
    pub(super) fn has(&self, request: &Request, method: Method, block: u32) -> bool {
        if !request.options.methods.is_empty() {
            return true;
        }
        match block {
            65_536.. => LARGE.contains(&method),
            1000 if self.is_quick => ARTICLE.contains(&method) && method != Method::Pread,
            _ => !(self.is_quick && matches!(method, Method::Fread | Method::Read)),
        }
    }

    /// The orders in which it is read. Some blocks more often than others only pays where something may stay cached.
    pub(super) fn orders(&self, method: Method, block: u32) -> Vec<Order> {
        // Direct I/O gains nothing from what stays cached, and begins at whole blocks of the device.
        let buffered = [Order::Zipf, Order::Offsets];
        let fits = |order: &Order| !(method.is_direct() && buffered.contains(order));
        if let Some(orders) = &self.orders {
            return orders.iter().copied().filter(fits).collect();
        }
        if self.is_quick {
            return match block {
                _ if method.is_direct() => vec![Order::Random],
                1000 => vec![Order::Sequential, Order::Reverse, Order::Random],
                _ => vec![Order::Sequential, Order::Random],
            };
        }
        // The article's reads at random, which are of its blocks of 1000 bytes.
        let all = Order::ALL.iter().copied().filter(fits);
        all.filter(|&order| order != Order::Offsets || (self.is_full && block == 1000)).collect()
    }

    /// False for an order that is not among those that were asked for.
    pub(super) fn wants(&self, order: Order) -> bool {
        self.orders.as_ref().is_none_or(|orders| orders.contains(&order))
    }

    /// Whole blocks of the file.
    pub(super) fn blocks_of(&self, block: u32) -> u32 {
        u32::try_from(self.file_bytes / u64::from(block)).unwrap_or(u32::MAX)
    }

    /// Reads of a cell.
    pub(super) fn operations(
        &self,
        method: Method,
        order: Order,
        block: u32,
        state: WantedState,
    ) -> u32 {
        let all = self.blocks_of(block);
        let waits = state == WantedState::Cold || method.is_direct();
        match order {
            _ if !waits => all,
            // One read in flight, each waiting for the device, is as slow in any order.
            Order::Sequential if method.is_direct() => self.cold_random.min(all),
            Order::Sequential => all,
            Order::Reverse if self.reads.is_some() || method.is_direct() => {
                self.cold_random.min(all)
            }
            Order::Reverse => {
                u32::try_from(self.cold_reverse_bytes / u64::from(block)).unwrap_or(all).min(all)
            }
            Order::Random | Order::Zipf => self.cold_random.min(all),
            // Others may be read again.
            Order::Offsets => self.cold_random,
        }
    }

    /// What a reader should know beside the cells.
    pub(super) fn facts(&self) -> Vec<LabFact> {
        vec![
            LabFact::new("file bytes", self.file_bytes),
            LabFact::new("reads of a cold cell in random order", u64::from(self.cold_random)),
            LabFact::new("bytes of a cold cell in reverse order", self.cold_reverse_bytes),
        ]
    }
}

/// The orders of these names, and whether the chain is among them.
fn asked_orders(names: &[String]) -> Result<(Vec<Order>, bool), String> {
    let has_chain = names.iter().any(|name| name == CHAIN);
    let known = || {
        let orders = Order::ALL.iter().map(|order| order.as_str());
        orders.chain([CHAIN]).collect::<Vec<_>>().join(", ")
    };
    let order = |name: &String| {
        name.parse().map_err(|_| format!("--orders {name}: unknown order; expected {}", known()))
    };
    let orders = names.iter().filter(|name| *name != CHAIN).map(order).collect::<Result<_, _>>()?;
    Ok((orders, has_chain))
}
