//! Holes and space that was never written: pages that are made of zeros, and that no device reads.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hotset_tests::filesystems::{FileSystem, Kind, with_device};
use hotset_tests::json::number;
use hotset_tests::run::profile_of;
use hotset_tests::scratch::text;
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

/// Data that Btrfs keeps beside the inode, from a byte to the most that it does.
#[test]
fn a_small_file_is_not_made_of_zeros() {
    let scratch = Scratch::new("zeros-none");
    let fs = FileSystem::new(Kind::Btrfs);
    for bytes in [1, 100, 511, 512, 2048, 4096] {
        let path = fs.path(&bytes.to_string());
        let file = File::create(&path).expect("create");
        file.write_all_at(&vec![1; bytes], 0).and_then(|()| file.sync_all()).expect("write");
        let run = observe(&scratch, &path, Cache::Cold, &["seq"]);
        let row = row(&run.profile, &path);
        assert_counts(
            row,
            &[("/read/zeros", 0), ("/read/from_device", 1)],
            path.to_str().expect("UTF-8"),
        );
    }
}

/// Space that was asked for, of which fallocate(2) reads a page that it changes while the file is as small as one beside its
/// inode can be.
#[test]
fn a_page_of_zeros_that_a_small_file_began_with_is_none_of_the_device() {
    let scratch = Scratch::new("zeros-small");
    let fs = FileSystem::new(Kind::Btrfs);
    let path = fs.path("grown");
    let script = "import os,sys\n\
         fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n\
         os.posix_fallocate(fd, 0, 3000); os.posix_fallocate(fd, 5000, 3280)\n\
         assert len(os.read(fd, 8280)) == 8280";
    let profile = profile_of(&scratch, &["python3", "-c", script, text(&path)]);
    let row = row(&profile, &path);
    let zeros = [("/read/pages", 3), ("/read/zeros", 3), ("/read/from_device", 0)];
    assert_counts(row, &zeros, "grown");
    assert_counts(row, &[("/device/read_bytes", 0)], "grown");
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
