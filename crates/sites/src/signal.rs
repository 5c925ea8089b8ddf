//! The frame that the kernel puts on a stack to run a signal handler.

use std::io::{Read, Seek};
use std::ops::Range;

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection as _};

use crate::elf::Elf;
use crate::unwind::{Registers, Stack};

/// Where in the ucontext the registers of the interrupted code are, in bytes: `uc_mcontext.gregs` begins at 40, and REG_RBP,
/// REG_RSP and REG_RIP are 10, 15 and 16 (sys/ucontext.h of x86-64; part of the kernel's ABI).
const RBP: u64 = 40 + 10 * 8;
const RSP: u64 = 40 + 15 * 8;
const RIP: u64 = 40 + 16 * 8;

/// The addresses of what signal handlers return to, in one file: its unwind tables mark that with an `S`. What else they say of
/// it reads memory, which the unwinder does not do.
#[derive(Debug, Default)]
pub(crate) struct Trampolines {
    ranges: Vec<Range<u64>>,
}

impl Trampolines {
    /// Those that `tables`, the `.eh_frame` of a file, marks.
    pub(crate) fn of<F: Read + Seek>(elf: &Elf<'_, F>, tables: &[u8]) -> Self {
        let mut found = Self::default();
        let Some(place) = elf.range(".eh_frame") else { return found };
        let text = elf.range(".text").map_or(0, |text| text.start);
        let bases = BaseAddresses::default().set_eh_frame(place.start).set_text(text);
        let mut section = EhFrame::new(tables, LittleEndian);
        section.set_address_size(8);
        let mut marking = Vec::new();
        let mut entries = section.entries(&bases);
        while let Ok(Some(entry)) = entries.next() {
            match entry {
                CieOrFde::Cie(cie) if cie.is_signal_trampoline() => marking.push(cie.offset()),
                CieOrFde::Fde(part) if marking.contains(&part.cie_offset().0) => {
                    if let Ok(fde) = part.parse(EhFrame::cie_from_offset) {
                        let begin = fde.initial_address();
                        found.ranges.push(begin..begin.saturating_add(fde.len()));
                    }
                }
                CieOrFde::Cie(_) | CieOrFde::Fde(_) => {}
            }
        }
        found
    }

    /// Whether `address`, as the file states it, is in one.
    pub(crate) fn hold(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }
}

/// The registers of the code that a signal interrupted, from the frame at the stack pointer. `registers` become those.
pub(crate) fn interrupted(registers: &mut Registers, stack: &Stack<'_>) -> Option<u64> {
    let word = |offset| stack.word(registers.sp().checked_add(offset)?);
    let (ip, sp, bp) = (word(RIP)?, word(RSP)?, word(RBP)?);
    *registers = Registers::new(ip, sp, bp);
    Some(ip)
}
