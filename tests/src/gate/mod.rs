//! A file on whose device reads or writes can be held for as long as a test wants.
//!
//! It is the root of a FUSE mount: a process answers the kernel from an image file, and waits where the gate is shut. A
//! file system on a loop device over it then has pages that are being read in, or written back, until the gate opens: a
//! state that lasts, with no clock in it.

mod fuse;
mod server;

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::mount::MountFlags;

use crate::mounted::Mounted;
use crate::programs::gate_server;

pub use server::run as serve;

/// A gate opens by itself after this time, so that a test that hangs doesn't take the machine's sync(2) with it.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What the two sides say to each other, a byte a word; `Held::word` has the rest.
const OPEN: u8 = b'o';
const ACKNOWLEDGED: u8 = b'k';
const WAITS: u8 = b'h';
const GAVE_UP: u8 = b't';

/// Which requests wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// What is asked of the device.
    Reads,
    /// What is sent to it.
    Writes,
}

/// The process that serves a gate, before the gate is mounted. Start it outside of the mount namespace that will have the
/// mount: it must not keep the namespace alive, for it lives as long as the mount.
pub struct Server {
    device: File,
    socket: UnixStream,
}

impl Server {
    /// Starts one for an image.
    pub fn start(image: &Path) -> Self {
        let device = File::options().read(true).write(true).open("/dev/fuse");
        let device = device.unwrap_or_else(|error| {
            panic!(
                "/dev/fuse: {error}; holding a device's requests needs a kernel with FUSE, and root"
            )
        });
        let (socket, theirs) = UnixStream::pair().expect("a pair of sockets");
        let mut command = Command::new(gate_server());
        command
            .arg(image)
            .stdin(device.try_clone().expect("dup"))
            .stdout(Stdio::from(OwnedFd::from(theirs)));
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        // It ends some time after the mount, which the kernel keeps until the last file there is closed.
        std::thread::spawn(move || child.wait());
        socket.set_read_timeout(Some(TIMEOUT / 2)).expect("a timeout");
        Self { device, socket }
    }
}

/// The file, mounted until this value is dropped.
pub struct Gate {
    socket: UnixStream,
    _mount: Mounted,
}

impl Gate {
    /// Mounts the gate over the existing file `at`.
    pub fn new(server: Server, at: &Path) -> Self {
        let options =
            format!("fd={},rootmode=100000,user_id=0,group_id=0", server.device.as_raw_fd());
        let options = std::ffi::CString::new(options).expect("no NUL");
        rustix::mount::mount("hotset-gate", at, "fuse", MountFlags::empty(), options.as_c_str())
            .unwrap_or_else(|error| panic!("mounting FUSE on {}: {error}", at.display()));
        let gate = Self { socket: server.socket, _mount: Mounted::adopt(at) };
        gate.say(OPEN);
        gate
    }

    /// Shuts the gate until the value that this answers is dropped.
    pub fn hold(&self, held: Held) -> Shut<'_> {
        self.say(held.word());
        Shut(self)
    }

    /// Says a word and waits until it is obeyed.
    fn say(&self, word: u8) {
        (&self.socket).write_all(&[word]).expect("the gate's server");
        while self.next_word().expect("the gate's server") != ACKNOWLEDGED {}
    }

    fn next_word(&self) -> std::io::Result<u8> {
        let mut word = [0];
        (&self.socket).read_exact(&mut word).map(|()| word[0])
    }
}

/// A gate that is shut.
pub struct Shut<'a>(&'a Gate);

impl Shut<'_> {
    /// Waits until a request waits at the gate.
    pub fn until_something_waits(&self) {
        let word = self.0.next_word();
        assert!(matches!(word, Ok(WAITS)), "nothing was asked of the device: {word:?}");
    }

    /// Asserts that the gate has not opened by itself. Call it after looking at the state that it holds.
    pub fn assert_held(&self) {
        self.0.socket.set_nonblocking(true).expect("fcntl");
        let word = self.0.next_word();
        self.0.socket.set_nonblocking(false).expect("fcntl");
        let nothing = word.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        assert!(nothing, "the gate opened by itself after {TIMEOUT:?}, or more came: {word:?}");
    }
}

impl Drop for Shut<'_> {
    fn drop(&mut self) {
        self.0.say(OPEN);
    }
}
