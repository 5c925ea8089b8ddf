use hotset_tests::undisturbed;
use rustix::fs::Advice;

use super::*;
use crate::test_support::ScratchFile;

const MIB: u64 = 1 << 20;

fn page_range(first: u64, count: u64) -> PageRange {
    PageRange { first, count }
}

/// What mincore(2) says of the whole file, page by page: the same runs by other means.
fn by_pages(file: &ScratchFile, size: u64) -> Vec<PageRange> {
    let mut vector = Vec::new();
    mincore_pages(file.file.as_fd(), 0, crate::pages_of(size), &mut vector).expect("mincore");
    let mut runs: Vec<PageRange> = Vec::new();
    for (page, _) in vector.iter().enumerate().filter(|(_, byte)| **byte & 1 == 1) {
        match runs.last_mut() {
            Some(run) if run.end() == page as u64 => run.count += 1,
            _ => runs.push(page_range(page as u64, 1)),
        }
    }
    runs
}

fn written(pages: u64) -> ScratchFile {
    ScratchFile::on_disk(&vec![7; (pages * crate::page_size()) as usize])
}

/// Cold, then every second page read, one at a time and without read-ahead.
fn read_every_second(file: &ScratchFile, pages: u64) {
    file.evict();
    rustix::fs::fadvise(&file.file, 0, None, Advice::Random).expect("fadvise");
    for index in (0..pages).step_by(2) {
        rustix::io::pread(&file.file, &mut [0], index * crate::page_size()).expect("pread");
    }
}

#[test]
fn every_second_page_is_a_run_each() {
    let pages = 3 * WINDOW_PAGES / 64 + 5;
    let file = written(pages);
    let wanted: Vec<PageRange> = (0..pages).step_by(2).map(|page| page_range(page, 1)).collect();
    undisturbed(&[&file.path], || {
        read_every_second(&file, pages);
        let found = ranges(&file.file, pages * crate::page_size()).expect("ranges");
        assert_eq!(found, wanted);
    });
}

#[test]
fn cachestat_alone_finds_the_same() {
    let file = written(64);
    undisturbed(&[&file.path], || {
        read_every_second(&file, 64);
        let mut found = Vec::new();
        let visit = |range| {
            found.push(range);
            ControlFlow::Continue(())
        };
        let fd = file.file.as_fd();
        let mut scan = Scan { fd, run: None, visit, vector: Vec::new(), patience: TIMEOUT };
        let _ = scan.look(page_range(0, 64), Source::Cachestat).expect("bisect");
        let _ = scan.flush();
        assert_eq!(found, by_pages(&file, 64 * crate::page_size()));
        assert_eq!(found.len(), 32);
    });
}

#[test]
fn a_cold_file_and_an_empty_one_have_none() {
    let file = ScratchFile::on_disk(&vec![7; MIB as usize]);
    file.evict();
    assert_eq!(ranges(&file.file, MIB).expect("ranges"), []);
    assert_eq!(ranges(&file.file, 0).expect("ranges"), []);
}

#[test]
fn a_run_goes_on_from_window_to_window() {
    let size = (2 * WINDOW_PAGES + 3) * crate::page_size();
    let file = ScratchFile::on_disk(&vec![7; size as usize]);
    let whole = page_range(0, crate::pages_of(size));
    undisturbed(&[&file.path], || {
        crate::cache::warm(&file.path).expect("warm");
        assert_eq!(ranges(&file.file, size).expect("ranges"), [whole]);
    });
}

#[test]
fn a_few_pages_of_a_huge_sparse_file_are_found_at_once() {
    let page = crate::page_size();
    let file = ScratchFile::on_disk(b"");
    let size = 8 << 40;
    file.file.set_len(size).expect("set_len");
    let places = [0, 1 << 32, size - page];
    undisturbed(&[&file.path], || {
        for offset in places {
            rustix::io::pwrite(&file.file, &[1], offset).expect("pwrite");
        }
        // Page by page, this would take half a minute.
        let found = ranges(&file.file, size).expect("ranges");
        assert_eq!(found, places.map(|offset| page_range(offset / page, 1)));
    });
}

#[test]
fn a_visitor_can_stop_and_a_span_can_begin_anywhere() {
    let file = written(64);
    undisturbed(&[&file.path], || {
        read_every_second(&file, 64);
        let mut seen = Vec::new();
        visit_ranges(&file.file, page_range(9, 40), |range| {
            seen.push(range);
            if seen.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("ranges");
        assert_eq!(seen, [10, 12, 14].map(|page| page_range(page, 1)));
    });
}
