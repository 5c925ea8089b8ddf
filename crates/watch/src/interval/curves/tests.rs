use hotset_analysis::live::testing::{process, reads};
use hotset_facts::{LiveIo, LiveLosses, LiveRow};
use hotset_observe::live::ProcessReferences;
use hotset_sizing::sample::{Curve, FileIdentity, hash, is_sampled};

use super::*;

const THERE: fn(&str) -> bool = |_| false;

fn path(n: u32) -> Observed<Arc<str>> {
    process(n).cgroup
}

/// What was counted of these processes, so many pages each.
fn counted(pages: &[(u32, u64)]) -> LiveSample {
    let row = |(at, &(n, pages)): (usize, &(u32, u64))| LiveRow {
        process: at as u32,
        file: 0,
        io: reads(n, pages, 0).io.into(),
    };
    LiveSample {
        processes: pages.iter().map(|&(n, _)| process(n)).collect(),
        files: Vec::new(),
        rows: pages.iter().enumerate().map(row).collect(),
        active_rows: 0,
        others: LiveIo::default(),
        evicted_pages: Observed::Value(0),
        losses: LiveLosses::default(),
        lookups: None,
        references: Vec::new(),
    }
}

fn read_of(hash: u64) -> PageReference {
    PageReference { hash, process: 1, kind: ReferenceKind::Read }
}

/// Process `n` reads the pages of a file so many times, as the sensor sends it with this exponent.
fn read_whole(curves: &mut Curves, n: u32, pages: u64, exponent: u32) {
    let file = FileIdentity::new(1, n.into(), 0);
    let hashes = (0..pages).map(|page| hash(file, page));
    for hash in hashes.filter(|&hash| is_sampled(hash, exponent)) {
        curves.take(read_of(hash), Some(&path(n)));
    }
}

#[test]
fn a_group_has_its_own_curve_and_deltas_sum() {
    let mut curves = Curves::new(CurveOptions { exponent: 3, together: false });
    let (mut sum, mut references) = (None::<Curve>, 0);
    for _ in 0..4 {
        read_whole(&mut curves, 0, 8_192, 3);
        read_whole(&mut curves, 1, 512, 3);
        let seen = curves.interval(&counted(&[(0, 8_192), (1, 512)]), 3, 0, THERE);
        let [large, small] = &seen.groups[..] else { panic!("{seen:?}") };
        assert_eq!(large.group, path(0).value());
        assert_eq!((large.references, large.lost, large.pages), (8_192, 0, 1_024));
        assert_eq!((small.references, small.pages, small.exponent), (512, 64, 3));
        references += large.references;
        let curve = Curve::from(large.counts.clone());
        match &mut sum {
            None => sum = Some(curve),
            Some(sum) => sum.add(&curve).expect("the same limits"),
        }
    }
    let sum = sum.expect("there were intervals");
    assert_eq!((sum.references(), sum.first_references()), (references, 8_192));
    let at = |limit: u64| sum.limits().iter().position(|&one| one >= limit).expect("a limit");
    // A loop: nothing hits below, all but the first pass at and above.
    assert_eq!(sum.hits()[at(7_000)], 0);
    assert_eq!(sum.hits()[at(8_192)], 3 * 8_192);
    let seen = curves.interval(&counted(&[(1, 0)]), 3, 0, THERE);
    assert_eq!(seen.groups, [], "nothing was done");
}

#[test]
fn faults_and_losses_are_the_processes_own() {
    let mut curves = Curves::new(CurveOptions { exponent: 0, together: false });
    let mut sample = counted(&[(0, 900)]);
    sample.references = vec![ProcessReferences { cgroup: path(0), faults: 100, lost: 250 }];
    (0..750).for_each(|page| curves.take(read_of(page), Some(&path(0))));
    let seen = curves.interval(&sample, 0, 250, THERE);
    let [group] = &seen.groups[..] else { panic!("{seen:?}") };
    assert_eq!((group.references, group.lost, seen.lost), (1_000, 250, 250));
    assert_eq!(group.counts.references, 750, "a quarter was lost, and counts for nothing");
    // Too many: fewer pages from now on, in the samples too.
    assert_eq!(curves.fewer(&seen), Some(1));
    let half = curves.groups.values().map(|group| group.sampler.exponent()).max();
    assert_eq!((half, curves.empty.exponent()), (Some(1), 1));
    (0..750).for_each(|page| curves.take(read_of(page), Some(&path(0))));
    let seen = curves.interval(&sample, 1, 250, THERE);
    assert_eq!((seen.lost, curves.fewer(&seen)), (0, None), "lost before");
}

#[test]
fn everything_together_is_one_cache() {
    let mut curves = Curves::new(CurveOptions { exponent: 2, together: true });
    read_whole(&mut curves, 0, 1_000, 2);
    read_whole(&mut curves, 1, 1_000, 2);
    curves.take(read_of(0), None);
    let seen = curves.interval(&counted(&[(0, 1_000), (1, 1_001)]), 2, 0, THERE);
    let [all] = &seen.groups[..] else { panic!("{seen:?}") };
    assert_eq!((&all.group, all.references, seen.unattributed), (&None, 2_001, 0));
    assert!((495..=505).contains(&all.pages), "{}", all.pages);
}

#[test]
fn removed_pages_are_first_references_again() {
    let mut curves = Curves::new(CurveOptions { exponent: 0, together: false });
    for _ in 0..3 {
        curves.take(read_of(7), Some(&path(0)));
        let removed = PageReference { hash: 7, process: 0, kind: ReferenceKind::Removed };
        curves.take(removed, None);
    }
    let seen = curves.interval(&counted(&[(0, 3)]), 0, 0, THERE);
    let curve = Curve::from(seen.groups[0].counts.clone());
    assert_eq!((curve.references(), curve.first_references()), (3, 3));
}

#[test]
fn memory_and_the_number_of_groups_are_bounded() {
    let mut curves = Curves::new(CurveOptions { exponent: 0, together: false });
    let most = ALL_BYTES / GROUP_BYTES;
    let groups: Vec<Observed<Arc<str>>> = (0..most as u32 + 9).map(path).collect();
    for group in &groups {
        curves.take(read_of(1), Some(group));
    }
    curves.take(read_of(1), None);
    let seen = curves.interval(&counted(&[]), 0, 0, THERE);
    assert_eq!((seen.groups.len(), seen.groups_beyond), (most, 9));
    assert_eq!(seen.unattributed, 10, "those of the nine, and one whose group is not known");
    // One that is full of pages, all of which were removed once.
    for page in 0..100_000 {
        curves.take(read_of(hash(FileIdentity::new(1, 1, 1), page)), Some(&groups[0]));
    }
    let sampler = &curves.groups[&groups[0].clone().value()].sampler;
    let bytes = sampler.memory_bytes() + LIMIT_BYTES * curves.empty.clone().take().limits().len();
    assert!(sampler.pages() > 3_700 && bytes < GROUP_BYTES, "{bytes} of {GROUP_BYTES}");
}

#[test]
fn groups_that_ended_or_idle_ones_make_room() {
    let mut curves = Curves::new(CurveOptions { exponent: 0, together: false });
    for n in 0..curves.most_groups as u32 {
        curves.take(read_of(1), Some(&path(n)));
    }
    curves.interval(&counted(&[]), 0, 0, THERE);
    let new = path(1_000);
    // One of them is gone.
    let gone = path(5).value();
    curves.interval(&counted(&[]), 0, 0, |path| Some(path) == gone.as_deref());
    assert_eq!(curves.groups.len(), curves.most_groups - 1);
    curves.take(read_of(1), Some(&new));
    assert!(curves.groups.contains_key(&new.value()));
    // All are there, and none has been idle for long; later all but one have.
    curves.take(read_of(1), Some(&path(2_000)));
    assert_eq!(curves.interval(&counted(&[]), 0, 0, THERE).groups_beyond, 1);
    for _ in 0..IDLE_INTERVALS {
        curves.take(read_of(1), Some(&path(7)));
        curves.interval(&counted(&[]), 0, 0, THERE);
    }
    curves.take(read_of(1), Some(&path(2_000)));
    assert_eq!(curves.interval(&counted(&[]), 0, 0, THERE).groups_beyond, 0);
    assert!(curves.groups.contains_key(&path(7).value()));
}
