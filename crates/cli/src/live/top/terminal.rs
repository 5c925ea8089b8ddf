//! The terminal: taken for a screen, and given back whatever happens.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hotset_view::tui::{App, Input, Key, draw};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use ratatui::crossterm::{cursor, execute, queue, terminal};
use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

/// What is taken is given back once, by whoever comes first: the end, a signal, a panic.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// How long the last bytes may take to a terminal that is stopped.
const TIMEOUT: Duration = Duration::from_secs(1);

/// How long the end may take without a terminal: a recording is finished.
const PATIENCE: Duration = Duration::from_secs(30);

/// Columns and rows.
pub(super) fn size() -> Result<(u16, u16)> {
    terminal::size().context("the terminal does not tell its size")
}

/// Bytes on their way to the terminal. A thread writes them: a terminal that is slow, or stopped with Ctrl-S, holds up
/// nothing but itself.
struct Outbox {
    gathered: Vec<u8>,
    writer: Sender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
}

impl Outbox {
    fn new() -> Self {
        let (writer, inbox) = channel::<Vec<u8>>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let written = Arc::clone(&waiting);
        std::thread::spawn(move || {
            for bytes in inbox {
                // Whoever closed the terminal has no use for an error either; the signal says it.
                let mut out = crate::output::stdout_stream();
                let _ = out.write_all(&bytes).and_then(|()| out.flush());
                written.fetch_sub(1, Ordering::AcqRel);
            }
        });
        Self { gathered: Vec::new(), writer, waiting }
    }
}

impl Write for Outbox {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gathered.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.gathered.is_empty() {
            self.waiting.fetch_add(1, Ordering::AcqRel);
            let bytes = std::mem::take(&mut self.gathered);
            self.writer.send(bytes).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        }
        Ok(())
    }
}

/// The terminal, taken. Dropping it gives it back.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Outbox>>,
    waiting: Arc<AtomicUsize>,
}

impl Screen {
    /// Takes the terminal: raw mode, the other screen, the mouse.
    pub(super) fn take() -> Result<Self> {
        let outbox = Outbox::new();
        let waiting = Arc::clone(&outbox.waiting);
        restore_on_panic();
        end_with_terminal();
        let terminal = Terminal::new(CrosstermBackend::new(outbox)).context("the terminal")?;
        let mut screen = Self { terminal, waiting };
        screen.enter()?;
        Ok(screen)
    }

    /// Takes it again, after it was given back, or after the shell had it.
    pub(super) fn enter(&mut self) -> Result<()> {
        TAKEN.store(true, Ordering::Release);
        terminal::enable_raw_mode().context("the terminal can't be put into raw mode")?;
        execute!(
            self.terminal.backend_mut(),
            terminal::EnterAlternateScreen,
            terminal::Clear(terminal::ClearType::All),
            EnableMouseCapture,
            EnableBracketedPaste,
            cursor::Hide
        )?;
        // What was drawn last is gone. `Terminal::clear` asks the terminal where its cursor is, which not every one answers.
        self.terminal.swap_buffers();
        Ok(())
    }

    /// Gives it back.
    pub(super) fn leave(&mut self) {
        if !TAKEN.swap(false, Ordering::AcqRel) {
            return;
        }
        let _ = terminal::disable_raw_mode();
        self.wait();
        let backend = self.terminal.backend_mut();
        let _ = execute!(
            backend,
            DisableBracketedPaste,
            DisableMouseCapture,
            terminal::LeaveAlternateScreen,
            cursor::Show
        );
        self.wait();
    }

    fn wait(&self) {
        let begun = Instant::now();
        while !self.is_ready() && begun.elapsed() < TIMEOUT {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether the terminal has taken all that was drawn.
    pub(super) fn is_ready(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }

    pub(super) fn draw(&mut self, app: &App) -> Result<()> {
        self.terminal.draw(|frame| draw(frame, app))?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Ends the program some time after the terminal is gone, should it still be there: crossterm (0.29) reads for ever from a
/// terminal that is closed between its poll and its read.
fn end_with_terminal() {
    std::thread::spawn(|| {
        let stdin = rustix::stdio::stdin();
        // Nothing is asked for: hang-ups are told all the same.
        let told = rustix::io::retry_on_intr(|| {
            rustix::event::poll(&mut [PollFd::new(&stdin, PollFlags::empty())], None)
        });
        if told.is_ok() {
            std::thread::sleep(PATIENCE);
            let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
        }
    });
}

/// The message of a panic is for the screen that was there before.
fn restore_on_panic() {
    static HOOKED: AtomicBool = AtomicBool::new(false);
    if HOOKED.swap(true, Ordering::AcqRel) {
        return;
    }
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if TAKEN.swap(false, Ordering::AcqRel) {
            let _ = terminal::disable_raw_mode();
            let mut out = crate::output::stdout_stream();
            let _ = queue!(
                out,
                DisableBracketedPaste,
                DisableMouseCapture,
                terminal::LeaveAlternateScreen,
                cursor::Show
            );
            let _ = out.flush();
        }
        before(info);
    }));
}

/// What came from the terminal, if anything did that means something.
pub(super) fn next_input() -> Result<Option<Input>> {
    while event::poll(Duration::ZERO).context("the terminal")? {
        if let Some(input) = input_of(event::read().context("the terminal")?) {
            return Ok(Some(input));
        }
    }
    Ok(None)
}

fn input_of(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) => key_of(key).map(Input::Key),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(width, height) => Some(Input::Resize(width, height)),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Some(Input::Click(mouse.column, mouse.row)),
            MouseEventKind::ScrollUp => Some(Input::Wheel(-1)),
            MouseEventKind::ScrollDown => Some(Input::Wheel(1)),
            _ => None,
        },
        _ => None,
    }
}

fn key_of(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char(c) if ctrl => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::F(1) => Key::Char('?'),
        KeyCode::F(4) => Key::Char('/'),
        KeyCode::F(5) => Key::Char('t'),
        KeyCode::F(6) => Key::Char('s'),
        KeyCode::F(10) => Key::Char('q'),
        _ => return None,
    })
}
