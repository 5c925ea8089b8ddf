//! A budget from what a command does now: what is constant without room, what varies with some.

use hotset_facts::budget::{Amount, Bound, Limit, exact, rounded};
use hotset_facts::{Observed, Reason, Unit, WantedState};

use super::numbers::Number;
use crate::diff::Side;

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
    "from_device",
];

/// Told only where they are not 0: most programs do no direct I/O.
const IF_USED: [&str; 2] = ["direct.read_bytes", "direct.write_bytes"];

/// Of what varies, a part of the largest value that is room at the least: in a few runs the extremes are not seen.
const ROOM: f64 = 0.05;
/// Room for what came from the device although it was constant: other programs read pages of the same files, and the kernel reads
/// less ahead when memory is short. Less than a read-ahead window of 128 KiB, and than 64 KiB more.
const DEVICE_ROOM_BYTES: u64 = 32 << 10;
/// A number that varies more than this part of its largest value is no test of anything.
const TOO_MUCH: f64 = 0.5;

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
pub fn propose(runs: &[Side], state: WantedState) -> (Vec<Proposed>, Vec<LeftOut>) {
    let (mut limits, mut left_out) = (Vec::new(), Vec::new());
    for number in LIMITED.into_iter().filter_map(Number::named) {
        match one(runs, number, state) {
            Ok(Some(proposed)) => limits.push(proposed),
            Ok(None) => {}
            Err(why) => left_out.push(LeftOut { number: number.name, why }),
        }
    }
    (limits, left_out)
}

fn one(runs: &[Side], number: Number, state: WantedState) -> Result<Option<Proposed>, String> {
    let is_device = number.name == "from_device";
    if is_device && state == WantedState::AsIs {
        return Err(
            "it depends on what is cached before; with --state cold or warm it can be limited"
                .to_owned(),
        );
    }
    let mut values = Vec::with_capacity(runs.len());
    for run in runs {
        values.push(measured(run, number).map_err(|reason| reason.to_string())?);
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
    let runs = runs.len();
    if least == most && is_device {
        let remark = format!(
            "{} in {runs} runs; room for what the host does meanwhile",
            rounded(most, unit)
        );
        return of(at_most(most.saturating_add(DEVICE_ROOM_BYTES)), Some(remark));
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

/// A count with losses is no count.
fn measured(run: &Side, number: Number) -> Result<u64, Reason> {
    match number.of_run(run) {
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
