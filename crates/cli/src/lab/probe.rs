//! `hotset lab-probe JOB key=value…`: one job in this process, one line of JSON about it. `docs/probes.md` has the contract.

use std::io::Read;
use std::path::Path;

use hotset_experiments::{job, jobs};
use hotset_facts::Observed;
use hotset_sys::rawio::{Answer, Arguments, Repetition};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::{Map, Value, json};

use crate::args::LabProbeArgs;
use crate::exit::{Exit, OrExit, Stop};
use crate::output;

/// Removes a directory once standard input is at its end: when whoever made it is gone.
const SWEEP: &str = "sweep";

/// Does the job.
pub(crate) fn probe(args: &LabProbeArgs) -> Result<Exit, Stop> {
    if args.job == SWEEP {
        return Ok(sweep(args));
    }
    // A probe that nobody waits for any more has no business with the files.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let Some((name, work)) = job(&args.job) else {
        let names: Vec<&str> = jobs().map(|(name, _)| name).collect();
        let known = names.join(", ");
        return Err(Stop::usage(format_args!("{}: no such job; there are {known}", args.job)));
    };
    let answer = Arguments::parse(&args.words).and_then(|words| work(&words));
    let line = format!("{}\n", answer_json(name, &answer.or_exit(Exit::Failure)?));
    output::print(line.as_bytes())?;
    Ok(Exit::Success)
}

fn sweep(args: &LabProbeArgs) -> Exit {
    let Some(directory) = args.words.first().map(Path::new) else { return Exit::Usage };
    // Signals that end the lab are not for this process, which is about to be needed.
    let _ = crate::interrupt::stop_flag();
    let mut nothing = [0; 64];
    let mut input = std::io::stdin().lock();
    loop {
        match input.read(&mut nothing) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    match hotset_lab::experiment::sweep(directory) {
        true => Exit::Success,
        false => Exit::Usage,
    }
}

fn answer_json(job: &str, answer: &Answer) -> Value {
    let counts = |all: &[(&'static str, u64)]| -> Map<String, Value> {
        all.iter().map(|&(name, count)| (name.to_owned(), count.into())).collect()
    };
    json!({
        "probe": "native",
        "version": env!("CARGO_PKG_VERSION"),
        "job": job,
        "bytes": answer.bytes,
        "operations": answer.operations,
        "calls": counts(&answer.calls),
        "repetitions_ns": answer.repetitions.iter().map(|one| one.wall_ns).collect::<Vec<_>>(),
        "repetitions": answer.repetitions.iter().map(repetition_json).collect::<Vec<_>>(),
        "notes": counts(&answer.notes),
    })
}

/// What is missing is left out.
fn repetition_json(one: &Repetition) -> Value {
    let told = |value: Observed<u64>| value.value();
    let all = [
        ("wall_ns", Some(one.wall_ns)),
        ("cpu_ns", Some(one.cpu_ns)),
        ("device_read_bytes", Some(one.device_read_bytes)),
        ("device_write_bytes", told(one.device_write_bytes)),
        ("major_faults", Some(one.major_faults)),
        ("minor_faults", Some(one.minor_faults)),
        ("preempted", Some(one.preempted)),
        ("read_calls", told(one.read_calls)),
        ("write_calls", told(one.write_calls)),
        ("cached_before_pages", one.cached_before_pages),
        ("pages", one.pages),
    ];
    let known = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    Value::Object(known.collect())
}

#[cfg(test)]
mod tests {
    use hotset_facts::Reason;
    use hotset_lab::experiment::ProbeAnswer;

    use super::*;

    #[test]
    fn the_lab_reads_back_what_a_native_probe_prints() {
        let missing = Observed::Missing(Reason::not_measured("a test"));
        let one = Repetition {
            wall_ns: 1,
            cpu_ns: 2,
            device_read_bytes: 3,
            device_write_bytes: missing,
            major_faults: 4,
            minor_faults: 5,
            preempted: 6,
            read_calls: Observed::Value(7),
            write_calls: missing,
            cached_before_pages: Some(8),
            pages: Some(9),
        };
        let answer = Answer { notes: vec![("n", 11)], ..Answer::of(one, 12, 13) };
        let printed = answer_json("x", &answer.with_calls(vec![("pread", 10)])).to_string();
        let read = ProbeAnswer::parse(printed.as_bytes()).expect("read");
        let whole = read.whole();
        assert_eq!((whole.wall_ns, whole.cpu_ns, whole.device_read_bytes), (1, Some(2), Some(3)));
        assert_eq!((whole.device_write_bytes, whole.write_calls), (None, None));
        assert_eq!((whole.major_faults, whole.minor_faults), (Some(4), Some(5)));
        assert_eq!((whole.preempted, whole.read_calls), (Some(6), Some(7)));
        assert_eq!((whole.cached_before_pages, whole.pages), (Some(8), Some(9)));
        assert_eq!((read.operations(), read.bytes), (12, 13));
        assert_eq!((read.calls["pread"], read.notes["n"]), (10, 11));
    }
}
