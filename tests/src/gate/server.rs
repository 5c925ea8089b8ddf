//! The side of the gate that answers the kernel: a process of its own.
//!
//! Not a thread of the test: a process that ends unmounts what it has, and would wait for answers that only it can give.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::fuse::{self, Wanted};
use super::{ACKNOWLEDGED, GAVE_UP, Held, OPEN, TIMEOUT, WAITS};

#[derive(Default)]
struct Door {
    held: Mutex<Option<Held>>,
    changed: Condvar,
}

/// Serves the image: the FUSE device is standard input, and a socket to the test standard output. Begins with the first
/// word of the test, which comes after the mount, and ends with the mount.
pub fn run(image: &Path) -> std::io::Result<()> {
    let image = File::options().read(true).write(true).open(image)?;
    let device = owned(std::io::stdin().as_fd())?;
    let socket = UnixStream::from(owned(std::io::stdout().as_fd())?);
    // A device that is not mounted refuses to be read.
    (&socket).read_exact(&mut [0])?;
    (&socket).write_all(&[ACKNOWLEDGED])?;
    let door = Arc::new(Door::default());
    let (theirs, commands) = (Arc::clone(&door), socket.try_clone()?);
    std::thread::spawn(move || obey(commands, &theirs));
    serve(File::from(device), &image, &door, &socket);
    Ok(())
}

fn owned(fd: BorrowedFd<'_>) -> std::io::Result<std::os::fd::OwnedFd> {
    fd.try_clone_to_owned()
}

/// Opens and shuts as the test says. Where the test is gone, the gate stays open.
fn obey(mut socket: UnixStream, door: &Door) {
    let mut word = [0];
    loop {
        let read = socket.read_exact(&mut word);
        let mut held = door.lock();
        *held = if read.is_ok() { Held::from_word(word[0]) } else { None };
        door.changed.notify_all();
        // Before the lock is released, so that no request that is held from now on is told of first.
        if read.is_err() || socket.write_all(&[ACKNOWLEDGED]).is_err() {
            *held = None;
            return;
        }
    }
}

impl Held {
    pub(super) fn word(self) -> u8 {
        match self {
            Self::Reads => b'r',
            Self::Writes => b'w',
        }
    }

    fn from_word(word: u8) -> Option<Self> {
        match word {
            b'r' => Some(Self::Reads),
            b'w' => Some(Self::Writes),
            _ => {
                debug_assert_eq!(word, OPEN);
                None
            }
        }
    }
}

impl Door {
    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while such requests are held.
    fn pass(&self, kind: Held, mut socket: &UnixStream) {
        let held = self.lock();
        if *held != Some(kind) {
            return;
        }
        let _ = socket.write_all(&[WAITS]);
        let (mut held, timeout) = self
            .changed
            .wait_timeout_while(held, TIMEOUT, |held| *held == Some(kind))
            .unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            *held = None;
            let _ = socket.write_all(&[GAVE_UP]);
        }
    }
}

/// Answers the kernel until the mount is gone.
fn serve(mut device: File, image: &File, door: &Door, socket: &UnixStream) {
    let mut buffer = vec![0; fuse::BUFFER_BYTES];
    loop {
        let len = match device.read(&mut buffer) {
            Ok(len) => len,
            // The request was withdrawn before it was read, or a signal came.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => {
                continue;
            }
            Err(_) => return,
        };
        let Some(answer) = answer(&buffer[..len], image, door, socket) else { continue };
        // A withdrawn request has nobody left to answer.
        let _ = device.write_all(&answer);
    }
}

fn answer(request: &[u8], image: &File, door: &Door, socket: &UnixStream) -> Option<Vec<u8>> {
    let fuse::Request { unique, wanted } = fuse::decode(request);
    let body = match wanted {
        Wanted::Silence => return None,
        Wanted::Other => return Some(fuse::refusal(unique, libc::ENOSYS)),
        Wanted::Init => Ok(fuse::init_body()),
        Wanted::Attributes => image.metadata().map(|meta| fuse::attributes_body(meta.len())),
        Wanted::Open => Ok(fuse::open_body()),
        Wanted::Acknowledge => Ok(Vec::new()),
        // What the page cache of the machine keeps of the image is as good as a disk to a test.
        Wanted::Sync => {
            door.pass(Held::Writes, socket);
            Ok(Vec::new())
        }
        Wanted::Read { offset, len } => {
            door.pass(Held::Reads, socket);
            let mut data = vec![0; len];
            image.read_exact_at(&mut data, offset).map(|()| data)
        }
        Wanted::Write { offset, data } => {
            door.pass(Held::Writes, socket);
            image.write_all_at(data, offset).map(|()| fuse::written_body(data.len()))
        }
    };
    Some(match body {
        Ok(body) => fuse::answer(unique, &body),
        Err(error) => fuse::refusal(unique, error.raw_os_error().unwrap_or(libc::EIO)),
    })
}
