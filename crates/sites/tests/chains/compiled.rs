//! Chains of programs in C and C++, in every way that they are built and installed.

use std::path::Path;
use std::process::Command;

use crate::fixture::{Running, assert_chain, compile, from, line_of, site_of, tool};
use hotset_facts::trace::{Site, SiteState};
use hotset_sites::Sites;
use hotset_tests::Scratch;

const CHAIN: [&str; 5] = ["inlined", "innermost", "middle", "outer", "main"];

fn site_of_program(program: &Path) -> Site {
    site_of(&Running::start(&mut Command::new(program)).copy())
}

#[test]
fn every_way_to_compile_has_the_same_chain() {
    let scratch = Scratch::new("sites-variants");
    let variants: [&[&str]; 8] = [
        &["-fno-omit-frame-pointer"],
        &["-fomit-frame-pointer"],
        &["-O0"],
        &["-O3", "-flto"],
        &["-no-pie"],
        &["-static"],
        &["-static-pie"],
        &["-gz=zlib", "-gdwarf-4"],
    ];
    for flags in variants {
        let program = scratch.path("chain");
        compile("chain.c", flags, &program);
        let site = site_of_program(&program);
        assert_chain(&site, "chain.c", &CHAIN);
        let caller = &site.frames[0];
        assert!(caller.function.as_ref().is_some_and(|name| name.contains("read")), "{site:#?}");
        let last = site.frames.last().expect("a frame");
        assert_eq!(last.function.as_deref(), Some("_start"), "{flags:?}");
    }
}

#[test]
fn a_shorter_copy_gives_the_innermost_part_of_the_chain() {
    let scratch = Scratch::new("sites-short");
    let program = scratch.path("chain");
    compile("chain.c", &["-fomit-frame-pointer"], &program);
    let running = Running::start(&mut Command::new(&program));
    let copy = running.copy();
    let whole = site_of(&copy);
    let mut sites = Sites::new();
    let mut states = Vec::new();
    for length in (0..copy.stack.len().min(4_096)).step_by(8) {
        sites.resolve(&copy.sample(length, 0), None).expect("a site");
        for site in sites.added() {
            assert!(whole.frames.starts_with(&site.frames), "{length}: {site:#?}");
            states.push(site.state);
        }
    }
    states.dedup();
    assert_eq!(states, [SiteState::Lost, SiteState::Cut, SiteState::Whole]);
}

#[test]
fn stripped_programs_have_offsets_in_the_file() {
    let scratch = Scratch::new("sites-stripped");
    let (program, stripped) = (scratch.path("chain"), scratch.path("stripped"));
    compile("chain.c", &[], &program);
    tool("strip", ["-o".as_ref(), stripped.as_os_str(), program.as_os_str()]);
    let (named, bare) = (site_of_program(&program), site_of_program(&stripped));
    assert_eq!(bare.state, SiteState::Whole);
    let symbols = String::from_utf8(tool("nm", [&program]).stdout).expect("symbols");
    for function in ["innermost", "middle", "outer", "main"] {
        let of_name = named.frames.iter().find(|frame| frame.function.as_deref() == Some(function));
        let line = symbols.lines().find(|line| line.ends_with(&format!(" {function}")));
        let start =
            line.and_then(|line| u64::from_str_radix(&line[..16], 16).ok()).expect("a symbol");
        let expected = start + of_name.expect("a frame").offset;
        let found = bare.frames.iter().find(|frame| frame.offset == expected);
        assert!(found.is_some_and(|frame| frame.function.is_none()), "{function}: {bare:#?}");
    }
}

#[test]
fn debug_files_are_found_by_their_link_and_only_if_they_belong() {
    let scratch = Scratch::new("sites-link");
    for id in ["-Wl,--build-id=sha1", "-Wl,--build-id=none"] {
        let (program, debug) = (scratch.path("chain"), scratch.path("chain.debug"));
        compile("chain.c", &[id], &program);
        tool("objcopy", ["--only-keep-debug".as_ref(), program.as_os_str(), debug.as_os_str()]);
        let link = format!("--add-gnu-debuglink={}", debug.display());
        tool("objcopy", ["--strip-all".as_ref(), link.as_ref(), program.as_os_str()]);
        assert_chain(&site_of_program(&program), "chain.c", &CHAIN);
        compile("chain.c", &["-O0", id], &debug);
        let other = site_of_program(&program);
        assert_eq!(from(&other, "main"), []);
        assert_eq!(other.state, SiteState::Whole);
    }
}

#[test]
fn debug_files_are_found_by_build_id_in_the_programs_own_root() {
    let scratch = Scratch::new("sites-root");
    let program = scratch.path("chain");
    compile("chain.c", &["-static", "-Wl,--build-id=0xabcdef0123456789"], &program);
    let directory = scratch.path("usr/lib/debug/.build-id/ab");
    std::fs::create_dir_all(&directory).expect("a directory");
    let debug = directory.join("cdef0123456789.debug");
    tool("objcopy", ["--only-keep-debug".as_ref(), program.as_os_str(), debug.as_os_str()]);
    tool("strip", [&program]);
    // As root, as the tests of hotset run.
    let mut command = Command::new("chroot");
    let running = Running::start(command.arg(scratch.dir()).arg("/chain"));
    let site = site_of(&running.copy());
    assert_chain(&site, "chain.c", &CHAIN);
}

#[test]
fn programs_in_another_mount_namespace_are_read_there() {
    let scratch = Scratch::new("sites-mounts");
    let (program, debug) = (scratch.path("chain"), scratch.path("chain.debug"));
    compile("chain.c", &[], &program);
    tool("objcopy", ["--only-keep-debug".as_ref(), program.as_os_str(), debug.as_os_str()]);
    let link = format!("--add-gnu-debuglink={}", debug.display());
    tool("objcopy", ["--strip-all".as_ref(), link.as_ref(), program.as_os_str()]);
    std::fs::create_dir(scratch.path("hidden")).expect("a directory");
    // Nobody outside of that namespace sees what is in the directory.
    let script = "cd \"$0\" && mount -t tmpfs none hidden && mv chain chain.debug hidden && exec hidden/chain";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script]).arg(scratch.dir());
    let running = Running::start(&mut command);
    let site = site_of(&running.copy());
    assert!(!scratch.path("hidden/chain").exists());
    assert_chain(&site, "chain.c", &CHAIN);
}

#[test]
fn signal_handlers_lead_to_what_they_interrupt() {
    let scratch = Scratch::new("sites-signal");
    for flags in [&["-O2"][..], &["-static"]] {
        let program = scratch.path("signal");
        compile("signal.c", flags, &program);
        let site = site_of_program(&program);
        assert_chain(&site, "signal.c", &["handler"]);
        assert_chain(&site, "signal.c", &["interrupted", "main"]);
    }
}

#[test]
fn destructors_that_exceptions_run_have_their_callers() {
    let scratch = Scratch::new("sites-exception");
    let program = scratch.path("exception");
    compile("exception.cc", &[], &program);
    let site = site_of_program(&program);
    assert_chain(&site, "exception.cc", &["store::Guard<int>::~Guard"]);
    let functions: Vec<_> = from(&site, "store::Guard<int>::~Guard").into_iter().collect();
    assert_eq!(functions[1].0, "store::Reader::load");
    assert_eq!(functions[2], ("main".to_owned(), Some(line_of("exception.cc", "main"))));
}
