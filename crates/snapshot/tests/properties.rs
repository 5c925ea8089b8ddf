//! Whatever is saved comes back; whatever was changed is refused, with the place.

#![allow(clippy::expect_used, reason = "helpers of tests")]

use hotset_facts::{Dev, PageRange};
use hotset_snapshot::{
    FileSystem, Header, Mtime, Reader, Record, SavedFile, SnapshotError, Writer, verify,
};
use proptest::collection::vec;
use proptest::prelude::*;

const PAGE: u64 = 4096;

type Saved = (SavedFile, Vec<PageRange>);

fn header() -> Header {
    Header {
        page_size: PAGE,
        created_s: 1_700_000_000,
        kernel: "6.18.0-test".to_owned(),
        written_by: "0.1.0".to_owned(),
    }
}

fn disk() -> FileSystem {
    let dev = Dev { major: 254, minor: 3 };
    let uuid = Some("0b7e-11".to_owned());
    FileSystem { dev, kind: "ext4".to_owned(), mount: b"/m\xff nt".to_vec(), uuid }
}

fn component() -> impl Strategy<Value = Vec<u8>> {
    // Few letters make long common starts; line ends and broken UTF-8 are as good as letters.
    vec(prop::sample::select(b"ab\n\xff.".to_vec()), 1..6)
        .prop_filter("plain", |part| part != b"." && part != b"..")
}

fn path() -> impl Strategy<Value = Vec<u8>> {
    vec(component(), 1..5)
        .prop_map(|parts| parts.iter().flat_map(|part| [b"/", part.as_slice()].concat()).collect())
}

fn ranges() -> impl Strategy<Value = Vec<PageRange>> {
    let far = prop_oneof![8 => 1_u64..5, 1 => 1_u64..1 << 40];
    vec((far, 1_u64..1000), 1..20).prop_map(|steps| {
        let mut end = 0;
        let place = |(gap, count)| {
            let range = PageRange { first: end + gap, count };
            end = range.end();
            range
        };
        steps.into_iter().map(place).collect()
    })
}

fn saved() -> impl Strategy<Value = Saved> {
    let time = (any::<i64>(), 0_u32..1_000_000_000);
    (path(), ranges(), any::<u64>(), time, any::<u64>(), 0..PAGE).prop_map(
        |(path, mut ranges, ino, (seconds, nanos), users, short)| {
            // The first page can be cached as well.
            ranges[0].first -= 1;
            let pages = ranges.last().map_or(0, |range| range.end());
            let size_bytes = pages * PAGE - short;
            let mtime = Mtime { seconds, nanos };
            (SavedFile { path, file_system: 0, ino, size_bytes, mtime, users }, ranges)
        },
    )
}

fn write(files: &[Saved]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header()).expect("header");
    writer.file_system(&disk()).expect("file system");
    for (file, ranges) in files {
        writer.file(file).expect("file");
        writer.ranges(ranges).expect("ranges");
    }
    writer.finish().expect("trailer").0
}

fn read(bytes: &[u8]) -> Result<Vec<Saved>, SnapshotError> {
    let mut reader = Reader::new(bytes)?;
    assert_eq!(reader.header(), &header());
    let mut files: Vec<Saved> = Vec::new();
    while let Some(record) = reader.next_record()? {
        match record {
            Record::File(file) => files.push((file, Vec::new())),
            Record::Ranges(ranges) => files.last_mut().expect("a file").1.extend(ranges),
        }
    }
    assert_eq!(reader.file_systems(), [disk()]);
    Ok(files)
}

/// Two files in two blocks: the ranges alone fill more than one.
fn two_blocks() -> Vec<u8> {
    let ranges: Vec<PageRange> =
        (0..40_000).map(|n| PageRange { first: 2 * n, count: 1 }).collect();
    let file = |path: &[u8]| SavedFile {
        path: path.to_vec(),
        size_bytes: 80_000 * PAGE,
        ..SavedFile::default()
    };
    write(&[(file(b"/data/a"), ranges.clone()), (file(b"/data/b"), ranges)])
}

proptest! {
    #[test]
    fn what_is_saved_comes_back(files in vec(saved(), 0..8)) {
        let bytes = write(&files);
        prop_assert_eq!(read(&bytes).expect("readable"), files.clone());
        let verified = verify(&bytes[..]).expect("good");
        let pages: u64 = files.iter().flat_map(|(_, ranges)| ranges).map(|range| range.count).sum();
        prop_assert_eq!(verified.totals.files, files.len() as u64);
        prop_assert_eq!(verified.totals.pages, pages);
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_refused(files in vec(saved(), 0..4), flip in 1_u8..) {
        let mut bytes = write(&files);
        for at in 0..bytes.len() {
            bytes[at] ^= flip;
            prop_assert!(verify(&bytes[..]).is_err(), "byte {} ^ {}", at, flip);
            bytes[at] ^= flip;
            prop_assert!(verify(&bytes[..at]).is_err(), "cut at {}", at);
        }
        bytes.push(flip);
        prop_assert!(verify(&bytes[..]).is_err(), "one byte more");
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..2000)) {
        prop_assert!(verify(&bytes[..]).is_err());
    }
}

#[test]
fn damage_is_placed_by_byte_and_last_good_file() {
    let mut bytes = two_blocks();
    let at = bytes.len() - 2000;
    bytes[at] ^= 0x40;
    let error = verify(&bytes[..]).expect_err("damaged");
    let place = error.place().expect("a place");
    assert_eq!(place.last_path.as_deref(), Some(&b"/data/b"[..]), "{error}");
    assert!(place.offset <= at as u64 && at as u64 - place.offset < 128 * 1024, "{error}");
    assert!(error.to_string().contains("the last good file is /data/b"), "{error}");
}

#[test]
fn a_file_cut_between_blocks_is_truncated() {
    let bytes = two_blocks();
    // The trailer's block: a head of 9, three numbers, 4 of a checksum, 4 of the block's.
    let mut cut = bytes.len() - 17;
    let error = loop {
        match verify(&bytes[..cut]) {
            Err(error @ SnapshotError::Truncated { expected, .. })
                if expected.contains("trailer") =>
            {
                break error;
            }
            Err(_) => cut -= 1,
            Ok(_) => panic!("cut at {cut} and accepted"),
        }
        assert!(bytes.len() - cut < 100, "no place where only the trailer lacks");
    };
    assert!(error.to_string().starts_with("truncated: it ends at byte"), "{error}");
}

#[test]
fn blocks_that_changed_places_or_vanished_are_refused() {
    let bytes = two_blocks();
    let start = 8 + 2 + 1 + 5 + 4;
    let mut blocks = Vec::new();
    let mut at = start;
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 1..at + 5].try_into().expect("four")) as usize;
        blocks.push(&bytes[at..at + 9 + length + 4]);
        at += 9 + length + 4;
    }
    assert!(blocks.len() >= 4, "{}", blocks.len());
    let mut swapped = blocks.clone();
    swapped.swap(1, 2);
    let mut without = blocks.clone();
    without.remove(2);
    for changed in [swapped, without] {
        let bytes = [&bytes[..start], &changed.concat()].concat();
        assert!(verify(&bytes[..]).is_err());
    }
    assert!(verify(&[&bytes[..start], &blocks.concat()].concat()[..]).is_ok());
}

/// Bytes and their own CRC have a CRC that doesn't depend on them: the one of the whole leaves the others out.
#[test]
fn snapshots_that_differ_in_one_name_of_the_same_length_have_different_checksums() {
    let named = |name: &str| {
        let mut writer = Writer::new(Vec::new(), &header()).expect("header");
        writer.file_system(&disk()).expect("file system");
        let path = format!("/data/{name}").into_bytes();
        writer.file(&SavedFile { path, size_bytes: 1, ..SavedFile::default() }).expect("file");
        writer.ranges(&[PageRange { first: 0, count: 1 }]).expect("range");
        let (bytes, _) = writer.finish().expect("finish");
        verify(&bytes[..]).expect("good").check
    };
    assert_ne!(named("a"), named("b"));
}

#[test]
fn a_later_version_says_who_wrote_it() {
    let mut bytes = write(&[]);
    bytes[8..10].copy_from_slice(&2_u16.to_le_bytes());
    let end = 8 + 2 + 1 + 5;
    let check = crc32fast::hash(&bytes[..end]);
    bytes[end..end + 4].copy_from_slice(&check.to_le_bytes());
    let error = verify(&bytes[..]).expect_err("newer").to_string();
    assert!(error.starts_with("written by hotset 0.1.0 in version 2"), "{error}");
    assert!(error.contains("this is hotset"), "{error}");
}

#[test]
fn other_files_are_no_snapshots() {
    for bytes in [&b""[..], b"\x89PNG\r\n\x1a\n", b"#!/bin/sh\n", b"\x89HSET\n\x1a"] {
        assert!(matches!(verify(bytes), Err(SnapshotError::NotASnapshot)), "{bytes:?}");
    }
    assert!(matches!(verify(&b"\x89HSET\r\n\x1a"[..]), Err(SnapshotError::Truncated { .. })));
}

#[test]
fn a_writer_refuses_what_no_reader_takes() {
    let mut writer = Writer::new(Vec::new(), &header()).expect("header");
    writer.file_system(&disk()).expect("file system");
    let file =
        |path: &[u8]| SavedFile { path: path.to_vec(), size_bytes: 3 * PAGE, ..Default::default() };
    let long = [b"/".to_vec(), vec![b'a'; 40_000]].concat();
    for path in [&b""[..], b"a", b"/", b"/a/", b"/a//b", b"/a/./b", b"/../b", b"/a\0", &long] {
        assert!(writer.file(&file(path)).is_err(), "{:?}", path.escape_ascii().to_string());
    }
    assert!(writer.ranges(&[PageRange { first: 0, count: 1 }]).is_err(), "no file yet");
    let unknown = SavedFile { file_system: 1, ..file(b"/a") };
    assert!(writer.file(&unknown).is_err(), "no such file system");
    writer.file(&file(b"/a")).expect("file");
    for (first, count) in [(0, 0), (0, 4), (3, 1), (u64::MAX, 2)] {
        assert!(writer.ranges(&[PageRange { first, count }]).is_err(), "{first} {count}");
    }
    writer.ranges(&[PageRange { first: 0, count: 1 }]).expect("range");
    for first in [0, 1] {
        assert!(writer.ranges(&[PageRange { first, count: 1 }]).is_err(), "{first} is not apart");
    }
    writer.file(&file(b"/b")).expect("file");
    assert!(writer.finish().is_err(), "a file without ranges");
}
