//! Names: whatever a file is called and wherever it is mounted, its row says the path that the process used.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hotset_tests::scratch::text;
use hotset_tests::{
    Cache, Mounted, Scratch, evict_verified, hotset, number, observe, once_undisturbed, prepare,
    profile_of, read_json, row_at, undisturbed, until, warm_verified,
};
use serde_json::Value;

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;

fn shell(scratch: &Scratch, script: &str) -> Value {
    profile_of(scratch, &["sh", "-ec", script])
}

/// The rows with this path; a script can use a path only once a file.
fn rows_called<'a>(profile: &'a Value, path: &str) -> Vec<&'a Value> {
    let files = profile["files"].as_array().expect("files");
    files.iter().filter(|row| row["path"] == path).collect()
}

fn the_row_called<'a>(profile: &'a Value, path: &str) -> &'a Value {
    let rows = rows_called(profile, path);
    assert_eq!(rows.len(), 1, "{path}: {:?}", paths(profile));
    rows[0]
}

fn paths(profile: &Value) -> Vec<&Value> {
    profile["files"].as_array().expect("files").iter().map(|row| &row["path"]).collect()
}

fn assert_cold_read(row: &Value, size: u64) {
    let pages = size.div_ceil(PAGE);
    assert_eq!((number(row, "/read/bytes"), number(row, "/read/pages")), (size, pages), "{row}");
    assert_eq!(number(row, "/read/from_device"), pages, "{row}");
    assert_eq!(number(row, "/device/read_bytes"), pages * PAGE, "{row}");
}

fn assert_warm_read(row: &Value, size: u64) {
    assert_eq!(number(row, "/read/bytes"), size, "{row}");
    assert_eq!(number(row, "/read/from_cache"), size.div_ceil(PAGE), "{row}");
}

/// A file of whole pages under a name that need not be text.
fn nasty(scratch: &Scratch, name: &OsStr, size: u64) -> PathBuf {
    let path = scratch.dir().join(name);
    std::fs::rename(scratch.file("plain", size), &path).expect("rename");
    path
}

#[test]
fn any_bytes_are_a_name() {
    let scratch = Scratch::new("nasty");
    let long = "n".repeat(255);
    for name in [
        OsStr::new("new\nline\tand \"quotes\" \\ and \u{1b}[31m red"),
        OsStr::from_bytes(b"inv\xff\xfealid\xc3"),
        OsStr::new(&long),
        OsStr::new(" "),
        OsStr::new("-q"),
        OsStr::new("größer ☃ 猫"),
    ] {
        let path = nasty(&scratch, name, MIB);
        undisturbed(&[&path], || {
            evict_verified(&path);
            let words = [OsStr::new("cat"), path.as_os_str()];
            let profile = profile_of(&scratch, &words);
            let row = row_at(&profile, &path);
            assert_cold_read(row, MIB);
            assert_eq!(number(row, "/cached_after"), MIB / PAGE, "{row}");
            assert_eq!(exact_path(row), path, "{row}");
            assert_eq!(row["path_hex"].is_null(), path.to_str().is_some(), "{row}");
        });
    }
}

/// The path as bytes, from `path_hex` where the text is not exact.
fn exact_path(row: &Value) -> PathBuf {
    let Some(hex) = row["path_hex"].as_str() else {
        return PathBuf::from(row["path"].as_str().expect("a path"));
    };
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    PathBuf::from(OsString::from_vec((0..hex.len()).step_by(2).map(byte).collect()))
}

#[test]
fn a_path_of_many_long_directories() {
    let scratch = Scratch::new("deep");
    let plain = scratch.file("plain", MIB);
    let mut dir = scratch.dir().to_owned();
    // Below PATH_MAX, so that a program can still name it at once.
    while dir.as_os_str().len() < 3500 {
        dir.push("d".repeat(200));
    }
    std::fs::create_dir_all(&dir).expect("mkdir");
    let path = dir.join("f");
    std::fs::rename(plain, &path).expect("rename");
    undisturbed(&[&path], || {
        evict_verified(&path);
        let profile = profile_of(&scratch, &[OsStr::new("cat"), path.as_os_str()]);
        let row = row_at(&profile, &path);
        assert_cold_read(row, MIB);
        assert_eq!(row["path"], text(&path));
    });
}

#[test]
fn a_file_that_lost_its_name_before_the_run_is_deleted() {
    let scratch = Scratch::new("unlinked");
    until("nobody else evicts its pages", || {
        let path = scratch.file("f", MIB);
        once_undisturbed(&[&path], || {
            evict_verified(&path);
            let file = std::fs::File::open(&path).expect("open");
            let id = hotset_sys::file_id(&rustix::fs::fstat(&file).expect("fstat"));
            std::fs::remove_file(&path).expect("unlink");
            let out = scratch.path("profile.json");
            let mut command = Command::new(hotset());
            command.args(["run", "--json", text(&out), "-q", "--", "cat"]).stdin(file);
            assert!(command.stdout(Stdio::null()).status().expect("hotset").success());
            let profile = read_json(&out);
            let same = |row: &&Value| row["dev"] == id.dev.to_string() && row["ino"] == id.ino;
            let row = profile["files"].as_array().expect("files").iter().find(same).expect("a row");
            assert_cold_read(row, MIB);
            assert_eq!(row["deleted"], true, "{row}");
            assert!(row["cached_after"].is_null(), "{row}");
        })
    });
}

#[test]
fn through_a_bind_mount_the_path_is_the_one_that_was_used() {
    let scratch = Scratch::new("bind");
    let (from, to) = (scratch.path("from"), scratch.path("to"));
    std::fs::create_dir_all(from.join("sub")).expect("mkdir");
    std::fs::create_dir(&to).expect("mkdir");
    let file = scratch.file("from/sub/f", MIB);
    let script =
        format!("mount --bind {0} {1} && exec cat {1}/sub/f >/dev/null", text(&from), text(&to));
    undisturbed(&[&file], || {
        evict_verified(&file);
        let cold = profile_of(&scratch, &["unshare", "-m", "sh", "-ec", &script]);
        assert_cold_read(row_at(&cold, &file), MIB);
        assert_eq!(row_at(&cold, &file)["path"], text(&to.join("sub/f")));
        warm_verified(&file);
        let warm = profile_of(&scratch, &["unshare", "-m", "sh", "-ec", &script]);
        assert_warm_read(row_at(&warm, &file), MIB);
    });
}

#[test]
fn a_file_in_a_mount_namespace_that_is_gone() {
    let scratch = Scratch::new("namespace");
    let at = scratch.path("at");
    std::fs::create_dir(&at).expect("mkdir");
    let path = format!("{}/dir/f", text(&at));
    let script = format!(
        "mount -t tmpfs none {0} && mkdir {0}/dir && head -c 1000000 /dev/zero >{path} && \
         exec cat {path} >/dev/null",
        text(&at)
    );
    let profile = profile_of(&scratch, &["unshare", "-m", "sh", "-ec", &script]);
    let row = the_row_called(&profile, &path);
    assert_warm_read(row, 1_000_000);
    assert_eq!(number(row, "/write/bytes"), 1_000_000, "{row}");
    assert!(row["cached_after"].is_null(), "{row}");
}

/// A size at first sight is no size at the end: what nobody can ask any more is unknown, or known from the writes.
#[test]
fn a_file_that_grew_and_is_gone_has_not_its_old_size() {
    let scratch = Scratch::new("grew");
    let path = scratch.path("f");
    let script = format!("dd if=/dev/zero of={0} bs=1M count=3 2>/dev/null; rm {0}", text(&path));
    let profile = shell(&scratch, &script);
    let row = the_row_called(&profile, text(&path));
    assert_eq!(number(row, "/write/bytes"), 3 * MIB, "{row}");
    let size = &row["size_bytes"];
    assert!(size.is_null() || *size == 3 * MIB, "{row}");
}

#[test]
fn on_overlayfs_there_is_one_row_and_the_path_is_the_merged_one() {
    let scratch = Scratch::new("overlay");
    let _mounted = Mounted::overlay(text(scratch.dir()));
    let layer = scratch.file("lower/f", 4 * MIB);
    let file = scratch.path("merged/f");
    for cache in [Cache::Cold, Cache::Warm] {
        for words in [&["seq"][..], &["random", "--count", "300"], &["mmap-seq"]] {
            let words = [words, &["--probe", text(&layer)]].concat();
            let run = observe(&scratch, &file, cache, &words);
            run.assert_same(&[
                ("/device/read_bytes", "/block_read_bytes"),
                ("/cached_before", "/pages_cached_before"),
            ]);
            if words[0] == "mmap-seq" {
                run.assert_counts(&[("/mmap/pages_read", run.truth("/block_read_bytes") / PAGE)]);
            } else {
                run.assert_same(&[
                    ("/read/bytes", "/bytes"),
                    ("/read/pages", "/pages"),
                    ("/read/misses", "/pages_missing_before"),
                ]);
            }
            assert_eq!(run.row()["path"], text(&file), "{words:?}");
            assert_no_wrong_residency(run.row(), run.truth("/pages_cached_after"));
            let other = hotset_tests::file_row(&run.profile, &run.truth["file"]);
            assert!(other.is_none(), "twice: {other:?}");
        }
    }
}

/// What is not known is null; what is said is right.
fn assert_no_wrong_residency(row: &Value, pages: u64) {
    let said = &row["cached_after"];
    assert!(said.is_null() || *said == pages, "{row}");
}

#[test]
fn a_file_that_is_copied_up_and_written() {
    let scratch = Scratch::new("copy-up");
    let _mounted = Mounted::overlay(text(scratch.dir()));
    let layer = scratch.file("lower/f", MIB);
    let file = scratch.path("merged/f");
    undisturbed(&[&layer], || {
        // As before the first attempt.
        let _ = std::fs::remove_file(scratch.path("upper/f"));
        evict_verified(&layer);
        let script = format!("printf 1234567 >>{}", text(&file));
        let profile = shell(&scratch, &script);
        let upper = row_at(&profile, &scratch.path("upper/f"));
        assert_eq!(number(upper, "/write/bytes"), 7, "{upper}");
        assert_eq!(upper["path"], text(&file), "{upper}");
        assert_eq!(number(row_at(&profile, &layer), "/device/read_bytes"), MIB);
    });
}

#[test]
fn in_a_changed_root_the_path_is_one_that_leads_there() {
    let scratch = Scratch::new("chroot");
    let root = scratch.path("root");
    std::fs::create_dir(&root).expect("mkdir");
    copy_with_libraries(Path::new("/bin/cat"), &root);
    std::fs::create_dir(root.join("data")).expect("mkdir");
    let file = scratch.file("root/data/f", MIB);
    undisturbed(&[&file], || {
        evict_verified(&file);
        let profile = profile_of(&scratch, &["chroot", text(&root), "/bin/cat", "/data/f"]);
        let row = row_at(&profile, &file);
        assert_cold_read(row, MIB);
        assert_eq!(row["path"], text(&file), "{row}");
        assert_eq!(number(row, "/cached_after"), MIB / PAGE, "{row}");
    });
}

/// Puts a program and what ldd(1) says that it needs below `root`.
fn copy_with_libraries(program: &Path, root: &Path) {
    let listed = Command::new("ldd").arg(program).output().expect("ldd");
    let listed = String::from_utf8(listed.stdout).expect("text");
    let words = listed.split_whitespace().filter(|word| word.starts_with('/'));
    for source in words.map(Path::new).chain([program]) {
        let target = root.join(source.strip_prefix("/").expect("absolute"));
        std::fs::create_dir_all(target.parent().expect("a parent")).expect("mkdir");
        std::fs::copy(source, &target).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
    }
}

#[test]
fn a_directory_that_is_renamed_has_its_new_name_from_then_on() {
    let scratch = Scratch::new("renamed");
    std::fs::create_dir_all(scratch.path("old/sub")).expect("mkdir");
    for name in ["old/f", "old/g", "old/sub/f", "old/sub/g"] {
        scratch.file(name, PAGE);
    }
    let dir = text(scratch.dir());
    let script = format!(
        "cd {dir}; cat old/f old/sub/f >/dev/null; mv old new; cat new/g new/sub/g >/dev/null"
    );
    let profile = shell(&scratch, &script);
    for (now, seen) in [
        ("new/f", "old/f"),
        ("new/g", "new/g"),
        ("new/sub/f", "old/sub/f"),
        ("new/sub/g", "new/sub/g"),
    ] {
        let row = row_at(&profile, &scratch.path(now));
        // The name at first sight, or the one at the end.
        let (seen, now) = (scratch.path(seen), scratch.path(now));
        assert!(row["path"] == text(&seen) || row["path"] == text(&now), "{row}");
    }
}

#[test]
fn directories_that_come_and_go_are_not_confused() {
    let scratch = Scratch::new("reused");
    let dir = text(scratch.dir());
    let script = format!(
        "cd {dir}; i=0; while [ $i -lt 100 ]; do mkdir -p t$i/sub; echo x >t$i/sub/f; \
         cat t$i/sub/f >/dev/null; mv t$i/sub/f kept$i; rm -r t$i; i=$((i+1)); done"
    );
    let profile = shell(&scratch, &script);
    for i in 0..100 {
        let row = row_at(&profile, &scratch.path(&format!("kept{i}")));
        assert_eq!(row["path"], format!("{dir}/t{i}/sub/f"), "{row}");
    }
}

#[test]
fn of_two_hard_links_the_one_that_was_opened_is_named() {
    let scratch = Scratch::new("links");
    let first = scratch.file("first", PAGE);
    let second = scratch.path("second");
    std::fs::hard_link(&first, &second).expect("link");
    // Both names are known to the kernel by now; the first of its list is not the one that is used.
    for name in [&first, &second] {
        std::fs::metadata(name).expect("stat");
    }
    for name in [&first, &second] {
        let profile = profile_of(&scratch, &["cat", text(name)]);
        assert_eq!(row_at(&profile, name)["path"], text(name));
    }
}

/// A program is mapped before it can open anything, and its libraries are opened and then mapped.
#[test]
fn a_library_has_the_name_that_it_was_opened_by() {
    let scratch = Scratch::new("library");
    let listed = Command::new("ldd").arg("/bin/cat").output().expect("ldd");
    let listed = String::from_utf8(listed.stdout).expect("text");
    let named = listed.lines().find_map(|line| line.split("=> ").nth(1)).expect("a library");
    let opened = named.split(' ').next().expect("a path");
    let real = std::fs::canonicalize(opened).expect("the library");
    let profile = profile_of(&scratch, &["cat", "/dev/null"]);
    assert_eq!(row_at(&profile, &real)["path"], text(&real));
}

#[test]
fn a_program_is_named_by_its_own_path() {
    let scratch = Scratch::new("program");
    let copy = scratch.program("my-cat", Path::new("/bin/cat"));
    let profile = profile_of(&scratch, &[text(&copy), "/dev/null"]);
    assert_eq!(row_at(&profile, &copy)["path"], text(&copy));
    prepare(&["evict", "--file", text(&copy)]);
    let cold = profile_of(&scratch, &[text(&copy), "/dev/null"]);
    let row = row_at(&cold, &copy);
    // The kernel's own read of its first page is no request; all pages came through mapping it.
    let read = number(row, "/device/read_bytes") / PAGE;
    assert!(read > 0, "{row}");
    assert_eq!(number(row, "/mmap/pages_read"), read, "{row}");
}

/// A fault of the kernel comes first, which knows the inode alone.
#[test]
fn a_program_of_two_hard_links_is_named_by_the_one_that_was_started() {
    let scratch = Scratch::new("program-links");
    let first = scratch.program("first", Path::new("/bin/cat"));
    let second = scratch.path("second");
    std::fs::hard_link(&first, &second).expect("link");
    for name in [&first, &second] {
        std::fs::metadata(name).expect("stat");
    }
    for name in [&first, &second] {
        let profile = profile_of(&scratch, &[text(name), "/dev/null"]);
        assert_eq!(row_at(&profile, name)["path"], text(name));
    }
}
