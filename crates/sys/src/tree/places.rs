//! File systems whose files have no pages, told by their magic numbers.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::StatFs;

/// <linux/magic.h>: the kernel makes up what their files say, and reading or even opening some of them does things.
const WITHOUT_PAGES: [u64; 29] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0x5a3c_69f0, // apparmorfs
    0xcafe_4a11, // bpf
    0x6265_6570, // configfs
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0x4249_4e4d, // binfmt_misc
    0x6e73_6673, // nsfs
    0x1cd1,      // devpts
    0x1980_0202, // mqueue
    0x6573_5543, // fusectl
    0x6e66_7364, // nfsd
    0x6759_6969, // rpc_pipefs
    0x0765_5821, // resctrl
    0x6c6f_6f70, // binder
    0x0904_1934, // anon_inodefs
    0x534f_434b, // sockfs
    0x5049_5045, // pipefs
    0x9fa2,      // usbdevfs
    0x9fa1,      // openpromfs
    0xabba_1974, // xenfs
];

/// What was learned about devices. Keyed by the device of the directory too: with older kernels, a file of overlayfs can have
/// the device of the file system below.
#[derive(Default)]
pub(crate) struct Places {
    known: HashMap<(u64, u64), bool>,
}

impl Places {
    /// Whether files of device `dev` that lie in a directory of device `place` have no pages; `fd` is one of them.
    pub(crate) fn has_no_pages(&mut self, place: u64, dev: u64, fd: BorrowedFd<'_>) -> bool {
        *self
            .known
            .entry((place, dev))
            .or_insert_with(|| rustix::fs::fstatfs(fd).is_ok_and(|fs| is_made_up(&fs)))
    }

    /// The same by name, for what must not be opened before.
    pub(crate) fn named_has_no_pages(&mut self, path: &Path, dev: u64) -> bool {
        *self
            .known
            .entry((dev, dev))
            .or_insert_with(|| rustix::fs::statfs(path).is_ok_and(|fs| is_made_up(&fs)))
    }
}

fn is_made_up(fs: &StatFs) -> bool {
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the architecture")]
    let magic = fs.f_type as u64;
    // A negative 32-bit number where the type is signed.
    WITHOUT_PAGES.contains(&(magic & 0xffff_ffff))
}
