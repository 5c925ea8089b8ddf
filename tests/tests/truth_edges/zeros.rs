//! Holes and space that was never written: pages that are made of zeros, and that no device reads.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hotset_tests::filesystems::{FileSystem, Kind, with_device};
use hotset_tests::json::number;
use hotset_tests::{Cache, PAGE, Scratch, observe};
use serde_json::Value;

const PAGES: u64 = 1024;

/// Whether a page is data: single ones and runs, so that requests of the kernel skip holes, and holes at both ends.
fn is_data(page: u64) -> bool {
    (page % 3 == 1 && page < 300) || (600..700).contains(&page)
}

fn data_pages() -> u64 {
    (0..PAGES).filter(|page| is_data(*page)).count() as u64
}

/// A file of data and holes, and space that was asked for and never written.
fn sparse(path: &Path) {
    let file = File::create(path).expect("create");
    file.set_len(PAGES * PAGE).expect("size");
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 800 * PAGE, 100 * PAGE)
        .expect("fallocate");
    for page in (0..PAGES).filter(|page| is_data(*page)) {
        file.write_all_at(&[page as u8 | 1; PAGE as usize], page * PAGE).expect("write");
    }
    file.sync_all().expect("sync");
}

fn row<'a>(profile: &'a Value, path: &Path) -> &'a Value {
    let rows = profile["files"].as_array().expect("files");
    rows.iter().find(|row| row["path"] == path.to_str().expect("UTF-8")).expect("the file's row")
}

fn assert_counts(row: &Value, wanted: &[(&str, u64)], what: &str) {
    for (pointer, wanted) in wanted {
        assert_eq!(number(row, pointer), *wanted, "{what} {pointer}: {row}");
    }
}

#[test]
fn what_is_made_of_zeros_is_not_from_the_device() {
    let scratch = Scratch::new("zeros");
    let (data, zeros) = (data_pages(), PAGES - data_pages());
    for fs in with_device().filter(|fs| fs.kind() != Kind::Overlay) {
        let path = fs.path("sparse");
        sparse(&path);
        let name = fs.kind().name();
        let device = ("/device/read_bytes", data * PAGE);
        for words in [
            &["seq"][..],
            &["seq", "--block", "5000"],
            &["random", "--count", "3000", "--seed", "7"],
            &["uring", "--block", "65536"],
        ] {
            let run = observe(&scratch, &path, Cache::Cold, words);
            let row = row(&run.profile, &path);
            let what = format!("{name} {words:?}");
            if words[0] == "random" {
                // Which pages it asks for is its own choice: what it did not ask for was read ahead.
                let asked = number(row, "/read/from_device") + number(row, "/read/zeros");
                assert_eq!(asked, run.truth("/distinct_pages"), "{what}: {row}");
                assert!(number(row, "/read/from_device") <= data, "{what}: {row}");
                assert!(number(row, "/read/zeros") <= zeros, "{what}: {row}");
                continue;
            }
            assert_counts(
                row,
                &[("/read/from_device", data), ("/read/zeros", zeros), device],
                &what,
            );
            assert_counts(
                row,
                &[("/read/hits", number(row, "/read/pages") - number(row, "/read/misses"))],
                &what,
            );
        }
        let run = observe(&scratch, &path, Cache::Cold, &["mmap-seq"]);
        let row = row(&run.profile, &path);
        assert_counts(row, &[("/mmap/pages_read", data), ("/mmap/zeros", zeros), device], name);
    }
}

/// Zeros that are cached already are hits as all others.
#[test]
fn zeros_are_made_once() {
    let scratch = Scratch::new("zeros-warm");
    let fs = FileSystem::new(Kind::Ext4);
    let path = fs.path("sparse");
    sparse(&path);
    let run = observe(&scratch, &path, Cache::Warm, &["seq"]);
    let row = row(&run.profile, &path);
    assert_counts(row, &[("/read/from_cache", PAGES), ("/read/zeros", 0)], "warm");
}
