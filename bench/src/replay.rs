//! What the engine of a replay costs beside a bare loop of the same calls.

use std::error::Error;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use hotset_facts::replay::{FileRole, PlanPath, PlanSlot, PlanThread, ReplayPlan, Step, StepKind};
use hotset_sys::replay::{Replay, Roots};

/// The preads of `loops pread4k`, as steps of one thread: nanoseconds a step.
pub(crate) fn preads(path: &Path, calls: u64) -> Result<f64, Box<dyn Error>> {
    let blocks = std::fs::metadata(path)?.len() / crate::BLOCK as u64;
    let whole = std::path::absolute(path)?;
    let mut plan = ReplayPlan::default();
    let bytes = whole.into_os_string().into_encoded_bytes();
    plan.paths.push(PlanPath { bytes, role: FileRole::Original });
    plan.slots.push(PlanSlot {
        file: None,
        opened_before: Some(0),
        writes: false,
        direct: false,
        append: false,
        sync: false,
    });
    let mut numbers = crate::Xorshift::default();
    let steps = (0..calls).map(|_| Step {
        offset: numbers.next() % blocks * crate::BLOCK as u64,
        bytes: crate::BLOCK as u64,
        result: crate::BLOCK as i64,
        ..Step::new(StepKind::ReadAt, 0, 0)
    });
    plan.threads.push(PlanThread { steps: steps.collect(), ..PlanThread::default() });
    let copies = File::open(std::env::temp_dir())?;
    let roots = Roots { originals: None, copies: copies.as_fd(), no_atime: true };
    let run = Replay::new(&plan, roots)?.run()?;
    let differences: u64 = run.threads.iter().map(|thread| thread.differences).sum();
    if differences > 0 {
        return Err(format!("{differences} steps differ").into());
    }
    Ok(run.threads.iter().map(|thread| thread.busy_ns).sum::<u64>() as f64 / calls as f64)
}
