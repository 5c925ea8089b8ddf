//! States on real files, checked by another program's mincore(2).

use std::path::{Path, PathBuf};

use hotset_facts::{Percent, Unevictable};
use hotset_tests::undisturbed;

use super::*;
use crate::test_support::{Scratch, loud, quiet, resident_pages, set_of};

fn reach(state: WantedState, set: &mut FileSet) -> StateReached {
    States::default().reach(state, set, || ()).expect("set").0.value().expect("known")
}

fn cached(paths: &[PathBuf]) -> usize {
    paths.iter().map(|path| resident_pages(path).iter().filter(|&&there| there).count()).sum()
}

#[test]
fn cold_warm_and_half_are_so_for_another_observer() {
    let _quiet = quiet();
    let scratch = Scratch::new();
    let paths = [scratch.pages("a", 300), scratch.pages("b", 1), scratch.file("empty", b"")];
    let (some, mut set) = (&paths[..2], set_of(&paths));
    let half = WantedState::Share(Percent::new(50).expect("percent"));
    for _ in 0..3 {
        for (wanted, pages) in [(WantedState::Cold, 0), (WantedState::Warm, 301), (half, 150)] {
            undisturbed(some, || {
                let (state, seen) = (reach(wanted, &mut set), cached(some) as u64);
                let reached = (state.pages, state.cached_pages, seen);
                assert_eq!(reached, (301, pages, pages), "{wanted:?}");
                assert_eq!((state.stuck_pages, state.unknown_files), (0, 0));
            });
        }
    }
}

#[test]
fn a_file_that_others_map_is_named_with_its_share_and_the_reason() {
    let scratch = Scratch::new();
    // A shell of its own, which no other process maps. Another process writes it: a fork of a test beside this one would keep
    // it open for writing for a moment, and nobody could execute it.
    let sh = scratch.path("sh");
    let mut install = std::process::Command::new("install");
    let installed = install.args(["-m", "755", "/bin/sh"]).arg(&sh).status().expect("install");
    assert!(installed.success());
    let mut set = set_of(&[sh.clone(), scratch.pages("mine", 10)]);
    let mut shell = std::process::Command::new(&sh)
        .args(["-c", "echo ready; read x"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("sh");
    // Before it runs it has touched nothing of what it maps.
    let mut ready = [0; 6];
    let stdout = shell.stdout.as_mut().expect("its output");
    std::io::Read::read_exact(stdout, &mut ready).expect("ready");
    // On its way from the echo to the read it touches more.
    let settled = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let cold = reach(WantedState::Cold, &mut set);
        let again = reach(WantedState::Cold, &mut set);
        (again.stuck_pages == cold.stuck_pages).then_some(cold)
    });
    let cold = settled.expect("the shell waits for input");
    drop(shell.stdin.take());
    shell.wait().expect("wait");
    assert!(cold.stuck_pages > 0, "{cold:?}");
    assert_eq!(cold.cached_pages, cold.stuck_pages);
    let stuck = set.members[0].cannot_evict.expect("stuck");
    assert_eq!((stuck.reason, stuck.pages), (Unevictable::Mapped, cold.stuck_pages));
    assert_eq!(set.members[1].cannot_evict, None);
}

#[test]
fn a_file_in_memory_stays_and_says_why() {
    let path = Path::new("/dev/shm").join(format!("hotset-lab-test-{}", std::process::id()));
    std::fs::write(&path, [1; 5000]).expect("write");
    let mut set = set_of(std::slice::from_ref(&path));
    let cold = reach(WantedState::Cold, &mut set);
    std::fs::remove_file(&path).expect("remove");
    assert_eq!((cold.cached_pages, cold.stuck_pages), (2, 2));
    assert_eq!(set.members[0].cannot_evict.map(|s| s.reason), Some(Unevictable::MemoryOnly));
}

#[test]
fn what_vanished_is_unknown_and_not_cold() {
    let _quiet = quiet();
    let scratch = Scratch::new();
    let paths = [scratch.pages("a", 3), scratch.pages("b", 3)];
    let mut set = set_of(&paths);
    std::fs::remove_file(&paths[0]).expect("remove");
    undisturbed(&paths[1..], || {
        let warm = reach(WantedState::Warm, &mut set);
        assert_eq!((warm.pages, warm.cached_pages, warm.unknown_files), (3, 3, 1));
    });
    set.learned_by = LearnedBy::Nothing;
    assert!(verify(WantedState::AsIs, &set).value().is_none());
}

#[test]
fn many_files_are_set_and_verified_by_two_threads() {
    let _quiet = quiet();
    let scratch = Scratch::new();
    let paths: Vec<PathBuf> = (0..600).map(|n| scratch.file(&n.to_string(), &[1; 3000])).collect();
    let mut set = set_of(&paths);
    let cold = reach(WantedState::Cold, &mut set);
    assert_eq!((cold.pages, cold.cached_pages, cold.unknown_files), (600, 0, 0));
    undisturbed(&paths, || {
        assert_eq!(reach(WantedState::Warm, &mut set).cached_pages, 600);
    });
}

#[test]
fn dropping_everything_leaves_the_files_cold() {
    let _loud = loud();
    let scratch = Scratch::new();
    let paths = [scratch.pages("a", 50)];
    let mut set = set_of(&paths);
    undisturbed(&paths, || {
        assert_eq!(reach(WantedState::Warm, &mut set).cached_pages, 50);
    });
    // Root only.
    assert_eq!(reach(WantedState::ColdAll, &mut set).cached_pages, 0);
}
