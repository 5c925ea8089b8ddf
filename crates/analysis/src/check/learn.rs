//! A budget from what a command does now: what is constant without room, what varies with some.

use std::collections::BTreeSet;

use hotset_facts::budget::{Amount, Bound, Limit, exact, rounded};
use hotset_facts::{FileKind, Observed, Reason, Unit, WantedState};

use super::numbers::Number;
use crate::diff::{Side, SideRow};

/// Depends on what is cached before.
const DEVICE: &str = "from_device";

/// What a new budget limits, in its order. Times are no budget: they differ from run to run and host to host.
const LIMITED: [&str; 12] = [
    "files.opened",
    "lookups.calls",
    "lookups.failed",
    "read.calls",
    "read.bytes",
    "write.calls",
    "write.bytes",
    "sync.calls",
    "direct.read_bytes",
    "direct.write_bytes",
    "processes",
    DEVICE,
];

/// What is limited besides where nothing that the sensor alone counts can be.
const WITHOUT_SENSOR: [&str; 3] = ["device.read_bytes", "mmap.major_faults", "cached_after"];

/// `ru_oublock` grows when a clean page gets dirty, also one that holds a file system's own structures (ext4 without a journal). So
/// it is larger right after a sync, and runs one after the other agree on too little.
const DIRTIED: (&str, &str) = (
    "device.write_bytes",
    "rusage counts pages that were clean and became dirty, so it depends on when the kernel last wrote them back",
);

/// They depend on what is cached before.
const BY_STATE: [&str; 4] =
    ["from_device", "device.read_bytes", "mmap.major_faults", "cached_after"];

/// Told only where they are not 0: most programs do no direct I/O.
const IF_USED: [&str; 2] = ["direct.read_bytes", "direct.write_bytes"];

/// Of what varies, a part of the largest value that is room at the least: in a few runs the extremes are not seen.
const ROOM: f64 = 0.05;
/// Room for what came from the device although it was constant: other programs read pages of the same files, and the kernel reads
/// less ahead when memory is short. Less than a read-ahead window of 128 KiB, and than 64 KiB more.
const DEVICE_ROOM_BYTES: u64 = 32 << 10;
/// A number that varies more than this part of its largest value is no test of anything.
const TOO_MUCH: f64 = 0.5;

/// Other programs may use so many files of a command that a limit on the others still tells something.
const MOST_SHARED: usize = 50;
const SHARED: &str = "other programs had pages of more of its files cached than a budget can list, and what a run has to read of these depends on them";

/// Limits for a new budget.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proposal {
    /// Those of the whole run.
    pub limits: Vec<Proposed>,
    /// One that leaves out files.
    pub without_shared: Option<WithoutShared>,
    /// Numbers without a limit.
    pub left_out: Vec<LeftOut>,
}

/// A limit on what is read of files that only the command used.
#[derive(Debug, Clone, PartialEq)]
pub struct WithoutShared {
    /// Paths of the others: some of their pages were cached when a cold run first touched them, for other programs had them mapped, or
    /// had read them since.
    pub shared: Vec<String>,
    /// The limit.
    pub limit: Proposed,
}

/// A limit for a new budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposed {
    /// The number's name.
    pub number: &'static str,
    /// The limit.
    pub limit: Limit,
    /// Why it has room, if it has.
    pub remark: Option<String>,
}

/// A number that a new budget does not limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The number's name.
    pub number: &'static str,
    /// Why it has none.
    pub why: String,
}

/// Limits that these runs of one command, from one state, all hold; and what no limit was set on.
pub fn propose(runs: &[Side], state: WantedState) -> Proposal {
    let mut proposal = Proposal::default();
    let without_sensor = runs.iter().any(Side::is_without_sensor);
    let more = WITHOUT_SENSOR.into_iter().filter(|_| without_sensor);
    for number in LIMITED.into_iter().chain(more).filter_map(Number::named) {
        let result = match number.name == DEVICE {
            true => device(runs, number, state, &mut proposal),
            false => one(runs, number, state, &|run| number.of_run(run)),
        };
        match result {
            Ok(Some(proposed)) => proposal.limits.push(proposed),
            Ok(None) => {}
            Err(why) => proposal.left_out.push(LeftOut { number: number.name, why }),
        }
    }
    if without_sensor {
        proposal.left_out.push(LeftOut { number: DIRTIED.0, why: DIRTIED.1.to_owned() });
    }
    proposal
}

/// What is read from the device: of the files that the command alone uses, where others use some, too.
fn device(
    runs: &[Side],
    number: Number,
    state: WantedState,
    proposal: &mut Proposal,
) -> Result<Option<Proposed>, String> {
    let shared = match state {
        WantedState::Cold | WantedState::ColdAll => shared(runs)?,
        WantedState::AsIs | WantedState::Warm | WantedState::Share(_) => BTreeSet::new(),
    };
    if shared.is_empty() {
        return one(runs, number, state, &|run| number.of_run(run));
    }
    let is_own = |row: &SideRow| row.name.to_str().is_none_or(|name| !shared.contains(name));
    let limit = one(runs, number, state, &|run| number.of_files(run, is_own))?;
    let shared = shared.iter().map(|&name| name.to_owned()).collect();
    proposal.without_shared = limit.map(|limit| WithoutShared { shared, limit });
    Ok(None)
}

/// Files of which pages were cached when a cold run began to use them.
fn shared(runs: &[Side]) -> Result<BTreeSet<&str>, String> {
    let rows = runs.iter().flat_map(|run| &run.files);
    let is_cached = |row: &&SideRow| {
        matches!(row.counters.get("cached_before"), Some(Observed::Value(1..)))
            && row.kind == Some(FileKind::Regular)
    };
    let mut names = BTreeSet::new();
    for row in rows.filter(is_cached) {
        let name = row.name.to_str();
        names
            .insert(name.ok_or_else(|| format!("{SHARED} ({} is not UTF-8)", row.name.display()))?);
    }
    if names.len() > MOST_SHARED { Err(SHARED.to_owned()) } else { Ok(names) }
}

fn one(
    runs: &[Side],
    number: Number,
    state: WantedState,
    value: &dyn Fn(&Side) -> Observed<u64>,
) -> Result<Option<Proposed>, String> {
    let is_device = BY_STATE.contains(&number.name);
    let values = runs.iter().map(|run| measured(run, value(run)));
    let values = values.collect::<Result<Vec<_>, _>>().map_err(|reason| reason.to_string())?;
    if is_device && state == WantedState::AsIs {
        return Err(
            "it depends on what is cached before; with --state cold or warm it can be limited"
                .to_owned(),
        );
    }
    let (Some(&least), Some(&most)) = (values.iter().min(), values.iter().max()) else {
        return Ok(None);
    };
    if most == 0 && IF_USED.contains(&number.name) {
        return Ok(None);
    }
    let unit = number.unit;
    let at_most = |most: u64| Bound::AtMost(Amount { number: most, unit: Some(unit) });
    let of = |bound, remark| {
        Ok(Some(Proposed {
            number: number.name,
            limit: Limit { bound, if_measured: false },
            remark,
        }))
    };
    let page_size_bytes = runs.first().map_or(4096, Side::page_size_bytes).max(1);
    let runs = runs.len();
    if least == most && is_device {
        let remark = format!(
            "{} in {runs} runs; room for what the host does meanwhile",
            rounded(most, unit)
        );
        let room = device_room(unit, page_size_bytes);
        return of(at_most(most.saturating_add(room)), Some(remark));
    }
    if least == most {
        // Less is no failure: programs that end while one of their threads starts do a little less then.
        return of(at_most(most), None);
    }
    let range = most - least;
    if range as f64 > TOO_MUCH * most as f64 {
        return Err(format!(
            "it varies too much to be a test: {} to {} in {runs} runs",
            exact(least, unit),
            exact(most, unit)
        ));
    }
    let room = range.max((most as f64 * ROOM).ceil() as u64);
    let remark = format!("{} to {} in {runs} runs", exact(least, unit), exact(most, unit));
    of(at_most(readable(most.saturating_add(room), unit)), Some(remark))
}

fn device_room(unit: Unit, page_size_bytes: u64) -> u64 {
    match unit {
        Unit::Bytes => DEVICE_ROOM_BYTES,
        // One fault reads as much as a window of read-ahead.
        Unit::Pages => DEVICE_ROOM_BYTES / page_size_bytes,
        Unit::Count | Unit::Nanoseconds => 1,
    }
}

/// A count with losses is no count.
fn measured(run: &Side, value: Observed<u64>) -> Result<u64, Reason> {
    match value {
        Observed::Value(_) if run.lost() > 0 => Err(Reason::lost("the sensor lost events")),
        Observed::Value(value) => Ok(value),
        Observed::Missing(reason) => Err(reason),
    }
}

/// The next larger amount that reads well: bytes in whole units of a hundredth or less of it.
fn readable(number: u64, unit: Unit) -> u64 {
    const STEPS: [u64; 4] = [1 << 30, 1 << 20, 1 << 10, 1];
    if unit != Unit::Bytes {
        return number;
    }
    let step = STEPS.into_iter().find(|step| number / step >= 100).unwrap_or(1);
    number.div_ceil(step).saturating_mul(step)
}
