//! Bytes from devices where the block layer is not handed pages of the file, and calls that do not do what they were asked to.

use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_tests::bench::{member, result_of, session, valid_numbers};
use hotset_tests::filesystems::{FileSystem, Kind};
use hotset_tests::json::number;
use hotset_tests::run::profile_of;
use hotset_tests::scratch::text;
use hotset_tests::{Cache, MIB, Mounted, Observed, PAGE, Scratch, hotset, observe};
use serde_json::Value;

use crate::script::{python, row};

/// Words that compress well.
fn compressible(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|i| ((i / 64).wrapping_mul(2_654_435_761) >> 27) as u8).collect()
}

/// What is read for the file, and for the tables of its file system.
fn device_bytes(profile: &Value, path: &Path) -> (u64, u64) {
    let rows = profile["files"].as_array().expect("files");
    let tables = rows.iter().filter(|row| row["kind"] == "block_device");
    let tables = tables.map(|row| number(row, "/device/read_bytes")).sum();
    (number(row(profile, path), "/device/read_bytes"), tables)
}

/// The loop's own bytes are the file's, and perhaps some of its tables': these are read outside of the loop too.
fn assert_device_bytes(run: &Observed, path: &Path, what: &str) {
    let truth = run.truth("/block_read_bytes");
    let (file, tables) = device_bytes(&run.profile, path);
    assert!(truth > 0 && file > 0, "{what}: {file} of {truth}");
    assert!(file <= truth && truth <= file + tables, "{what}: {file} and {tables}, truly {truth}");
    let row = row(&run.profile, path);
    assert_eq!(
        number(row, "/read/from_device") + number(row, "/mmap/pages_read"),
        MIB / PAGE,
        "{what}: {row}"
    );
    assert_eq!(number(row, "/read/zeros") + number(row, "/mmap/zeros"), 0, "{what}: {row}");
}

fn image(scratch: &Scratch, maker: &str, words: &[&str]) -> (PathBuf, Mounted) {
    let [source, image, root] = ["source", "image", "root"].map(|name| scratch.path(name));
    for dir in [&source, &root] {
        std::fs::create_dir(dir).expect("mkdir");
    }
    std::fs::write(source.join("f"), compressible(MIB)).expect("write");
    let mut command = Command::new(maker);
    let files = if maker == "mksquashfs" { [&source, &image] } else { [&image, &source] };
    command.args(words.iter().take_while(|word| word.starts_with("-z"))).args(files);
    command.args(words.iter().skip_while(|word| word.starts_with("-z")));
    let output = command.output().unwrap_or_else(|error| panic!("{maker}: {error}"));
    assert!(output.status.success(), "{maker}: {}", String::from_utf8_lossy(&output.stderr));
    let mounted = Mounted::new(&["-o", "loop,ro", text(&image), text(&root)]);
    (root.join("f"), mounted)
}

#[test]
fn compressed_data_comes_from_the_device() {
    for (maker, words) in
        [("mksquashfs", &["-quiet", "-no-progress"][..]), ("mkfs.erofs", &["-zlz4"])]
    {
        let scratch = Scratch::new("compressed");
        let (path, _mounted) = image(&scratch, maker, words);
        for case in ["seq", "mmap-seq"] {
            let run = observe(&scratch, &path, Cache::Cold, &[case]);
            assert_device_bytes(&run, &path, maker);
        }
    }
    let scratch = Scratch::new("compressed");
    let fs = FileSystem::with_options(Kind::Btrfs, "noatime,compress-force=zstd");
    let path = written(&fs);
    for case in ["seq", "mmap-seq"] {
        let run = observe(&scratch, &path, Cache::Cold, &[case]);
        assert_device_bytes(&run, &path, "btrfs");
    }
}

/// Cold runs count where the device holds fewer bytes than the pages.
#[test]
fn a_benchmark_counts_its_cold_runs_whatever_the_device_holds() {
    let sparse = FileSystem::new(Kind::Ext4);
    let hole = written(&sparse);
    let file = std::fs::File::options().write(true).open(&hole).expect("open");
    file.set_len(8 * MIB).and_then(|()| file.sync_all()).expect("a hole");
    let images = Scratch::new("compressed");
    let (erofs, _mounted) = image(&images, "mkfs.erofs", &["-zlz4"]);
    for (path, holes, may_be_compressed) in [(&hole, 7 * MIB, false), (&erofs, 0, true)] {
        let scratch = Scratch::new("bench-stored");
        let session = session(&scratch, &["-r", "3", "--state", "cold", "--", "cat", text(path)]);
        let member = member(&session, path);
        assert_eq!(member["hole_bytes"], holes, "{member}");
        assert_eq!(member["may_be_compressed"], may_be_compressed, "{member}");
        let read = valid_numbers(&result_of(&session, "cold"), "device_bytes");
        let most = number(member, "/size_bytes") as f64 / 2.0;
        assert!(!read.is_empty(), "no run counts: {session}");
        assert!(read.iter().all(|&read| read > 0.0 && read < most), "{read:?} of {member}");
    }
}

fn written(fs: &FileSystem) -> PathBuf {
    let path = fs.path("f");
    std::fs::write(&path, compressible(MIB)).expect("write");
    std::fs::File::open(&path).and_then(|file| file.sync_all()).expect("sync");
    path
}

/// The tables of a file system are read for a walk of it, and stand under its device.
#[test]
fn metadata_is_booked_to_the_device() {
    for kind in [Kind::Ext4, Kind::Xfs, Kind::Btrfs] {
        let scratch = Scratch::new("metadata");
        let mut fs = FileSystem::new(kind);
        for dir in 0..100 {
            let dir = fs.path(&format!("d{dir}"));
            std::fs::create_dir(&dir).expect("mkdir");
            std::fs::write(dir.join("f"), "x").expect("write");
        }
        fs.mount_again();
        let root = fs.root().to_owned();
        let truth = scratch.path("truth");
        let script = "import os,sys\n\
             read = lambda: int(open('/proc/self/io').read().split('read_bytes: ')[1].split()[0])\n\
             before = read()\n\
             for dir, _, files in os.walk(sys.argv[1]):\n for file in files: os.stat(os.path.join(dir, file))\n\
             open(sys.argv[2], 'w').write(str(read() - before))";
        let profile = profile_of(&scratch, &["python3", "-c", script, text(&root), text(&truth)]);
        let truth: u64 = std::fs::read_to_string(&truth).expect("truth").parse().expect("a number");
        let rows = profile["files"].as_array().expect("files");
        let tables = rows.iter().filter(|row| row["kind"] == "block_device");
        let tables: u64 = tables.map(|row| number(row, "/device/read_bytes")).sum();
        // Python's own start reads tables too.
        assert!(truth > 0 && tables >= truth, "{kind:?}: {tables}, truly at least {truth}");
    }
}

/// The number of the inode in which Btrfs caches its tables. No mode is ever given to it: that of a file is left there, whose
/// memory it has got.
const TABLES: u64 = 1;

/// No row stands for it, and what threads of the kernel read of it is no read that was held back. Nor is it a file in the
/// cache of the host.
#[test]
fn tables_of_btrfs_are_no_file() {
    let scratch = Scratch::new("tables");
    let mut fs = FileSystem::new(Kind::Btrfs);
    for file in 0..1000 {
        std::fs::write(fs.path(&format!("f{file}")), [1; 5000]).expect("write");
    }
    for _ in 0..10 {
        // Their inodes are freed with the mount, and the next one's are made of them.
        for file in 0..1000 {
            std::fs::metadata(fs.path(&format!("f{file}"))).expect("a file");
        }
        fs.mount_again();
        // A thread looks for free space before anything can be written.
        let script = "ls -l $0 >$1; cat $1 >$0/copy; sync $0/copy";
        let profile =
            profile_of(&scratch, &["sh", "-c", script, text(fs.root()), text(&scratch.path("o"))]);
        let rows = profile["files"].as_array().expect("files");
        let tables = rows.iter().find(|row| row["kind"] == "regular" && row["ino"] == TABLES);
        assert!(tables.is_none(), "{tables:?}");
        let output = Command::new(hotset()).args(["ls", "--system", "--json"]).output();
        let list: Value = serde_json::from_slice(&output.expect("hotset").stdout).expect("JSON");
        let systems = list["file_systems"].as_array().expect("file systems");
        let mount = text(fs.root());
        let system = systems.iter().find(|system| system["mount"] == mount).expect("the mount");
        let internal = number(system, "/pages/internal");
        assert!(list["source"] == "walk" || internal > 0, "{system}");
    }
}

/// O_DIRECT that the file system serves from the cache is a buffered read or write.
#[test]
fn direct_io_that_is_none_is_counted_as_what_it_is() {
    let scratch = Scratch::new("not-direct");
    for (kind, options) in
        [(Kind::Ext4, "noatime,data=journal"), (Kind::Btrfs, "noatime,compress-force=zstd")]
    {
        let fs = FileSystem::with_options(kind, options);
        let path = written(&fs);
        let cold = observe(&scratch, &path, Cache::Cold, &["direct-read", "--block", "65536"]);
        let row_of = |run: &Observed| row(&run.profile, &path).clone();
        let row = row_of(&cold);
        assert_eq!(number(&row, "/read/from_device"), MIB / PAGE, "{kind:?}: {row}");
        assert_eq!(number(&row, "/direct/read_bytes"), 0, "{kind:?}: {row}");
        let warm =
            row_of(&observe(&scratch, &path, Cache::Warm, &["direct-read", "--block", "65536"]));
        assert_eq!(number(&warm, "/read/from_cache"), MIB / PAGE, "{kind:?}: {warm}");
        assert_eq!(number(&warm, "/direct/read_calls"), 0, "{kind:?}: {warm}");
        if kind == Kind::Ext4 {
            for _ in 0..2 {
                let run =
                    observe(&scratch, &path, Cache::AsItIs, &["direct-write", "--block", "65536"]);
                let row = row_of(&run);
                assert_eq!(number(&row, "/write/bytes"), run.truth("/direct/write_bytes"), "{row}");
                assert_eq!(number(&row, "/direct/write_calls"), 0, "{row}");
            }
        }
    }
}

#[test]
fn pages_that_are_dropped_once_read_come_from_the_device() {
    let scratch = Scratch::new("dontcache");
    let path = scratch.file("f", 16 * MIB);
    let script = "import os,sys,json\n\
         fd = os.open(sys.argv[1], os.O_RDONLY); buffer = bytearray(1 << 20); at = 0; works = True\n\
         while True:\n\
        \x20 try: n = os.preadv(fd, [buffer], at, 0x80 if works else 0)\n\
        \x20 except OSError: works = False; continue\n\
        \x20 if n <= 0: break\n\
        \x20 at += n\n\
         json.dump({'bytes': at, 'works': int(works)}, open(sys.argv[2], 'w'))";
    let (row, truth) = python(&scratch, &path, script);
    // Before Linux 6.14 the flag is refused, and the same reads without it are read ahead as usual.
    assert_eq!(number(&truth, "/bytes"), 16 * MIB);
    assert_eq!(number(&row, "/read/from_device"), 16 * MIB / PAGE, "{truth} {row}");
    assert_eq!(number(&row, "/read/from_cache"), 0, "{truth} {row}");
}

/// Copies within a file of 2 MiB that is not cached, and says what was counted for it.
fn copied_within(from: u64, to: u64, bytes: u64) -> Value {
    let scratch = Scratch::new("copy-within");
    let fs = FileSystem::new(Kind::Ext4);
    let path = fs.path("f");
    std::fs::write(&path, compressible(2 * MIB)).expect("write");
    std::fs::File::open(&path).and_then(|file| file.sync_all()).expect("sync");
    let script = format!(
        "import os,sys,json\n\
         fd = os.open(sys.argv[1], os.O_RDWR)\n\
         n = os.copy_file_range(fd, fd, {bytes}, {from}, {to})\n\
         json.dump({{'bytes': n}}, open(sys.argv[2], 'w'))"
    );
    let (row, truth) = python(&scratch, &path, &script);
    assert_eq!(number(&truth, "/bytes"), bytes);
    row
}

#[test]
fn a_copy_within_one_file_makes_pages_and_reads_others_ahead() {
    let (row, pages) = (copied_within(MIB, 0, MIB), MIB / PAGE);
    assert_eq!(number(&row, "/read/from_device"), pages, "{row}");
    // A page of the other half was either read ahead or made by the copy.
    assert_eq!(number(&row, "/write/new_pages") + number(&row, "/readahead/pages"), pages, "{row}");
    let read = (pages + number(&row, "/readahead/pages")) * PAGE;
    assert_eq!(number(&row, "/device/read_bytes"), read, "{row}");
}

#[test]
fn a_copy_to_where_its_own_request_reads_ahead_makes_no_pages() {
    // A read of 7 pages brings in 16 with the least read-ahead that a device has (128 KiB), and more with more: the copy
    // ends before these.
    for (from, to) in [(0, 9 * PAGE), (0, 7 * PAGE), (0, 8 * PAGE + 5)] {
        let row = copied_within(from, to, 7 * PAGE);
        let ahead = number(&row, "/device/read_bytes") / PAGE - 7;
        assert_eq!(number(&row, "/read/from_device"), 7, "{row}");
        let end = to + 7 * PAGE;
        assert!(
            (7 + ahead) * PAGE >= end,
            "one request reads both ends of the copy to {to}: {row}"
        );
        assert_eq!(number(&row, "/readahead/pages"), ahead, "{row}");
        assert_eq!(number(&row, "/write/new_pages"), 0, "{row}");
    }
}
