//! One step up a stack, by the unwind tables of a file or by frame pointers.

use std::io::{Read, Seek};
use std::sync::Arc;

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use gimli::{BaseAddresses, EhFrameHdr, LittleEndian, Pointer};

use crate::elf::{Elf, Segment};
use crate::signal::{self, Trampolines};

/// Registers as they are in a frame.
pub(crate) type Registers = UnwindRegsX86_64;

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the return address.
    To(u64),
    /// To the instruction at which a signal interrupted the code.
    Interrupted(u64),
    /// There is no caller: the thread's first function.
    End,
    /// The caller is not in the copy of the stack, or not to be found.
    Stuck,
}

/// How to get from the functions of one file to their callers. It works with addresses as the file states them, so that all
/// processes that run the file share it, with the rules that it keeps by address.
pub(crate) struct Steps {
    unwinder: UnwinderX86_64<Arc<[u8]>>,
    cache: CacheX86_64,
    trampolines: Trampolines,
    has_tables: bool,
    /// Whether a chain that ends was followed rightly to there.
    ends: bool,
    bytes: usize,
}

impl Steps {
    /// By frame pointers alone: code that is made at run time has no tables.
    pub(crate) fn by_frame_pointers() -> Self {
        let (unwinder, cache) = (UnwinderX86_64::new(), CacheX86_64::new());
        let trampolines = Trampolines::default();
        Self { unwinder, cache, trampolines, has_tables: false, ends: false, bytes: 0 }
    }

    /// By the tables of a file, where it has some.
    pub(crate) fn of<F: Read + Seek>(elf: &Elf<'_, F>, code: &[Segment]) -> Self {
        let mut steps = Self::by_frame_pointers();
        let (Some(first), Some(end)) = (
            code.iter().map(|segment| segment.address).min(),
            code.iter().map(|segment| segment.address.saturating_add(segment.length)).max(),
        ) else {
            return steps;
        };
        let info = tables(elf, first);
        let sections = [&info.eh_frame, &info.eh_frame_hdr, &info.debug_frame];
        steps.bytes = sections.into_iter().flatten().map(|section| section.len()).sum();
        steps.has_tables = steps.bytes > 0;
        // All functions of Go have frame pointers.
        steps.ends = steps.has_tables || elf.range(".gopclntab").is_some();
        steps.trampolines = info
            .eh_frame
            .as_ref()
            .map_or_else(Trampolines::default, |tables| Trampolines::of(elf, tables));
        let base = info.base_svma;
        steps.unwinder.add_module(Module::new(String::new(), first..end, base, info));
        steps
    }

    /// From `address`, which is `registers.ip()` as the file states it, to the caller. `registers` become the caller's.
    pub(crate) fn step(
        &mut self,
        address: FrameAddress,
        registers: &mut Registers,
        stack: &Stack<'_>,
    ) -> Step {
        if self.trampolines.hold(address.address_for_lookup()) {
            return signal::interrupted(registers, stack).map_or(Step::Stuck, Step::Interrupted);
        }
        let mut read = |at| stack.word(at).ok_or(());
        match self.unwinder.unwind_frame(address, registers, &mut self.cache, &mut read) {
            Ok(Some(to)) => Step::To(to),
            // By frame pointers, a zero ends the chain, but it is an end only where it is known to be a frame pointer.
            Ok(None) if self.ends => Step::End,
            Ok(None) | Err(_) => Step::Stuck,
        }
    }

    /// Whether the file says how its functions are unwound.
    pub(crate) fn has_tables(&self) -> bool {
        self.has_tables
    }

    /// Bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes + size_of::<CacheX86_64>()
    }
}

fn tables<F: Read + Seek>(elf: &Elf<'_, F>, first: u64) -> ExplicitModuleSectionInfo<Arc<[u8]>> {
    let mut info = ExplicitModuleSectionInfo {
        // The unwinder keeps distances from here in 32 bits.
        base_svma: first & !0xffff_ffff,
        text_svma: elf.range(".text"),
        got_svma: elf.range(".got"),
        ..Default::default()
    };
    // Go programs with C in them have both, and the one for Go's functions is .debug_frame.
    if elf.range(".gopclntab").is_some() {
        info.debug_frame = elf.section(".debug_frame");
    }
    if info.debug_frame.is_none() {
        info.eh_frame_svma = elf.range(".eh_frame");
        info.eh_frame = elf.section(".eh_frame");
        info.eh_frame_hdr_svma = elf.range(".eh_frame_hdr");
        info.eh_frame_hdr = elf.section(".eh_frame_hdr").filter(|index| is_sound(elf, index));
    }
    if info.eh_frame.is_none() && info.debug_frame.is_none() {
        info.debug_frame = elf.section(".debug_frame");
    }
    info
}

/// Whether each entry of an index leads into the tables or behind them. The unwinder subtracts the beginning of the tables
/// from an entry without asking; it makes an index of its own where it gets none.
fn is_sound<F: Read + Seek>(elf: &Elf<'_, F>, index: &[u8]) -> bool {
    let sound = || {
        let bases = BaseAddresses::default()
            .set_eh_frame_hdr(elf.range(".eh_frame_hdr")?.start)
            .set_eh_frame(elf.range(".eh_frame")?.start);
        let header = EhFrameHdr::new(index, LittleEndian).parse(&bases, 8).ok()?;
        let Pointer::Direct(begin) = header.eh_frame_ptr() else { return None };
        let table = header.table()?;
        let mut entries = table.iter(&bases);
        while let Some((_, entry)) = entries.next().ok()? {
            if !matches!(entry, Pointer::Direct(at) if at >= begin) {
                return None;
            }
        }
        Some(())
    };
    sound().is_some()
}

/// A copy of the top of a stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stack<'a> {
    /// The address of its first byte.
    pub(crate) begin: u64,
    /// Its bytes, from there up.
    pub(crate) bytes: &'a [u8],
}

impl Stack<'_> {
    /// The word at an address, if that was copied.
    pub(crate) fn word(&self, at: u64) -> Option<u64> {
        let offset = usize::try_from(at.checked_sub(self.begin)?).ok()?;
        let word = self.bytes.get(offset..offset.checked_add(8)?)?;
        Some(u64::from_le_bytes(word.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frame_pointers_lead_to_the_caller() {
        let words: [u64; 4] = [7, 0x2018, 0x1234, 0];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let stack = Stack { begin: 0x2000, bytes: &bytes };
        let mut steps = Steps::by_frame_pointers();
        let mut registers = Registers::new(0x1000, 0x2000, 0x2008);
        let address = FrameAddress::from_instruction_pointer(0x1000);
        assert_eq!(steps.step(address, &mut registers, &stack), Step::To(0x1234));
        assert_eq!((registers.sp(), registers.bp()), (0x2018, 0x2018));
        assert_eq!(steps.step(address, &mut registers, &stack), Step::Stuck);
    }

    #[test]
    fn the_index_that_a_linker_made_is_used() {
        let program = std::fs::File::open("/proc/self/exe").expect("this program");
        let cache = object::read::ReadCache::new(program);
        let elf = Elf::parse(&cache).expect("an ELF file");
        let mut index = elf.section(".eh_frame_hdr").expect("an index").to_vec();
        assert!(is_sound(&elf, &index));
        // The last entry leads to address 0 now, which is before the tables.
        let begin = elf.range(".eh_frame_hdr").expect("a place").start;
        let to_zero = 0i32.wrapping_sub(begin.try_into().expect("a small program"));
        let last = index.len() - 4;
        index[last..].copy_from_slice(&to_zero.to_le_bytes());
        assert!(!is_sound(&elf, &index));
    }

    #[test]
    fn words_beyond_the_copy_are_not_known() {
        let stack = Stack { begin: 0x2000, bytes: &[1; 16] };
        assert_eq!(stack.word(0x2008), Some(0x0101_0101_0101_0101));
        assert_eq!(
            (stack.word(0x2009), stack.word(0x1fff), stack.word(u64::MAX)),
            (None, None, None)
        );
    }

    proptest! {
        #[test]
        fn any_stack_ends(sp in any::<u64>(), bp in any::<u64>(), bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let stack = Stack { begin: sp, bytes: &bytes };
            let mut steps = Steps::by_frame_pointers();
            let mut registers = Registers::new(0x1000, sp, bp);
            let address = FrameAddress::from_instruction_pointer(0x1000);
            let taken = (0..64).take_while(|_| matches!(steps.step(address, &mut registers, &stack), Step::To(_)));
            prop_assert!(taken.count() <= bytes.len() / 8);
        }
    }
}
