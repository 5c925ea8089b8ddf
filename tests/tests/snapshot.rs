//! `save` and `restore`: exactly the pages that were cached come back, as mincore(2) sees it.

use std::fs::{File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use hotset_tests::scratch::text;
use hotset_tests::{
    NOBODY, Scratch, as_nobody, evict_verified, hotset, is_same, read_json, stderr, until_ok,
};
use serde_json::Value;

const PAGE: u64 = 4096;
const MIB: u64 = 1 << 20;

/// The pages of the file that are resident, by a mincore(2) of the test's own.
fn resident(path: &Path) -> Vec<u64> {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let bytes = file.metadata().expect("metadata").len() as usize;
    if bytes == 0 {
        return Vec::new();
    }
    let mut vector = vec![0_u8; bytes.div_ceil(PAGE as usize)];
    use std::os::fd::AsRawFd;
    // SAFETY: a new mapping of the whole file that is only asked about, and unmapped here.
    unsafe {
        let map = libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        assert_ne!(map, libc::MAP_FAILED, "mmap {}", path.display());
        assert_eq!(libc::mincore(map, bytes, vector.as_mut_ptr()), 0, "mincore");
        libc::munmap(map, bytes);
    }
    (0..).zip(vector).filter(|(_, byte)| byte & 1 == 1).map(|(page, _)| page).collect()
}

/// Reads single pages without read-ahead, until exactly these are resident.
fn cache_pages(path: &Path, pages: &[u64]) {
    until_ok("exactly these pages are cached", || {
        evict_verified(path);
        let file = File::open(path).expect("open");
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).expect("fadvise");
        let mut byte = [0];
        for page in pages {
            file.read_exact_at(&mut byte, page * PAGE).expect("read");
        }
        is_same(resident(path), pages, &path.display())
    });
}

fn every_second_page(count: u64) -> Vec<u64> {
    (0..count).step_by(2).collect()
}

fn every_second_mib(mib: u64) -> Vec<u64> {
    (0..mib * MIB / PAGE).filter(|page| page * PAGE / MIB % 2 == 1).collect()
}

fn hotset_with(words: &[&str]) -> Output {
    Command::new(hotset()).args(words).output().expect("hotset")
}

fn save(snapshot: &Path, paths: &[&Path]) {
    let mut words = vec!["save", "-q", text(snapshot)];
    words.extend(paths.iter().map(|path| text(path)));
    let output = hotset_with(&words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
}

/// Restores, and answers the exit code and the JSON.
fn restore(snapshot: &Path, options: &[&str]) -> (i32, Value) {
    let mut words = vec!["restore", "--json", text(snapshot)];
    words.extend(options);
    let output = hotset_with(&words);
    let code = output.status.code().unwrap_or_else(|| panic!("{words:?}: {}", output.status));
    let json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{words:?}: {error}: {}", stderr(&output)));
    (code, json)
}

/// Saves a state of one file, evicts, restores, and compares; tries again where idle pages were evicted meanwhile.
fn comes_back(path: &Path, snapshot: &Path, pages: &[u64], options: &[&str]) {
    until_ok("the saved pages come back", || {
        cache_pages(path, pages);
        save(snapshot, &[path]);
        is_same(resident(path), pages, &"before it is evicted")?;
        evict_verified(path);
        let (code, json) = restore(snapshot, options);
        let after = resident(path);
        let more: Vec<&u64> = after.iter().filter(|page| !pages.contains(page)).collect();
        assert!(more.is_empty(), "pages that nobody saved: {more:?}; {json}");
        assert_eq!(json["wanted_pages"], pages.len(), "{json}");
        // What another evicted before it was verified is short, and said so.
        assert_eq!(code == 0, json["complete"] == true, "{json}");
        is_same((after, code), (pages.to_vec(), 0), &json)
    });
}

#[test]
fn every_second_page_comes_back_and_no_other() {
    let scratch = Scratch::new("snapshot-pages");
    let file = scratch.file("file", 4 * MIB + 100);
    let pages = every_second_page(1025);
    for order in ["device", "hot", "path"] {
        comes_back(&file, &scratch.path("snap"), &pages, &["--order", order]);
    }
}

#[test]
fn every_second_mib_comes_back_and_no_other() {
    let scratch = Scratch::new("snapshot-mib");
    let file = scratch.file("file", 32 * MIB);
    comes_back(&file, &scratch.path("snap"), &every_second_mib(32), &[]);
}

#[test]
fn a_whole_tree_comes_back_with_any_names() {
    let scratch = Scratch::new("snapshot-tree");
    let tree = scratch.path("tree");
    let names: [&[u8]; 4] = [b"plain", b"line\nend", b"broken\xff\xfe", b"-dash"];
    std::fs::create_dir_all(tree.join("below")).expect("mkdir");
    let files: Vec<PathBuf> = names
        .iter()
        .map(|name| {
            let path = tree.join("below").join(std::ffi::OsStr::from_bytes(name));
            std::fs::write(&path, vec![7; 20 * PAGE as usize]).expect("write");
            path
        })
        .collect();
    std::fs::write(tree.join("empty"), b"").expect("write");
    until_ok("all files come back", || {
        files.iter().for_each(|file| cache_pages(file, &[0, 3, 4, 19]));
        save(&scratch.path("snap"), &[&tree]);
        files.iter().for_each(|file| evict_verified(file));
        let (code, json) = restore(&scratch.path("snap"), &[]);
        is_same((json["files"].as_u64(), code), (Some(4), 0), &json)?;
        files.iter().try_for_each(|file| is_same(resident(file), [0, 3, 4, 19], &json))
    });
}

#[test]
fn files_that_changed_or_vanished_are_named_and_left_alone() {
    let scratch = Scratch::new("snapshot-changed");
    let tree = scratch.path("tree");
    std::fs::create_dir_all(&tree).expect("mkdir");
    let [same, grown, touched, gone] = ["same", "grown", "touched", "gone"].map(|name| {
        let path = tree.join(name);
        std::fs::write(&path, vec![7; 8 * PAGE as usize]).expect("write");
        path
    });
    let all = [&same, &grown, &touched, &gone];
    until_ok("all four are saved", || {
        all.iter().for_each(|file| cache_pages(file, &[1, 2]));
        save(&scratch.path("snap"), &[&tree]);
        let (_, json) = restore(&scratch.path("snap"), &["--dry-run"]);
        is_same(json["files"].as_u64(), Some(4), &json)
    });
    std::fs::remove_file(&gone).expect("remove");
    let file = File::options().write(true).open(&grown).expect("open");
    file.set_len(9 * PAGE).expect("grow");
    let file = File::options().write(true).open(&touched).expect("open");
    let old = SystemTime::now() - Duration::from_secs(1000);
    file.set_times(FileTimes::new().set_modified(old)).expect("touch");
    for file in [&same, &grown, &touched] {
        evict_verified(file);
    }
    let (code, json) = restore(&scratch.path("snap"), &[]);
    assert_eq!(code, 1, "{json}");
    let named = |key: &str| -> Vec<&str> {
        let mut named: Vec<&str> = json[key]["named"]
            .as_array()
            .expect(key)
            .iter()
            .filter_map(|file| file["path"].as_str())
            .collect();
        named.sort_unstable();
        named
    };
    assert_eq!(named("changed"), [text(&grown), text(&touched)], "{json}");
    assert_eq!(named("vanished"), [text(&gone)], "{json}");
    assert_eq!(json["unchanged_files"], 1, "{json}");
    assert_eq!((resident(&grown), resident(&touched)), (vec![], vec![]));
    let (_, json) = restore(&scratch.path("snap"), &["--ignore-mtime"]);
    assert_eq!(
        (&json["changed"]["count"], &json["unchanged_files"]),
        (&1.into(), &2.into()),
        "{json}"
    );
    let output = hotset_with(&["restore", text(&scratch.path("snap"))]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("2 paths changed") && said.contains(text(&touched)), "{said}");
}

#[test]
fn a_damaged_snapshot_is_refused_with_the_place_and_nothing_is_read() {
    let scratch = Scratch::new("snapshot-damaged");
    let file = scratch.file("file", 8 * MIB);
    let snapshot = scratch.path("snap");
    let bytes = until_ok("the file is saved", || {
        cache_pages(&file, &every_second_page(2048));
        save(&snapshot, &[&file]);
        let bytes = std::fs::read(&snapshot).expect("snapshot");
        if bytes.len() > 2000 { Ok(bytes) } else { Err(format!("{} bytes", bytes.len())) }
    });
    evict_verified(&file);
    let mut flipped = bytes.clone();
    flipped[1000] ^= 1;
    let cases: [(&[u8], &str); 3] = [
        (&bytes[..bytes.len() - 1], "truncated"),
        (&bytes[..1500], "byte 1500"),
        (&flipped, "damaged at byte"),
    ];
    for (damaged, expected) in cases {
        let path = scratch.path("damaged");
        std::fs::write(&path, damaged).expect("write");
        let output = hotset_with(&["restore", text(&path)]);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
        let said = stderr(&output);
        assert!(said.contains(expected) && said.contains("nothing was restored"), "{said}");
    }
    assert_eq!(resident(&file), Vec::<u64>::new(), "something was read");
}

#[test]
fn a_copy_under_another_root_gets_the_pages() {
    let scratch = Scratch::new("snapshot-root");
    let file = scratch.file("file", MIB);
    let root = scratch.path("root");
    let copy = root.join(file.canonicalize().expect("path").strip_prefix("/").expect("absolute"));
    std::fs::create_dir_all(copy.parent().expect("parent")).expect("mkdir");
    let copied = Command::new("cp").arg("-a").args([&file, &copy]).status().expect("cp");
    assert!(copied.success());
    assert_ne!(file.metadata().expect("stat").ino(), copy.metadata().expect("stat").ino());
    let pages = [3, 4, 5, 77, 200];
    until_ok("the copy has the pages", || {
        cache_pages(&file, &pages);
        save(&scratch.path("snap"), &[&file]);
        evict_verified(&file);
        evict_verified(&copy);
        let (code, json) = restore(&scratch.path("snap"), &["--root", text(&root)]);
        assert_eq!(json["changed"]["count"], 0, "{json}");
        assert_eq!(resident(&file), Vec::<u64>::new(), "the original was read");
        is_same((resident(&copy), code), (pages.to_vec(), 0), &json)
    });
}

#[test]
fn a_budget_takes_what_most_processes_use_first() {
    let scratch = Scratch::new("snapshot-budget");
    let tree = scratch.path("tree");
    std::fs::create_dir_all(&tree).expect("mkdir");
    let [cold, used] = ["a-cold", "b-used"].map(|name| {
        let path = tree.join(name);
        std::fs::write(&path, vec![7; 64 * PAGE as usize]).expect("write");
        path
    });
    until_ok("the used file and a part of the other come back", || {
        // This process has it open.
        let open = File::open(&used).expect("open");
        cache_pages(&cold, &(0..64).collect::<Vec<_>>());
        cache_pages(&used, &[1, 3, 5]);
        save(&scratch.path("snap"), &[&tree]);
        drop(open);
        evict_verified(&cold);
        evict_verified(&used);
        let (code, json) = restore(&scratch.path("snap"), &["--budget", "20K"]);
        is_same((json["pages"].as_u64(), code), (Some(67), 0), &json)?;
        assert_eq!((&json["wanted_pages"], &json["beyond_budget_pages"]), (&5.into(), &62.into()));
        is_same((resident(&used), resident(&cold)), (vec![1, 3, 5], vec![0, 1]), &json)
    });
}

#[test]
fn what_is_cached_is_not_read_again_and_a_dry_run_reads_nothing() {
    let scratch = Scratch::new("snapshot-dry");
    let file = scratch.file("file", MIB);
    until_ok("half of it is cached", || {
        cache_pages(&file, &[1, 2, 3, 4]);
        save(&scratch.path("snap"), &[&file]);
        cache_pages(&file, &[1, 2, 100]);
        let (code, json) = restore(&scratch.path("snap"), &["--dry-run"]);
        let number = |key: &str| json[key].as_u64();
        is_same(
            (number("wanted_pages"), number("cached_before_pages")),
            (Some(4), Some(2)),
            &json,
        )?;
        assert_eq!((code, &json["cached_after_pages"]), (0, &Value::Null), "{json}");
        is_same(resident(&file), [1, 2, 100], &json)
    });
}

#[test]
fn an_8_tib_sparse_file_is_saved_and_restored() {
    let scratch = Scratch::new("snapshot-sparse");
    let path = scratch.path("sparse");
    let file = File::options().read(true).write(true).create_new(true).open(&path).expect("create");
    file.set_len(8 << 40).expect("8 TiB");
    file.write_all_at(&vec![7; 3 * PAGE as usize], 5 << 40).expect("write");
    file.sync_all().expect("sync");
    until_ok("the three pages come back", || {
        let mut pages = vec![0; 3 * PAGE as usize];
        file.read_exact_at(&mut pages, 5 << 40).expect("read");
        save(&scratch.path("snap"), &[&path]);
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("evict");
        let (code, json) = restore(&scratch.path("snap"), &[]);
        let window = hotset_sys::cache::cachestat(&file, 5 << 40, 1 << 20).expect("cachestat");
        let whole = hotset_sys::cache::cachestat(&file, 0, 8 << 40).expect("cachestat");
        let all = (code, json["fetched_pages"].as_u64(), window.cached, whole.cached);
        is_same(all, (0, Some(3), 3, 3), &json)
    });
}

#[test]
fn an_unprivileged_owner_saves_and_restores_and_is_told_of_what_is_not_theirs() {
    let scratch = Scratch::new("snapshot-owner");
    let dir = scratch.path("shared");
    std::fs::create_dir(&dir).expect("mkdir");
    let own = scratch.file("shared/own", MIB);
    let other = scratch.file("shared/other", MIB);
    for path in [&dir, &own] {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY))
            .expect("chown; this test needs root");
    }
    let run = |words: &[&str]| as_nobody(scratch.dir()).args(words).output().expect("unshare");
    let (snapshot, report) = (dir.join("snap"), dir.join("report"));
    until_ok("the owner's pages come back", || {
        cache_pages(&own, &[5, 9]);
        cache_pages(&other, &[5, 9]);
        let saved = run(&["save", "--json", text(&snapshot), text(&own), text(&other)]);
        assert_eq!(saved.status.code(), Some(1), "{}", stderr(&saved));
        std::fs::write(&report, &saved.stdout).expect("write");
        let said = read_json(&report);
        assert_eq!(said["unreadable"]["count"], 1, "{said}");
        assert_eq!(said["unreadable"]["named"][0]["path"], text(&other), "{said}");
        evict_verified(&own);
        let restored = run(&["restore", text(&snapshot)]);
        let code = restored.status.code();
        is_same((code, resident(&own)), (Some(0), vec![5, 9]), &stderr(&restored))
    });
}

#[test]
fn an_empty_snapshot_is_a_snapshot_and_a_failed_save_leaves_the_old_one() {
    let scratch = Scratch::new("snapshot-empty");
    let file = scratch.file("file", MIB);
    let snapshot = scratch.path("snap");
    evict_verified(&file);
    save(&snapshot, &[&file]);
    let (code, json) = restore(&snapshot, &[]);
    assert_eq!((code, &json["files"], &json["complete"]), (0, &0.into(), &true.into()), "{json}");
    let before = std::fs::read(&snapshot).expect("snapshot");
    let output = hotset_with(&["save", text(&snapshot)]);
    assert_eq!(output.status.code(), Some(2), "nothing was named: {}", stderr(&output));
    assert_eq!(std::fs::read(&snapshot).expect("snapshot"), before);
    let beside: Vec<_> = std::fs::read_dir(scratch.dir()).expect("dir").flatten().collect();
    assert_eq!(beside.len(), 2, "nothing is left beside: {beside:?}");
}

#[test]
fn a_snapshot_goes_through_a_pipe() {
    let scratch = Scratch::new("snapshot-pipe");
    let file = scratch.file("file", MIB);
    until_ok("the piped snapshot has the pages", || {
        cache_pages(&file, &[1, 2]);
        let output = hotset_with(&["save", "-", text(&file)]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("standard output"), "{}", stderr(&output));
        std::fs::write(scratch.path("snap"), &output.stdout).expect("write");
        let (code, json) = restore(&scratch.path("snap"), &[]);
        is_same((code, json["pages"].as_u64()), (0, Some(2)), &json)
    });
}
