//! `hotset top` in a terminal, as text, and as a recording.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hotset_tests::scratch::text;
use hotset_tests::tmux::Tmux;
use hotset_tests::{Scratch, hotset, stderr, stdout, undisturbed, warm_verified};

const PAGES: u64 = 256;

/// Reads a file of 256 pages over and over, a page a call, twenty times a second: 5,120 pages a second, all cached. Under a name of its own, by
/// which it is found where others are busier.
struct Reader(Child);

impl Reader {
    fn start(file: &Path) -> Self {
        let script = "import os,sys,time\nopen('/proc/self/comm','w').write('topreader')\nfd=os.open(sys.argv[1],os.O_RDONLY)\n\
                      print(flush=True)\nwhile True:\n \
                      [os.pread(fd,4096,4096*n) for n in range(256)]\n time.sleep(0.05)";
        let mut child = Command::new("python3")
            .args(["-c", script, text(file)])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        // Its start may take longer than an interval.
        child.stdout.take().expect("a pipe").read_exact(&mut [0]).expect("it begins");
        Self(child)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(tmux: &Tmux, words: &str) {
    tmux.type_line(&format!("{} top {words}", text(&hotset())));
}

/// The line has a PID and all columns after it, and a cross before it if the process ended.
fn is_of_a_process(line: &str) -> bool {
    let words: Vec<&str> = line.trim_start_matches(['>', '×', ' ']).split_whitespace().collect();
    words.len() >= 11 && words[0].parse::<u32>().is_ok()
}

/// The words of the line on the screen that is of this process.
fn line_of(screen: &str, pid: u32) -> Option<Vec<String>> {
    let pid = pid.to_string();
    screen.lines().find_map(|line| {
        let words: Vec<&str> = line.trim_start_matches(['>', ' ']).split_whitespace().collect();
        (words.first() == Some(&pid.as_str())).then(|| words.iter().map(|&w| w.into()).collect())
    })
}

#[test]
fn a_known_reader_appears_and_the_terminal_is_given_back() {
    let scratch = Scratch::new("top-reader");
    // A name that no other test here has: the filter must leave one line.
    let file = scratch.file("on-screen.bin", PAGES * 4096);
    warm_verified(&file);
    let reader = Reader::start(&file);
    let tmux = Tmux::new("top-screen", 80, 24);
    start(&tmux, "0.5");
    tmux.wait_for("RHIT%");
    // Perhaps not the reader: others may fill the screen.
    tmux.wait_until("a process", |screen| screen.lines().any(is_of_a_process));
    tmux.type_text("/topreader");
    tmux.wait_for("filter: topreader_");
    tmux.key("Enter");
    let screen = tmux.wait_until("the reader with its hits", |screen| {
        line_of(screen, reader.pid()).is_some_and(|words| {
            let number = |place: usize| words.get(place).and_then(|word| word.parse::<u64>().ok());
            // Whole rounds of 256 pages; an interval can cut one.
            number(3).is_some_and(|hits| hits >= PAGES) && number(4) == Some(0)
        })
    });
    assert!(screen.contains("Hit ratio") && screen.contains("RHIT%"), "{screen}");
    assert_eq!(tmux.ask("#{alternate_on}"), "1");

    tmux.resize(200, 60);
    tmux.wait_for("READ_HIT%");
    tmux.resize(80, 24);
    tmux.wait_for("RHIT%");

    tmux.key("s");
    tmux.wait_for("Sort by");
    tmux.key("Down");
    tmux.key("Enter");
    tmux.wait_for("▼MISSES");
    tmux.type_text("2");
    tmux.type_text("/on-screen");
    tmux.key("Enter");
    tmux.wait_for("on-screen.bin");
    tmux.key("Down");
    tmux.key("Enter");
    tmux.wait_until("the file's reader", |screen| line_of(screen, reader.pid()).is_some());
    tmux.key("Escape");
    tmux.wait_for("1 Processes");
    tmux.type_text("?");
    tmux.wait_for("Help");
    tmux.type_text("qq");
    given_back(&tmux, "0");
}

/// The shell has the terminal again as it was: its screen, its cursor, an echo, and the exit code that is wanted.
fn given_back(tmux: &Tmux, code: &str) {
    tmux.wait_until("the shell's screen", |_| tmux.ask("#{alternate_on}") == "0");
    tmux.type_line("echo code=$? $(stty -a | grep -o ' -\\?echo ' | head -1)");
    tmux.wait_for(&format!("code={code} echo"));
    assert_eq!(tmux.ask("#{cursor_flag}"), "1", "the cursor is seen");
    assert_eq!(tmux.ask("#{mouse_any_flag}"), "0", "the mouse is the terminal's");
}

#[test]
fn signals_give_the_terminal_back() {
    for (signal, code) in [("TERM", "143"), ("HUP", "129"), ("INT", "130")] {
        let tmux = Tmux::new("top-signal", 80, 24);
        start(&tmux, "1");
        tmux.wait_for("Hit ratio");
        let pid = pid_below(&tmux);
        signal_to(pid, signal);
        given_back(&tmux, code);
    }
}

#[test]
fn job_control_stops_it_and_lets_it_go_on() {
    let tmux = Tmux::new("top-stop", 80, 24);
    start(&tmux, "0.5");
    tmux.wait_for("Hit ratio");
    let pid = pid_below(&tmux);
    tmux.key("C-z");
    tmux.wait_until("the shell's screen", |screen| {
        tmux.ask("#{alternate_on}") == "0" && screen.contains("Stopped")
    });
    tmux.type_line("fg");
    tmux.wait_for("Hit ratio");
    signal_to(pid, "TSTP");
    tmux.wait_until("the shell's screen", |_| tmux.ask("#{alternate_on}") == "0");
    tmux.type_line("fg");
    tmux.wait_for("Hit ratio");
    tmux.type_text("q");
    given_back(&tmux, "0");
}

/// The program that the shell in this terminal runs.
fn pid_below(tmux: &Tmux) -> u32 {
    let shell: u32 = tmux.ask("#{pane_pid}").parse().expect("a number");
    let mut pids = vec![shell];
    while let Some(pid) = pids.pop() {
        let exe = std::fs::canonicalize(format!("/proc/{pid}/exe"));
        if exe.is_ok_and(|exe| hotset().canonicalize().is_ok_and(|hotset| exe == hotset)) {
            return pid;
        }
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        pids.extend(
            children
                .unwrap_or_default()
                .split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    panic!("hotset does not run below the shell {shell}")
}

fn signal_to(pid: u32, signal: &str) {
    let sent = Command::new("kill").args(["-s", signal, &pid.to_string()]).status();
    assert!(sent.expect("kill").success());
}

#[test]
fn into_a_pipe_it_prints_text() {
    let scratch = Scratch::new("top-batch");
    let file = scratch.file("read-me.bin", PAGES * 4096);
    undisturbed(&[&file], || {
        warm_verified(&file);
        let reader = Reader::start(&file);
        let words = ["top", "--batch", "3", "0.5", "-n", "5", "--pid", &reader.pid().to_string()];
        let output = Command::new(hotset()).args(words).output().expect("hotset");
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.matches("READ_HIT%").count(), 3, "one header a sample:\n{text}");
        let hits: Vec<u64> = text
            .lines()
            .filter_map(|line| line_of(line, reader.pid())?.get(2)?.parse().ok())
            .collect();
        assert!(!hits.is_empty() && hits.iter().all(|hits| *hits >= PAGES), "{text}");
        assert!(!text.contains('\u{1b}'), "no control sequences");
    });
}

#[test]
fn what_was_recorded_is_shown_again() {
    let scratch = Scratch::new("top-record");
    let file = scratch.file("replayed.bin", PAGES * 4096);
    warm_verified(&file);
    let reader = Reader::start(&file);
    let recording = scratch.path("night.jsonl");
    let record = ["top", "--batch", "5", "0.5", "--record", text(&recording)];
    let output = Command::new(hotset()).args(record).output().expect("hotset");
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = std::fs::read_to_string(&recording).expect("recording");
    assert_eq!(lines.lines().count(), 6, "a header and five intervals");

    let again = Command::new(hotset()).args(record).output().expect("hotset");
    assert_eq!(again.status.code(), Some(1), "an existing file stays");
    assert!(stderr(&again).contains(text(&recording)), "{}", stderr(&again));

    let tmux = Tmux::new("top-replay", 80, 24);
    start(&tmux, &format!("--replay {}", text(&recording)));
    tmux.wait_for("1/5");
    tmux.key("Right");
    tmux.wait_for("2/5");
    tmux.key("End");
    let screen = tmux.wait_for("5/5");
    assert!(screen.contains("REPLAY"), "{screen}");
    let pid = reader.pid();
    drop(reader);
    // By its file: others may fill the screen of all processes.
    tmux.type_text("2");
    tmux.type_text("/replayed");
    tmux.key("Enter");
    tmux.wait_for("replayed.bin");
    tmux.key("Down");
    tmux.key("Enter");
    tmux.wait_until("the file's reader", |screen| line_of(screen, pid).is_some());
    tmux.key("Escape");
    tmux.key("Home");
    tmux.wait_for("1/5");
    tmux.key("Space");
    tmux.wait_for("5/5");
    tmux.type_text("q");
    given_back(&tmux, "0");
}

#[test]
fn a_cut_recording_is_shown_and_a_foreign_one_refused() {
    let scratch = Scratch::new("top-bad");
    let path = scratch.path("bad.jsonl");
    let refused = |contents: &str, wanted: &[&str]| {
        std::fs::write(&path, contents).expect("write");
        let words = ["top", "--replay", text(&path)];
        let output = Command::new(hotset()).args(words).output().expect("hotset");
        assert_eq!(output.status.code(), Some(1), "{contents}");
        let said = stderr(&output);
        for word in wanted.iter().chain(&[text(&path)]) {
            assert!(said.contains(word), "{contents:?}: {said}");
        }
    };
    refused("", &["hotset top --record"]);
    refused(
        "{\"schema\":\"hotset.profile/1\",\"hotset\":\"0\"}\n",
        &["line 1", "hotset.profile/1", "hotset.top/1"],
    );
    refused("not json\n", &["line 1", "hotset.top/1"]);
    let header = "{\"schema\":\"hotset.top/1\",\"hotset\":\"0.1.0\",\"host\":\"h\",\
                  \"interval_ns\":1000000000,\"scope\":null,\"not_measured\":[],\"missing\":[]}\n";
    refused(header, &["without an interval"]);
    refused(&format!("{header}{{\"at\":1}}\n"), &["line 2"]);
}

#[test]
fn a_wrong_interval_is_refused_with_the_range() {
    for wrong in ["0", "-1", "0.05", "86401", "soon", "1e3", "nan"] {
        let output = Command::new(hotset()).args(["top", wrong]).output().expect("hotset");
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(stderr(&output).contains("0.1 to 86400"), "{wrong}: {}", stderr(&output));
    }
}

/// A terminal that shows and never answers, as a serial console is; then its other end is closed.
#[test]
fn a_terminal_that_answers_nothing_will_do_and_its_end_is_the_end() {
    let script = "import fcntl,os,pty,struct,subprocess,sys,termios\n\
         ours, its = pty.openpty()\n\
         fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))\n\
         run = subprocess.Popen([sys.argv[1], 'top', '0.5'], stdin=its, stdout=its, stderr=its, start_new_session=True)\n\
         os.close(its); seen = b''\n\
         while b'Hit ratio' not in seen and run.poll() is None: seen += os.read(ours, 65536)\n\
         drawn = b'Hit ratio' in seen; os.close(ours)\n\
         print(drawn, run.wait(60))";
    let output = Command::new("python3").args(["-c", script, text(&hotset())]).output();
    let output = output.expect("python3");
    assert_eq!(stdout(&output).trim(), "True 1", "{}", stderr(&output));
}
