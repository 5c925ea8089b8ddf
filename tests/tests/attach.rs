//! `hotset attach`, and several observers at once.

use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_tests::scratch::text;
use hotset_tests::{
    Attached, Group, Scratch, Shell, assert_invariants, evict_verified, hotset, number,
    process_row, read_json, row_at, stderr, undisturbed, workload,
};
use serde_json::Value;

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;

fn assert_cold_read(row: &Value, size: u64) {
    let n = |pointer| number(row, pointer);
    assert_eq!((n("/read/bytes"), n("/read/pages")), (size, size / PAGE), "{row}");
    assert_eq!((n("/read/from_device"), n("/device/read_bytes")), (size / PAGE, size), "{row}");
    assert_eq!((n("/cached_before"), n("/cached_after")), (0, size / PAGE), "{row}");
}

/// A cold file that is read by a child of the shell.
fn cat(shell: &mut Shell, file: &Path) {
    evict_verified(file);
    shell.run(&format!("cat {} >/dev/null", text(file)));
}

#[test]
fn attached_to_a_process_its_children_count_and_others_do_not() {
    let scratch = Scratch::new("attach-pid");
    let [before, inside, outside, after] =
        ["before", "inside", "outside", "after"].map(|name| scratch.file(name, MIB));
    undisturbed(&[&inside], || {
        let (mut shell, mut stranger) = (Shell::new(), Shell::new());
        cat(&mut shell, &before);
        let pid = shell.pid().to_string();
        let attached = Attached::start(&scratch, "p.json", &["--pid", &pid]);
        cat(&mut shell, &inside);
        cat(&mut stranger, &outside);
        let profile = attached.interrupt();
        cat(&mut shell, &after);
        assert_cold_read(row_at(&profile, &inside), MIB);
        let paths: Vec<&Value> =
            profile["files"].as_array().expect("files").iter().map(|row| &row["path"]).collect();
        for other in [&before, &outside, &after] {
            assert!(!paths.iter().any(|path| **path == text(other)), "{paths:?}");
        }
        assert!(process_row(&profile, shell.pid()).is_some());
        let cats = profile["processes"].as_array().expect("processes").iter();
        let cats: Vec<_> = cats.filter(|row| row["comm"] == "cat").collect();
        assert_eq!(cats.len(), 1, "{cats:?}");
        assert_eq!(number(cats[0], "/ppid"), shell.pid());
        assert_eq!(profile["command"]["target"]["kind"], "pid");
        assert_eq!(number(&profile, "/command/target/pid"), shell.pid());
        shell.end();
        stranger.end();
    });
}

#[test]
fn a_grandchild_that_ran_before_counts_too() {
    let scratch = Scratch::new("attach-family");
    let file = scratch.file("f", MIB);
    undisturbed(&[&file], || {
        let mut command = Command::new("sh");
        // The inner shell shares the pipes; the outer one only waits.
        command.args(["-c", "sh -s; exit 0"]);
        let mut shell = Shell::start(command);
        let pid = shell.pid().to_string();
        let attached = Attached::start(&scratch, "p.json", &["--pid", &pid]);
        cat(&mut shell, &file);
        assert_cold_read(row_at(&attached.interrupt(), &file), MIB);
        shell.end();
    });
}

#[test]
fn a_process_that_ends_ends_the_observation_with_a_report() {
    let scratch = Scratch::new("attach-end");
    let file = scratch.file("f", MIB);
    undisturbed(&[&file], || {
        let mut shell = Shell::new();
        let pid = shell.pid().to_string();
        let attached = Attached::start(&scratch, "p.json", &["--pid", &pid]);
        cat(&mut shell, &file);
        shell.end();
        let (profile, said) = attached.finish();
        assert_cold_read(row_at(&profile, &file), MIB);
        assert_eq!(profile["command"]["exit_code"], 0);
        assert!(said.contains("cat"), "{said}");
    });
}

#[test]
fn a_process_that_does_not_exist_is_refused_by_its_number() {
    let mut gone = Command::new("true").spawn().expect("true");
    gone.wait().expect("wait");
    // Not reused as long as the kernel counts up to more than a few.
    let pid = gone.id().to_string();
    let words = ["attach", "--duration", "1ms", "--pid", &pid];
    let output = Command::new(hotset()).args(words).output().expect("hotset");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains(&pid), "{}", stderr(&output));
}

/// A shell under a name that no other program has.
fn shell_called(path: &Path) -> Shell {
    let mut command = Command::new(path);
    command.arg("-s");
    Shell::start(command)
}

#[test]
fn a_program_is_known_by_its_name_and_two_of_one_name_are_listed() {
    let scratch = Scratch::new("attach-name");
    let name = format!("hs-{}", std::process::id());
    let path = scratch.path(&name);
    std::os::unix::fs::symlink("/bin/sh", &path).expect("symlink");
    let attach = |name: &str| {
        let mut command = Command::new(hotset());
        command.args(["attach", "--name", name, "-d", "100ms", "--json", "-", "-q"]);
        command.output().expect("hotset")
    };
    let nobody = attach(&name);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(stderr(&nobody).contains(&format!("no running program is called {name}")));
    let first = shell_called(&path);
    let found = attach(&name);
    let profile: Value = serde_json::from_slice(&found.stdout).expect("a profile");
    assert_eq!(number(&profile, "/command/target/pid"), first.pid(), "{}", stderr(&found));
    let second = shell_called(&path);
    let both = attach(&name);
    assert_eq!(both.status.code(), Some(1));
    for pid in [first.pid(), second.pid()] {
        assert!(stderr(&both).contains(&format!("\n  {pid}  ")), "{}", stderr(&both));
    }
    first.end();
    second.end();
}

#[test]
fn a_unit_or_container_that_does_not_run_is_refused_by_its_name() {
    for option in ["--unit", "--container"] {
        let mut command = Command::new(hotset());
        let refused = command.args(["attach", option, "hotset-none"]).output().expect("hotset");
        assert_eq!(refused.status.code(), Some(1));
        let kind = option.trim_start_matches("--");
        let wanted = format!("no {kind} called \"hotset-none\" is running");
        assert!(stderr(&refused).contains(&wanted), "{}", stderr(&refused));
    }
}

#[test]
fn a_control_group_is_observed_and_what_is_beside_it_is_not() {
    let scratch = Scratch::new("attach-cgroup");
    let group = Group::new(&scratch);
    let [inside, outside] = ["inside", "outside"].map(|name| scratch.file(name, MIB));
    undisturbed(&[&inside], || {
        let (mut shell, mut stranger) = (Shell::new(), Shell::new());
        group.add_below(shell.pid());
        let attached = Attached::start(&scratch, "p.json", &["--cgroup", text(group.dir())]);
        cat(&mut shell, &inside);
        cat(&mut stranger, &outside);
        let profile = attached.interrupt();
        assert_cold_read(row_at(&profile, &inside), MIB);
        let paths = profile["files"].to_string();
        assert!(!paths.contains(text(&outside)), "{paths}");
        assert_eq!(profile["command"]["target"]["kind"], "cgroup");
        shell.end();
        stranger.end();
    });
}

/// Every command that takes `--cgroup`.
const CGROUP_COMMANDS: [&[&str]; 4] = [
    &["attach", "--duration", "1ms", "--cgroup"],
    &["stat", "0.1", "1", "--cgroup"],
    &["top", "--batch", "1", "0.1", "--cgroup"],
    &["ls", "--cgroup"],
];

#[test]
fn a_control_group_is_known_by_its_directory_and_by_its_path() {
    let scratch = Scratch::new("group-names");
    let group = Group::new(&scratch);
    let path = Path::new("/").join(group.dir().file_name().expect("a name"));
    let mut sleep = Command::new("sleep").arg("60").spawn().expect("sleep");
    group.add_below(u64::from(sleep.id()));
    let run = |(words, name): (&[&'static str], &Path)| {
        let output = Command::new(hotset()).args(words).arg(name).output().expect("hotset");
        (words[0], name.to_owned(), output.status.code(), stderr(&output))
    };
    let all = CGROUP_COMMANDS.iter().flat_map(|words| [(*words, group.dir()), (*words, &path)]);
    let ended: Vec<_> = all.map(run).collect();
    sleep.kill().expect("kill");
    sleep.wait().expect("wait");
    for (command, name, code, said) in ended {
        assert_eq!(code, Some(0), "{command} --cgroup {}: {said}", name.display());
    }
}

#[test]
fn what_is_no_control_group_is_refused() {
    let scratch = Scratch::new("no-group");
    let missing = scratch.path("missing");
    for (words, path) in
        CGROUP_COMMANDS.iter().flat_map(|words| [(words, scratch.dir()), (words, &missing)])
    {
        let output = Command::new(hotset()).args(*words).arg(path).output().expect("hotset");
        let said = stderr(&output);
        assert_ne!(output.status.code(), Some(0), "{words:?}: {said}");
        assert!(
            said.contains(text(path)) && said.contains("is not a control group"),
            "{words:?}: {said}"
        );
    }
}

#[test]
fn the_whole_host_is_everybody_but_the_observer() {
    let scratch = Scratch::new("attach-system");
    let file = scratch.file("f", MIB);
    undisturbed(&[&file], || {
        // Before, too: what this test does to the file is seen as well.
        evict_verified(&file);
        let mut shell = Shell::new();
        let attached = Attached::start(&scratch, "p.json", &["--system"]);
        let observer = u64::from(attached.pid());
        cat(&mut shell, &file);
        let profile = attached.interrupt();
        assert_cold_read(row_at(&profile, &file), MIB);
        assert!(process_row(&profile, observer).is_none());
        assert_eq!(profile["command"]["target"]["kind"], "system");
        shell.end();
    });
}

#[test]
fn observers_do_not_disturb_each_other() {
    let scratch = Scratch::new("together");
    let files: Vec<PathBuf> =
        (0..3).map(|index| scratch.file(&format!("f{index}"), 4 * MIB)).collect();
    undisturbed(&files, || {
        let mut shells: Vec<Shell> = (0..3).map(|index| observed_shell(&scratch, index)).collect();
        // Before, too: what this test does to the files is seen as well.
        files.iter().for_each(|file| evict_verified(file));
        let all = Attached::start(&scratch, "all.json", &["--system"]);
        files.iter().for_each(|file| evict_verified(file));
        for (index, (shell, file)) in shells.iter_mut().zip(&files).enumerate() {
            let truth = scratch.path(&format!("truth{index}.json"));
            // In the background, so that they run at once.
            let line = format!(
                "{} seq --file {} --block 4096 --truth {} &",
                text(&workload()),
                text(file),
                text(&truth)
            );
            shell.begin(&line);
        }
        shells.iter_mut().for_each(|shell| shell.run("wait"));
        let all = all.interrupt();
        shells.into_iter().for_each(Shell::end);
        for (index, file) in files.iter().enumerate() {
            let profile = read_json(&scratch.path(&format!("run{index}.json")));
            assert_invariants(&profile);
            let truth = read_json(&scratch.path(&format!("truth{index}.json")));
            for row in [row_at(&profile, file), row_at(&all, file)] {
                assert_cold_read(row, 4 * MIB);
                assert_eq!(number(row, "/read/misses"), number(&truth, "/pages_missing_before"));
            }
            let others = files.iter().filter(|other| *other != file);
            for other in others {
                assert!(!profile["files"].to_string().contains(text(other)));
            }
        }
    });
}

/// A shell that `hotset run` observes.
fn observed_shell(scratch: &Scratch, index: usize) -> Shell {
    let path = scratch.path(&format!("run{index}.json"));
    let mut command = Command::new(hotset());
    command.args(["run", "-q", "--json", text(&path), "--", "sh", "-s"]);
    Shell::start(command)
}
