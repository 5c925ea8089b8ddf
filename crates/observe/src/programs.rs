//! Loading programs into the kernel, and attaching them.
//!
//! libbpf relocates an object's programs and makes its tables, and would then load one program after the other. Most of a start
//! is the verifier's work on them, and it looks at programs independently: here every CPU has it look at one.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use hotset_sys::perf_event::set_program;
use libbpf_rs::{
    AsRawLibbpf, Object, ObjectBuilder, OpenObject, OpenProgramMut, ProgramType, libbpf_sys,
};

use crate::ObserveError;
use crate::btf::Btf;
use crate::features::KernelFeatures;
use crate::large_tables::{self, Made};
use crate::load::keep_words;
use crate::relevant::relevant;
use crate::side_by_side::side_by_side;

/// What the programs on tracepoints are called by in the object, before the name of the tracepoint.
const ON_TRACEPOINT: &str = "tp_btf/";
const LICENSE: &CStr = c"GPL";
/// The first of the numbers that the programs call the kernel's functions by: `enum hs_function`.
const FIRST_FUNCTION: i32 = 0x7000_0000;
/// An instruction that calls.
const CALL: u8 = 0x85;
/// In its source register: a function of the kernel, by the number of its type.
const OF_THE_KERNEL: u8 = 2;
/// What the verifier says of a program that it refuses; the kernel takes at most 1 GiB, libbpf offers as much as this.
const LOG_BYTES: usize = 16 << 20;
/// Of that, what is kept.
const LAST_LINES: usize = 30;

/// A loaded program. It runs once it is attached.
pub(crate) struct Program {
    pub(crate) name: String,
    fd: OwnedFd,
    /// The tracepoint that it is for; none for one that hangs on perf events, or is called.
    point: Option<String>,
    is_called: bool,
}

impl Program {
    /// Where it can be called.
    pub(crate) fn to_call(&self) -> Option<BorrowedFd<'_>> {
        self.is_called.then(|| self.fd.as_fd())
    }
}

/// A relocated program.
struct Request<'a> {
    name: CString,
    point: Option<String>,
    kind: u32,
    attach: u32,
    /// The type of the tracepoint, by which the verifier knows the arguments.
    target: u32,
    instructions: Vec<libbpf_sys::bpf_insn>,
    functions: &'a [libbpf_sys::bpf_func_info],
    /// The object's types.
    types: u32,
}

/// Opens an object, to be relocated by the kernel's types. The descriptor that comes with it is to be kept until it is loaded.
pub(crate) fn open(object: &[u8], types: &Btf<'_>) -> Result<(OpenObject, OwnedFd), ObserveError> {
    let unusable = || io::Error::from(io::ErrorKind::InvalidData);
    let relevant = relevant(object, types).ok_or_else(unusable).map_err(refused)?;
    let file = memory_file(&relevant.types).map_err(refused)?;
    let mut builder = ObjectBuilder::default();
    // SAFETY: words are initialised memory, and the vector lives on.
    let bytes =
        unsafe { std::slice::from_raw_parts(relevant.object.as_ptr().cast::<u8>(), object.len()) };
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let open = builder.btf_custom_path(path).and_then(|builder| builder.open_memory(bytes));
    Ok((open.map_err(|error| ObserveError::refused(&error))?, file))
}

fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::memfd_create("kernel types", flags)?);
    file.write_all(bytes)?;
    Ok(file.into())
}

/// Makes the tables of an object, as far as they are not made yet, and loads the programs that are to be loaded.
pub(crate) fn load(
    mut open: OpenObject,
    features: &KernelFeatures,
    made: Made,
) -> Result<(Object, Vec<Program>), ObserveError> {
    large_tables::provide(&mut open, made);
    // libbpf reads and checks all types of the kernel for a program that it knows by one of them. Which ones these are is known.
    for mut program in open.progs_mut().filter(on_tracepoint) {
        program.set_prog_type(ProgramType::RawTracepoint);
    }
    // SAFETY: the object is open, and neither prepared nor loaded.
    let prepared = unsafe { libbpf_sys::bpf_object__prepare(open.as_libbpf_object().as_ptr()) };
    if prepared < 0 {
        return Err(refused(io::Error::from_raw_os_error(-prepared)));
    }
    let requests = requests(&open, features);
    let fds = verify(&requests)?;
    let programs = requests.into_iter().zip(fds).map(|(request, fd)| Program {
        name: request.name.to_string_lossy().into_owned(),
        fd,
        is_called: request.is_called(),
        point: request.point,
    });
    let programs = programs.collect();
    // What is left to libbpf is to let go of what only loading needs.
    for mut program in open.progs_mut() {
        program.set_autoload(false);
    }
    let object = open.load().map_err(|error| ObserveError::refused(&error))?;
    Ok((object, programs))
}

fn on_tracepoint(program: &OpenProgramMut<'_>) -> bool {
    program.section().to_string_lossy().starts_with(ON_TRACEPOINT)
}

fn refused(error: io::Error) -> ObserveError {
    ObserveError::refused(&libbpf_rs::Error::from(error))
}

/// The programs of a prepared object that are to be loaded, in its order.
fn requests<'a>(open: &'a OpenObject, features: &KernelFeatures) -> Vec<Request<'a>> {
    // SAFETY: the object is prepared.
    let types = unsafe { libbpf_sys::bpf_object__btf_fd(open.as_libbpf_object().as_ptr()) };
    let wanted = open.progs().filter(libbpf_rs::OpenProgram::autoload);
    let requests = wanted.filter_map(|program| {
        let raw = program.as_libbpf_object().as_ptr();
        let section = program.section().to_string_lossy();
        let point = section.strip_prefix(ON_TRACEPOINT).map(str::to_owned);
        let known = point.as_deref().and_then(|point| features.tracepoints.get(point));
        // SAFETY: the program is one of a prepared object, from which what is told is borrowed until it is loaded.
        let functions = unsafe {
            let count = libbpf_sys::bpf_program__func_info_cnt(raw);
            slice(libbpf_sys::bpf_program__func_info(raw), count)
        };
        let (kind, attach) = match point {
            Some(_) => (libbpf_sys::BPF_PROG_TYPE_TRACING, libbpf_sys::BPF_TRACE_RAW_TP),
            // SAFETY: as above.
            None => unsafe {
                (
                    libbpf_sys::bpf_program__type(raw),
                    libbpf_sys::bpf_program__expected_attach_type(raw),
                )
            },
        };
        Some(Request {
            name: CString::new(program.name().as_encoded_bytes()).ok()?,
            kind,
            attach,
            target: known.map_or(0, |known| known.type_id),
            point,
            instructions: with_functions(program.insns(), features),
            functions,
            types: u32::try_from(types).unwrap_or(0),
        })
    });
    requests.collect()
}

/// The instructions with the kernel's own numbers of its functions. A call of one that it does not have is refused, unless it
/// is never reached.
fn with_functions(
    instructions: &[libbpf_sys::bpf_insn],
    features: &KernelFeatures,
) -> Vec<libbpf_sys::bpf_insn> {
    let mut instructions = instructions.to_vec();
    for one in instructions.iter_mut().filter(|one| one.code == CALL && one.src_reg() == 0) {
        let known = one.imm.checked_sub(FIRST_FUNCTION).and_then(|n| usize::try_from(n).ok());
        let known = known.and_then(|n| features.functions.get(n).copied().flatten());
        if let Some(function) = known.and_then(|function| i32::try_from(function).ok()) {
            one.set_src_reg(OF_THE_KERNEL);
            one.imm = function;
        }
    }
    instructions
}

/// What libbpf tells by a pointer and a count.
///
/// # Safety
/// As many values stand at the pointer, for as long as `'a`.
unsafe fn slice<'a, T>(values: *const T, count: u32) -> &'a [T] {
    if values.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(values, count as usize) }
}

/// Has the verifier look at all programs.
fn verify(requests: &[Request<'_>]) -> Result<Vec<OwnedFd>, ObserveError> {
    let length = |request: &Request<'_>| request.instructions.len() as u64;
    let answers = side_by_side(requests, length, |request| request.load(&mut []));
    let mut fds = Vec::new();
    let mut first_error = None;
    for (request, answer) in requests.iter().zip(answers) {
        match answer {
            Some(Ok(fd)) => fds.push(fd),
            Some(Err(error)) => first_error = first_error.or(Some((request, error))),
            None => {}
        }
    }
    match first_error {
        None => Ok(fds),
        Some((request, error)) => {
            request.explain();
            Err(refused(error))
        }
    }
}

impl Request<'_> {
    fn is_called(&self) -> bool {
        self.kind == libbpf_sys::BPF_PROG_TYPE_SYSCALL
    }

    /// Loads the program. With room for a log, the verifier says what it thinks of it.
    fn load(&self, log: &mut [u8]) -> io::Result<OwnedFd> {
        let mut options = libbpf_sys::bpf_prog_load_opts {
            sz: size_of::<libbpf_sys::bpf_prog_load_opts>() as libbpf_sys::size_t,
            expected_attach_type: self.attach,
            attach_btf_id: self.target,
            prog_btf_fd: self.types,
            func_info: self.functions.as_ptr().cast::<c_void>(),
            func_info_cnt: self.functions.len() as u32,
            func_info_rec_size: size_of::<libbpf_sys::bpf_func_info>() as u32,
            prog_flags: if self.is_called() { libbpf_sys::BPF_F_SLEEPABLE } else { 0 },
            log_level: u32::from(!log.is_empty()),
            log_size: log.len() as u32,
            log_buf: if log.is_empty() { std::ptr::null_mut() } else { log.as_mut_ptr().cast() },
            ..Default::default()
        };
        // SAFETY: everything that is pointed to is borrowed for the call, with the counts that belong to it.
        let fd = unsafe {
            libbpf_sys::bpf_prog_load(
                self.kind,
                self.name.as_ptr(),
                LICENSE.as_ptr(),
                self.instructions.as_ptr(),
                self.instructions.len() as libbpf_sys::size_t,
                &raw mut options,
            )
        };
        owned(fd)
    }

    /// Keeps what the verifier says of a program that it refused.
    fn explain(&self) {
        let mut log = vec![0_u8; LOG_BYTES];
        if let Err(error) = self.load(&mut log) {
            let said = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy();
            // The reason stands at the end, after how it was found.
            let last: Vec<&str> = said.lines().rev().take(LAST_LINES).collect();
            let last: Vec<&str> = last.into_iter().rev().collect();
            let name = self.name.to_string_lossy();
            keep_words(format!("{name}: {error}\n{}\n", last.join("\n")));
        }
    }
}

/// The descriptor that the kernel gave, or by libbpf's convention a negative error.
fn owned(fd: i32) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd));
    }
    // SAFETY: the kernel has just made it for this call.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Attaches programs, those on perf events to `events`. Closing what is returned detaches them.
///
/// System calls come last, and their beginning after their end: what they begin, the others continue.
pub(crate) fn attach(
    programs: &[Program],
    events: Vec<OwnedFd>,
) -> Result<Vec<OwnedFd>, ObserveError> {
    let mut order: Vec<&Program> = programs.iter().filter(|program| !program.is_called).collect();
    order.sort_by_key(|program| match program.point.as_deref() {
        Some("sys_enter") => 2,
        Some("sys_exit") => 1,
        _ => 0,
    });
    let mut links = Vec::new();
    for program in order {
        if program.point.is_some() {
            // SAFETY: the program was loaded for its tracepoint, which therefore needs no name.
            let link = unsafe {
                libbpf_sys::bpf_raw_tracepoint_open(std::ptr::null(), program.fd.as_raw_fd())
            };
            links.push(owned(link).map_err(refused)?);
        } else {
            for event in &events {
                set_program(event.as_fd(), program.fd.as_fd()).map_err(refused)?;
            }
        }
    }
    links.extend(events);
    Ok(links)
}

/// How often the kernel skipped each program because it was running on that CPU already; Linux 5.12.
pub(crate) fn skipped(programs: &[Program]) -> impl Iterator<Item = (&str, u64)> {
    programs.iter().map(|program| {
        let mut info = libbpf_sys::bpf_prog_info::default();
        let mut size = size_of::<libbpf_sys::bpf_prog_info>() as u32;
        // SAFETY: the structure is writable for the size given.
        let answer = unsafe {
            libbpf_sys::bpf_prog_get_info_by_fd(
                program.fd.as_raw_fd(),
                &raw mut info,
                &raw mut size,
            )
        };
        (program.name.as_str(), if answer == 0 { info.recursion_misses } else { 0 })
    })
}
