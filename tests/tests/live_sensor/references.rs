//! References to pages in the sample: each of those that were made, and no other.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use hotset_facts::{FileId, LiveIo};
use hotset_observe::live::{LiveOptions, LiveSample, LiveSession, PageReference, ReferenceKind};
use hotset_observe::{Scope, loader_words};
use hotset_sizing::sample::{FileIdentity, hash, is_sampled};
use hotset_tests::scratch::text;
use hotset_tests::{
    Group, MIB, PAGE, Scratch, Shell, evict_verified, once_undisturbed, until, warm_verified,
    workload,
};

use crate::{done_to, id_of, sample};

/// Pages of the files that are used.
const PAGES: u64 = 16 * MIB / PAGE;

/// A control group whose sampled references a session sends.
struct Watched {
    scratch: Scratch,
    shell: Shell,
    session: LiveSession,
    exponent: u32,
    // Removed last, when nobody is in it.
    _group: Group,
}

impl Watched {
    fn new(name: &str, exponent: u32, compat: bool) -> Self {
        let scratch = Scratch::new(name);
        let group = Group::new(&scratch);
        let shell = Shell::new();
        group.add_below(shell.pid());
        let options = LiveOptions {
            scope: Scope::Cgroup(group.dir().to_owned()),
            compat,
            sample_exponent: Some(exponent),
            ..LiveOptions::default()
        };
        let session = LiveSession::start(options);
        let session = session.unwrap_or_else(|error| panic!("{error}: {}", loader_words()));
        Self { scratch, shell, session, exponent, _group: group }
    }

    /// What the workload did in the group: the sample, and references in order.
    fn run(&mut self, words: &[&str]) -> (LiveSample, Vec<PageReference>) {
        sample(&mut self.session);
        self.session.take_references(|_, _| ());
        let truth = self.scratch.path("truth.json");
        let program = workload();
        let words = [&[text(&program)], words, &["--truth", text(&truth)]].concat().join(" ");
        let (shell, session) = (&mut self.shell, &mut self.session);
        let mut references = Vec::new();
        let lost = session.lost_references();
        std::thread::scope(|scope| {
            let running = scope.spawn(|| shell.run(&words));
            while !running.is_finished() {
                session.drain().expect("drained");
                take(session, &mut references);
            }
        });
        let seen = sample(session);
        take(session, &mut references);
        assert_eq!(session.lost_references(), lost, "the ring was emptied in time");
        (seen, references)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.file(name, PAGES * PAGE)
    }
}

/// What `attempt` answers, tried again where one of its assertions fails and others evicted pages of the file meanwhile, or this
/// process did not run often enough to empty the ring.
fn kept_up<T>(watched: &mut Watched, path: &Path, mut attempt: impl FnMut(&mut Watched) -> T) -> T {
    until("pages stay, and the ring is emptied in time", || {
        let lost = watched.session.lost_references();
        let once = AssertUnwindSafe(|| once_undisturbed(&[path], || attempt(&mut *watched)));
        match catch_unwind(once) {
            Ok(answer) => answer,
            Err(panic) if watched.session.lost_references() == lost => resume_unwind(panic),
            Err(_) => None,
        }
    })
}

fn take(session: &mut LiveSession, references: &mut Vec<PageReference>) {
    session.take_references(|reference, group| {
        let is_known = group.is_some_and(|group| group.as_value().is_some());
        assert_eq!(is_known, reference.kind != ReferenceKind::Removed, "{reference:?} {group:?}");
        references.push(reference);
    });
}

/// The hashes of the pages of a file.
fn hashes(sample: &LiveSample, id: FileId) -> impl Fn(u64) -> u64 {
    let file = sample.files.iter().find(|file| file.id.same_inode(&id)).expect("it was used");
    let FileId { dev, ino, generation } = file.id;
    let kernel_dev = dev.major << 20 | dev.minor;
    let identity = FileIdentity::new(kernel_dev, ino, generation.unwrap_or(0));
    move |page| hash(identity, page)
}

/// Pages that requests of so many bytes refer to, one behind the other from the beginning of a file.
fn in_order(block: u64) -> Vec<u64> {
    let starts = (0..PAGES * PAGE).step_by(block as usize);
    let pages = |start: u64| start / PAGE..=((start + block).min(PAGES * PAGE) - 1) / PAGE;
    starts.flat_map(pages).collect()
}

/// Of what was asked for, what is in the sample.
fn sampled(pages: &[u64], hash: impl Fn(u64) -> u64, exponent: u32) -> Vec<u64> {
    pages.iter().map(|&page| hash(page)).filter(|&hash| is_sampled(hash, exponent)).collect()
}

/// References to one file, of a kind.
fn to_file(
    references: &[PageReference],
    hash: impl Fn(u64) -> u64,
    kind: ReferenceKind,
) -> Vec<u64> {
    let known: std::collections::HashSet<u64> = (0..2 * PAGES).map(hash).collect();
    let of_file = references.iter().filter(|one| known.contains(&one.hash) && one.kind == kind);
    of_file.map(|one| one.hash).collect()
}

/// Sums of what was counted of a file.
fn counted(sample: &LiveSample, path: &Path) -> LiveIo {
    done_to(sample, id_of(path)).iter().fold(LiveIo::default(), |mut sum, (_, io)| {
        sum.add(io);
        sum
    })
}

/// A workload over a file in the cache: all its references of a kind, and no others of it.
#[track_caller]
fn check(watched: &mut Watched, path: &Path, words: &[&str], kind: ReferenceKind, pages: &[u64]) {
    kept_up(watched, path, |watched| {
        warm_verified(path);
        let words = [words, &["--file", text(path)]].concat();
        let (seen, references) = watched.run(&words);
        let io = counted(&seen, path);
        let all = if kind == ReferenceKind::Read { io.read_pages } else { io.write_pages };
        assert_eq!(all, pages.len() as u64, "{words:?}: the exact number of references");
        let hash = hashes(&seen, id_of(path));
        let mut expected = sampled(pages, &hash, watched.exponent);
        let mut found = to_file(&references, &hash, kind);
        // Random order, or several requests at once, are told by another test.
        expected.sort_unstable();
        found.sort_unstable();
        let (n, all, exponent) = (found.len(), expected.len(), watched.exponent);
        assert!(found == expected, "{words:?}: {n} of {all} at 2^-{exponent}");
        // The last page of the file may be none of those.
        expected.dedup();
        let (one_in, all) = (PAGES >> watched.exponent, expected.len() as u64);
        assert!(one_in.abs_diff(all) <= 1, "{all} distinct pages of {PAGES}");
    });
}

fn calls_of_all_kinds(exponent: u32, compat: bool) {
    use ReferenceKind::{Read, Write};
    let mut watched = Watched::new(&format!("references-{exponent}-{compat}"), exponent, compat);
    let path = watched.file("data");
    let once: Vec<u64> = (0..PAGES).collect();
    let w = &mut watched;
    check(w, &path, &["seq", "--block", "3000"], Read, &in_order(3000));
    check(w, &path, &["seq", "--block", "1048576"], Read, &once);
    check(w, &path, &["seq", "--block", "16777216"], Read, &once);
    check(w, &path, &["random", "--block", "4096"], Read, &once);
    check(w, &path, &["odd", "--block", "5000", "--count", "3355"], Read, &odd(5000, 3355));
    check(w, &path, &["vectored", "--iovecs", "12", "--block", "4096"], Read, &once);
    check(w, &path, &["preadv2", "--iovecs", "3", "--block", "8192", "--at-position"], Read, &once);
    check(w, &path, &["reread", "--passes", "3", "--block", "65536"], Read, &once.repeat(3));
    check(w, &path, &["splice"], Read, &once);
    check(w, &path, &["overwrite", "--block", "8192"], Write, &once);
    check(w, &path, &["write-partial", "--block", "100", "--count", "4096"], Write, &once);
    let copy = watched.scratch.path("copy");
    let words = ["sendfile", "--block", "131072", "--file2", text(&copy)];
    check(&mut watched, &path, &words, Read, &once);
}

fn odd(block: u64, count: u64) -> Vec<u64> {
    let pages = |start: u64| start / PAGE..=(start + block - 1) / PAGE;
    (0..count).flat_map(|number| pages(number * block)).collect()
}

#[test]
fn every_reference_is_sent_where_the_sample_is_everything() {
    calls_of_all_kinds(0, false);
    calls_of_all_kinds(0, true);
}

#[test]
fn references_to_pages_in_the_sample_are_sent_and_no_others() {
    for exponent in [3, 7] {
        calls_of_all_kinds(exponent, false);
        calls_of_all_kinds(exponent, true);
    }
    calls_of_all_kinds(8, false);
}

#[test]
fn requests_of_io_uring_and_linux_aio_are_sent() {
    use ReferenceKind::{Read, Write};
    let once: Vec<u64> = (0..PAGES).collect();
    for exponent in [0, 7] {
        let mut watched = Watched::new(&format!("references-rings-{exponent}"), exponent, false);
        let path = watched.file("data");
        let w = &mut watched;
        check(w, &path, &["uring", "--block", "16384", "--depth", "8"], Read, &once);
        check(w, &path, &["uring", "--block", "4096", "--depth", "4", "--async"], Read, &once);
        check(w, &path, &["uring", "--block", "16384", "--depth", "8", "--write"], Write, &once);
        check(w, &path, &["aio", "--block", "16384", "--depth", "8"], Read, &once);
        check(w, &path, &["aio", "--block", "16384", "--depth", "8", "--write"], Write, &once);
    }
}

#[test]
fn the_order_of_references_is_that_of_the_requests() {
    for compat in [false, true] {
        let mut watched = Watched::new(&format!("references-order-{compat}"), 4, compat);
        let path = watched.file("data");
        kept_up(&mut watched, &path, |watched| {
            warm_verified(&path);
            let words = ["seq", "--block", "5000", "--file", text(&path)];
            let (seen, references) = watched.run(&words);
            let hash = hashes(&seen, id_of(&path));
            let found = to_file(&references, &hash, ReferenceKind::Read);
            let expected = sampled(&in_order(5000), &hash, 4);
            assert!(found == expected, "{} of {}", found.len(), expected.len());
        });
    }
}

/// Faults that look for their page: one that the cache lacks.
#[test]
fn faults_are_sent_by_the_page_that_they_look_for() {
    for (exponent, compat) in [(0, false), (0, true), (5, false)] {
        let mut watched =
            Watched::new(&format!("references-faults-{exponent}-{compat}"), exponent, compat);
        let path = watched.file("data");
        kept_up(&mut watched, &path, |watched| {
            evict_verified(&path);
            let words = ["mmap-random", "--advise-random", "--count", "4096"];
            let words = [&words[..], &["--file", text(&path)]].concat();
            let (seen, references) = watched.run(&words);
            let hash = hashes(&seen, id_of(&path));
            let mut found = to_file(&references, &hash, ReferenceKind::Fault);
            let mut expected = sampled(&(0..PAGES).collect::<Vec<u64>>(), &hash, exponent);
            found.sort_unstable();
            expected.sort_unstable();
            // Nothing is read ahead after MADV_RANDOM, and a page that was read is mapped by the fault that read it: each page has one fault.
            assert_eq!(counted(&seen, &path).faults, PAGES);
            assert!(found == expected, "{} of {}", found.len(), expected.len());
            let of_processes: u64 = seen.references.iter().map(|process| process.faults).sum();
            assert!(
                (PAGES..PAGES + 1_000).contains(&of_processes),
                "{of_processes}, and programs' own"
            );
        });
    }
}

#[test]
fn direct_requests_are_none_and_removed_pages_are_told() {
    let mut watched = Watched::new("references-direct", 0, false);
    let path = watched.file("data");
    kept_up(&mut watched, &path, |watched| {
        warm_verified(&path);
        let words = ["direct-read", "--block", "65536", "--file", text(&path)];
        let (seen, references) = watched.run(&words);
        let hash = hashes(&seen, id_of(&path));
        assert_eq!(to_file(&references, &hash, ReferenceKind::Read), [0; 0]);
        assert!(counted(&seen, &path).direct_read_bytes > 0);
        std::fs::File::options().write(true).open(&path).expect("open").set_len(PAGE).expect("cut");
        watched.session.drain().expect("drained");
        let mut removed = Vec::new();
        watched.session.take_references(|reference, _| {
            assert_eq!(reference.process, 0);
            removed.push(reference.hash);
        });
        let removed: std::collections::HashSet<u64> = removed.into_iter().collect();
        let expected: std::collections::HashSet<u64> = (1..PAGES).map(&hash).collect();
        assert!(expected.is_subset(&removed), "{} of {PAGES}", removed.len());
        std::fs::File::options()
            .write(true)
            .open(&path)
            .expect("open")
            .set_len(PAGES * PAGE)
            .expect("grown");
    });
}

#[test]
fn fewer_pages_from_now_on_are_some_of_those_before() {
    let mut watched = Watched::new("references-raised", 3, false);
    let path = watched.file("data");
    kept_up(&mut watched, &path, |watched| {
        warm_verified(&path);
        let words = ["seq", "--block", "65536", "--file", text(&path)];
        let mut before: Option<Vec<u64>> = None;
        for exponent in [3, 5, 7, 10] {
            watched.session.raise_sample_exponent(exponent);
            // It never becomes less.
            watched.session.raise_sample_exponent(2);
            assert!(watched.session.sample_exponent() >= Some(exponent));
            let (seen, references) = watched.run(&words);
            let hash = hashes(&seen, id_of(&path));
            let found = to_file(&references, &hash, ReferenceKind::Read);
            let exponent = watched.session.sample_exponent().expect("it samples");
            assert_eq!(found.len() as u64, PAGES >> exponent);
            assert!(before.is_none_or(|before| found.iter().all(|one| before.contains(one))));
            before = Some(found);
        }
    });
}

/// A ring that nobody empties is full after some thousand references; each one that finds no room is counted, and by process.
#[test]
fn what_finds_no_room_is_counted() {
    let mut watched = Watched::new("references-lost", 0, false);
    let path = watched.file("data");
    warm_verified(&path);
    sample(&mut watched.session);
    let mut kept: BTreeMap<u64, u64> = BTreeMap::new();
    watched.session.take_references(|_, _| ());
    let truth = watched.scratch.path("truth.json");
    let program = workload();
    let words = [text(&program), "reread", "--passes", "30", "--block", "65536"];
    let words = [&words[..], &["--file", text(&path), "--truth", text(&truth)]].concat();
    watched.shell.run(&words.join(" "));
    let seen = sample(&mut watched.session);
    let hash = hashes(&seen, id_of(&path));
    let known: std::collections::HashSet<u64> = (0..PAGES).map(hash).collect();
    let mut others = 0;
    watched.session.take_references(|reference, _| {
        if known.contains(&reference.hash) {
            *kept.entry(reference.hash).or_default() += 1;
        } else {
            others += 1;
        }
    });
    let kept: u64 = kept.values().sum();
    let lost = watched.session.lost_references();
    let all = counted(&seen, &path).read_pages;
    assert_eq!(all, 30 * PAGES);
    assert!(kept > 5_000 && lost > 30 * PAGES - 20_000, "{kept} kept, {lost} lost");
    assert!(kept + lost >= all && kept + lost <= all + 5_000, "{kept} + {lost} of {all}; {others}");
    let of_processes: u64 = seen.references.iter().map(|process| process.lost).sum();
    assert_eq!(of_processes, lost, "each is of a process");
}
