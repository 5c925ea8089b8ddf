use std::fs::File;
use std::io::Write;

use hotset_facts::{ControlReport, Unevictable};
use hotset_tests::undisturbed;

use super::*;
use crate::testing::{GO, ScratchDir, cached_pages, warm_now};

const MIB: u64 = 1 << 20;

fn options(scratch: &ScratchDir, dirty: Dirty) -> EvictOptions {
    let selection = scratch.selection();
    EvictOptions { selection, span: ByteSpan::WHOLE, dirty, named: NamedFiles::All }
}

fn run(options: &EvictOptions) -> ControlReport {
    evict(options, &GO).report
}

#[test]
fn clean_files_go_and_an_empty_one_is_gone_already() {
    let scratch = ScratchDir::new();
    let files = [scratch.file("a", MIB), scratch.file("b", 5), scratch.file("empty", 0)];
    let report = run(&options(&scratch, Dirty::Leave));
    assert!(report.is_reached(), "{report:?}");
    assert_eq!((report.totals.files, report.totals.cached_after), (3, 0));
    assert_eq!(files.iter().map(|file| cached_pages(file)).sum::<u64>(), 0);
}

#[test]
fn only_the_span_goes() {
    let scratch = ScratchDir::new();
    // As large as the largest folio: one that reaches over an edge of the span would stay whole.
    let file = scratch.file("file", 4 * MIB);
    let span = ByteSpan { start: 2 * MIB, end: 4 * MIB };
    undisturbed(&[&file], || {
        warm_now(&file);
        let report = run(&EvictOptions { span, ..options(&scratch, Dirty::Leave) });
        let half = 2 * MIB / hotset_sys::page_size();
        assert_eq!((report.totals.pages, report.totals.cached_after), (half, 0));
        assert_eq!(cached_pages(&file), half);
    });
}

#[test]
fn dirty_pages_stay_unless_they_are_to_be_written() {
    let scratch = ScratchDir::new();
    let path = scratch.path().join("dirty");
    let mut file = File::create(&path).expect("create");
    file.write_all(&vec![1; 64 << 10]).expect("write");
    let left = run(&options(&scratch, Dirty::Leave));
    let stayed = &left.files[0].stayed;
    // The kernel writes out by itself what is old enough.
    if !left.is_reached() {
        assert!(
            matches!(stayed[0].reason, Unevictable::Dirty | Unevictable::Writeback),
            "{stayed:?}"
        );
    }
    let written = run(&options(&scratch, Dirty::Write));
    assert!(written.is_reached(), "{written:?}");
    assert_eq!(cached_pages(&path), 0);
}

#[test]
fn a_pinned_file_stays_and_its_holder_is_named() {
    let scratch = ScratchDir::new();
    let path = scratch.file("file", 64 << 10);
    let (pin, _) = hotset_sys::cache::Pin::new(&path, u64::MAX, &()).expect("pin");
    let report = run(&options(&scratch, Dirty::Leave));
    drop(pin);
    assert!(!report.is_reached());
    let own = std::process::id();
    let by = |stayed: &hotset_facts::Stayed| stayed.holder.as_ref().map(|holder| holder.0);
    let stayed = &report.files[0].stayed;
    assert!(
        stayed.iter().any(|stayed| stayed.reason == Unevictable::Locked && by(stayed) == Some(own)),
        "{stayed:?}"
    );
    assert!(run(&options(&scratch, Dirty::Leave)).is_reached(), "nothing holds it any more");
}
