//! What blkparse prints of a trace of the kernel's format: the trace is made here, since blktrace needs debugfs.
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests run programs and read what they wrote"
)]

mod common;

use std::process::Command;

use hotset_facts::trace::Operation;

/// Actions and categories of include/uapi/linux/blktrace_api.h.
const QUEUE: u32 = 1 | 1 << (16 + 4);
const ISSUE: u32 = 7 | 1 << (16 + 6);
const COMPLETE: u32 = 8 | 1 << (16 + 7);
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const SYNC: u32 = 1 << 19;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

/// `struct blk_io_trace` of version 7, with a device of number 8:0.
fn event(
    number: u32,
    time_ns: u64,
    (sector, bytes): (u64, u32),
    action: u32,
    error: u16,
) -> Vec<u8> {
    let name = if action == NOTIFY { b"my app\0\0".as_slice() } else { b"" };
    let pid = if action & 0xff == 8 { 0 } else { 697_u32 };
    let mut event = Vec::new();
    for word in [0x6561_7407_u32, number] {
        event.extend(word.to_ne_bytes());
    }
    event.extend(time_ns.to_ne_bytes());
    event.extend(sector.to_ne_bytes());
    for word in [bytes, action, pid, 8 << 20, 0] {
        event.extend(word.to_ne_bytes());
    }
    event.extend(error.to_ne_bytes());
    event.extend(u16::try_from(name.len()).expect("short").to_ne_bytes());
    event.extend(name);
    event
}

#[test]
fn blkparse_prints_what_is_read() {
    let folder = std::env::temp_dir().join(format!("hotset-blkparse-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (page, two) = ((2048, 4096), (100, 8192));
    let events = [
        event(1, 0, (0, 0), NOTIFY, 0),
        event(2, 1000, page, QUEUE | READ, 0),
        event(3, 2000, page, ISSUE | READ, 0),
        event(4, 50_000, page, COMPLETE | READ, 0),
        event(5, 60_000, two, ISSUE | WRITE | SYNC, 0),
        event(6, 90_000, two, COMPLETE | WRITE | SYNC, 5),
        event(7, 95_000, (900, 8192), ISSUE | WRITE | DISCARD, 0),
    ];
    std::fs::write(folder.join("made.blktrace.0"), events.concat()).expect("written");
    let output = Command::new("blkparse").args(["-i", "made"]).current_dir(&folder).output();
    let output = output.expect("blkparse: install the package blktrace");
    let _ = std::fs::remove_dir_all(&folder);
    assert!(output.status.success(), "{output:?}");

    let imported = common::import("blkparse", &output.stdout).expect("lines of blkparse");
    assert_eq!(imported.summary.refused, 0, "{:?}", imported.summary.first_refused);
    let found: Vec<_> = imported
        .records()
        .map(|(record, _)| {
            let range = (record.offset, record.asked_bytes);
            (record.operation, range, record.duration_ns, record.result)
        })
        .collect();
    let expected = [
        (Operation::DeviceRead, (Some(2048 * 512), Some(4096)), Some(48_000), Some(4096)),
        (Operation::Writeback, (Some(100 * 512), Some(8192)), Some(30_000), Some(-5)),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        imported.lists.processes.first().map(|process| process.comm.as_str()),
        Some("my app")
    );
    assert_eq!(imported.summary.left_out.iter().map(|left| left.count).sum::<u64>(), 2);
}
