//! The plan of `lab direct`: a file read through and through as dd does it, cold and warm; and a program that reads the
//! same bytes again and again with O_DIRECT, beside its twin that uses the cache.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hotset_facts::{LabFact, LabSize, LabUnit, WantedState};
use hotset_lab::experiment::{
    CellPlan, Contents, Expects, ExperimentPlan, Part, ProbeCommand, Rounds, Splits, TestFile, name,
};

use super::target::{Device, is_block_device};
use crate::Request;

/// dd's usual block for throughput.
const DD_BLOCK_BYTES: u64 = 1 << 20;
/// What the program reads each time, unless `--block` says otherwise.
const APP_BYTES: u64 = 32 << 20;

/// The file that dd reads.
pub(super) const DD_FILE: &str = "dd";
/// The file that the program reads.
const APP_FILE: &str = "app";

/// A file of the user's that is read instead is at most so large: all of it is evicted, and read in once.
const MOST_DEVICE_BYTES: u64 = 4 << 30;

/// The file that the program reads: the one that was asked for, as /proc names it, or one of its own.
pub(super) fn app_file(request: &Request) -> PathBuf {
    match &request.options.device {
        Some(own) => own.canonicalize().unwrap_or_else(|_| own.clone()),
        None => request.path(APP_FILE),
    }
}

/// What is read, and how often.
struct Amounts {
    dd_bytes: u64,
    app_bytes: u64,
    reads: u32,
    pause: Duration,
    rounds: Rounds,
}

/// Makes the plan.
///
/// # Errors
/// Where what was asked for can't be measured.
pub(super) fn plan(request: &Request) -> Result<ExperimentPlan, String> {
    let amounts = amounts(request)?;
    let own = request.options.device.as_deref();
    if let Some(path) = own {
        refuse(path, amounts.app_bytes)?;
    }
    let mut plan = ExperimentPlan::new(super::NAME, request.size, amounts.rounds);
    let warm = dd(request, &amounts, WantedState::Warm);
    plan.cells = vec![
        dd(request, &amounts, WantedState::Cold),
        warm.twin(),
        warm,
        app(request, &amounts, "cached"),
    ];
    match super::place(request).direct {
        Ok(_) => plan.cells.push(app(request, &amounts, "direct")),
        Err(why) => {
            let place = request.place.directory.display();
            plan.skip("the program with O_DIRECT", format!("unsupported in {place}: {why}"));
        }
    }
    let file = |name: &str, bytes| TestFile {
        path: request.path(name),
        contents: Contents::Pattern { bytes },
    };
    plan.prepare.push(file(DD_FILE, amounts.dd_bytes));
    match own {
        Some(path) => {
            plan.facts.push(LabFact::new("the program reads", path.display().to_string()));
        }
        None => plan.prepare.push(file(APP_FILE, amounts.app_bytes)),
    }
    Ok(plan)
}

/// Says what is wrong with a file or a block device that was asked for.
fn refuse(path: &Path, app_bytes: u64) -> Result<(), String> {
    let refused = |why: String| Err(format!("--device {}: {why}", path.display()));
    if is_block_device(path) {
        let device = Device::open(path, app_bytes);
        return device.and_then(|device| device.require_evictable()).or_else(refused);
    }
    match path.metadata() {
        Err(error) => refused(error.to_string()),
        Ok(meta) if !meta.is_file() => refused(
            "its cache state cannot be set; expected a regular file or a block device".to_owned(),
        ),
        Ok(meta) if !(app_bytes..=MOST_DEVICE_BYTES).contains(&meta.len()) => refused(format!(
            "it has {} bytes; expected {app_bytes} (--block) to {MOST_DEVICE_BYTES}",
            meta.len()
        )),
        Ok(_) => Ok(()),
    }
}

fn amounts(request: &Request) -> Result<Amounts, String> {
    let options = &request.options;
    let (dd_mib, reads, pause_ms, budget_s) = match request.size {
        LabSize::Quick => (64, 3, 0, None),
        LabSize::Default => (512, 4, 100, Some(120)),
        LabSize::Full => (512, 10, 1000, Some(900)),
    };
    let app_bytes = options.blocks_bytes.first().copied().unwrap_or(APP_BYTES);
    let dd_bytes = options.file_bytes.unwrap_or(dd_mib << 20);
    for (option, bytes) in [("--block", app_bytes), ("--size", dd_bytes)] {
        if bytes == 0 || bytes % DD_BLOCK_BYTES != 0 {
            return Err(format!("{option} {bytes}: takes whole MiB here, 1 MiB or more"));
        }
    }
    let reads = options.count.unwrap_or(reads);
    if reads < 2 {
        return Err(format!("--count {reads}: expected at least 2, a first read and a later one"));
    }
    let rounds = request.rounds_of_size(15, budget_s);
    let pause = options.sleep.unwrap_or(Duration::from_millis(pause_ms));
    Ok(Amounts { dd_bytes, app_bytes, reads, pause, rounds })
}

fn dd(request: &Request, amounts: &Amounts, state: WantedState) -> CellPlan {
    let path = request.path(DD_FILE);
    let words = [
        ("file", path.clone().into()),
        ("block", DD_BLOCK_BYTES.to_string().into()),
        ("count", "1".into()),
        ("whole", "1".into()),
    ];
    let factors =
        vec![name("case", "dd"), name("mode", "cached"), name("state", state.to_string())];
    let mut cell = CellPlan::new(factors, state, ProbeCommand::native("stream", words));
    cell.unit = LabUnit::Nanoseconds;
    cell.files = vec![path];
    let as_wanted = if state.is_cold() { Expects::cold(amounts.dd_bytes) } else { Expects::warm() };
    // The call that finds the end counts too.
    let calls = amounts.dd_bytes / DD_BLOCK_BYTES + 1;
    cell.expects = Expects {
        bytes: Some(amounts.dd_bytes),
        calls: vec![("read", calls)],
        read_calls: Some((calls, calls)),
        ..as_wanted
    };
    cell
}

/// Cold at first, so that both twins begin alike: what the cache is worth shows from the second read on.
fn app(request: &Request, amounts: &Amounts, mode: &'static str) -> CellPlan {
    let path = app_file(request);
    let direct = mode == "direct";
    // Of a device, the part that is read; the rest of it is nobody's business.
    let is_device = is_block_device(&path);
    let words = [
        ("file", path.clone().into()),
        ("block", amounts.app_bytes.to_string().into()),
        ("count", amounts.reads.to_string().into()),
        ("sleep_ms", amounts.pause.as_millis().to_string().into()),
        ("direct", if direct { "1" } else { "0" }.into()),
        ("evict", if is_device { "1" } else { "0" }.into()),
    ];
    let factors = vec![name("case", "app"), name("mode", mode)];
    let mut cell = CellPlan::new(factors, WantedState::Cold, ProbeCommand::native("stream", words));
    cell.unit = LabUnit::Nanoseconds;
    cell.is_set_by_probe = is_device;
    cell.files = if is_device { Vec::new() } else { vec![path] };
    cell.expects.bytes = Some(amounts.app_bytes * u64::from(amounts.reads));
    let of_direct = || Expects { min_device_bytes: Some(amounts.app_bytes), ..Expects::default() };
    let (first, later) = if direct {
        (of_direct(), of_direct())
    } else {
        (Expects::cold(amounts.app_bytes), Expects::warm())
    };
    cell.splits = Splits::Parts(vec![Part::first(first), Part::later(later)]);
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::Request;
    use crate::testing::Scratch;
    use hotset_lab::experiment::Place;

    #[test]
    fn a_file_of_the_users_is_read_and_not_made_and_what_is_none_is_refused() {
        let scratch = Scratch::new();
        let place = Place::look(&scratch.path("")).expect("place");
        let path = scratch.path("own");
        std::fs::write(&path, vec![7; 2 << 20]).expect("a file");
        let plan = |device: &Path, block: u64| {
            let options = Options {
                device: Some(device.to_owned()),
                blocks_bytes: vec![block],
                file_bytes: Some(1 << 20),
                ..Options::default()
            };
            plan(&Request { size: LabSize::Quick, rounds: None, place: place.clone(), options })
        };
        let made = plan(&path, 1 << 20).expect("a plan");
        let apps = made.cells.iter().filter(|cell| cell.factors[0] == name("case", "app"));
        assert!(apps.clone().count() > 0 && apps.clone().all(|cell| cell.files == [path.clone()]));
        assert!(made.prepare.iter().all(|file| file.path != path), "it is not written over");
        for (device, block, why) in
            [(&path, 4 << 20, "4194304"), (&scratch.path(""), 1 << 20, "or a block device")]
        {
            let error = plan(device, block).expect_err("refused");
            assert!(error.contains("--device") && error.contains(why), "{error}");
        }
    }
}
