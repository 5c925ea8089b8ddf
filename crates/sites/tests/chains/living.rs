//! Processes that load libraries, run other programs, are replaced on disk, and end.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::copied::Copy;
use crate::fixture::{Running, assert_chain, compile, line_of};
use hotset_facts::trace::{Site, SiteState};
use hotset_sites::{Image, Images, Sample, SiteCounts, Sites};
use hotset_tests::Scratch;

const SECOND: u64 = 1_000_000_000;

struct Built {
    scratch: Scratch,
    late: PathBuf,
    library: PathBuf,
    chain: PathBuf,
}

fn build() -> Built {
    let scratch = Scratch::new("sites-living");
    let (late, library, chain) =
        (scratch.path("late"), scratch.path("library.so"), scratch.path("chain"));
    compile("late.c", &["-ldl"], &late);
    compile("library.c", &["-shared", "-fPIC"], &library);
    compile("chain.c", &[], &chain);
    Built { scratch, late, library, chain }
}

fn resolve(sites: &mut Sites, copy: &Copy, time_ns: u64) -> Site {
    sites.resolve(&copy.sample(copy.stack.len(), time_ns), None).expect("a site");
    sites.added().pop().expect("a new site")
}

fn go_on(running: &mut Running) {
    let input = running.child.stdin.as_mut().expect("an input");
    input.write_all(b"x").and_then(|()| input.flush()).expect("written");
}

/// The copy of a thread that reads, once that is another read than `before`.
fn next_copy(running: &Running, before: &Copy) -> Copy {
    for _ in 0..1_000 {
        let copy = running.copy();
        if copy.registers[1] != before.registers[1] || copy.stack != before.stack {
            return copy;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("the program did not go on");
}

#[test]
fn what_is_loaded_or_run_later_is_found() {
    let built = build();
    let mut running =
        Running::start(Command::new(&built.late).arg(&built.library).arg(&built.chain));
    let mut sites = Sites::new();
    let early = running.copy();
    let site = resolve(&mut sites, &early, 0);
    assert_eq!(site.frames.last().and_then(|frame| frame.function.as_deref()), Some("_start"));
    let lines: Vec<_> = site.frames.iter().filter_map(|frame| frame.line).collect();
    assert!(lines.contains(&line_of("late.c", "early")), "{site:#?}");

    go_on(&mut running);
    let late = next_copy(&running, &early);
    // Its mappings were just read, but it has others by now.
    let site = resolve(&mut sites, &late, 1);
    assert_chain(&site, "library.c", &["loaded"]);
    let main = site.frames.iter().find(|frame| frame.function.as_deref() == Some("main"));
    assert_eq!(main.and_then(|frame| frame.line), Some(line_of("late.c", "late")));

    go_on(&mut running);
    let other = next_copy(&running, &late);
    let site = resolve(&mut sites, &other, 2);
    assert_chain(&site, "chain.c", &["inlined", "innermost", "middle", "outer", "main"]);
}

#[test]
fn programs_that_were_deleted_or_replaced_are_the_ones_that_run() {
    let built = build();
    for replaced in [false, true] {
        compile("chain.c", &[], &built.chain);
        let running = Running::start(&mut Command::new(&built.chain));
        let copy = running.copy();
        std::fs::remove_file(&built.chain).expect("removed");
        if replaced {
            std::fs::copy(&built.late, &built.chain).expect("replaced");
        }
        let site = resolve(&mut Sites::new(), &copy, 0);
        assert_chain(&site, "chain.c", &["inlined", "innermost", "middle", "outer", "main"]);
        let module = site.frames.last().and_then(|frame| frame.module.clone());
        assert_eq!(module, Some(built.chain.display().to_string()));
    }
    drop(built.scratch);
}

#[test]
fn a_process_that_ended_is_known_by_what_was_read_before() {
    let built = build();
    let mut running = Running::start(&mut Command::new(&built.chain));
    let copy = running.copy();
    let mut sites = Sites::new();
    let whole = sites.resolve(&copy.sample(copy.stack.len(), 0), None);
    let cut = sites.resolve(&copy.sample(512, 0), None);
    sites.added();
    running.end();
    assert_eq!(sites.resolve(&copy.sample(copy.stack.len(), SECOND), None), whole);
    assert_eq!(sites.resolve(&copy.sample(512, SECOND), None), cut);
    // Another chain, of addresses that were in the first: the same call from another place.
    let shorter = sites.resolve(&copy.sample(8, SECOND), None).expect("a site");
    assert!(Some(shorter) != whole && shorter != cut.expect("a site"));
    let added = sites.added().remove(0);
    assert_eq!(added.state, SiteState::Cut);
    assert!(added.frames.iter().any(|frame| frame.function.as_deref() == Some("innermost")));
    assert_eq!(sites.counts(), SiteCounts { whole: 2, cut: 3, lost: 0, refused: 0 });
}

#[test]
fn mappings_outlive_their_process() {
    let built = build();
    let mut running = Running::start(&mut Command::new(&built.chain));
    let copy = running.copy();
    let sample = copy.sample(copy.stack.len(), 0);
    let mappings = Images::default().look(sample.image, sample.ip, None).expect("it lives");
    running.end();
    let mut sites = Sites::new();
    sites.resolve(&sample, Some(mappings)).expect("a site");
    let site = sites.added().remove(0);
    assert_chain(&site, "chain.c", &["inlined", "innermost", "middle", "outer", "main"]);
    let mut late = Sites::new();
    late.resolve(&sample, None).expect("a site");
    assert_eq!(late.counts().lost, 1, "nobody looked while it lived");
}

#[test]
fn of_a_process_that_was_never_seen_only_the_address_is_known() {
    let mut sites = Sites::new();
    let image = Image { pid: u32::MAX, stack_start: 0x8000 };
    let sample = Sample { image, ip: 0x1234, sp: 0x7000, bp: 0, stack: &[0; 64], time_ns: 0 };
    sites.resolve(&sample, None).expect("a site");
    let site = sites.added().remove(0);
    assert_eq!((site.state, site.frames.len()), (SiteState::Lost, 1));
    let frame = &site.frames[0];
    assert_eq!(
        (frame.function.as_ref(), frame.module.as_ref(), frame.offset),
        (None, None, 0x1234)
    );
    assert_eq!(sites.counts().lost, 1);
}

#[test]
fn equal_programs_have_equal_sites_in_every_process() {
    let built = build();
    let mut sites = Sites::new();
    let running: Vec<_> = (0..3).map(|_| Running::start(&mut Command::new(&built.chain))).collect();
    let alive: Vec<_> = running
        .iter()
        .map(|running| {
            let copy = running.copy();
            sites.resolve(&copy.sample(copy.stack.len(), SECOND), None).expect("a site")
        })
        .collect();
    assert!(alive.windows(2).all(|pair| pair[0] == pair[1]), "{alive:?}");
}
