//! What `hotset doctor` says of the sensor: tried, not guessed.

use std::time::Instant;

use hotset_facts::{Capability, Observed, Reason, Verdict};
use hotset_sys::support::{Check, supported, unsupported};
use hotset_sys::userns::{as_root, as_root_or_with_capabilities};

use crate::features::KernelFeatures;
use crate::observation::{Options, Scope};
use crate::select::{Build, select};
use crate::session::Session;
use crate::{ObserveError, inodes};

const SENSOR: Check = ("sensor", "the BPF sensor loads and attaches");

/// Looks at the kernel, then loads and attaches the sensor once and takes it off again.
///
/// The second value is how long that took, in milliseconds.
pub fn sensor_capabilities() -> (Vec<Capability>, Observed<u64>) {
    let mut found = vec![tracepoints(), code_mappings(), inode_lists()];
    let started = Instant::now();
    let session = Session::start(Options::new(Scope::Children));
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    match session {
        Ok(session) => {
            found.push(supported(SENSOR, loaded(&session, took)));
            (found, Observed::Value(took))
        }
        Err(error) => {
            let remedy = if error.is_denied() {
                as_root_or_with_capabilities()
            } else {
                "see the reason; everything else of hotset works without the sensor"
            };
            let consequence =
                "`hotset run` reports only /proc, rusage and residency; `attach` does not work";
            found.push(unsupported(SENSOR, Verdict::No, error.to_string(), consequence, remedy));
            (found, Observed::Missing(Reason::denied("the sensor could not be loaded")))
        }
    }
}

fn inode_lists() -> Capability {
    let name = ("inode_lists", "the kernel's lists of inodes can be read");
    let error = match inodes::probe() {
        Ok(count) => return supported(name, format!("{count} file systems")),
        Err(error) => error,
    };
    let remedy = match &error {
        error if error.is_denied() => as_root(),
        ObserveError::TooOld(_) => "a newer kernel: 6.2 or later",
        _ => "",
    };
    let consequence = "`hotset ls --system` walks over the mounted file systems: slower, and blind to deleted \
                       files and to what is mounted elsewhere";
    unsupported(name, Verdict::No, error.to_string(), consequence, remedy)
}

fn code_mappings() -> Capability {
    let name = ("code_mappings", "the kernel tells where a program has code mapped");
    if KernelFeatures::probe().is_ok_and(|features| features.mappings) {
        return supported(name, "bpf_iter_task_vma");
    }
    let consequence = "call sites (--sites) of programs that live a few milliseconds, and of code made at run time, may \
                       be unresolved";
    unsupported(
        name,
        Verdict::Partly,
        "no bpf_iter_task_vma",
        consequence,
        "a newer kernel: 6.7 or later",
    )
}

fn tracepoints() -> Capability {
    let name = ("tracepoints", "the page cache's tracepoints");
    let remedy = "a newer kernel; 6.12 and later have all of them";
    let selected =
        KernelFeatures::probe().map_err(|error| error.to_string()).and_then(|features| {
            let count = features.tracepoints.len();
            select(&features).map(|selection| (selection, count))
        });
    match selected {
        Ok((selection, count)) => {
            let detail = format!("{count} of those hotset knows");
            let missing: Vec<_> = selection.missing.iter().map(|feature| feature.name()).collect();
            if missing.is_empty() {
                return supported(name, detail);
            }
            unsupported(
                name,
                Verdict::Partly,
                detail,
                format!("no {}", missing.join(", no ")),
                remedy,
            )
        }
        Err(reason) => {
            unsupported(name, Verdict::No, reason, "nothing can be counted in the kernel", remedy)
        }
    }
}

fn loaded(session: &Session, took_ms: u64) -> String {
    let selection = &session.loaded.selection;
    let build = match selection.build {
        Build::Full => "full build",
        Build::Compat => "compat build for kernels before 6.2",
    };
    format!("{build}, {} programs, {took_ms} ms", selection.programs.len())
}
