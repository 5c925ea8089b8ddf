//! From registers and a copy of the stack to the addresses of a chain of calls.

use framehop::FrameAddress;
use hotset_facts::trace::SiteState;

use crate::Sample;
use crate::binaries::{Binaries, BinaryIndex};
use crate::process::{Owner, Process};
use crate::trampoline;
use crate::unwind::{Registers, Stack, Step, Steps};

/// Calls at most. perf_event_max_stack is 127 too.
const MAX_CALLS: usize = 127;

/// The lowest address that anything is mapped at: /proc/sys/vm/mmap_min_addr may be lower, but programs don't run there.
const LOWEST: u64 = 4_096;

/// Where a call is, in terms that stay true when the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// In a file, at the address that this states.
    File(BinaryIndex, u64),
    /// In a process (by its serial number): code made at run time, or a file that can't be read.
    Memory(u32, u64),
}

/// A call of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its address in the process: the next instruction to run.
    pub(crate) address: u64,
    /// Whose code that is; nothing where no mapping has it.
    pub(crate) owner: Option<Owner>,
    /// True where it stands behind a call instruction: of all but the innermost, and code that a signal interrupted.
    pub(crate) returns: bool,
}

impl Call {
    /// The same place in every sample.
    pub(crate) fn place(&self, process: &Process) -> Place {
        match self.owner {
            Some(Owner::Binary(index, address)) => Place::File(index, address),
            _ => Place::Memory(process.serial, self.address),
        }
    }
}

/// What was found on a stack.
pub(crate) struct Chain {
    /// Innermost first.
    pub(crate) calls: Vec<Call>,
    pub(crate) state: SiteState,
    /// Where on the stack the return addresses stand, as [`crate::Unwound::returns`] has them.
    pub(crate) returns: Vec<(u64, u64)>,
}

/// Climbs the stack of a sample, innermost call first.
pub(crate) fn climb(
    sample: &Sample<'_>,
    process: &mut Process,
    binaries: &mut Binaries,
    run_time: &mut Steps,
) -> Chain {
    let (mut calls, mut on_stack) = (Vec::new(), Vec::new());
    let stack = Stack { begin: sample.sp, bytes: sample.stack };
    let mut registers = Registers::new(sample.ip, sample.sp, sample.bp);
    let (mut next, mut returns) = (sample.ip, false);
    let mut state = SiteState::Cut;
    let mut sure = true;
    // Return addresses up to the innermost code that was made at run time: what is above is found by frame pointers, which it may
    // not have.
    let mut certain = None;
    while calls.len() < MAX_CALLS {
        let (owner, within) = owner_of(next, returns, sample.time_ns, process, binaries);
        // What is in no mapping is no return address: the step before went astray.
        if !calls.is_empty() && owner.is_none() {
            break;
        }
        // Without a perf map, nothing says that code made at run time has frame pointers, and callers may be missing.
        let made = (owner == Some(Owner::Anonymous)).then(|| process.function_at(within));
        sure &= made != Some(None);
        let behind = |(name, offset): (&str, u64)| trampoline::is_one(name, offset + 1);
        let is_trampoline = returns && made.flatten().is_some_and(behind);
        calls.push(Call { address: next, owner, returns });
        if owner.is_none() || registers.sp() < LOWEST {
            break;
        }
        let step = if is_trampoline {
            trampoline::step(&mut registers, &stack)
        } else {
            if owner == Some(Owner::Anonymous) {
                certain.get_or_insert(on_stack.len());
            }
            step(owner, next, returns, &mut registers, &stack, binaries, run_time)
        };
        match step {
            Step::To(caller) if caller >= LOWEST => {
                on_stack.extend(slot(caller, &registers, &stack));
                (next, returns) = (caller, true);
            }
            Step::Interrupted(at) if at >= LOWEST => (next, returns) = (at, false),
            Step::End => {
                state = if sure { SiteState::Whole } else { SiteState::Cut };
                break;
            }
            Step::To(_) | Step::Interrupted(_) | Step::Stuck => break,
        }
    }
    if let (Some(certain), false) = (certain, state == SiteState::Whole) {
        on_stack.truncate(certain);
    }
    if calls.len() < 2 && state != SiteState::Whole {
        state = SiteState::Lost;
    }
    Chain { calls, state, returns: on_stack }
}

/// Whose code the next instruction of a call is, and an address within the instruction before it where that is a call.
fn owner_of(
    next: u64,
    returns: bool,
    now_ns: u64,
    process: &mut Process,
    binaries: &mut Binaries,
) -> (Option<Owner>, u64) {
    // A call that never returns can be the last instruction of its function, and of the mapping.
    let within = next.saturating_sub(u64::from(returns));
    let behind = next - within;
    let owner = process.owner_of(within, now_ns, binaries).map(|owner| match owner {
        Owner::Binary(index, at) => Owner::Binary(index, at + behind),
        Owner::Unreadable(region, at) => Owner::Unreadable(region, at + behind),
        Owner::Anonymous => Owner::Anonymous,
    });
    (owner, within)
}

/// Where the return address of the step that was just done stands: right below what the stack pointer is then.
fn slot(caller: u64, registers: &Registers, stack: &Stack<'_>) -> Option<(u64, u64)> {
    let at = registers.sp().checked_sub(8)?;
    let is_there = stack.word(at) == Some(caller);
    is_there.then(|| Some((at.checked_sub(stack.begin)?, caller))).flatten()
}

fn step(
    owner: Option<Owner>,
    address: u64,
    returns: bool,
    registers: &mut Registers,
    stack: &Stack<'_>,
    binaries: &mut Binaries,
    run_time: &mut Steps,
) -> Step {
    let (index, stated) = match owner {
        Some(Owner::Binary(index, stated)) => (index, stated),
        Some(Owner::Anonymous) => return run_time.step(kind(address, returns), registers, stack),
        // Whether a file that can't be read was compiled with frame pointers is not known: a guess would look like a caller.
        Some(Owner::Unreadable(..)) | None => return Step::Stuck,
    };
    let Some(binary) = binaries.get(index) else { return Step::Stuck };
    // Go's functions for system calls have no frame, and what its strip leaves has no tables.
    if !returns && binary.is_go && !binary.steps.has_tables() {
        let Some(caller) = stack.word(registers.sp()) else { return Step::Stuck };
        registers.set_sp(registers.sp().saturating_add(8));
        registers.set_ip(caller);
        return Step::To(caller);
    }
    match binary.steps.step(kind(stated, returns), registers, stack) {
        Step::Stuck if binary.begins_at(stated) => Step::End,
        step => step,
    }
}

fn kind(address: u64, returns: bool) -> FrameAddress {
    match FrameAddress::from_return_address(address) {
        Some(call) if returns => call,
        _ => FrameAddress::from_instruction_pointer(address),
    }
}
