use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use hotset_tests::Scratch;

use super::*;

#[test]
fn a_program_is_known_by_its_name_and_a_version_behind_it() {
    let cases = [
        ("python3.12", Some(Language::Python)),
        ("python", Some(Language::Python)),
        ("python2.7", Some(Language::Python)),
        ("ruby3.1", Some(Language::Ruby)),
        ("ruby1.8", Some(Language::Ruby)),
        ("node-22", Some(Language::Node)),
        ("gcc-12", Some(Language::C)),
        ("ccache", None),
        ("gofmt", None),
        ("perl", None),
    ];
    for (name, language) in cases {
        assert_eq!(Language::of_program(name), language, "{name}");
    }
}

#[test]
fn every_runtime_is_found_and_says_what_it_can_do() {
    let scratch = Scratch::new("lab-probes");
    let cache = scratch.path("cache");
    let (probes, skipped) = find(&Language::ALL, &[], &cache);
    assert_eq!(skipped, []);
    let languages: Vec<_> = probes.iter().map(|probe| probe.language).collect();
    assert_eq!(languages, Language::ALL);
    for probe in &probes {
        assert!(probe.can("readall:binary") && probe.can("exists"), "{probe:?}");
        assert!(probe.program.is_absolute() && !probe.version.is_empty(), "{probe:?}");
    }
    // The second time nothing is built.
    let times =
        |probe: &Probe| fs::metadata(&probe.place).expect("place").modified().expect("time");
    let before: Vec<_> = probes.iter().map(times).collect();
    let (again, _) = find(&Language::ALL, &[], &cache);
    assert_eq!((&again, again.iter().map(times).collect()), (&probes, before));
    let left = fs::read_dir(&cache).expect("cache").count();
    assert_eq!(left, Language::ALL.len(), "nothing half made is left");
}

#[test]
fn threads_that_build_the_same_at_once_do_not_disturb_each_other() {
    let scratch = Scratch::new("lab-probes");
    let cache = scratch.path("cache");
    let found = std::thread::scope(|scope| {
        let find = || find(&[Language::C], &[], &cache);
        let all: Vec<_> = (0..4).map(|_| scope.spawn(find)).collect();
        all.into_iter().map(|one| one.join().expect("no panic")).collect::<Vec<_>>()
    });
    for (probes, skipped) in &found {
        assert_eq!((probes.len(), skipped.len()), (1, 0), "{skipped:?}");
    }
    assert_eq!(fs::read_dir(&cache).expect("cache").count(), 1, "nothing half made is left");
}

/// An interpreter that is a shell script.
fn program(scratch: &Scratch, name: &str, script: &str) -> PathBuf {
    scratch.script(name, &format!("#!/bin/sh\n{script}\n"))
}

/// What an interpreter of the name `named` says with which flags it is started.
fn flags_of(probes: &[Probe], named: &str) -> Vec<OsString> {
    let probe = probes.iter().find(|probe| probe.name == named);
    probe.unwrap_or_else(|| panic!("{named} is among {probes:?}")).flags.clone()
}

#[test]
fn a_runtime_is_started_with_the_flags_that_its_version_knows() {
    let scratch = Scratch::new("lab-probes");
    let refuses = "for word; do test \"$word\" = --disable-gems && echo invalid option >&2 && exit 1; done\n\
        exec ruby \"$@\"";
    let old = program(&scratch, "ruby1.8", refuses);
    let given = [Interpreter { name: "old".into(), path: old }];
    let (probes, skipped) =
        find(&[Language::Ruby, Language::Python], &given, &scratch.path("cache"));
    assert_eq!(skipped, []);
    assert_eq!(flags_of(&probes, "ruby"), ["--disable-gems"]);
    assert_eq!(flags_of(&probes, "old"), Vec::<OsString>::new());
    // Each is known to every Python from 2.7 on.
    assert_eq!(flags_of(&probes, "python"), ["-E", "-s", "-S", "-B"]);
    for probe in &probes {
        let argv = probe.argv("about", &[]);
        assert_eq!(argv[1..=probe.flags.len()], probe.flags, "{argv:?}");
        assert!(probe.ask(&Start::default(), "about", &[]).is_ok(), "{probe:?}");
    }
}

#[test]
fn a_runtime_that_answers_with_no_flags_is_skipped_with_what_it_says_at_last() {
    let scratch = Scratch::new("lab-probes");
    let broken = program(&scratch, "ruby1.8", "echo \"$# words\" >&2; exit 1");
    let given = [Interpreter { name: "ruby".into(), path: broken }];
    let (probes, skipped) = find(&[Language::Ruby], &given, &scratch.path("cache"));
    assert_eq!(probes, []);
    assert_eq!(skipped.len(), 1);
    assert!(skipped[0].why.contains("2 words"), "{skipped:?}");
}

/// A library is as its interpreter loads it; nothing of the probe's own directory is among the names that it finds.
#[test]
fn what_stands_beside_a_probe_is_not_found_for_a_library() {
    let scratch = Scratch::new("lab-probes");
    let (probes, skipped) = find(&[Language::Python, Language::Ruby], &[], &scratch.path("cache"));
    assert_eq!(skipped, []);
    for probe in &probes {
        let start = Start { flags: Some(Vec::new()), ..Start::default() };
        let refused = probe.ask(&start, "library", &[("name", "library".into())]);
        let why = refused.expect_err("there is no library of this name");
        assert!(why.contains("library"), "{}: {why}", probe.name);
    }
}

#[test]
fn a_named_interpreter_stands_beside_the_hosts_and_what_cannot_run_is_skipped_by_name() {
    let scratch = Scratch::new("lab-probes");
    let cache = scratch.path("cache");
    let named = |name: &str, path: &Path| Interpreter { name: name.into(), path: path.to_owned() };
    let shim = program(&scratch, "python3", "exec python3 \"$@\"");
    let given = [
        named("mine", &shim),
        named("gone", &scratch.path("ruby9")),
        named("ruby", &scratch.path("ruby8")),
        named("other", &program(&scratch, "perl", "exit 1")),
        named("nowhere", &scratch.path("perl9")),
    ];
    let (probes, skipped) = find(&[Language::Python, Language::Ruby], &given, &cache);
    let names: Vec<&str> = probes.iter().map(|probe| probe.name.as_str()).collect();
    assert_eq!(names, ["python", "mine"]);
    assert_eq!(probes[1].program, probes[0].program);
    assert_ne!(probes[1].program, shim, "a shim is not what is timed");
    let names: Vec<&str> = skipped.iter().map(|runtime| runtime.what.as_str()).collect();
    assert_eq!(names, ["gone", "ruby", "other", "nowhere"]);
    assert!(skipped[0].why.ends_with("ruby9: command not found"), "{skipped:?}");
    assert!(skipped[2].why.contains("python3"), "{skipped:?}");
    // Its name is not what is wrong with it.
    assert!(skipped[3].why.ends_with("perl9: command not found"), "{skipped:?}");
}

#[test]
fn words_follow_the_contract() {
    let probe = Probe {
        name: "java".into(),
        language: Language::Java,
        version: "17".into(),
        program: "/jdk/bin/java".into(),
        found: "/jdk/bin/java".into(),
        flags: Vec::new(),
        place: "/cache/java".into(),
        supports: vec!["load:class".into()],
    };
    let start =
        Start { flags: Some(vec!["-Xshare:auto".into()]), class_path: vec![PathBuf::from("/a")] };
    let argv = probe.argv_with(&start, "load", &[("how", "class".into())]);
    let wanted = [
        "/jdk/bin/java",
        "-Xshare:auto",
        "-cp",
        "/a:/cache/java/probe.jar",
        "Probe",
        "load",
        "how=class",
    ];
    assert_eq!(argv, wanted);
    assert!(probe.can("load:class") && !probe.can("load"));
}
