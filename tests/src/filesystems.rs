//! File systems of each kind for the time of a test, on loop devices whose requests a test can hold.
//!
//! They are mounted in a mount namespace of the calling thread, so that nothing outside sees them and nothing is left
//! behind, not even by a test that is killed. The programs that the thread starts see them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::mount::MountPropagationFlags;
use rustix::thread::UnshareFlags;

use crate::PAGE;
use crate::gate::{Gate, Held, Server, Shut};
use crate::mounted::Mounted;
use crate::scratch::{Scratch, text};

/// The kinds of file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// ext4 on a loop device.
    Ext4,
    /// XFS on a loop device.
    Xfs,
    /// Btrfs on a loop device.
    Btrfs,
    /// overlayfs, both layers on ext4 on a loop device.
    Overlay,
    /// tmpfs, which has no device: nothing in it is ever cold, written back or read in.
    Tmpfs,
    /// ext4 that journals its data: what is asked for with O_DIRECT goes through the cache.
    Journal,
    /// Btrfs that compresses: so does what is compressed.
    Compressed,
}

/// No discard, and everything at once.
const EXT4: &str = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";

impl Kind {
    /// Every kind but for those of [`Kind::OPTIONS`].
    pub const ALL: [Self; 5] = [Self::Ext4, Self::Xfs, Self::Btrfs, Self::Overlay, Self::Tmpfs];

    /// Some of them, mounted with options.
    pub const OPTIONS: [Self; 2] = [Self::Journal, Self::Compressed];

    /// What tests call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Journal => "ext4-journal",
            Self::Compressed => "btrfs-compressed",
            _ => self.file_system(),
        }
    }

    /// What the kernel calls it.
    fn file_system(self) -> &'static str {
        match self {
            Self::Ext4 | Self::Journal => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs | Self::Compressed => "btrfs",
            Self::Overlay => "overlay",
            Self::Tmpfs => "tmpfs",
        }
    }

    /// Options of mount(8).
    fn options(self) -> &'static str {
        match self {
            Self::Journal => "noatime,data=journal",
            Self::Compressed => "noatime,compress=zstd",
            _ => "noatime",
        }
    }

    /// Whether it is Btrfs.
    pub fn is_btrfs(self) -> bool {
        self.file_system() == "btrfs"
    }

    /// Whether its pages come from a device and go to one.
    pub fn has_device(self) -> bool {
        self != Self::Tmpfs
    }

    /// What makes it, with the words that keep it from discarding; and an image's size, near the least that it takes.
    fn maker(self) -> Option<(&'static str, &'static [&'static str], u64)> {
        match self {
            // Nothing writes to the device later but who is asked to.
            // Blocks of 4 KiB, as on devices of a usual size, and of 1 KiB.
            Self::Ext4 | Self::Journal => {
                Some(("mkfs.ext4", &["-q", "-F", "-b", "4096", "-E", EXT4], 128 << 20))
            }
            Self::Overlay => {
                Some(("mkfs.ext4", &["-q", "-F", "-b", "1024", "-E", EXT4], 128 << 20))
            }
            Self::Xfs => Some(("mkfs.xfs", &["-q", "-f", "-K"], 320 << 20)),
            Self::Btrfs | Self::Compressed => Some(("mkfs.btrfs", &["-q", "-f", "-K"], 128 << 20)),
            Self::Tmpfs => None,
        }
    }

    /// Whether the running kernel can mount it, after an attempt to load its module.
    pub fn is_in_kernel(self) -> bool {
        let listed = || {
            let list = std::fs::read_to_string("/proc/filesystems").expect("/proc/filesystems");
            list.lines().any(|line| line.split_whitespace().last() == Some(self.file_system()))
        };
        listed() || {
            // Where there is no modprobe there are no modules.
            let _ = Command::new("modprobe").arg(self.file_system()).status();
            listed()
        }
    }
}

/// The kinds that this kernel has. Every kernel has ext4, overlayfs and tmpfs, or this panics; where XFS or Btrfs lack,
/// it says so in the test's output.
pub fn kinds() -> Vec<Kind> {
    in_kernel(&Kind::ALL)
}

/// The same with those of [`Kind::OPTIONS`].
pub fn kinds_and_options() -> Vec<Kind> {
    in_kernel(&[&Kind::ALL[..], &Kind::OPTIONS].concat())
}

fn in_kernel(kinds: &[Kind]) -> Vec<Kind> {
    let (there, lacking): (Vec<_>, Vec<_>) =
        kinds.iter().copied().partition(|kind| kind.is_in_kernel());
    for kind in lacking {
        let name = kind.name();
        assert!(
            kind == Kind::Xfs || kind.is_btrfs(),
            "this kernel has no {name}, which these tests need"
        );
        // Past the capture of test output, so that a run never hides it.
        let said =
            format!("NOT TESTED: kernel lacks {name}, in /proc/filesystems and as a module\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
    }
    there
}

/// One of each kind, one after the other.
pub fn every() -> impl Iterator<Item = FileSystem> {
    kinds().into_iter().map(FileSystem::new)
}

/// The same without tmpfs: what has no device is never cold, clean, written back or read in.
pub fn with_device() -> impl Iterator<Item = FileSystem> {
    kinds().into_iter().filter(|kind| kind.has_device()).map(FileSystem::new)
}

/// Pages of the files that [`FileSystem::file`] makes.
pub const FILE_PAGES: u64 = 64;

/// What is in them: no two pages alike.
pub fn file_bytes() -> Vec<u8> {
    (0..FILE_PAGES * PAGE).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) as u8).collect()
}

/// A mounted file system. What a test opened there must be closed before this value ends.
pub struct FileSystem {
    kind: Kind,
    root: PathBuf,
    // Dropped in this order: what lies upon the others first.
    _upper: Option<Mounted>,
    mount: Option<Mounted>,
    device: Option<(PathBuf, String)>,
    gate: Option<Gate>,
    _scratch: Scratch,
}

impl FileSystem {
    /// Makes and mounts one; panics with the reason where that fails.
    pub fn new(kind: Kind) -> Self {
        Self::with_options(kind, kind.options())
    }

    /// The same with options of mount(8).
    pub fn with_options(kind: Kind, options: &str) -> Self {
        let scratch = Scratch::new(kind.name());
        let device_root = scratch.path("fs");
        std::fs::create_dir(&device_root).expect("mkdir");
        let Some((maker, words, bytes)) = kind.maker() else {
            enter_private_namespace();
            let mount = Mounted::new(&["-t", "tmpfs", "hotset-test", text(&device_root)]);
            return Self {
                kind,
                root: device_root,
                _upper: None,
                mount: Some(mount),
                device: None,
                gate: None,
                _scratch: scratch,
            };
        };
        let (image, gated) = (scratch.path("image"), scratch.path("gated"));
        let file = File::create(&image).expect("the image");
        file.set_len(bytes).expect("a sparse image");
        File::create(&gated).expect("the gate's place");
        make(maker, words, &image);
        let server = Server::start(&image);
        enter_private_namespace();
        let gate = Gate::new(server, &gated);
        let options = format!("loop,{options}");
        let mount = Mounted::new(&["-o", &options, text(&gated), text(&device_root)]);
        let (root, upper) = if kind == Kind::Overlay {
            (device_root.join("merged"), Some(Mounted::overlay(text(&device_root))))
        } else {
            (device_root, None)
        };
        Self {
            kind,
            root,
            _upper: upper,
            mount: Some(mount),
            device: Some((gated, options)),
            gate: Some(gate),
            _scratch: scratch,
        }
    }

    /// Unmounts it and mounts it again, so that nothing of it is cached, its tables neither.
    pub fn mount_again(&mut self) {
        let (device, options) = self.device.as_ref().expect("a file system with a device");
        self.mount = None;
        self.mount = Some(Mounted::new(&["-o", options, text(device), text(&self.root)]));
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it is mounted.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the pages of its files are cached: on an overlay the file system below.
    pub fn caching_root(&self) -> &Path {
        match self.kind {
            Kind::Overlay => self.root.parent().expect("the layers' file system"),
            _ => &self.root,
        }
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A file of [`FILE_PAGES`] pages in it, on its device.
    pub fn file(&self) -> PathBuf {
        let path = self.dirty_file();
        File::open(&path).and_then(|file| file.sync_all()).expect("sync");
        path
    }

    /// The same, not yet sent to the device.
    pub fn dirty_file(&self) -> PathBuf {
        let path = self.path("f");
        std::fs::write(&path, file_bytes()).expect("write");
        path
    }

    /// Holds its device's reads or writes until the answer is dropped.
    pub fn hold(&self, held: Held) -> Shut<'_> {
        self.gate.as_ref().expect("a file system with a device").hold(held)
    }
}

fn make(maker: &str, words: &[&str], image: &Path) {
    let output = Command::new(maker).args(words).arg(image).output().unwrap_or_else(|error| {
        panic!("{maker}: {error}; `make setup` installs it (.ci/packages.sh test)")
    });
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{maker} {}: {}: {said}", image.display(), output.status);
}

fn enter_private_namespace() {
    // SAFETY: gives this thread a mount namespace and working directory of its own; descriptors stay shared.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.unwrap_or_else(|error| {
        panic!("a mount namespace of its own: {error}; this test needs root")
    });
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private).expect("a private mount namespace");
}

/// Tracefs for this thread and what it starts, where the host has not mounted it: nobody else sees the mount.
pub fn ensure_tracefs() {
    let place = Path::new("/sys/kernel/tracing");
    if place.join("events").exists() || Path::new("/sys/kernel/debug/tracing/events").exists() {
        return;
    }
    enter_private_namespace();
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount("tracefs", place, "tracefs", flags, None::<&std::ffi::CStr>)
        .unwrap_or_else(|error| panic!("mounting tracefs at {}: {error}", place.display()));
}
