//! What user space reads and writes of the objects' memory, against the types in the objects.

use libbpf_rs::HasSize;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{MemberAttr, Struct};

use crate::direct_map::Frame;
use crate::event::{FailedHead, FirstHead, NodeHead, TaskHead};
use crate::load::{every_object, object_bytes};
use crate::record::{
    Chunk, ChunkKey, Config, File, FileKey, Globals, Process, Row, RowKey, Sample,
};
use crate::recording::{
    Chain, ChainsValue, CodeHead, Lost, Op, PathsHead, Pending, RawMapping, StackHead,
};
use crate::select::Build;

/// What only a recording sends.
const OF_RECORDS: [&str; 9] = [
    "hs_op",
    "hs_lost",
    "hs_stack",
    "hs_mapping",
    "hs_code",
    "hs_chain",
    "hs_pending",
    "hs_chains",
    "hs_paths",
];

/// What more follows than its mirror has.
const ENDS_WITH_BYTES: [&str; 7] =
    ["hs_node", "hs_first", "hs_failed", "hs_task_event", "hs_stack", "hs_code", "hs_paths"];

/// Each of these fields stands where clang put it.
pub(crate) fn assert_places(
    name: &str,
    kernel: &Struct<'_>,
    fields: &[(&'static str, usize, usize)],
) {
    for (field, offset, _) in fields {
        let plain = field.trim_start_matches("r#");
        let member = kernel
            .iter()
            .find(|member| member.name.is_some_and(|n| n == plain))
            .unwrap_or_else(|| panic!("{name}.{plain} in the object"));
        let MemberAttr::Normal { offset: bits } = member.attr else { panic!("a bit field") };
        assert_eq!(bits as usize, offset * 8, "{name}.{plain}");
    }
}

/// Every mirrored field stands where clang put it.
#[test]
fn the_mirror_matches_the_objects() {
    let mirrors = [
        ("hs_config", Config::layout()),
        ("hs_globals", Globals::layout()),
        ("hs_row_key", RowKey::layout()),
        ("hs_row", Row::layout()),
        ("hs_process", Process::layout()),
        ("hs_file_key", FileKey::layout()),
        ("hs_file", File::layout()),
        ("hs_chunk_key", ChunkKey::layout()),
        ("hs_chunk", Chunk::layout()),
        ("hs_node", NodeHead::layout()),
        ("hs_first", FirstHead::layout()),
        ("hs_failed", FailedHead::layout()),
        ("hs_task_event", TaskHead::layout()),
        ("hs_op", Op::layout()),
        ("hs_lost", Lost::layout()),
        ("hs_stack", StackHead::layout()),
        ("hs_mapping", RawMapping::layout()),
        ("hs_code", CodeHead::layout()),
        ("hs_frame", Frame::layout()),
        ("hs_sample", Sample::layout()),
        ("hs_chain", Chain::layout()),
        ("hs_pending", Pending::layout()),
        ("hs_chains", ChainsValue::layout()),
        ("hs_paths", PathsHead::layout()),
    ];
    for (build, atomics, records) in every_object() {
        let btf = Btf::from_raw("sensor", object_bytes(build, atomics, records))
            .expect("ELF")
            .expect("the object has BTF");
        let is_there = |name: &str| match name {
            "hs_frame" => records && build == Build::Full,
            name => records || !OF_RECORDS.contains(&name),
        };
        for (name, fields) in mirrors.iter().filter(|(name, _)| is_there(name)) {
            let kernel: Struct<'_> =
                btf.type_by_name(name).unwrap_or_else(|| panic!("{name} in the object"));
            assert_places(name, &kernel, fields);
            let end = fields.iter().map(|(_, offset, size)| offset + size).max();
            let tail = ENDS_WITH_BYTES.contains(name);
            assert!(tail || end == Some(kernel.size()), "{name} ends where its mirror ends");
        }
    }
}
