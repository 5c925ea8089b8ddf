//! `hotset replay` on programs that make symbolic links, rename what is above files, and copy from one file to another.

use std::fs;
use std::path::{Path, PathBuf};

use hotset_tests::Scratch;
use hotset_tests::replays::{each, everything, left_behind, long_unread, python, session};
use hotset_tests::scratch::text;
use hotset_tests::traced::record;
use serde_json::Value;

const COMMON: &str = r"
import ctypes, os, sys
os.chdir(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
def read(name): return open(name, 'rb').read()
def write(name, bytes, how='wb'): open(name, how).write(bytes)
def fails(call, *words):
    try: call(*words)
    except OSError: return
    raise SystemExit('it did not fail')
";

const LINKS: &str = r"
os.symlink('file', 'link'); assert len(read('link')) == 20000; os.readlink('link'); os.lstat('link'); os.stat('link')
os.symlink('../tree/in', 'directory'); read('directory/x'); os.stat('directory'); os.lstat('directory/x')
write('directory/new', b'new' * 1000); assert len(read('in/new')) == 3000
os.symlink(os.getcwd() + '/file', 'absolute'); write('absolute', b'more', 'ab'); assert len(read('file')) == 20004
os.truncate('absolute', 1000); assert len(read('link')) == 1000
os.symlink('nowhere', 'dangling'); fails(read, 'dangling'); os.lstat('dangling'); fails(os.stat, 'dangling')
write('dangling', b'through'); assert read('nowhere') == b'through'
os.symlink('loop', 'loop'); fails(read, 'loop')
fails(os.open, 'link', os.O_RDONLY | os.O_NOFOLLOW); os.close(os.open('link', os.O_PATH | os.O_NOFOLLOW))
os.mkdir('farm')
for n in range(10): os.symlink('../in/sub/y', 'farm/%d' % n)
assert sum(len(read('farm/%d' % n)) for n in range(10)) == 50000
os.link('farm/3', 'farm/hard', follow_symlinks=False); read('farm/hard')
os.rename('link', 'in/link'); fails(read, 'in/link'); os.unlink('directory'); os.symlink('in/sub', 'directory'); read('directory/y')
os.symlink('/', 'root'); fails(read, 'root' + os.getcwd() + '/absent'); read('root' + os.getcwd() + '/in/x')
";

const RENAMES: &str = r"
os.rename('in', 'out'); assert len(read('out/x')) == 9000; assert len(read('out/sub/y')) == 5000; os.stat('out/sub')
fails(read, 'in/x'); os.mkdir('in'); write('in/x', b'other'); assert read('in/x') == b'other'
assert os.readlink('out/words') == 'sub/y'; os.lstat('out/words')
os.rename('out/x', 'out/z'); read('out/z'); os.unlink('out/z'); write('out/z', b'zz'); assert read('out/z') == b'zz'
os.rename('b', 'c'); assert len(read('c')) == 3000
os.mkdir('out/made'); fd = os.open('out/made', os.O_RDONLY); os.fsync(fd); os.close(fd); write('out/made/q', b'q'); os.rename('out/made', 'made'); read('made/q')
os.link('file', 'linked'); assert len(read('linked')) == 20000
assert libc.renameat2(-100, b'c', -100, b'linked', 2) == 0; assert len(read('c')) == 20000
assert libc.renameat2(-100, b'c', -100, b'linked', 1) == -1; assert len(read('c')) == 20000
fd = os.open('.', os.O_TMPFILE | os.O_RDWR); os.write(fd, b'abc'); os.pread(fd, 10, 0); os.close(fd)
";

const COPIES: &str = r"
import shutil
shutil.copyfile('file', 'copied'); assert len(read('copied')) == 20000
source = os.open('file', os.O_RDONLY); target = os.open('target', os.O_RDWR | os.O_CREAT)
assert os.copy_file_range(source, target, 10000) == 10000
assert os.copy_file_range(source, target, 500, 3, 30000) == 500
assert os.copy_file_range(source, target, 1 << 30) == 10000 and os.copy_file_range(source, target, 10) == 0
assert os.sendfile(target, source, 100, 700) == 700 and os.write(target, b'behind') == 6
there, here = os.pipe()
assert os.splice(source, here, 4096, 0) == 4096 and os.splice(there, target, 4096) == 4096
assert os.sendfile(here, source, 0, 4096) == 4096
assert len(os.pread(target, 1 << 20, 0)) == 30500
libc.sync_file_range(target, ctypes.c_long(0), ctypes.c_long(4096), 2); libc.sync_file_range(target, ctypes.c_long(0), ctypes.c_long(0), 7)
assert libc.syncfs(target) == 0; os.sync()
assert libc.fallocate(target, 1, ctypes.c_long(100000), ctypes.c_long(4096)) == 0 and len(os.pread(target, 1 << 20, 0)) == 30500
assert libc.fallocate(target, 3, ctypes.c_long(4096), ctypes.c_long(4096)) == 0 and libc.fallocate(target, 0, ctypes.c_long(0), ctypes.c_long(50000)) == 0
assert os.pread(target, 4096, 4096) == bytes(4096) and len(os.pread(target, 1 << 20, 0)) == 50000
assert os.pwritev(target, [b'a' * 10, b'b' * 10], 5, os.RWF_DSYNC) == 20 and os.pwritev(target, [b'end'], 0, 16) == 3
assert os.preadv(source, [bytearray(10), bytearray(20)], 5) == 30 and os.writev(target, [b'x', b'yz']) == 3
again = os.dup(target); os.write(again, b'q' * 10); os.write(target, b'q' * 10); os.close(again); os.write(target, b'still')
";

fn tree(scratch: &Scratch) -> PathBuf {
    let dir = scratch.path("tree");
    if dir.exists() {
        fs::remove_dir_all(&dir).expect("removed");
    }
    fs::create_dir_all(dir.join("in/sub")).expect("directories");
    for (name, bytes) in [("file", 20_000), ("b", 3_000), ("in/x", 9_000), ("in/sub/y", 5_000)] {
        fs::write(dir.join(name), vec![7; bytes]).expect("a file");
    }
    std::os::unix::fs::symlink("sub/y", dir.join("in/words")).expect("a link");
    dir
}

/// Records a program, has it done again on the tree as it was, and sees that nothing there changes.
fn replayed(name: &str, program: &str) -> Value {
    let scratch = Scratch::new(name);
    let dir = tree(&scratch);
    let program = [COMMON, program].concat();
    let recorded = record(&scratch, &["--lossless"], &python(&program, &[text(&dir)]));
    tree(&scratch);
    long_unread(&scratch, &dir);
    let before = everything(&dir);
    let session = session(&scratch, Path::new(&recorded.path), &["--rounds", "2"]);
    assert_eq!(everything(&dir), before);
    assert!(left_behind(scratch.dir()).is_empty());
    assert_eq!(each(&session, "/differences"), [0, 0], "{:#}", session["samples"]);
    assert_eq!(session["left_out"].get("not replayed"), None, "{:#}", session["left_out"]);
    session
}

#[test]
fn what_is_behind_a_made_link_is_found() {
    replayed("replay-links", LINKS);
}

#[test]
fn what_is_below_a_renamed_directory_is_found() {
    replayed("replay-renames", RENAMES);
}

#[test]
fn what_one_file_gets_of_another_it_has() {
    replayed("replay-copies", COPIES);
}
