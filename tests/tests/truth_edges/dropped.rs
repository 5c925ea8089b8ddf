//! Who sent pages away: the kernel for want of memory, the program itself, or another.

use std::path::{Path, PathBuf};

use hotset_tests::scratch::text;
use hotset_tests::{
    Evictions, MIB, PAGE, Scratch, evict_verified, number, profile_of, read_json, row_at, until,
};
use serde_json::Value;

const SIZE: u64 = 8 * MIB;

/// Reads the file twice, and between the two does what `between` says.
fn read_twice(between: &str) -> String {
    format!(
        "import mmap, os, sys, time\n\
         fd = os.open(sys.argv[1], os.O_RDONLY)\n\
         def read():\n    at = 0\n    while (n := len(os.pread(fd, 1 << 20, at))): at += n\n\
         read()\n{between}\nread()\n"
    )
}

/// Writes how many pages of the file are cached, as mincore(2) says, to a file.
fn kept_pages(answer: &Path) -> String {
    format!(
        "import ctypes\n\
         libc, size = ctypes.CDLL(None), os.fstat(fd).st_size\n\
         libc.mmap.restype = ctypes.c_void_p\n\
         at = libc.mmap(None, ctypes.c_size_t(size), 1, 1, fd, ctypes.c_long(0))\n\
         cached = (ctypes.c_ubyte * (size // 4096))()\n\
         assert libc.mincore(ctypes.c_void_p(at), ctypes.c_size_t(size), cached) == 0\n\
         print(sum(byte & 1 for byte in cached), file=open('{}', 'w'))\n",
        text(answer)
    )
}

/// Its profile, of a time in which nothing else here evicted anything.
fn run(scratch: &Scratch, file: &Path, script: &str, beside: impl Fn() + Sync) -> Value {
    until("nothing else evicts", || {
        evict_verified(file);
        let evictions = Evictions::of(&[file]);
        let words = ["python3", "-c", script, text(file)];
        let profile = std::thread::scope(|scope| {
            scope.spawn(&beside);
            profile_of(scratch, &words)
        });
        evictions.none().then_some(profile)
    })
}

/// Evicted, dropped, and dropped by the run: pages of the file.
fn left(profile: &Value, file: &Path) -> [u64; 3] {
    let row = row_at(profile, file);
    ["/evicted_pages", "/dropped_pages", "/dropped_by_run_pages"].map(|key| number(row, key))
}

#[test]
fn what_the_program_drops_is_its_own() {
    let scratch = Scratch::new("drops-own");
    let file = scratch.file("f", SIZE);
    let (pages, kept) = (SIZE / PAGE, scratch.path("kept"));
    for (between, all) in [
        ("os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)", true),
        // The kernel leaves those that are still on their way to a list of its own.
        (
            "m = mmap.mmap(fd, 0, prot=mmap.PROT_READ)\nsum(m[::4096])\nm.madvise(21)\nm.close()",
            false,
        ),
    ] {
        let between = format!("{between}\n{}", kept_pages(&kept));
        let profile = run(&scratch, &file, &read_twice(&between), || {});
        let kept = read_json(&kept).as_u64().expect("a number");
        let gone = pages - kept;
        assert!(
            if all { kept == 0 } else { gone > pages / 2 },
            "{kept} of {pages} stayed: {between}"
        );
        assert_eq!(left(&profile, &file), [gone; 3], "{between}");
        assert_eq!(number(row_at(&profile, &file), "/read/refaults"), gone, "{between}");
    }
}

#[test]
fn what_another_drops_is_not_the_programs() {
    let scratch = Scratch::new("drops-other");
    let file = scratch.file("f", SIZE);
    let (ready, done) = (scratch.path("ready"), scratch.path("done"));
    let between = format!(
        "open('{}', 'w').close()\nwhile not os.path.exists('{}'): time.sleep(0.01)",
        text(&ready),
        text(&done)
    );
    let evict = || {
        until("it has read", || ready.exists().then_some(()));
        evict_verified(&file);
        std::fs::remove_file(&ready).expect("remove");
        std::fs::write(&done, "").expect("write");
    };
    let between = format!("{between}\nos.remove('{}')", text(&done));
    let profile = run(&scratch, &file, &read_twice(&between), evict);
    let pages = SIZE / PAGE;
    assert_eq!(left(&profile, &file), [pages, pages, 0]);
}

/// A control group that accounts memory; removed at the end.
struct MemoryGroup {
    dir: PathBuf,
    /// The file that has its pages reclaimed, and what is written to it.
    reclaim: (&'static str, String),
}

impl MemoryGroup {
    fn new(scratch: &Scratch) -> Self {
        let mounts = std::fs::read_to_string("/proc/mounts").expect("mounts");
        let mount_of = |wanted: &dyn Fn(&[&str]) -> bool| {
            let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
            fields.filter(|fields| wanted(fields)).map(|fields| fields[1].to_owned()).next()
        };
        let name = scratch.dir().file_name().expect("a name");
        let v1 = mount_of(&|fields| {
            fields[2] == "cgroup" && fields[3].split(',').any(|o| o == "memory")
        });
        let (mount, reclaim) = match v1 {
            Some(mount) => (mount, ("memory.force_empty", "0".to_owned())),
            None => {
                let mount = mount_of(&|fields| fields[2] == "cgroup2").expect("control groups");
                std::fs::write(Path::new(&mount).join("cgroup.subtree_control"), "+memory")
                    .expect("the memory controller; this test needs root");
                (mount, ("memory.reclaim", (2 * SIZE).to_string()))
            }
        };
        let dir = Path::new(&mount).join(name);
        std::fs::create_dir_all(&dir).expect("mkdir; this test needs root");
        Self { dir, reclaim }
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // A failing test should report its own failure and not this one.
        let _ = std::fs::remove_dir(&self.dir);
    }
}

#[test]
fn what_the_kernel_reclaims_was_not_dropped() {
    let scratch = Scratch::new("drops-reclaim");
    let file = scratch.file("f", SIZE);
    let group = MemoryGroup::new(&scratch);
    let (reclaim, words) = &group.reclaim;
    // More than there is can't be reclaimed, which is an error.
    let between = format!(
        "try:\n    with open('{0}/{reclaim}', 'w') as f: f.write('{words}')\nexcept OSError: pass",
        text(&group.dir)
    );
    let script = read_twice(&between);
    let script = format!(
        "import os\nopen('{}/cgroup.procs', 'w').write(str(os.getpid()))\n{script}",
        text(&group.dir)
    );
    let profile = run(&scratch, &file, &script, || {});
    let [evicted, dropped, own] = left(&profile, &file);
    assert!(evicted > SIZE / PAGE / 2, "{evicted} pages were reclaimed");
    assert_eq!((dropped, own), (0, 0));
    assert_eq!(number(row_at(&profile, &file), "/read/refaults"), evicted);
}
