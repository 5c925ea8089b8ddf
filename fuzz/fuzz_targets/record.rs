//! The records that the BPF programs send: any bytes decode or are refused.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/observe/src/event.rs"]
#[allow(dead_code, unreachable_pub)]
mod event;
#[path = "../../crates/observe/src/record.rs"]
#[allow(dead_code, unreachable_pub)]
mod record;

fuzz_target!(|bytes: &[u8]| {
    let _ = event::decode(bytes);
});
