//! Curves of control groups from sampled references, against exact ones from all references of the same run.

use std::path::PathBuf;

use hotset_facts::GroupCurve;
use hotset_observe::Scope;
use hotset_observe::live::{LiveOptions, LiveSession, ReferenceKind};
use hotset_sizing::distance::HashedStack;
use hotset_sizing::sample::Curve;
use hotset_tests::scratch::text;
use hotset_tests::{Group, MIB, Scratch, Shell, warm_verified, workload};
use hotset_watch::interval::{CurveOptions, Drained, Live, LiveSource};

const EXPONENT: u32 = 5;
/// Mean difference of the hit ratio over limits; what is measured here is half of it.
const MOST_ERROR: f64 = 0.02;

fn options(group: &Group) -> LiveOptions {
    LiveOptions { scope: Scope::Cgroup(group.dir().to_owned()), ..LiveOptions::default() }
}

/// All references of a session, in order.
struct Exact {
    session: LiveSession,
    stack: HashedStack,
}

impl Exact {
    fn take(&mut self) {
        self.session.drain().expect("drained");
        let stack = &mut self.stack;
        self.session.take_references(|reference, _| {
            if reference.kind == ReferenceKind::Removed {
                stack.remove(reference.hash);
            } else {
                stack.touch(reference.hash);
            }
        });
    }
}

/// The curve of the group, from intervals that sum.
#[derive(Default)]
struct Summed {
    curve: Option<Curve>,
    references: u64,
    last: Option<GroupCurve>,
}

impl Summed {
    fn add(&mut self, live: &mut Live) {
        let curves = live.interval().expect("an interval").curves.expect("they were asked for");
        assert_eq!((curves.lost, curves.groups_beyond, curves.unattributed), (0, 0, 0));
        for group in curves.groups {
            self.references += group.references;
            let curve = Curve::from(group.counts.clone());
            match &mut self.curve {
                None => self.curve = Some(curve),
                Some(sum) => sum.add(&curve).expect("the same limits"),
            }
            self.last = Some(group);
        }
    }
}

/// The group that memory is accounted to, as the kernel says it of a process.
fn group_of(pid: u64) -> String {
    let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("it runs");
    let accounts = |line: &&str| line.split(':').nth(1).is_some_and(|of| of.contains("memory"));
    let line = groups.lines().find(accounts).or_else(|| groups.lines().last()).expect("a line");
    line.splitn(3, ':').nth(2).expect("a path").to_owned()
}

fn error(sampled: &Curve, exact: &[u64], references: u64) -> f64 {
    let pairs = sampled.limits().iter().zip(sampled.hits().into_iter().zip(exact));
    let compared = pairs.filter(|(limit, _)| (16 << EXPONENT..32_768).contains(*limit));
    let errors: Vec<f64> = compared
        .map(|(_, (found, &known))| found.abs_diff(known) as f64 / references as f64)
        .collect();
    assert!(errors.len() > 40, "{}", errors.len());
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// No command below refers to more pages than the ring of references holds (10,922): none is lost, however late they are taken.
const COMMANDS: [&str; 9] = [
    "random --seed 1 --count 6000",
    "random --seed 2 --count 3000",
    "reread --passes 1 --block 131072",
    "reread --passes 1 --block 131072",
    "odd --block 3000 --count 4000",
    "random --seed 1 --count 6000",
    "overwrite --block 8192",
    "odd --block 9000 --count 2000",
    "random --seed 3",
];
const FILES: usize = 3;
const FILE_MIB: u64 = 24;

#[test]
fn sampled_curves_of_a_group_are_those_of_all_references() {
    let scratch = Scratch::new("live-curves");
    let group = Group::new(&scratch);
    let files: [PathBuf; FILES] =
        std::array::from_fn(|index| scratch.file(&format!("data{index}"), FILE_MIB * MIB));
    files.iter().for_each(|path| warm_verified(path));
    let mut shell = Shell::new();
    group.add_below(shell.pid());
    let all = LiveOptions { sample_exponent: Some(0), ..options(&group) };
    let session = LiveSession::start(all).expect("the sensor loads (as root)");
    let mut exact = Exact { session, stack: HashedStack::new() };
    let wanted = CurveOptions { exponent: EXPONENT, together: false };
    let mut live = Live::start(options(&group), Some(wanted)).expect("the sensor loads (as root)");
    let (program, truth) = (workload(), scratch.path("truth.json"));
    let mut summed = Summed::default();
    for (words, path) in
        COMMANDS.iter().flat_map(|words| files.iter().map(move |path| (words, path)))
    {
        let (program, path, truth) = (text(&program), text(path), text(&truth));
        let line = format!("{program} {words} --file {path} --truth {truth}");
        std::thread::scope(|scope| {
            let running = scope.spawn(|| shell.run(&line));
            while !running.is_finished() {
                exact.take();
                live.drain().expect("drained");
            }
        });
        // What came in between the last look and the end.
        exact.take();
        summed.add(&mut live);
    }
    assert_eq!(exact.session.lost_references(), 0);
    let (curve, last) = (summed.curve.expect("it did something"), summed.last.expect("the same"));
    assert_eq!(last.group.as_deref(), Some(&*group_of(shell.pid())));
    assert_eq!((last.exponent, last.lost), (EXPONENT, 0));
    let distances = exact.stack.into_distances();
    assert_eq!(curve.references(), summed.references);
    // The exact number comes of the rows and of faults, and not of the sample.
    assert_eq!(summed.references, distances.references());
    let known = distances.hits_at(curve.limits());
    let found = error(&curve, &known, summed.references);
    assert!(found < MOST_ERROR, "{found:.4}");
    // The same without the order of references would not do.
    let flat: Vec<u64> = known.iter().map(|_| summed.references / 2).collect();
    assert!(error(&curve, &flat, summed.references) > 5.0 * MOST_ERROR);
}
