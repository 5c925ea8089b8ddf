//! The files of /proc, of which the first byte chooses one: any bytes parse or are refused.

#![no_main]

use hotset_sys::proc::{cmdline, maps, mountinfo, pid_io, stat};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, content)) = bytes.split_first() else { return };
    match which % 5 {
        0 => drop(maps::parse(content)),
        1 => drop(mountinfo::parse(content)),
        2 => drop(stat::parse(content)),
        3 => drop(pid_io::parse(content)),
        _ => drop(cmdline::parse(content)),
    }
});
