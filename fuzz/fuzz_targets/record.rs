//! The records that the BPF programs send: any bytes decode or are refused.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/observe/src/event.rs"]
mod event;
#[path = "../../crates/observe/src/record.rs"]
#[expect(dead_code, reason = "of the mirror, only what events need is used")]
mod record;

fuzz_target!(|bytes: &[u8]| {
    let _ = event::decode(bytes);
});
