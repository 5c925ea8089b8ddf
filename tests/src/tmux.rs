//! A terminal for programs that draw on one: a tmux server of its own for each test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::Scratch;

/// How long something that should appear is waited for. Hosts that run tests can be very busy.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A terminal of some size with a shell in it; gone when the test ends.
pub struct Tmux {
    socket: PathBuf,
    scratch: Scratch,
}

impl Tmux {
    /// A terminal of so many columns and rows.
    pub fn new(name: &str, width: u16, height: u16) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let scratch = Scratch::new(name);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        // The name of a socket may have 107 bytes, which a target directory can exceed, and TMPDIR.
        let socket = PathBuf::from(format!("/tmp/hotset-tmux-{}-{serial}", std::process::id()));
        let tmux = Self { socket, scratch };
        let (width, height) = (width.to_string(), height.to_string());
        let shell = "env -i PATH=\"$PATH\" TERM=screen-256color LC_ALL=C.UTF-8 PS1='ready> ' sh -i";
        tmux.run(&["-f", "/dev/null", "new-session", "-d", "-x", &width, "-y", &height, shell]);
        tmux.wait_for("ready>");
        tmux
    }

    /// Its directory for files.
    pub fn dir(&self) -> &Path {
        self.scratch.dir()
    }

    fn tmux(&self, words: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").arg("-S").arg(&self.socket).args(words);
        command.output().expect("tmux must be installed")
    }

    fn run(&self, words: &[&str]) -> String {
        let output = self.tmux(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {words:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Types a line and Enter.
    pub fn type_line(&self, line: &str) {
        self.run(&["send-keys", "-l", line]);
        self.key("Enter");
    }

    /// Types characters.
    pub fn type_text(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
    }

    /// Presses a key, as tmux calls it.
    pub fn key(&self, key: &str) {
        self.run(&["send-keys", key]);
    }

    /// Gives the terminal another size.
    pub fn resize(&self, width: u16, height: u16) {
        let (width, height) = (width.to_string(), height.to_string());
        self.run(&["resize-window", "-x", &width, "-y", &height]);
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// What tmux knows of the terminal, as its formats say it.
    pub fn ask(&self, format: &str) -> String {
        self.run(&["display-message", "-p", format]).trim().to_owned()
    }

    /// Waits until the screen holds this text, and returns it.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("{text:?} to appear"), |screen| screen.contains(text))
    }

    /// Waits until the screen is as wanted, and returns it.
    pub fn wait_until(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if wanted(&screen) {
                return screen;
            }
            assert!(begun.elapsed() < TIMEOUT, "waited for {what}; the screen is:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // Only the server of this socket: others may run on the host.
        let _ = self.tmux(&["kill-server"]);
        let _ = std::fs::remove_file(&self.socket);
    }
}
