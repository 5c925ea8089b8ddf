//! Commands that are really started.

use super::*;
use crate::test_support::ScratchFile;
use std::io::{Read, Seek};

fn shell(line: &str, stdio: [Option<OwnedFd>; 3]) -> Launch {
    Launch::new(Path::new("/bin/sh"), &["sh".into(), "-c".into(), line.into()], stdio)
        .expect("ready")
}

#[test]
fn a_launch_can_be_timed_again_and_again() {
    let mut launch = shell("exit 3", [None, None, None]);
    for _ in 0..3 {
        let timed = launch.time().expect("run");
        assert_eq!(timed.exit, ExitStatus::Code(3));
        assert!(timed.wall.as_nanos() > 0 && timed.usage.minor_faults > 0);
    }
}

#[test]
fn streams_are_what_they_were_said_to_be() {
    let mut input = ScratchFile::with(b"from a file");
    input.file.rewind().expect("rewind");
    let mut output = ScratchFile::with(b"");
    let own = |file: &std::fs::File| Some(file.try_clone().expect("descriptor").into());
    let mut launch =
        shell("cat; echo no >&2", [own(&input.file), own(&output.file), own(&output.file)]);
    assert_eq!(launch.time().expect("run").exit, ExitStatus::Code(0));
    output.file.rewind().expect("rewind");
    let mut text = String::new();
    output.file.read_to_string(&mut text).expect("read");
    assert_eq!(text, "from a fileno\n");
}

#[test]
fn a_command_runs_where_it_was_said_to() {
    let mut output = ScratchFile::with(b"");
    let stream = Some(output.file.try_clone().expect("descriptor").into());
    let place = Surroundings {
        variables: vec![("HOTSET_PLACE".into(), "a b".into()), ("HOME".into(), "/h".into())],
        directory: Some("/usr".into()),
    };
    let line = "echo $PWD $HOTSET_PLACE $HOME; test -n \"$PATH\"";
    let launch = shell(line, [None, stream, None]).within(&place);
    assert_eq!(launch.expect("ready").time().expect("run").exit, ExitStatus::Code(0));
    output.file.rewind().expect("rewind");
    let mut text = String::new();
    output.file.read_to_string(&mut text).expect("read");
    assert_eq!(text, "/usr a b /h\n");
    let none = Surroundings { directory: Some("/nonexistent".into()), ..Surroundings::default() };
    let mut launch = shell("true", [None, None, None]).within(&none).expect("ready");
    assert_eq!(launch.time().expect_err("missing").kind(), io::ErrorKind::NotFound);
    let odd = Surroundings { variables: vec![("A=B".into(), "c".into())], directory: None };
    assert!(shell("true", [None, None, None]).within(&odd).is_err());
}

#[test]
fn a_script_that_names_no_interpreter_is_the_shells() {
    let path = std::env::temp_dir().join(format!("hotset-script-{}", std::process::id()));
    // Written by another process: a child that another test starts meanwhile would inherit the open file, and what
    // somebody has open for writing can't be executed.
    let write = "echo 'exit $1' > \"$0\" && chmod 755 \"$0\"";
    let written = std::process::Command::new("sh").args(["-c", write]).arg(&path).status();
    assert!(written.expect("sh").success());
    let argv = ["script".into(), "4".into()];
    let mut launch = Launch::new(&path, &argv, [None, None, None]).expect("ready");
    for _ in 0..2 {
        assert_eq!(launch.time().expect("run").exit, ExitStatus::Code(4));
    }
    let mut launch = Launch::new(&path, &argv, [None, None, None]).expect("ready");
    let child = launch.start().expect("started");
    assert_eq!(crate::child::reap(child).expect("reaped").0, ExitStatus::Code(4));
    std::fs::remove_file(&path).expect("remove");
}

#[test]
fn what_can_not_be_executed_is_an_error_and_leaves_no_child() {
    let mut launch =
        Launch::new(Path::new("/nonexistent"), &["x".into()], [None, None, None]).expect("ready");
    assert_eq!(launch.time().expect_err("missing").kind(), io::ErrorKind::NotFound);
    assert!(Launch::new(Path::new("/a\0b"), &[], [None, None, None]).is_err());
}
