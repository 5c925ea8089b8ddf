//! An experiment as a whole, written and read.

use std::path::PathBuf;
use std::time::SystemTime;

use hotset_analysis::lab::{LabAnswer, LabSummary};
use hotset_facts::{Dev, Environment, Filesystem, LabConditions, LabSession, LabSkipped, Observed};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cells::CellV1;
use super::missing::{Missing, MissingV1, Reasons};
use crate::json::{EnvironmentIn, EnvironmentV1, bytes_of, rfc3339};
use crate::results::ReadError;
use crate::wire::intern;

/// An experiment. What is derived is written and not read.
#[derive(Serialize, Deserialize)]
pub(super) struct LabV1 {
    schema: String,
    hotset: String,
    experiment: String,
    started_at: String,
    took_ns: u64,
    size: String,
    seed: u64,
    rounds: u32,
    interrupted: bool,
    environment: Value,
    conditions: ConditionsV1,
    cells: Vec<CellV1>,
    #[serde(skip_deserializing)]
    answers: Vec<AnswerV1>,
    #[serde(skip_deserializing)]
    doubts: Vec<WarningV1>,
    skipped: Vec<SkippedV1>,
    facts: Vec<FactV1>,
    missing: Vec<MissingV1>,
}

#[derive(Serialize)]
struct AnswerV1 {
    question: String,
    answer: String,
    number: String,
    sure: String,
    evidence: Vec<String>,
}

#[derive(Serialize)]
struct WarningV1 {
    kind: &'static str,
    text: String,
    advice: String,
}

#[derive(Serialize, Deserialize)]
struct SkippedV1 {
    what: String,
    why: String,
}

#[derive(Serialize, Deserialize)]
struct FactV1 {
    name: String,
    value: String,
}

#[derive(Serialize, Deserialize)]
struct ConditionsV1 {
    directory: String,
    filesystem: String,
    read_ahead_kb: Option<u64>,
    load_hundredths_before: Option<u64>,
    load_hundredths_after: Option<u64>,
    cpu_pressure_permille: Option<u64>,
    evicted_while_idle_pages: Option<u64>,
    null_engine_ps: Option<u64>,
    clock_ns: Option<u64>,
}

fn read_ahead_key(at: usize) -> String {
    format!("environment.filesystems[{at}].read_ahead_kb")
}

impl LabV1 {
    pub(super) fn of(summary: &LabSummary) -> Self {
        let session = &summary.session;
        let mut missing = Missing::default();
        for (at, one) in session.environment.filesystems.iter().enumerate() {
            missing.one(&read_ahead_key(at), one.read_ahead_kb);
        }
        let conditions = ConditionsV1::of(&session.conditions, &mut missing);
        let cells = session.cells.iter().zip(&summary.cells);
        let fact =
            |(name, value): &(String, String)| FactV1 { name: name.clone(), value: value.clone() };
        let warning = |one: &hotset_analysis::bench::Warning| WarningV1 {
            kind: one.kind,
            text: one.text.clone(),
            advice: one.advice.clone(),
        };
        let skipped = |one: &LabSkipped| SkippedV1 { what: one.what.clone(), why: one.why.clone() };
        // Its keys are text and its parts can't fail.
        let environment = serde_json::to_value(EnvironmentV1::from(&session.environment));
        Self {
            schema: super::SCHEMA.to_owned(),
            hotset: session.version.clone(),
            experiment: session.experiment.clone(),
            started_at: rfc3339(session.started_at),
            took_ns: session.took_ns,
            size: session.size.to_owned(),
            seed: session.seed,
            rounds: session.rounds,
            interrupted: session.interrupted,
            environment: environment.unwrap_or_default(),
            conditions,
            cells: cells.map(|(cell, numbers)| CellV1::of(cell, numbers)).collect(),
            answers: summary.answers.iter().map(AnswerV1::of).collect(),
            doubts: summary.doubts.iter().map(warning).collect(),
            skipped: session.skipped.iter().map(skipped).collect(),
            facts: session.facts.iter().map(fact).collect(),
            missing: missing.0,
        }
    }

    pub(super) fn read(self) -> Result<LabSession, ReadError> {
        let reasons = Reasons { place: String::new(), missing: &self.missing };
        let environment: EnvironmentIn = serde_path_to_error::deserialize(self.environment)
            .map_err(|error| ReadError::in_part("environment", &error))?;
        let cells = self.cells.into_iter().enumerate();
        let cells = cells.map(|(at, cell)| cell.read(&format!("cells[{at}]")));
        Ok(LabSession {
            version: self.hotset,
            experiment: self.experiment,
            started_at: time(&self.started_at)?,
            took_ns: self.took_ns,
            environment: read_environment(environment, &reasons)?,
            conditions: self.conditions.read(&reasons)?,
            size: intern(&self.size),
            seed: self.seed,
            rounds: self.rounds,
            interrupted: self.interrupted,
            cells: cells.collect::<Result<Vec<_>, _>>()?,
            skipped: self
                .skipped
                .into_iter()
                .map(|one| LabSkipped { what: one.what, why: one.why })
                .collect(),
            facts: self.facts.into_iter().map(|fact| (fact.name, fact.value)).collect(),
        })
    }
}

impl AnswerV1 {
    fn of(answer: &LabAnswer) -> Self {
        Self {
            question: answer.question.clone(),
            answer: answer.answer.clone(),
            number: answer.number.clone(),
            sure: answer.confidence.clone(),
            evidence: answer.evidence.clone(),
        }
    }
}

fn time(text: &str) -> Result<SystemTime, ReadError> {
    let time: Result<jiff::Timestamp, _> = text.parse();
    time.map(SystemTime::from).map_err(|_| {
        let right = "expected a time such as 2026-01-31T12:00:00Z";
        ReadError::at("started_at", format!("\"{text}\"; {right}"))
    })
}

impl ConditionsV1 {
    fn of(conditions: &LabConditions, missing: &mut Missing) -> Self {
        let mut one =
            |key: &str, value: Observed<u64>| missing.one(&format!("conditions.{key}"), value);
        Self {
            directory: conditions.directory.clone(),
            filesystem: conditions.filesystem.clone(),
            read_ahead_kb: one("read_ahead_kb", conditions.read_ahead_kb),
            load_hundredths_before: one("load_hundredths_before", conditions.load_hundredths.0),
            load_hundredths_after: one("load_hundredths_after", conditions.load_hundredths.1),
            cpu_pressure_permille: one("cpu_pressure_permille", conditions.cpu_pressure_permille),
            evicted_while_idle_pages: one(
                "evicted_while_idle_pages",
                conditions.evicted_while_idle_pages,
            ),
            null_engine_ps: one("null_engine_ps", conditions.null_engine_ps),
            clock_ns: one("clock_ns", conditions.clock_ns),
        }
    }

    fn read(self, reasons: &Reasons<'_>) -> Result<LabConditions, ReadError> {
        let one = |key: &str, value: Option<u64>| {
            reasons.entry(&format!("conditions.{key}"), None, value)
        };
        Ok(LabConditions {
            directory: self.directory,
            filesystem: self.filesystem,
            read_ahead_kb: one("read_ahead_kb", self.read_ahead_kb)?,
            load_hundredths: (
                one("load_hundredths_before", self.load_hundredths_before)?,
                one("load_hundredths_after", self.load_hundredths_after)?,
            ),
            cpu_pressure_permille: one("cpu_pressure_permille", self.cpu_pressure_permille)?,
            evicted_while_idle_pages: one(
                "evicted_while_idle_pages",
                self.evicted_while_idle_pages,
            )?,
            null_engine_ps: one("null_engine_ps", self.null_engine_ps)?,
            clock_ns: one("clock_ns", self.clock_ns)?,
        })
    }
}

fn read_environment(found: EnvironmentIn, reasons: &Reasons<'_>) -> Result<Environment, ReadError> {
    let mut filesystems = Vec::new();
    for (at, one) in found.filesystems.into_iter().enumerate() {
        let read_ahead_kb = reasons.entry(&read_ahead_key(at), None, one.read_ahead_kb)?;
        let place = |key: &str| format!("environment.filesystems[{at}].{key}");
        let dev = device(&one.dev).ok_or_else(|| {
            let text = format!("\"{}\"; expected a device number such as 253:1", one.dev);
            ReadError::at(place("dev"), text)
        })?;
        let mount = bytes_of(&one.mount, one.mount_hex.as_deref()).ok_or_else(|| {
            ReadError::at(place("mount_hex"), "expected pairs of hexadecimal digits")
        })?;
        filesystems.push(Filesystem {
            mount: PathBuf::from(mount),
            fs_type: one.fs_type,
            device: one.device,
            dev,
            options: one.options,
            read_ahead_kb,
        });
    }
    Ok(Environment {
        kernel: found.kernel,
        page_size_bytes: found.page_size_bytes,
        cpus: found.cpus,
        memory_bytes: found.memory_bytes,
        memory_limit_bytes: found.memory_limit_bytes,
        filesystems,
        evicts_idle_cache: found.evicts_idle_cache,
    })
}

fn device(text: &str) -> Option<Dev> {
    let (major, minor) = text.split_once(':')?;
    Some(Dev { major: major.parse().ok()?, minor: minor.parse().ok()? })
}
