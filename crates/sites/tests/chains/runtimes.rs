//! Chains of programs whose code is made at run time, interpreted, or compiled by Go.

use std::io::{BufRead as _, BufReader};
use std::process::Command;

use crate::fixture::{Running, assert_chain, from, line_of, site_of, source, tool};
use hotset_facts::trace::{Site, SiteState};
use hotset_tests::Scratch;

fn functions(site: &Site) -> Vec<&str> {
    site.frames.iter().filter_map(|frame| frame.function.as_deref()).collect()
}

#[test]
fn go_has_the_function_that_makes_the_call_and_its_callers() {
    let scratch = Scratch::new("sites-go");
    let (program, text) = (scratch.path("chain"), source("chain.go"));
    tool("go", ["build".as_ref(), "-o".as_ref(), program.as_os_str(), text.as_os_str()]);
    let site = site_of(&Running::start(&mut Command::new(&program)).copy());
    assert_chain(&site, "chain.go", &["main.load"]);
    let each = ("main.each".to_owned(), Some(line_of("chain.go", "main.each")));
    assert_eq!(from(&site, "main.load")[2..5], [each.clone(), each.clone(), each]);
    assert!(functions(&site).contains(&"syscall.RawSyscall6"), "{site:#?}");

    let words = ["build", "-ldflags", "-s -w", "-o"].map(AsRef::<std::ffi::OsStr>::as_ref);
    tool("go", words.into_iter().chain([program.as_os_str(), text.as_os_str()]));
    let stripped = site_of(&Running::start(&mut Command::new(&program)).copy());
    // Inlined functions and lines are gone; the others and the whole of the chain are not.
    let names = ["main.load", "main.each", "main.each", "main.each", "main.each", "main.main"];
    let from_load = from(&stripped, "main.load");
    assert!(from_load.iter().map(|(name, _)| name.as_str()).take(6).eq(names), "{stripped:#?}");
    assert!(functions(&stripped).contains(&"syscall.read"), "{stripped:#?}");
    assert_eq!(stripped.state, SiteState::Whole);
}

#[test]
fn node_names_its_functions_in_a_perf_map() {
    let (mut command, scratch) = (Command::new("node"), Scratch::new("sites-node"));
    // It leaves a log of its own where it runs.
    command.current_dir(scratch.dir());
    command.args(["--perf-basic-prof", "--interpreted-frames-native-stack"]);
    let running = Running::start(command.arg(source("chain.js")));
    let site = site_of(&running.copy());
    let map = format!("/tmp/perf-{}.map", running.child.id());
    drop(running);
    std::fs::remove_file(&map).expect("node's perf map");
    let named: Vec<_> =
        functions(&site).into_iter().filter(|name| name.contains("chain.js")).collect();
    assert!(named[0].contains("load "), "{site:#?}");
    assert_eq!(named[1..].iter().filter(|name| name.contains("each ")).count(), 4, "{site:#?}");
    assert_eq!(site.state, SiteState::Whole);
    assert!(site.frames.iter().any(|frame| frame.module.as_deref() == Some("[jit]")));
}

#[test]
fn java_names_its_methods_when_it_is_asked_to() {
    let scratch = Scratch::new("sites-java");
    let text = source("Chain.java");
    tool("javac", ["-d".as_ref(), scratch.dir().as_os_str(), text.as_os_str()]);
    let mut command = Command::new("java");
    command.arg("-XX:+PreserveFramePointer").arg("-cp").arg(scratch.dir()).arg("Chain");
    let mut running = Running::start(&mut command);
    let output = running.child.stdout.take().expect("an output");
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("a line");
    assert_eq!(line, "compiled\n");
    // Compiled code may use the frame pointer for other things, if nobody asked it not to: the chain is not called whole.
    assert_eq!(site_of(&running.copy()).state, SiteState::Cut);
    let pid = running.child.id().to_string();
    tool("jcmd", [pid.as_str(), "Compiler.perfmap"]);
    let site = site_of(&running.copy());
    drop(running);
    std::fs::remove_file(format!("/tmp/perf-{pid}.map")).expect("java's perf map");
    let names = functions(&site);
    assert!(names.iter().any(|name| name.contains("FileInputStream.read")), "{site:#?}");
    assert!(names.iter().any(|name| name.contains("JavaCalls::call_helper")), "{site:#?}");
    assert_eq!(site.state, SiteState::Whole);
}

#[test]
fn python_has_the_frames_of_its_interpreter() {
    let running = Running::start(Command::new("/usr/bin/python3").arg(source("chain.py")));
    let site = site_of(&running.copy());
    assert!(functions(&site).contains(&"_PyEval_EvalFrameDefault"), "{site:#?}");
    assert_eq!(functions(&site).last(), Some(&"_start"));
    assert_eq!(site.state, SiteState::Whole);
}
