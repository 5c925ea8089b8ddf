//! What a chain of calls takes of the stack. Newer kernels give each program one of its own, and refuse what does not fit in the
//! older ones' only there.

use libbpf_rs::{AsRawLibbpf, OpenObject, OpenProgram, libbpf_sys};

use crate::features::{KernelFeatures, decode, kernel_types};
use crate::load::{every_object, object_bytes};
use crate::programs;
use crate::select::{Selection, select};

/// `MAX_BPF_STACK`, which all functions of a chain share before Linux 6.13.
const STACK_BYTES: usize = 512;
/// What each takes is rounded up to this.
const FRAME_BYTES: usize = 32;
/// `MAX_CALL_FRAMES`: so many functions may be called by each other.
const MOST_FRAMES: usize = 8;

/// A program, instruction by instruction, and where each of its functions begins.
struct Code {
    instructions: Vec<[u8; 8]>,
    starts: Vec<usize>,
}

impl Code {
    fn operand(&self, at: usize) -> i64 {
        let bytes = self.instructions[at];
        i64::from(i32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]))
    }

    /// How far below the frame pointer (register 10) an instruction reaches.
    fn reach(&self, at: usize) -> usize {
        let [code, registers, low, high, ..] = self.instructions[at];
        let offset = i64::from(i16::from_le_bytes([low, high]));
        let moved = |before: [u8; 8]| before[0] == 0xbf && before[1] == 0xa0 | (registers & 15);
        let below = match code & 7 {
            1 if registers >> 4 == 10 => -offset,
            2 | 3 if registers & 15 == 10 => -offset,
            7 if code == 0x07 && at > 0 && moved(self.instructions[at - 1]) => -self.operand(at),
            _ => 0,
        };
        usize::try_from(below).unwrap_or(0)
    }

    /// What a function and the chain below it that takes most need of the stack, and how many functions the longest chain has: calls that a
    /// helper makes included.
    fn depth(&self, function: usize) -> (usize, usize) {
        let end = self.starts.get(function + 1).copied().unwrap_or(self.instructions.len());
        let own = self.starts[function]..end;
        let frame = own.clone().map(|at| self.reach(at)).max().unwrap_or(0).max(1);
        let below = own.filter_map(|at| {
            let [code, registers, ..] = self.instructions[at];
            let calls = matches!((code, registers >> 4), (0x85, 1) | (0x18, 4));
            let called = usize::try_from(at as i64 + 1 + self.operand(at)).ok();
            let called = called.filter(|_| calls)?;
            Some(self.depth(self.starts.iter().position(|&start| start == called)?))
        });
        let most = |a: (usize, usize), b: (usize, usize)| (a.0.max(b.0), a.1.max(b.1));
        let (bytes, frames) = below.reduce(most).unwrap_or_default();
        (frame.next_multiple_of(FRAME_BYTES) + bytes, 1 + frames)
    }
}

/// Relocates the chosen programs of an object and makes its tables; loads nothing.
pub(crate) fn prepare(open: &mut OpenObject, selection: &Selection) {
    for mut program in open.progs_mut() {
        let name = program.name().to_str().expect("a name").to_owned();
        program.set_autoload(selection.programs.contains(&name.as_str()));
    }
    // SAFETY: the object is open and neither prepared nor loaded.
    let answer = unsafe { libbpf_sys::bpf_object__prepare(open.as_libbpf_object().as_ptr()) };
    assert_eq!(answer, 0, "it is relocated and its tables are made (as root)");
}

/// The instructions of a program as they stand now.
pub(crate) fn instructions(program: &OpenProgram<'_>) -> Vec<[u8; 8]> {
    // SAFETY: an instruction is eight bytes.
    program.insns().iter().map(|one| unsafe { std::mem::transmute(*one) }).collect()
}

/// Runs on the real kernel, whose types decide which of the branches are there; the old ones run in virtual machines.
#[test]
fn a_chain_of_calls_fits_the_stack_of_old_kernels() {
    let bytes = kernel_types().expect("this kernel has BTF");
    let types = decode(bytes.as_slice()).expect("BTF");
    let selection = select(&KernelFeatures::of(&types)).expect("tracepoints");
    for (build, atomics, records) in every_object() {
        let object = object_bytes(build, atomics, records);
        let (mut open, _file) = programs::open(object, &types).expect("opened");
        prepare(&mut open, &selection);
        for program in open.progs().filter(OpenProgram::autoload) {
            let raw = program.as_libbpf_object().as_ptr();
            // SAFETY: the program is one of a prepared object, which has as many functions as it says.
            let functions = unsafe {
                let count = libbpf_sys::bpf_program__func_info_cnt(raw) as usize;
                std::slice::from_raw_parts(libbpf_sys::bpf_program__func_info(raw), count)
            };
            let code = Code {
                instructions: instructions(&program),
                starts: functions.iter().map(|function| function.insn_off as usize).collect(),
            };
            let (deepest, frames) = code.depth(0);
            assert!(
                (FRAME_BYTES..=STACK_BYTES).contains(&deepest) && frames <= MOST_FRAMES,
                "{build:?} {:?}: {deepest} bytes, {frames} functions",
                program.name()
            );
        }
    }
}
