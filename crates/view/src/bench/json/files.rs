//! The files that the states were set on.

use std::borrow::Cow;

use hotset_facts::{FileSet, LearnedBy, SetMember, Unreadable};
use serde::Serialize;

use crate::json::path_keys;

#[derive(Serialize)]
struct MemberV1<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    dev: String,
    ino: u64,
    size_bytes: u64,
    mtime_ns: i64,
    read: bool,
    mapped: bool,
    written: bool,
    stuck_pages: Option<u64>,
    stuck_reason: Option<&'static str>,
}

impl<'a> From<&'a SetMember> for MemberV1<'a> {
    fn from(member: &'a SetMember) -> Self {
        let (path, path_hex) = path_keys(&member.path);
        Self {
            path,
            path_hex,
            dev: member.id.dev.to_string(),
            ino: member.id.ino,
            size_bytes: member.size_bytes,
            mtime_ns: member.mtime_ns,
            read: member.read,
            mapped: member.mapped,
            written: member.written,
            stuck_pages: member.cannot_evict.map(|stuck| stuck.pages),
            stuck_reason: member.cannot_evict.map(|stuck| stuck.reason.as_str()),
        }
    }
}

#[derive(Serialize)]
struct UnreadableV1<'a> {
    path: Cow<'a, str>,
    path_hex: Option<String>,
    reason: &'a str,
}

impl<'a> From<&'a Unreadable> for UnreadableV1<'a> {
    fn from(unreadable: &'a Unreadable) -> Self {
        let (path, path_hex) = path_keys(&unreadable.path);
        Self { path, path_hex, reason: &unreadable.reason }
    }
}

/// The set of one command.
#[derive(Serialize)]
pub(super) struct FilesV1<'a> {
    name: &'a str,
    learned_by: &'static str,
    members: Vec<MemberV1<'a>>,
    unreadable: Vec<UnreadableV1<'a>>,
}

impl<'a> FilesV1<'a> {
    pub(super) fn new(name: &'a str, set: &'a FileSet) -> Self {
        Self {
            name,
            learned_by: match set.learned_by {
                LearnedBy::Sensor => "sensor",
                LearnedBy::Trace => "trace",
                LearnedBy::Given => "given",
                LearnedBy::Nothing => "nothing",
            },
            members: set.members.iter().map(MemberV1::from).collect(),
            unreadable: set.unreadable.iter().map(UnreadableV1::from).collect(),
        }
    }
}
