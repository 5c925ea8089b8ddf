//! Subvolumes of btrfs where files are not told apart: whose they are, by the device that /proc/self/mountinfo tells.

use std::process::Command;

use hotset_facts::Dev;
use hotset_observe::live::{LiveOptions, LiveSession};
use hotset_sys::proc::mountinfo;
use hotset_tests::filesystems::{FileSystem, Kind, kinds};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, measure};

use super::{id_of, sample};

/// The thread has a mount namespace of its own.
fn mounted_by(fs: &FileSystem) -> Dev {
    let table = std::fs::read("/proc/thread-self/mountinfo").expect("mounts");
    let mounts = mountinfo::parse(&table).expect("mounts");
    mounts.iter().find(|mount| mount.mount_point == fs.root()).expect("its mount").dev
}

#[test]
fn rows_of_subvolumes_are_of_the_file_system_that_is_mounted() {
    if !kinds().contains(&Kind::Btrfs) {
        return;
    }
    let (scratch, btrfs) = (Scratch::new("live-subvolumes"), FileSystem::new(Kind::Btrfs));
    // One within the other, which no mount shows.
    let paths = ["outer", "outer/inner"].map(|name| {
        let directory = btrfs.path(name);
        let words = ["-q", "subvolume", "create", text(&directory)];
        let made = Command::new("btrfs").args(words).status();
        assert!(made.expect("btrfs, of btrfs-progs").success(), "{name}");
        let file = directory.join("f");
        std::fs::write(&file, vec![7; 1 << 16]).expect("write");
        file
    });
    let mounted = mounted_by(&btrfs);
    for compat in [false, true] {
        let options = LiveOptions { names: false, compat, ..LiveOptions::default() };
        let mut session = LiveSession::start(options).expect("the sensor loads (as root)");
        for path in &paths {
            measure(&scratch, &["seq", "--file", text(path), "--block", "4096"]);
        }
        let seen = sample(&mut session);
        for dev in paths.each_ref().map(|path| id_of(path).dev) {
            assert_ne!(dev, mounted, "a subvolume has a device of its own");
            let file = seen.files.iter().find(|file| file.id.dev == dev).expect("its row");
            assert_eq!(file.mounted, mounted, "{file:?}");
        }
    }
}
