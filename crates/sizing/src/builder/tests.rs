//! Requests of known bytes as references.

use super::*;

const PAGE: u64 = PAGE_BYTES;

fn bytes(offset: u64, len: u64) -> Bytes {
    Bytes { file: 3, offset, len }
}

fn parts(references: &References) -> Vec<(RequestKind, Vec<u32>)> {
    references.iter().map(|(request, pages)| (request.kind, pages.to_vec())).collect()
}

#[test]
fn reads_of_one_page_continue() {
    let mut builder = ReferencesBuilder::new();
    for (offset, description) in
        [(0, 1), (100, 1), (100, 2), (200, 2), (PAGE - 50, 1), (PAGE + 50, 1)]
    {
        builder.read(&bytes(offset, 100), description).expect("there is room");
    }
    builder.read(&bytes(0, 0), 1).expect("there is room");
    builder.close(1);
    builder.read(&bytes(PAGE + 150, 1), 1).expect("there is room");
    let references = builder.finish();
    let continues: Vec<bool> = references.requests().iter().map(|one| one.continues).collect();
    // Through another description it is read anew.
    assert_eq!(continues, [false, true, false, true, true, true, false]);
    assert_eq!(references.pages(), [0, 0, 0, 0, 0, 1, 1, 1]);
}

#[test]
fn what_a_write_keeps_is_read_first() {
    use RequestKind::{WritePart as Part, WriteWhole as Whole};
    let kinds = |offset, len, size| {
        let mut builder = ReferencesBuilder::new();
        builder.write(&bytes(offset, len), size).expect("there is room");
        let references = builder.finish();
        let of = |(request, pages): (&Request, &[u32])| (request.kind, pages.len());
        references.iter().map(of).collect::<Vec<_>>()
    };
    // Of a file of ten pages: the middle of a page, a whole page, a head, a tail, both.
    assert_eq!(kinds(10, 10, 10 * PAGE), [(Part, 1)]);
    assert_eq!(kinds(PAGE, PAGE, 10 * PAGE), [(Whole, 1)]);
    assert_eq!(kinds(10, PAGE - 10, 10 * PAGE), [(Part, 1)]);
    assert_eq!(kinds(0, 10, 10 * PAGE), [(Part, 1)]);
    assert_eq!(kinds(10, 3 * PAGE, 10 * PAGE), [(Part, 1), (Whole, 2), (Part, 1)]);
    // Behind the end of the file nothing is kept; an append keeps the head of the last page.
    assert_eq!(kinds(PAGE + 10, 10, 0), [(Whole, 1)]);
    assert_eq!(kinds(10, 10, 10), [(Part, 1)]);
    assert_eq!(kinds(0, 10, 10), [(Whole, 1)]);
    assert_eq!(kinds(0, 10, 0), [(Whole, 1)]);
}

#[test]
fn a_sync_has_what_was_written_since() {
    let mut builder = ReferencesBuilder::new();
    builder.write(&bytes(0, 4 * PAGE), 0).expect("there is room");
    builder.write(&bytes(0, PAGE), 4 * PAGE).expect("there is room");
    builder.remove(3, 2..3);
    builder.sync(4);
    builder.sync(3);
    builder.sync(3);
    builder.write(&bytes(3 * PAGE, PAGE), 4 * PAGE).expect("there is room");
    builder.sync_all();
    use RequestKind::{Remove, Sync, WriteWhole};
    let expected = [
        (WriteWhole, vec![0, 1, 2, 3]),
        (WriteWhole, vec![0]),
        (Remove, vec![2]),
        (Sync, vec![0, 1, 3]),
        (WriteWhole, vec![3]),
        (Sync, vec![3]),
    ];
    assert_eq!(parts(&builder.finish()), expected);
}

#[test]
fn a_number_that_is_used_again_is_not_synced_for_the_page_before() {
    let mut builder = ReferencesBuilder::new();
    builder.write(&bytes(0, PAGE), 0).expect("there is room");
    builder.remove(3, 0..u64::MAX);
    builder.write(&Bytes { file: 5, offset: 0, len: PAGE }, 0).expect("there is room");
    builder.sync(3);
    builder.sync(5);
    let parts = parts(&builder.finish());
    assert_eq!(parts.last(), Some(&(RequestKind::Sync, vec![0])));
    assert_eq!(parts.len(), 4);
}

#[test]
fn a_call_has_at_most_two_gibibytes() {
    assert_eq!(bytes(0, u64::MAX).pages(), 0..(1 << 19) - 1);
    assert_eq!(bytes(u64::MAX - 1, 5).pages().end, 1 << 52);
}

#[test]
fn long_pauses_are_kept() {
    let mut builder = ReferencesBuilder::new();
    builder.pass(10_000_000_000);
    builder.fault(1, 7, true).expect("there is room");
    builder.pass(5);
    let references = builder.finish();
    let passed: u64 = references.requests().iter().map(|one| u64::from(one.own_ns)).sum();
    assert_eq!(passed, 10_000_000_005);
    let pages: Vec<u32> = references.requests().iter().map(|one| one.pages).collect();
    assert_eq!(pages, [0, 0, 1, 0]);
    assert_eq!(references.requests()[2].kind, RequestKind::RandomFault);
}

#[test]
fn pages_that_others_hold_are_no_references() {
    let mut builder = ReferencesBuilder::new();
    builder.hold(1, vec![2..4, 6..7]);
    let all = Bytes { file: 1, offset: 0, len: 8 * PAGE_BYTES };
    builder.read(&all, 0).expect("there is room");
    builder.write(&all, 0).expect("there is room");
    builder.read(&Bytes { file: 2, ..all }, 0).expect("there is room");
    builder.sync(1);
    assert_eq!(builder.held_requests(), 6);
    let references = builder.finish();
    // Five pages of the first file, eight of the second, and five written ones.
    assert_eq!((references.distinct(), references.pages().len()), (13, 5 + 5 + 8 + 5));
}
