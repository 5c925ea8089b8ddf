//! `hotset.control/1`.

use std::borrow::Cow;

use hotset_facts::{ControlReport, ControlTotals, ControlVerb, ControlledFile, Stayed, Unreadable};
use serde::Serialize;

use crate::json::{path_keys, to_line};

#[derive(Serialize)]
struct ReportV1<'a> {
    schema: &'static str,
    verb: &'static str,
    reached: bool,
    interrupted: bool,
    files: Vec<FileV1<'a>>,
    unreadable: Vec<UnreadableV1<'a>>,
    not_cacheable: u64,
    totals: TotalsV1,
    notes: &'a [String],
}

#[derive(Serialize)]
struct FileV1<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    dev: String,
    ino: u64,
    size_bytes: u64,
    pages: u64,
    cached_before: Option<u64>,
    cached_after: Option<u64>,
    reached: bool,
    stayed: Vec<StayedV1<'a>>,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct StayedV1<'a> {
    reason: &'static str,
    pages: Option<u64>,
    pid: Option<u32>,
    comm: Option<&'a str>,
}

#[derive(Serialize)]
struct UnreadableV1<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    reason: &'a str,
}

#[derive(Serialize)]
struct TotalsV1 {
    files: u64,
    files_reached: u64,
    files_unknown: u64,
    size_bytes: u64,
    pages: u64,
    cached_before: u64,
    cached_after: u64,
    fetched_bytes: u64,
    wall_ns: u64,
}

/// One line of JSON, schema `hotset.control/1`. Numbers that nobody knows are null.
pub fn control_json(report: &ControlReport) -> Vec<u8> {
    to_line(&ReportV1 {
        schema: "hotset.control/1",
        verb: report.verb.as_str(),
        reached: report.is_reached(),
        interrupted: report.interrupted,
        files: report.files.iter().map(|file| FileV1::new(report.verb, file)).collect(),
        unreadable: report.unreadable.iter().map(UnreadableV1::from).collect(),
        not_cacheable: report.not_cacheable,
        totals: TotalsV1::from(&report.totals),
        notes: &report.notes,
    })
}

impl<'a> FileV1<'a> {
    fn new(verb: ControlVerb, file: &'a ControlledFile) -> Self {
        let (path, path_hex) = path_keys(&file.path);
        Self {
            path,
            path_hex,
            dev: file.id.dev.to_string(),
            ino: file.id.ino,
            size_bytes: file.size_bytes,
            pages: file.pages,
            cached_before: file.cached_before.value(),
            cached_after: file.cached_after.value(),
            reached: file.is_reached(verb),
            stayed: file.stayed.iter().map(StayedV1::from).collect(),
            error: file.error.as_deref(),
        }
    }
}

impl<'a> From<&'a Stayed> for StayedV1<'a> {
    fn from(stayed: &'a Stayed) -> Self {
        let holder = stayed.holder.as_ref();
        Self {
            reason: stayed.reason.as_str(),
            pages: stayed.pages,
            pid: holder.map(|(pid, _)| *pid),
            comm: holder.map(|(_, comm)| comm.as_str()),
        }
    }
}

impl<'a> From<&'a Unreadable> for UnreadableV1<'a> {
    fn from(unreadable: &'a Unreadable) -> Self {
        let (path, path_hex) = path_keys(&unreadable.path);
        Self { path, path_hex, reason: &unreadable.reason }
    }
}

impl From<&ControlTotals> for TotalsV1 {
    fn from(totals: &ControlTotals) -> Self {
        Self {
            files: totals.files,
            files_reached: totals.files_reached,
            files_unknown: totals.files_unknown,
            size_bytes: totals.size_bytes,
            pages: totals.pages,
            cached_before: totals.cached_before,
            cached_after: totals.cached_after,
            fetched_bytes: totals.fetched_bytes,
            wall_ns: totals.wall_ns,
        }
    }
}
