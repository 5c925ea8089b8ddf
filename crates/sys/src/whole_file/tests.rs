use std::os::unix::fs::symlink;

use hotset_tests::Scratch;

use super::*;
use crate::test_support::{as_another_user, assert_root};

fn names(directory: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    names
}

fn written(path: &Path) -> WholeFile {
    let mut file = WholeFile::create(path).expect("created");
    file.write_all(b"new").expect("written");
    file
}

#[test]
fn the_name_leads_to_the_old_file_until_the_new_one_is_complete() {
    let scratch = Scratch::new("whole");
    let path = scratch.path("set");
    fs::write(&path, "old").expect("write");
    let file = written(&path);
    assert_eq!(file.stats().len(), 2);
    // Of a process that is killed now nothing stays.
    assert_eq!((fs::read(&path).expect("read"), names(scratch.dir()).len()), (b"old".to_vec(), 1));
    file.keep().expect("kept");
    assert_eq!((fs::read(&path).expect("read"), names(scratch.dir()).len()), (b"new".to_vec(), 1));
    drop(written(&scratch.path("other")));
    assert_eq!(names(scratch.dir()), ["set"]);
}

#[test]
fn a_file_system_without_unnamed_files_has_a_part_until_then() {
    let scratch = Scratch::new("whole-part");
    let path = scratch.path("set");
    let mut file = written(&path);
    let (unnamed, part) = (File::create_new(&file.part).expect("created"), file.part.clone());
    (file.file, file.has_name) = (unnamed, true);
    file.write_all(b"named").expect("written");
    assert!(part.exists());
    file.keep().expect("kept");
    assert!(!part.exists() && fs::read(&path).expect("read") == b"named");
    let mut dropped = written(&path);
    dropped.give_name().expect("named");
    assert!(part.exists());
    drop(dropped);
    assert!(!part.exists());
}

#[test]
fn owner_and_mode_stay() {
    assert_root();
    let scratch = Scratch::new("whole-mode");
    let path = scratch.path("set");
    for (mode, uid) in [(0o600, 0), (0o664, 65534), (0o444, 65534)] {
        fs::write(&path, "old").expect("write");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("chmod");
        std::os::unix::fs::chown(&path, Some(uid), Some(uid)).expect("chown");
        written(&path).keep().expect("kept");
        let there = fs::metadata(&path).expect("stat");
        assert_eq!((there.mode() & 0o7777, there.uid(), there.gid()), (mode, uid, uid));
        fs::remove_file(&path).expect("remove");
    }
}

#[test]
fn a_program_is_not_replaced() {
    let scratch = Scratch::new("whole-program");
    let path = scratch.path("tool");
    for (contents, mode, is_refused) in [
        ("#!/bin/sh", 0o755, true),
        ("#!/bin/sh", 0o644, false),
        ("{}", 0o777, false),
        ("", 0o777, false),
    ] {
        fs::write(&path, contents).expect("write");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("chmod");
        assert_eq!(WholeFile::check(&path).is_err(), is_refused, "{contents} {mode:o}");
        assert_eq!(WholeFile::create(&path).is_err(), is_refused, "{contents} {mode:o}");
    }
}

#[test]
fn links_are_followed_and_stay() {
    let scratch = Scratch::new("whole-links");
    fs::create_dir(scratch.path("below")).expect("mkdir");
    let [link, second, target] = ["link", "below/second", "target"].map(|name| scratch.path(name));
    symlink("below/second", &link).expect("link");
    symlink("../target", &second).expect("link");
    written(&link).keep().expect("kept");
    assert!(link.is_symlink() && second.is_symlink());
    assert_eq!(fs::read(&target).expect("read"), b"new");
    symlink("circle", scratch.path("circle")).expect("link");
    assert!(WholeFile::create(&scratch.path("circle")).is_err());
    for nothing in [scratch.dir(), Path::new("/dev/null")] {
        let refused = WholeFile::create(nothing).expect_err("no file").to_string();
        assert!(refused.contains("expected a file"), "{refused}");
    }
}

/// As root in /tmp: what another user has put there may lead to /etc/passwd.
#[test]
fn what_another_user_laid_out_for_all_is_not_followed() {
    assert_root();
    let scratch = Scratch::new("whole-sticky");
    let victim = scratch.path("victim");
    fs::write(&victim, "precious").expect("write");
    let shared = scratch.path("shared");
    fs::create_dir(&shared).expect("mkdir");
    let (link, file) = (shared.join("link"), shared.join("file"));
    for mode in [0o1777, 0o777, 0o1755] {
        fs::set_permissions(&shared, Permissions::from_mode(0o777)).expect("chmod");
        as_another_user(|| {
            symlink(&victim, &link).expect("link");
            fs::write(&file, "theirs").expect("write");
        });
        fs::set_permissions(&shared, Permissions::from_mode(mode)).expect("chmod");
        let is_refused = mode == 0o1777;
        for path in [&link, &file] {
            let created = WholeFile::create(path);
            assert_eq!(created.is_err(), is_refused, "{mode:o} {}", path.display());
            if let Err(error) = created {
                assert!(error.to_string().contains("of another user (UID 65534)"), "{error}");
            }
            fs::remove_file(path).expect("remove");
        }
    }
    assert_eq!(fs::read(&victim).expect("read"), b"precious");
    fs::set_permissions(&shared, Permissions::from_mode(0o1777)).expect("chmod");
    symlink(&victim, &link).expect("link");
    written(&link).keep().expect("the user's own link");
    assert_eq!(fs::read(&victim).expect("read"), b"new");
}
