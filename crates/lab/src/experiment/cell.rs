//! One run of a cell: its state set and verified, its probe run, its samples judged.

use hotset_facts::units::duration;
use hotset_facts::{
    CountedBy, DoubtCode, LabDoubt, LabFact, LabSample, Observed, StateReached, StopReason,
    WantedState,
};

use super::fill::Reached;
use super::gates;
use super::plan::{CellPlan, ProbeCommand};
use super::run::{ExperimentError, Running};
use super::sample::{failed, samples_of};
use super::spawn::{Probed, Ready, invocation};
use crate::host::HostLoad;
use crate::rounds::Outcome;
use crate::state::verify;

/// Stolen time counts in ticks of 10 ms of all CPUs; up to this share of a run's time it is no reason, in percent.
const STEAL_PERCENT: u64 = 10;
const TICK_NS: u64 = 10_000_000;

impl Running<'_> {
    /// One run of a cell, judged and kept.
    pub(super) fn run_cell(
        &mut self,
        index: usize,
        round: u32,
    ) -> Result<Outcome, ExperimentError> {
        let Some(plan) = self.plan.cells.get(index).cloned() else { return Ok(Outcome::Counts) };
        let Some(samples) = self.once(index, &plan, round)? else {
            return Ok(Outcome::Stop(StopReason::Interrupted));
        };
        // A failure would be the same again.
        let is_over = samples.iter().all(LabSample::is_valid)
            || samples
                .iter()
                .flat_map(|sample| &sample.doubts)
                .any(|doubt| doubt.code == DoubtCode::Failed);
        for (cell, mut sample) in self.cells[index].iter_mut().zip(samples) {
            if let Some(calls) = self.calls.get(&index) {
                sample.syscalls = Observed::Value(*calls);
            } else if sample.syscalls.value().is_some() && cell.syscalls_by == CountedBy::Nobody {
                let native = matches!(plan.probe, ProbeCommand::Native { .. });
                cell.syscalls_by = if native { CountedBy::Kernel } else { CountedBy::Probe };
            }
            cell.samples.push(sample);
        }
        Ok(if is_over { Outcome::Counts } else { Outcome::Again })
    }

    /// One run. Nothing where it was stopped.
    fn once(
        &mut self,
        index: usize,
        plan: &CellPlan,
        round: u32,
    ) -> Result<Option<Vec<LabSample>>, ExperimentError> {
        let ready = self.ready(&plan.probe)?;
        let Some(reached) = self.set_state(index, plan)? else { return Ok(None) };
        if let Some(why) = &reached.not_prepared {
            return Ok(Some(failed(plan, round, reached.state, why)));
        }
        let probed = ready.run(self.bench.stop).map_err(|error| self.not_started(plan, error))?;
        let host = HostLoad::now().since(reached.host);
        self.forget_what_ran(index, plan);
        let doubt = match plan.is_set_by_probe {
            // What it tells is judged with each of its parts.
            true => None,
            false => gates::state(plan.state, reached.state, reached.not_small),
        };
        Ok(match probed {
            Probed::Stopped => None,
            Probed::Failed(why) => Some(failed(plan, round, reached.state, &why)),
            Probed::Answer(answer) => {
                let mut doubts: Vec<LabDoubt> = doubt.into_iter().collect();
                doubts.extend(stolen(host, answer.whole().wall_ns));
                let samples = samples_of(plan, &answer, round, reached.state, &doubts);
                if samples.iter().any(|sample| !sample.is_valid()) {
                    // Whatever is cached now may have come in otherwise than the cell says.
                    self.filler.forget(&self.sets[index]);
                }
                Some(samples)
            }
        })
    }

    /// Brings the files into the state and verifies it; what runs before is run first. Nothing where it was stopped.
    fn set_state(
        &mut self,
        index: usize,
        plan: &CellPlan,
    ) -> Result<Option<Reached>, ExperimentError> {
        let Some(set) = self.sets.get_mut(index) else { return Ok(None) };
        if plan.is_set_by_probe {
            let state = verify(WantedState::AsIs, set);
            let host = HostLoad::now();
            return Ok(Some(Reached { state, host, not_small: None, not_prepared: None }));
        }
        let Some(prologue) = &plan.prologue else {
            return self
                .filler
                .reach(plan.state, plan.filled_by, set)
                .map(Some)
                .map_err(ExperimentError::State);
        };
        self.filler.reach(prologue.state, plan.filled_by, set).map_err(ExperimentError::State)?;
        let ran = self
            .ready(&prologue.probe)?
            .run(self.bench.stop)
            .map_err(|error| self.not_started(plan, error))?;
        let not_prepared = match ran {
            Probed::Stopped => return Ok(None),
            Probed::Failed(why) => Some(format!("what runs before it failed: {why}")),
            Probed::Answer(_) => None,
        };
        let set = &self.sets[index];
        self.filler.forget(set);
        // Every page is asked for, as where the state is warm.
        let state: Observed<StateReached> = verify(WantedState::Warm, set);
        Ok(Some(Reached { state, host: HostLoad::now(), not_small: None, not_prepared }))
    }

    /// A run that began cold has filled the cache in its own way.
    fn forget_what_ran(&mut self, index: usize, plan: &CellPlan) {
        if plan.state != WantedState::Warm
            && let Some(set) = self.sets.get(index)
        {
            self.filler.forget(set);
        }
    }

    /// One run of each cell under the counter, which is none of its samples.
    pub(super) fn count_calls(&mut self) -> Result<(), ExperimentError> {
        let mut refused = None;
        for index in 0..self.plan.cells.len() {
            if self.stopped() || self.bench.counter.is_none() || refused.is_some() {
                break;
            }
            let Some(plan) = self.plan.cells.get(index).filter(|cell| cell.count_calls).cloned()
            else {
                continue;
            };
            self.tell("counting calls", index);
            if self.set_state(index, &plan)?.is_none() {
                break;
            }
            let words = invocation(&without_check(&plan.probe), &self.bench.native);
            let Some(counter) = self.bench.counter.as_deref_mut() else { break };
            let counted = counter(&words, &plan.files);
            self.forget_what_ran(index, &plan);
            match (counted, self.cells.get_mut(index).map(Vec::as_mut_slice)) {
                (Ok(counted), Some([cell])) => {
                    cell.syscalls_by = CountedBy::Sensor;
                    self.calls.insert(index, counted);
                }
                (Ok(_), _) => {}
                (Err(why), _) => refused = Some(why),
            }
        }
        if let Some(why) = refused {
            self.plan.facts.push(LabFact::new("calls not counted", why));
        }
        Ok(())
    }

    fn ready(&self, probe: &ProbeCommand) -> Result<Ready, ExperimentError> {
        let words = invocation(probe, &self.bench.native);
        let program = words.program.display().to_string();
        Ready::new(&words).map_err(|error| ExperimentError::Start { program, error })
    }

    fn not_started(&self, plan: &CellPlan, error: std::io::Error) -> ExperimentError {
        let program = invocation(&plan.probe, &self.bench.native).program;
        ExperimentError::Start { program: program.display().to_string(), error }
    }
}

/// What a native probe does beside its timed part, to check what it read, is not to be counted.
fn without_check(probe: &ProbeCommand) -> ProbeCommand {
    let mut probe = probe.clone();
    if let ProbeCommand::Native { words, .. } = &mut probe {
        words.push(("check", "no".into()));
    }
    probe
}

/// A doubt where the hypervisor took more of the CPUs than the clock tick blurs.
fn stolen(host: HostLoad, wall_ns: u64) -> Option<LabDoubt> {
    let steal_ns = host.steal_ns.value()?;
    let allowed_ns = (wall_ns / 100 * STEAL_PERCENT).max(2 * TICK_NS);
    (steal_ns > allowed_ns).then(|| LabDoubt {
        code: DoubtCode::CpuTaken,
        text: format!("the hypervisor took {} of CPU time meanwhile", duration(steal_ns)),
        invalidates: true,
    })
}
