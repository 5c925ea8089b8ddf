//! `hotset replay` on a tree whose every byte and time is known.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::programs::hotset;
use crate::run::{code, read_json, stderr, stdout};
use crate::scratch::{Scratch, text};
use crate::traced::record;

/// Does to a tree what programs do to trees, and fails where anything is not as it expects.
const CHANGES: &str = r#"
import mmap, os, sys
os.chdir(sys.argv[1])
def read(name): return open(name, "rb").read()
read("in/read"); read("in/link")
open("in/appended", "ab").write(b"more" * 1000)
with open("in/patched", "r+b") as f:
    f.seek(5000); f.write(b"x" * 10000); f.flush(); os.fsync(f.fileno())
    f.truncate(70000)
with open("in/mapped", "r+b") as f:
    m = mmap.mmap(f.fileno(), 0); m[4096:4100] = b"four"; m.flush(); m.close()
open("new", "wb").write(b"n" * 300000)
os.rename("new", "in/renamed")
os.rename("in/old", "in/older")
os.remove("in/removed")
os.link("in/read", "in/linked")
os.symlink("read", "in/symbolic")
os.mkdir("made"); open("made/below", "wb").write(b"b"); os.remove("made/below"); os.rmdir("made")
os.rmdir("in/empty")
for missing in range(10):
    try: os.stat("in/missing%d" % missing)
    except FileNotFoundError: pass
os.truncate("in/cut", 100)
read("in/renamed")
for again in range(20):
    with open("in/read", "rb", buffering=0) as f: f.seek(again * 512); f.read(256); f.read(256)
direct = os.open("in/aligned", os.O_RDONLY | os.O_DIRECT)
memory = mmap.mmap(-1, 8192)
for block in (0, 1, 0, 2, 1): os.preadv(direct, [memory], block * 8192)
plain = os.open("in/aligned", os.O_RDONLY)
os.read(plain, 8192); os.read(plain, 8192)
log = os.open("log", os.O_WRONLY | os.O_CREAT)
for record in range(12): os.write(log, b"record" * 10); os.fsync(log)
with open("in/read", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); m[0]; m[30000]; m.close()
"#;

/// The tree before the program: files of it are not those of the tree after.
pub fn tree(scratch: &Scratch) -> PathBuf {
    let dir = scratch.path("tree");
    fs::create_dir_all(dir.join("in/empty")).expect("directories");
    for (name, bytes) in [
        ("read", 50_000),
        ("appended", 1_000),
        ("patched", 100_000),
        ("mapped", 20_000),
        ("old", 10),
        ("removed", 9_000),
        ("cut", 8_000),
        ("aligned", 65_536),
    ] {
        fs::write(dir.join("in").join(name), vec![7; bytes]).expect("a file");
    }
    std::os::unix::fs::symlink("read", dir.join("in/link")).expect("a link");
    dir
}

/// All that stat(2) says of a tree, and sums of all bytes, a line a name; without one time of access changing.
const EVERYTHING: &str = r#"
import os, stat, sys, zlib
def look(path):
    s = os.lstat(path)
    says = [path, oct(s.st_mode), s.st_ino, s.st_size, s.st_blocks, s.st_nlink, s.st_uid, s.st_gid, s.st_atime_ns, s.st_mtime_ns, s.st_ctime_ns]
    names = []
    if stat.S_ISDIR(s.st_mode) or stat.S_ISREG(s.st_mode):
        fd = os.open(path, os.O_RDONLY | os.O_NOATIME)
        if stat.S_ISDIR(s.st_mode): names = sorted(os.listdir(fd))
        else: says.append(zlib.crc32(os.read(fd, 1 << 30)))
        os.close(fd)
    print(*says)
    for name in names: look(path + "/" + name)
look(sys.argv[1])
"#;

/// Content and metadata of all that is below a directory, a line each; the directory is read without changing its times of access.
pub fn everything(dir: &Path) -> String {
    let words = python(EVERYTHING, &[text(dir)]);
    let output = Command::new(words[0]).args(&words[1..]).output().expect("python3");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output)
}

/// Makes the times of access so old that whatever reads changes them, on a file system that is mounted with relatime.
pub fn long_unread(scratch: &Scratch, dir: &Path) {
    // A test beside this one walks over all directories as nobody, who may not ask for O_NOATIME.
    fs::set_permissions(scratch.dir(), PermissionsExt::from_mode(0o700)).expect("chmod");
    let all = "find \"$1\" -depth -exec touch -h -a -d '10 days ago' {} +";
    let done = Command::new("sh").args(["-c", all, "sh"]).arg(dir).status().expect("sh");
    assert!(done.success());
}

/// The tree as it was before the program, and a recording of the program.
pub fn recorded_changes(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let dir = tree(scratch);
    let recorded = record(scratch, &[], &python(CHANGES, &[text(&dir)]));
    fs::remove_dir_all(&dir).expect("removed");
    tree(scratch);
    long_unread(scratch, &dir);
    (dir, recorded.path)
}

/// A Python program as words. Not by a script that finds one, which starts a hundred programs.
pub fn python<'a>(program: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["/usr/bin/python3", "-S", "-c", program], more].concat()
}

/// `hotset replay TRACE WORDS…`, whatever comes of it.
pub fn replay(trace: &Path, words: &[&str]) -> Output {
    Command::new(hotset()).arg("replay").arg(trace).args(words).output().expect("hotset")
}

/// The JSON of a replay that succeeds.
pub fn session(scratch: &Scratch, trace: &Path, words: &[&str]) -> Value {
    let json = scratch.path("replay.json");
    let output = replay(trace, &[&["-q", "--json", text(&json)], words].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    read_json(&json)
}

/// A number of each sample, in their order.
pub fn each(session: &Value, pointer: &str) -> Vec<u64> {
    let samples = session["samples"].as_array().expect("samples");
    samples
        .iter()
        .map(|sample| sample.pointer(pointer).and_then(Value::as_u64).expect("a number"))
        .collect()
}

/// Directories that replays work in.
pub fn left_behind(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("list").flatten().map(|entry| entry.path());
    entries.filter(|path| text(path).contains("hotset-lab-")).collect()
}
