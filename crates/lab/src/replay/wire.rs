//! What is said between this program and the process that replays: a plan, then a replay a line, and an answer to each.

use std::io::{self, BufRead, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_facts::replay::{
    Difference, ReplayPages, ReplayPlan, ReplayState, STEP_BYTES, Step, UnfitFile,
};
use serde::{Deserialize, Serialize};

/// Steps that are handed on at once.
const STEPS_AT_ONCE: usize = 4096;

/// A replay that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ask {
    /// What is cached before.
    pub(super) state: ReplayState,
    /// Which of the CPUs it begins on: all replays of one round on the same, those of the next on the next.
    pub(super) cpu_turn: u32,
}

/// What the process that replays says, a line each.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It has the plan, and these files are not as they were recorded.
    Loaded(Vec<UnfitFile>),
    /// It did the steps, once.
    Replayed(Box<Replayed>),
    /// It could not; why.
    Failed(String),
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Replayed {
    pub(super) pages: ReplayPages,
    pub(super) wall_ns: u64,
    pub(super) busy_ns: u64,
    pub(super) untimed_ns: u64,
    pub(super) waited_ns: u64,
    pub(super) device_read_bytes: u64,
    pub(super) device_write_bytes: u64,
    pub(super) differences: u64,
    pub(super) first_differences: Vec<Difference>,
}

/// Hands on a plan, as far as `stop` lets it.
///
/// # Errors
/// `Interrupted` where `stop` was set; others where nobody takes it.
pub(super) fn write_plan(
    plan: &ReplayPlan,
    to: &mut impl Write,
    stop: &AtomicBool,
) -> io::Result<()> {
    let head = serde_json::to_vec(plan)?;
    to.write_all(&(head.len() as u64).to_le_bytes())?;
    to.write_all(&head)?;
    let mut bytes = Vec::with_capacity(STEPS_AT_ONCE * STEP_BYTES);
    for thread in &plan.threads {
        to.write_all(&(thread.steps.len() as u64).to_le_bytes())?;
        for steps in thread.steps.chunks(STEPS_AT_ONCE) {
            if stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            bytes.clear();
            bytes.extend(steps.iter().flat_map(Step::to_bytes));
            to.write_all(&bytes)?;
        }
    }
    to.flush()
}

/// Takes a plan.
pub(super) fn read_plan(from: &mut impl Read) -> io::Result<ReplayPlan> {
    let mut head = Vec::new();
    let bytes = number(from)?;
    from.by_ref().take(bytes).read_to_end(&mut head)?;
    let mut plan: ReplayPlan = serde_json::from_slice(&head)?;
    for thread in &mut plan.threads {
        let count = number(from)?;
        thread.steps.reserve_exact(usize::try_from(count).unwrap_or(0));
        let mut bytes = [0; STEP_BYTES];
        for _ in 0..count {
            from.read_exact(&mut bytes)?;
            thread.steps.push(Step::from_bytes(&bytes).ok_or(io::ErrorKind::InvalidData)?);
        }
    }
    Ok(plan)
}

fn number(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Says something in a line.
pub(super) fn say(what: &impl Serialize, to: &mut impl Write) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// The next replay that is asked for; nothing at the end.
pub(super) fn next_ask(from: &mut impl BufRead) -> io::Result<Option<Ask>> {
    let mut line = String::new();
    match from.read_line(&mut line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_str(&line)?)),
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::replay::{FileRole, PlanPath, PlanThread, StepKind, Wait};

    use super::*;

    #[test]
    fn a_plan_arrives_as_it_was_sent() {
        let steps = (0..10_000).map(|at| Step {
            offset: u64::from(at) << 33,
            result: -i64::from(at),
            ..Step::new(StepKind::ReadAt, at, at / 2)
        });
        let steps: Vec<Step> = steps.collect();
        let waits = vec![Wait { before: 3, thread: 0, steps: 7 }];
        let plan = ReplayPlan {
            paths: vec![PlanPath { bytes: vec![b'/', 0xff, 0x80, b'a'], role: FileRole::Copy }],
            threads: vec![
                PlanThread { tid: 7, steps: steps.clone(), waits, ..PlanThread::default() },
                PlanThread { steps, ..PlanThread::default() },
            ],
            ..ReplayPlan::default()
        };
        let mut sent = Vec::new();
        write_plan(&plan, &mut sent, &AtomicBool::new(false)).expect("sent");
        assert_eq!(read_plan(&mut sent.as_slice()).expect("taken"), plan);
        sent.pop();
        assert!(read_plan(&mut sent.as_slice()).is_err(), "cut short");
        let mut stopped = Vec::new();
        assert!(write_plan(&plan, &mut stopped, &AtomicBool::new(true)).is_err());
        assert!(read_plan(&mut stopped.as_slice()).is_err(), "stopped");
    }

    #[test]
    fn lines_come_one_by_one() {
        let mut said = Vec::new();
        let asks = [ReplayState::Warm, ReplayState::Cold].map(|state| Ask { state, cpu_turn: 7 });
        asks.iter().for_each(|ask| say(ask, &mut said).expect("said"));
        let mut from = said.as_slice();
        for ask in asks {
            assert_eq!(next_ask(&mut from).expect("a line"), Some(ask));
        }
        assert_eq!(next_ask(&mut from).expect("the end"), None);
        assert!(next_ask(&mut &b"hot\n"[..]).is_err());
    }
}
