//! `hotset ls` on what a person points it at: odd things, missing things, forbidden things, and processes.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use hotset_tests::listing::{hotset_says, listing, listing_of, only_row, said};
use hotset_tests::scratch::text;
use hotset_tests::{
    Mounted, Scratch, as_nobody, evict_verified, hotset, number, stderr, until, warm_verified,
    with_default_signals,
};
use serde_json::Value;

const MIB: u64 = 1 << 20;

fn row_of<'a>(listing: &'a Value, path: &Path) -> &'a Value {
    let rows = listing["files"].as_array().expect("files");
    let row = rows.iter().find(|row| row["path"] == text(path));
    row.unwrap_or_else(|| panic!("no row for {} in {listing}", path.display()))
}

/// What hotset says to these words of another user.
fn said_to_nobody(scratch: &Scratch, words: &[&str]) -> Output {
    as_nobody(scratch.dir()).args(words).output().expect("unshare")
}

fn paths_of(listing: &Value) -> Vec<&str> {
    let rows = listing["files"].as_array().expect("files");
    let mut paths: Vec<&str> = rows.iter().map(|row| row["path"].as_str().expect("path")).collect();
    paths.sort_unstable();
    paths
}

#[test]
fn a_huge_sparse_file_is_answered_at_once() {
    let scratch = Scratch::new("ls-sparse");
    let path = scratch.path("sparse");
    let file = std::fs::File::create(&path).expect("create");
    file.set_len(8 << 40).expect("8 TiB");
    for words in [&[text(&path)][..], &["--cells", "64", text(&path)]] {
        let (listing, code) = listing(words);
        let row = only_row(&listing);
        assert_eq!((code, number(row, "/pages")), (0, (8 << 40) / 4096));
        assert_eq!(number(row, "/cached_pages"), 0, "{row}");
    }
    let (_, code) = listing(&["--cells", "64", text(&path)]);
    assert_eq!(code, 0);
}

#[test]
fn an_empty_file_lacks_nothing() {
    let scratch = Scratch::new("ls-empty");
    let path = scratch.path("empty");
    std::fs::write(&path, "").expect("write");
    let (listing, _) = listing(&[&path]);
    assert_eq!(number(only_row(&listing), "/pages"), 0);
    assert_eq!(hotset_says(&["ls", "-q", text(&path)]).status.code(), Some(0));
    let csv = hotset_says(&["ls", "--csv", text(&path)]);
    let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
    assert!(csv.contains(&format!("{},0,0,0,,0,", text(&path))), "{csv}");
}

#[test]
fn a_block_device_is_as_large_as_it_is() {
    let scratch = Scratch::new("ls-loop");
    let image = scratch.file("image", 8 * MIB);
    let output = Command::new("losetup").args(["-f", "--show"]).arg(&image).output().expect("run");
    assert!(output.status.success(), "losetup: {}; this test needs root", stderr(&output));
    let device = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let (listing, code) = listing(&[&device]);
    let freed = Command::new("losetup").args(["-d", &device]).status().expect("losetup");
    assert!(freed.success());
    let row = only_row(&listing);
    assert_eq!((code, number(row, "/size_bytes"), number(row, "/pages")), (0, 8 * MIB, 2048));
}

#[test]
fn without_permission_the_state_is_unknown_and_never_all() {
    let scratch = Scratch::new("ls-denied");
    let path = scratch.file("theirs", MIB);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("chmod");
    evict_verified(&path);
    let (listing, code) = listing_of(&said_to_nobody(&scratch, &["ls", "--json", text(&path)]));
    let row = only_row(&listing);
    assert_eq!((code, number(row, "/pages")), (0, 256));
    for key in ["cached_pages", "dirty_pages", "writeback_pages", "evicted_pages", "source"] {
        assert!(row[key].is_null(), "{key}: {row}");
    }
    let reason = row["missing"][0]["detail"].as_str().expect("a reason");
    assert!(reason.contains("no write permission"), "{row}");
    assert!(listing["totals"]["cached_pages"].is_null());
    assert_eq!(number(&listing, "/totals/unknown_files"), 1);
    let shown = said_to_nobody(&scratch, &["ls", text(&path)]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("unknown: no write permission") && !shown.contains("100 %"), "{shown}");
    assert_eq!(said_to_nobody(&scratch, &["ls", "-q", text(&path)]).status.code(), Some(1));
}

#[test]
fn what_is_not_there_is_named_and_the_rest_is_shown() {
    let scratch = Scratch::new("ls-missing");
    let there = scratch.file("there", 10);
    let (listing, code) = listing(&["/no/such/file", text(&there)]);
    assert_eq!((code, paths_of(&listing)), (1, vec![text(&there)]));
    assert_eq!(listing["unreadable"][0]["path"], "/no/such/file");
    let output = hotset_says(&["ls", "/no/such/file", text(&there)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/no/such/file: No such file"), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains(text(&there)));
}

#[test]
fn a_directory_that_can_not_be_read_is_named_once() {
    let scratch = Scratch::new("ls-closed");
    let closed = scratch.path("closed");
    std::fs::create_dir(&closed).expect("mkdir");
    for name in 0..20 {
        std::fs::write(closed.join(name.to_string()), "x").expect("write");
    }
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).expect("chmod");
    let (listing, code) =
        listing_of(&said_to_nobody(&scratch, &["ls", "--json", text(scratch.dir())]));
    assert_eq!(code, 1);
    let unreadable = listing["unreadable"].as_array().expect("unreadable");
    assert_eq!(unreadable.len(), 1, "{unreadable:?}");
    assert_eq!(unreadable[0]["path"], text(&closed));
    assert!(unreadable[0]["reason"].as_str().expect("text").contains("denied"), "{unreadable:?}");
}

#[test]
fn pipes_and_sockets_and_links_are_counted() {
    let scratch = Scratch::new("ls-odd");
    let file = scratch.file("file", 5000);
    std::fs::hard_link(&file, scratch.path("hard")).expect("link");
    std::os::unix::fs::symlink(&file, scratch.path("soft")).expect("symlink");
    let _socket = std::os::unix::net::UnixListener::bind(scratch.path("socket")).expect("bind");
    let made = Command::new("mkfifo").arg(scratch.path("fifo")).status().expect("mkfifo");
    assert!(made.success());
    let (listing, code) = listing(&[scratch.dir()]);
    assert_eq!((code, paths_of(&listing).len()), (0, 1));
    for (key, wanted) in [("not_cacheable", 2), ("repeated_links", 1), ("symlinks", 1)] {
        assert_eq!(number(&listing["skipped"], &format!("/{key}")), wanted, "{key}: {listing}");
    }
    assert_eq!(number(&listing, "/totals/files"), 1);
    // A link that is named is followed, whatever lies behind it is taken once.
    let (by_link, _) = hotset_tests::listing::listing(&[scratch.path("soft")]);
    assert_eq!(number(only_row(&by_link), "/size_bytes"), 5000);
}

fn odd_names(scratch: &Scratch) -> Vec<PathBuf> {
    let names: [&[u8]; 4] = [b"new\nline", b"esc\x1b[31m", b"bad\xff\xfe", b"qu\"ote, comma"];
    let paths = names.map(|name| scratch.dir().join(OsStr::from_bytes(name)));
    for path in &paths {
        std::fs::write(path, "x").expect("write");
    }
    paths.into()
}

#[test]
fn any_name_comes_out_safe_or_exact() {
    let scratch = Scratch::new("ls-names");
    let mut paths = odd_names(&scratch);
    let dir = text(scratch.dir());
    let table = hotset_says(&["ls", dir]).stdout;
    assert!(!table.contains(&0x1b) && std::str::from_utf8(&table).is_ok());
    assert!(String::from_utf8_lossy(&table).contains("new\\nline"));
    let raw = hotset_says(&["ls", "-0", dir]).stdout;
    let mut names: Vec<PathBuf> = raw
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| PathBuf::from(OsStr::from_bytes(name)))
        .collect();
    names.sort();
    paths.sort();
    assert_eq!(names, paths);
    let (listing, _) = listing(&[dir]);
    let hex = listing["files"].as_array().expect("files").iter();
    let hex: Vec<&str> = hex.filter_map(|row| row["path_hex"].as_str()).collect();
    assert!(hex.len() == 1 && hex[0].ends_with("626164fffe"), "{hex:?}");
    let csv = hotset_says(&["ls", "--csv", dir]).stdout;
    let quoted = b"qu\"\"ote, comma\",1,1,";
    assert!(csv.windows(quoted.len()).any(|bytes| bytes == quoted));
    let exact = b"bad\xff\xfe,1,1,";
    assert!(csv.windows(exact.len()).any(|bytes| bytes == exact));
}

#[test]
fn names_come_from_a_list_or_a_pipe() {
    let scratch = Scratch::new("ls-list");
    let paths = odd_names(&scratch);
    let list: Vec<u8> =
        paths.iter().flat_map(|path| [path.as_os_str().as_bytes(), b"\0"].concat()).collect();
    let mut child = Command::new(hotset())
        .args(["ls", "--json", "-0", "--files-from", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("hotset");
    child.stdin.take().expect("a pipe").write_all(&list).expect("write");
    let (from_pipe, code) = listing_of(&child.wait_with_output().expect("output"));
    assert_eq!((code, number(&from_pipe, "/totals/files")), (0, 4));
    let file = scratch.path("list");
    std::fs::write(&file, format!("{}\n\n", text(&scratch.file("plain", 10)))).expect("write");
    let (from_file, _) = listing(&["--files-from", text(&file)]);
    assert_eq!(paths_of(&from_file), [text(&scratch.path("plain"))]);
    let missing = hotset_says(&["ls", "--files-from", "/no/list"]);
    assert_eq!(missing.status.code(), Some(2), "{}", said(&missing));
}

/// A process that has files open or mapped, until it is dropped.
struct Holder(Child);

impl Holder {
    /// A Python program that prints a line once it holds everything.
    fn new(command: &mut Command, program: &str) -> Self {
        let program =
            format!("{program}\nimport sys\nprint('ready', flush=True)\nsys.stdin.read()");
        let command = command.args(["python3", "-c", &program]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_shows_what_it_holds_deleted_or_mapped_or_in_a_namespace_of_its_own() {
    let scratch = Scratch::new("ls-pid");
    let place = scratch.path("private");
    std::fs::create_dir(&place).expect("mkdir");
    let (mapped, deleted) = (scratch.file("mapped", MIB), scratch.file("deleted", MIB));
    let program = format!(
        "import mmap, os, subprocess\n\
         subprocess.check_call(['mount', '-t', 'tmpfs', 'none', '{place}'])\n\
         f = open('{mapped}', 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); f.close()\n\
         d = open('{deleted}', 'rb'); os.unlink('{deleted}')\n\
         p = open('{place}/hidden', 'wb'); p.write(b'x' * 20000); p.flush()",
        place = text(&place),
        mapped = text(&mapped),
        deleted = text(&deleted),
    );
    let holder = Holder::new(Command::new("unshare").arg("-m"), &program);
    // unshare(1) executes the program in its own place.
    let pid = holder.0.id().to_string();
    let (listing, code) = listing(&["--pid", &pid]);
    assert_eq!(code, 0, "{}", listing["unreadable"]);
    assert_eq!(number(row_of(&listing, &mapped), "/size_bytes"), MIB);
    let rows = listing["files"].as_array().expect("files");
    let has = |name: &str| rows.iter().find(|row| row["path"].as_str().unwrap().contains(name));
    assert_eq!(number(has("deleted").expect("the deleted file"), "/size_bytes"), MIB);
    let hidden = has("private/hidden").expect("the file of another mount namespace");
    assert_eq!((number(hidden, "/size_bytes"), number(hidden, "/cached_pages")), (20_000, 5));
    assert!(!place.join("hidden").exists(), "this test sees it only through the process");
}

#[test]
fn a_process_that_is_not_there_is_said() {
    let output = hotset_says(&["ls", "--pid", "4194304"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(stderr(&output).contains("4194304"), "{}", said(&output));
}

#[test]
fn quiet_is_an_exit_code_and_nothing_else() {
    let scratch = Scratch::new("ls-quiet");
    let (warm, cold) = (scratch.file("warm", MIB), scratch.file("cold", MIB));
    until("both files are in their states", || {
        warm_verified(&warm);
        evict_verified(&cold);
        let ask = |paths: &[&str]| {
            let output = hotset_says(&[&["ls", "-q"], paths].concat());
            assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{}", said(&output));
            output.status.code()
        };
        let codes = [
            ask(&[text(&warm)]),
            ask(&[text(&cold)]),
            ask(&[text(scratch.dir())]),
            ask(&["/no/such/file"]),
        ];
        (codes == [Some(0), Some(1), Some(1), Some(1)]).then_some(())
    });
}

#[test]
fn a_walk_that_is_stopped_says_what_it_has_and_that_it_is_partial() {
    let scratch = Scratch::new("ls-stopped");
    // A directory that never ends for anyone who is to be stopped: files come from a pipe that stays open.
    let many = scratch.path("many");
    std::fs::create_dir(&many).expect("mkdir");
    for number in 0..20_000 {
        std::fs::write(many.join(number.to_string()), "x").expect("write");
    }
    let mut command = Command::new(hotset());
    command.args(["ls", "--json", "--threads", "1", text(&many)]).stdout(Stdio::piped());
    let mut child = with_default_signals(&mut command).spawn().expect("hotset");
    let mut out = child.stdout.take().expect("a pipe");
    // Its first rows are here at once; the rest waits for room in the pipe.
    let mut first = [0; 100];
    out.read_exact(&mut first).expect("rows");
    // SAFETY: has no preconditions; the child was not waited for, so the number is still its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).expect("the rest");
    assert_eq!(child.wait().expect("wait").code(), Some(130));
    let listing: Value = serde_json::from_slice(&[&first[..], &rest].concat()).expect("JSON");
    assert_eq!(listing["partial"], true);
    let files = listing["files"].as_array().expect("files").len() as u64;
    assert_eq!(number(&listing, "/totals/files"), files);
    assert!(files > 0 && files < 20_000, "{files}");
}

#[test]
fn a_reader_that_goes_away_is_no_mistake() {
    let scratch = Scratch::new("ls-head");
    for number in 0..3000 {
        std::fs::write(scratch.path(&number.to_string()), "x").expect("write");
    }
    let script = format!("{} ls {} | head -n 1", text(&hotset()), text(scratch.dir()));
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", &script]);
    // bash warns of a locale that the host does not have.
    let output = command.env("LC_ALL", "C").output().expect("bash");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", said(&output));
}

#[test]
fn another_file_system_is_not_entered_where_one_is_asked_for() {
    let scratch = Scratch::new("ls-one-fs");
    let inner = scratch.path("inner");
    std::fs::create_dir(&inner).expect("mkdir");
    let _mounted = Mounted::new(&["-t", "tmpfs", "none", text(&inner)]);
    std::fs::write(inner.join("there"), "x").expect("write");
    let here = scratch.file("here", 10);
    let (all, _) = listing(&[scratch.dir()]);
    assert_eq!(paths_of(&all).len(), 2);
    let (one, _) = listing(&["-x", text(scratch.dir())]);
    assert_eq!(paths_of(&one), [text(&here)]);
    assert_eq!(number(&one, "/skipped/other_file_systems"), 1);
}
