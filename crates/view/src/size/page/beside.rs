//! Needs of several recordings on one page.

use crate::escape::{escape_bytes, escape_text};
use crate::page::{Page, Section, Table};
use crate::size::{SizedTrace, words};
use crate::units::{bytes, percent};

/// Needs beside each other, each with the name of its file: of other programs, or of one on other kernels.
pub(crate) fn size_beside(all: &[(&str, SizedTrace<'_>)]) -> Page {
    let dash = || "-".to_owned();
    let table = Table::of("What to set for each, and what that is worth", all)
        .words("Result", |(name, _)| escape_text(name))
        .words("Program", |(_, trace)| words::program(trace, &escape_bytes))
        .numbers("Limit", |(_, trace)| {
            trace.summary.limit.map_or_else(dash, |limit| bytes(limit.bytes))
        })
        .numbers("Request", |(_, trace)| {
            trace.summary.request.map_or_else(dash, |request| bytes(request.bytes))
        })
        .numbers("Thrashes up to", |(_, trace)| words::thrash(trace.summary).unwrap_or_else(dash))
        .numbers("Hit ratio at the limit", |(_, trace)| {
            trace.summary.enough.map_or_else(dash, |enough| percent(enough.hit_ratio))
        })
        .numbers("With unlimited memory", |(_, trace)| {
            trace.summary.limits.last().map_or_else(dash, |most| percent(most.hit_ratio))
        })
        .words("Predicted by", |(_, trace)| words::policy_of(trace.summary))
        .table();
    Page {
        title: "Memory needs side by side".to_owned(),
        subtitle: "One recording each: another run of the same program can need more.".to_owned(),
        sections: vec![Section {
            question: "How much memory does each need?".to_owned(),
            table,
            ..Section::default()
        }],
        ..Page::default()
    }
}
