//! What CPython calls each function through while it writes a perf map (`-X perf`, 3.12 and later).
//!
//! It has no frame pointer and no unwind tables, but is the same few instructions for each function (Python/asm_trampoline.S):
//! eight bytes of stack, a call, and back.

use crate::unwind::{Registers, Stack, Step};

/// How its functions are called in the map.
const NAMES: &str = "py::";

/// How far behind its beginning the call returns to: behind `sub` and `call`, and `endbr64` before them where the CPU wants it.
const RETURNS: [u64; 2] = [6, 10];

/// Whether a return address, `offset` bytes behind the beginning of the function `name`, is in one.
pub(crate) fn is_one(name: &str, offset: u64) -> bool {
    name.starts_with(NAMES) && RETURNS.contains(&offset)
}

/// From one to its caller. `registers` become the caller's.
pub(crate) fn step(registers: &mut Registers, stack: &Stack<'_>) -> Step {
    let sp = registers.sp();
    let Some(caller) = sp.checked_add(8).and_then(|at| stack.word(at)) else { return Step::Stuck };
    // One that keeps a frame pointer keeps it in these eight bytes.
    if registers.bp() == sp
        && let Some(bp) = stack.word(sp)
    {
        registers.set_bp(bp);
    }
    registers.set_sp(sp.saturating_add(16));
    registers.set_ip(caller);
    Step::To(caller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_leads_past_eight_bytes_to_the_caller() {
        let words: [u64; 3] = [0x7777, 0x1234, 9];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let stack = Stack { begin: 0x2000, bytes: &bytes };
        for (bp, callers) in [(0x55, 0x55), (0x2000, 0x7777)] {
            let mut registers = Registers::new(0x1006, 0x2000, bp);
            assert_eq!(step(&mut registers, &stack), Step::To(0x1234));
            assert_eq!((registers.sp(), registers.bp()), (0x2010, callers));
        }
        let mut beyond = Registers::new(0x1006, 0x2010, 0);
        assert_eq!(step(&mut beyond, &stack), Step::Stuck);
    }

    #[test]
    fn other_code_is_none() {
        assert!(is_one("py::load:/srv/app.py", 6) && is_one("py::load:/srv/app.py", 10));
        assert!(!is_one("py::load:/srv/app.py", 5) && !is_one("JS:load", 6));
    }
}
