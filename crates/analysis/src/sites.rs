//! Who asked: the call sites behind a finding, and of each the function that a person would look at.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hotset_facts::trace::{Frame, OperationClass, Site};
use hotset_facts::{CallSites, SiteIo, SiteRow};

use crate::Finding;
use crate::numbers::share;

/// A finding names at most this many sites.
const NAMED_SITES: usize = 3;
/// A site below this share of what a finding is about is not named.
const TELLING_SHARE: f64 = 0.05;

/// A call site with its part of what a finding is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiteShare {
    /// The place of the site in the profile's list.
    pub site: u32,
    /// Its part of what all known sites asked for, 0 to 1.
    pub share: f64,
    /// What that is a share of: "read calls".
    pub of: &'static str,
}

/// What of a site's sums a rule is about.
struct About {
    classes: &'static [OperationClass],
    of: &'static str,
    measure: fn(&SiteIo) -> u64,
}

/// What each rule is about; nothing where no code is to blame.
fn about(rule: &str) -> Option<About> {
    use OperationClass::{Advice, Fault, Lookup, Open, Read, Sync, Write};
    let (classes, of, measure): (&[OperationClass], _, fn(&SiteIo) -> u64) = match rule {
        "small-reads" => (&[Read], "read calls", |io| io.calls),
        "small-writes" => (&[Write], "write calls", |io| io.calls),
        "failed-lookups" => (&[Open, Lookup], "failed lookups", |io| io.failed),
        "fsync-per-write" => (&[Sync], "sync time", |io| io.time_ns),
        "many-small-files" => (&[Open], "opens", |io| io.calls),
        "misaligned-buffer" => (&[Write], "pages read for writes", |io| io.missed_pages),
        "direct-reread" => (&[Read], "bytes from the device", |io| io.device_read_bytes),
        "dropped-pages" => (&[Advice], "calls", |io| io.calls),
        "mapped-random-access" => (&[Fault], "fault time", |io| io.time_ns),
        "cold-start" | "cache-thrash" | "reread-file" | "readahead-wasted" | "idle-eviction" => {
            (&[Read, Fault], "time", |io| io.time_ns)
        }
        _ => return None,
    };
    Some(About { classes, of, measure })
}

/// Says of each finding who asked.
pub(crate) fn name_sites(findings: &mut [Finding], sites: &CallSites) {
    for finding in findings {
        finding.sites = behind(finding, sites);
    }
}

fn behind(finding: &Finding, sites: &CallSites) -> Vec<SiteShare> {
    let Some(about) = about(finding.rule) else { return Vec::new() };
    let mut by_site: HashMap<u32, u64> = HashMap::new();
    for row in &sites.rows {
        if about.classes.contains(&row.class) && is_about(row, &finding.files) {
            let sum = by_site.entry(row.site).or_default();
            *sum = sum.saturating_add((about.measure)(&row.io));
        }
    }
    let all = by_site.values().fold(0, |sum: u64, more| sum.saturating_add(*more));
    let mut found: Vec<(u32, u64)> = by_site.into_iter().collect();
    found.sort_unstable_by_key(|&(site, sum)| (Reverse(sum), site));
    let part = |(site, sum)| Some(SiteShare { site, share: share(sum, all)?, of: about.of });
    found
        .into_iter()
        .filter_map(part)
        .filter(|site| site.share >= TELLING_SHARE)
        .take(NAMED_SITES)
        .collect()
}

/// Whether a row is of one of the files of a finding, or in one of its directories; of a finding without files every row is.
fn is_about(row: &SiteRow, files: &[PathBuf]) -> bool {
    if files.is_empty() {
        return true;
    }
    let Some(path) = &row.path else { return false };
    files.iter().any(|file| path == file || path.parent() == Some(file.as_path()))
}

/// All sites by what they cost, most time first.
pub fn by_time(sites: &CallSites) -> Vec<(u32, SiteIo)> {
    let mut by_site: HashMap<u32, SiteIo> = HashMap::new();
    for row in &sites.rows {
        by_site.entry(row.site).or_default().add(&row.io);
    }
    let mut all: Vec<_> = by_site.into_iter().collect();
    all.sort_unstable_by_key(|&(site, io)| (Reverse((io.time_ns, io.calls)), site));
    all
}

/// The place in a chain of the function that a person would look at: the innermost that belongs neither to the C library nor to
/// a language's own library or runtime. Where code made at run time has names, that is the innermost of these; where nothing has
/// any, it is the innermost of all.
pub fn telling_frame(site: &Site) -> Option<usize> {
    let position = |tells: fn(&Frame) -> bool| site.frames.iter().position(|frame| tells(frame));
    position(|frame| is_made_at_run_time(frame) && !is_library(frame))
        .or_else(|| position(|frame| frame.function.is_some() && !is_library(frame)))
        .or_else(|| position(|frame| !is_library(frame)))
        .or_else(|| (!site.frames.is_empty()).then_some(0))
}

fn is_made_at_run_time(frame: &Frame) -> bool {
    frame.function.is_some() && frame.module.as_deref() == Some("[jit]")
}

/// Libraries that hand on what others ask for, by the beginnings of their names.
const MODULES: &[&str] = &[
    "libc.so",
    "libc-",
    "libpthread",
    "ld-linux",
    "ld-musl",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "[vdso]",
];

/// The same by the beginnings of their functions' names: of C++ and Rust, glibc, Go, and what Node and Java compile at run time.
const FUNCTIONS: &[&str] = &[
    "std::",
    "<std::",
    "<&std::",
    "core::",
    "<core::",
    "alloc::",
    "<alloc::",
    "<&mut ",
    "__libc_",
    "__GI_",
    "_IO_",
    "__syscall",
    "syscall.",
    "internal/",
    "os.",
    "io.",
    "io/",
    "bufio.",
    "runtime.",
    "Ljava/",
    "Ljdk/",
    "Lsun/",
    "java.",
    "jdk.",
    "sun.",
    "Interpreter",
    "StubRoutines",
    "Builtin:",
];

/// What Node says of functions of its own library.
const OF_NODE: &str = " node:";

/// Functions of the C library, where it is linked into a program.
const CALLS: &[&str] = &[
    "read",
    "pread",
    "pread64",
    "readv",
    "preadv",
    "write",
    "pwrite",
    "pwrite64",
    "writev",
    "open",
    "open64",
    "openat",
    "openat64",
    "fopen",
    "fopen64",
    "fread",
    "fread_unlocked",
    "fwrite",
    "fgets",
    "fgetc",
    "getc",
    "getline",
    "getdelim",
    "fclose",
    "close",
    "stat",
    "stat64",
    "lstat",
    "fstatat64",
    "access",
    "fsync",
    "fdatasync",
    "mmap",
    "mmap64",
    "munmap",
    "lseek",
    "lseek64",
    "unlink",
    "rename",
    "readlink",
    "syscall",
    "sendfile",
    "copy_file_range",
    "memcpy",
];

fn is_library(frame: &Frame) -> bool {
    let module = frame.module.as_deref().unwrap_or_default();
    let file = Path::new(module).file_name().and_then(|name| name.to_str()).unwrap_or(module);
    let function = frame.function.as_deref().unwrap_or_default();
    MODULES.iter().any(|begin| file.starts_with(begin))
        || FUNCTIONS.iter().any(|begin| function.starts_with(begin))
        || function.contains(OF_NODE)
        // A program's own function may be called so too, but then debug information has it as a rule.
        || (frame.source.is_none() && CALLS.contains(&function))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hotset_facts::trace::SiteState;

    use super::*;
    use crate::Saving;

    fn site(frames: &[(&str, &str)]) -> Site {
        let frame = |(function, module): &(&str, &str)| Frame {
            function: (!function.is_empty()).then(|| (*function).to_owned()),
            module: Some((*module).to_owned()),
            offset: 0,
            source: None,
            line: None,
        };
        let frames = frames.iter().map(frame).map(Arc::new).collect();
        Site { frames, state: SiteState::Whole }
    }

    fn telling(frames: &[(&str, &str)]) -> Option<usize> {
        telling_frame(&site(frames))
    }

    #[test]
    fn libraries_are_passed_over() {
        let libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";
        assert_eq!(
            telling(&[("__read", libc), ("load", "/opt/app"), ("main", "/opt/app")]),
            Some(1)
        );
        let app = "/opt/app";
        let rust = [
            ("read", app),
            ("std::fs::read", app),
            ("<std::fs::File as std::io::Read>::read", app),
            ("app::load", app),
        ];
        assert_eq!(telling(&rust), Some(3));
        let go = [
            ("syscall.Syscall", app),
            ("internal/poll.(*FD).Read", app),
            ("os.(*File).Read", app),
            ("main.load", app),
        ];
        assert_eq!(telling(&go), Some(3));
        assert_eq!(telling(&[("", app)]), Some(0));
        assert_eq!(telling(&[("__read", libc), ("", app), ("__libc_start_main", libc)]), Some(1));
        assert_eq!(telling(&[("__read", libc)]), Some(0));
        assert_eq!(telling(&[]), None);
    }

    #[test]
    fn functions_of_a_runtime_stand_before_the_runtime() {
        let python = [
            ("_Py_read", "python3"),
            ("_PyEval_EvalFrameDefault", "python3"),
            ("py::load:/app.py", "[jit]"),
        ];
        assert_eq!(telling(&python), Some(2));
        let node = [
            ("uv_fs_read", "node"),
            ("JS:~readSync node:fs:700:18", "[jit]"),
            ("JS:~load /app.js:3:1", "[jit]"),
        ];
        assert_eq!(telling(&node), Some(2));
    }

    fn row(site: u32, class: OperationClass, path: &str, io: SiteIo) -> SiteRow {
        SiteRow { site, class, path: Some(path.into()), io }
    }

    fn calls(calls: u64) -> SiteIo {
        SiteIo { calls, ..SiteIo::default() }
    }

    #[test]
    fn a_finding_names_who_asked_for_what_it_is_about() {
        let rows = vec![
            row(0, OperationClass::Read, "/a", calls(90)),
            row(1, OperationClass::Read, "/a", calls(10)),
            row(2, OperationClass::Read, "/b", calls(500)),
            row(3, OperationClass::Write, "/a", calls(900)),
            row(4, OperationClass::Read, "/a", calls(1)),
        ];
        let sites = CallSites { rows, ..CallSites::default() };
        let saving = Saving::of_wall(1, 2, 10);
        let finding = |rule| Finding::with_saving(rule, String::new(), "", saving, Vec::new());
        let mut findings = [
            finding("small-reads").about(vec!["/a".into()]),
            finding("small-writes"),
            finding("cpu-bound"),
        ];
        name_sites(&mut findings, &sites);
        let of = "read calls";
        let shares = [
            SiteShare { site: 0, share: 90.0 / 101.0, of },
            SiteShare { site: 1, share: 10.0 / 101.0, of },
        ];
        assert_eq!(findings[0].sites, shares);
        assert_eq!(findings[1].sites, [SiteShare { site: 3, share: 1.0, of: "write calls" }]);
        assert_eq!(findings[2].sites, []);
    }

    #[test]
    fn every_rule_that_code_can_be_behind_is_known() {
        let unknown: Vec<&str> =
            crate::RULES.iter().map(|rule| rule.id).filter(|id| about(id).is_none()).collect();
        assert_eq!(unknown, ["cpu-bound"]);
    }
}
