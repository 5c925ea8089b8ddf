//! What `hotset doctor` says of the sensor: tried, not guessed.

use std::time::Instant;

use hotset_facts::{Capability, Observed, Reason, Verdict};

use crate::features::KernelFeatures;
use crate::observation::{Options, Scope};
use crate::select::{Build, select};
use crate::session::Session;
use crate::{ObserveError, inodes};

/// Looks at the kernel, then loads and attaches the sensor once and takes it off again.
///
/// The second value is how long that took, in milliseconds.
pub fn sensor_capabilities() -> (Vec<Capability>, Observed<u64>) {
    let mut found = vec![tracepoints(), inode_lists()];
    let started = Instant::now();
    let session = Session::start(Options::new(Scope::Children));
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    match session {
        Ok(session) => {
            found.push(loaded(&session, took));
            (found, Observed::Value(took))
        }
        Err(error) => {
            let remedy = if error.is_denied() {
                "run as root, or give the binary cap_bpf, cap_perfmon and cap_dac_read_search"
            } else {
                "see the reason; everything else of hotset works without the sensor"
            };
            found.push(Capability {
                id: "sensor",
                title: "the BPF sensor loads and attaches",
                verdict: Verdict::No,
                detail: error.to_string(),
                consequence:
                    "`hotset run` reports only /proc, rusage and residency; `attach` does not work"
                        .into(),
                remedy: remedy.into(),
            });
            (found, Observed::Missing(Reason::denied("the sensor could not be loaded")))
        }
    }
}

fn inode_lists() -> Capability {
    let (verdict, detail, consequence, remedy) = match inodes::probe() {
        Ok(count) => (Verdict::Yes, format!("{count} file systems"), "", ""),
        Err(error) => {
            let remedy = if error.is_denied() {
                "run as root"
            } else if matches!(error, ObserveError::TooOld(_)) {
                "a newer kernel: 6.2 or later"
            } else {
                ""
            };
            let consequence = "`hotset ls --system` walks over the mounted file systems: slower, and blind to deleted \
                               files and to what is mounted elsewhere";
            (Verdict::No, error.to_string(), consequence, remedy)
        }
    };
    Capability {
        id: "inode_lists",
        title: "the kernel's lists of inodes can be read",
        verdict,
        detail,
        consequence: consequence.into(),
        remedy: remedy.into(),
    }
}

fn tracepoints() -> Capability {
    let selected =
        KernelFeatures::probe().map_err(|error| error.to_string()).and_then(|features| {
            let count = features.tracepoints.len();
            select(&features).map(|selection| (selection, count))
        });
    let (verdict, detail, consequence) = match selected {
        Ok((selection, count)) => {
            let missing: Vec<_> = selection.missing.iter().map(|feature| feature.name()).collect();
            let verdict = if missing.is_empty() { Verdict::Yes } else { Verdict::Partly };
            let gaps = if missing.is_empty() {
                String::new()
            } else {
                format!("no {}", missing.join(", no "))
            };
            (verdict, format!("{count} of those hotset knows"), gaps)
        }
        Err(reason) => (Verdict::No, reason, "nothing can be counted in the kernel".into()),
    };
    let remedy = if verdict == Verdict::Yes {
        ""
    } else {
        "a newer kernel; 6.12 and later have all of them"
    };
    Capability {
        id: "tracepoints",
        title: "the page cache's tracepoints",
        verdict,
        detail,
        consequence,
        remedy: remedy.into(),
    }
}

fn loaded(session: &Session, took_ms: u64) -> Capability {
    let build = match session.loaded.selection.build {
        Build::Full => "full build",
        Build::Compat => "compat build for kernels before 6.2",
    };
    Capability {
        id: "sensor",
        title: "the BPF sensor loads and attaches",
        verdict: Verdict::Yes,
        detail: format!(
            "{build}, {} programs, {took_ms} ms",
            session.loaded.selection.programs.len()
        ),
        consequence: String::new(),
        remedy: String::new(),
    }
}
