//! Ways of reading blocks of a file: what `lab access` times.
//!
//! Files are opened, buffers made and touched, and the numbers of the blocks drawn before the clock. A mapping is made
//! inside of the timed part, because populating it may be the reading; taking it down is not in it.

mod direct;
mod mapped;
mod methods;
mod serial;
mod stdio;
mod uring;

use std::hint::black_box;
use std::path::Path;

pub use direct::{DirectAlignment, direct_alignment};
pub use mapped::Advice;
pub use methods::Method;
pub use uring::uring_refused;

use super::answer::{Answer, Repetition};
use super::arguments::{Arguments, JobError};
use super::meter::timed;
use super::order::Order;
use super::pattern;

/// Reads that are checked against the pattern after the timed part.
const CHECKED: usize = 256;

/// What is read: blocks by their numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks<'a> {
    pub(crate) path: &'a Path,
    pub(crate) numbers: &'a [u32],
    /// Bytes of a block.
    pub(crate) bytes: usize,
    /// Bytes from one number's place to the next one's.
    pub(crate) step_bytes: u64,
}

impl Blocks<'_> {
    /// Where a block begins.
    #[inline(always)]
    pub(crate) fn offset(&self, number: u32) -> u64 {
        u64::from(number) * self.step_bytes
    }

    pub(crate) fn failed(&self, call: &'static str) -> JobError {
        JobError::call(self.path, call, std::io::Error::last_os_error())
    }

    /// A read that gave another number of bytes than asked for.
    pub(crate) fn short(&self, offset: u64, got: i64, call: &'static str) -> JobError {
        if got < 0 {
            return self.failed(call);
        }
        JobError::wrong(
            self.path,
            format!("{call} of {} bytes at byte {offset} gave {got} bytes", self.bytes),
        )
    }
}

/// Calls made in a pass, by name.
pub(crate) type Calls = Vec<(&'static str, u64)>;

/// A way of reading. `seen` is called with the offset and the bytes of each block; in timed passes it does nothing that
/// costs time.
pub(crate) trait Engine {
    fn pass(&mut self, blocks: Blocks<'_>, seen: impl FnMut(u64, &[u8]))
    -> Result<Calls, JobError>;
}

/// Times one pass and, unless that is not wanted, checks some of its blocks in another one.
pub(crate) fn measure(
    mut engine: impl Engine,
    blocks: Blocks<'_>,
    checked: bool,
) -> Result<Answer, JobError> {
    let (calls, repetition) = timed(|| {
        engine.pass(blocks, |_, bytes| {
            // Claims to need the bytes, so that no copy is left out.
            black_box(bytes.as_ptr());
        })
    })?;
    if checked {
        check(&mut engine, blocks)?;
    }
    let operations = blocks.numbers.len() as u64;
    let bytes = operations * blocks.bytes as u64;
    Ok(Answer::of(repetition, operations, bytes).with_calls(calls))
}

fn check(engine: &mut impl Engine, blocks: Blocks<'_>) -> Result<(), JobError> {
    let step = blocks.numbers.len().div_ceil(CHECKED).max(1);
    let some: Vec<u32> = blocks.numbers.iter().copied().step_by(step).collect();
    let mut wrong = None;
    let mut seen = 0;
    engine.pass(Blocks { numbers: &some, ..blocks }, |offset, bytes| {
        seen += 1;
        if let Some(at) = pattern::first_wrong(bytes, offset) {
            wrong.get_or_insert(at);
        }
    })?;
    match wrong {
        Some(at) => Err(JobError::wrong(blocks.path, format!("byte {at} is not what was written"))),
        None if seen != some.len() => {
            Err(JobError::wrong(blocks.path, format!("{seen} of {} blocks came", some.len())))
        }
        None => Ok(()),
    }
}

/// Words: `method`, `file`, `order`, `block`, `operations`, `seed` and `check`; `then`, orders separated by commas, in which the
/// file is read as well, one after the other: a repetition for each, before which its cached pages are counted.
///
/// # Errors
/// Where a word is wrong, or the file can't be read or holds something else than the pattern.
pub fn access(arguments: &Arguments) -> Result<Answer, JobError> {
    let path = arguments.path("file")?;
    let method = arguments.text("method")?.parse()?;
    let order: Order = arguments.text("order")?.parse()?;
    let block: u32 = arguments.number("block")?;
    let size =
        std::fs::metadata(&path).map_err(|error| JobError::call(&path, "stat", error))?.len();
    let whole = Order::Sequential.places(block, size);
    if whole == 0 || block == 0 {
        return Err(JobError::wrong(&path, format!("holds no whole block of {block} bytes")));
    }
    let operations = arguments.number_or("operations", whole)?;
    let seed = arguments.number_or("seed", 1)?;
    let checked = !arguments.has("check") || arguments.text("check")? != "no";
    let read = |order: Order, checked: bool| {
        let numbers = order.blocks(order.places(block, size), operations, seed);
        let step_bytes = order.step_bytes(block);
        let blocks = Blocks { path: &path, numbers: &numbers, bytes: block as usize, step_bytes };
        methods::measure(method, blocks, checked)
    };
    if !arguments.has("then") {
        return read(order, checked);
    }
    let then = arguments.text("then")?.split(',').map(str::parse);
    let orders: Vec<Order> = std::iter::once(Ok(order)).chain(then).collect::<Result<_, _>>()?;
    chain(&path, &orders, |order, is_last| read(order, checked && is_last))
}

/// One order after the other. Only the last is checked: what a check reads would be in the cache for the next one.
fn chain(
    path: &Path,
    orders: &[Order],
    mut read: impl FnMut(Order, bool) -> Result<Answer, JobError>,
) -> Result<Answer, JobError> {
    let mut all = Answer { operations: Some(0), ..Answer::default() };
    for (at, &order) in orders.iter().enumerate() {
        let before = crate::cache::residency_at(path)
            .map_err(|error| JobError::wrong(path, error.to_string()))?;
        let one = read(order, at + 1 == orders.len())?;
        for repetition in one.repetitions {
            all.push(Repetition {
                cached_before_pages: Some(before.cached_pages),
                pages: Some(before.pages),
                ..repetition
            });
        }
        all.bytes += one.bytes;
        all.operations = all.operations.zip(one.operations).map(|(all, one)| all + one);
        for (name, calls) in one.calls {
            *all.calls.entry(name).or_default() += calls;
        }
    }
    Ok(all)
}

/// The loop of every method without a read in it: what the harness itself costs.
struct Null;

impl Engine for Null {
    fn pass(
        &mut self,
        blocks: Blocks<'_>,
        mut seen: impl FnMut(u64, &[u8]),
    ) -> Result<Calls, JobError> {
        let buffer = [0; 1];
        for &number in blocks.numbers {
            seen(black_box(blocks.offset(number)), &buffer);
        }
        Ok(Calls::new())
    }
}

/// The same loop around nothing. Word: `operations`.
///
/// # Errors
/// Where the word is wrong.
pub fn null(arguments: &Arguments) -> Result<Answer, JobError> {
    null_of(arguments.number("operations")?)
}

/// Times the empty loop over so many blocks in random order.
///
/// # Errors
/// Never.
pub fn null_of(operations: u32) -> Result<Answer, JobError> {
    let numbers = Order::Random.blocks(operations, operations, 1);
    let blocks =
        Blocks { path: Path::new("nothing"), numbers: &numbers, bytes: 1000, step_bytes: 1000 };
    Ok(Answer { bytes: 0, ..measure(Null, blocks, false)? })
}

#[cfg(test)]
mod tests;
