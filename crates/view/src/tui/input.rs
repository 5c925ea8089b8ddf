//! What a person can do at a screen, and what the program around it has to do then.

/// A key, as far as the screen knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// A character with Ctrl.
    Ctrl(char),
    /// The Enter key.
    Enter,
    /// The Escape key.
    Esc,
    /// The Tab key.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// The Backspace key.
    Backspace,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// The Home key.
    Home,
    /// The End key.
    End,
}

/// What came from the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// Text at once, as a terminal pastes it.
    Paste(String),
    /// A click with the left button, by column and row from 0.
    Click(u16, u16),
    /// The wheel, by so many notches; down is positive.
    Wheel(i32),
    /// The terminal has another size now: columns, rows.
    Resize(u16, u16),
}

/// What the program has to do after an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but to draw.
    None,
    /// To end.
    Quit,
    /// To stop as the shell's job control wants it (Ctrl-Z).
    Suspend,
    /// To use another interval, in nanoseconds.
    Interval(u64),
    /// To show another frame of a recording.
    Replay(Step),
}

/// Where to go in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// So many intervals on, or back.
    By(i64),
    /// So many seconds on, or back.
    Seconds(i64),
    /// To the first interval.
    First,
    /// To the last one.
    Last,
    /// To the interval of this time, in seconds since 1970.
    At(i64),
    /// Go on by itself, or stop.
    PlayPause,
}

/// The shortest and the longest interval, in nanoseconds.
pub const INTERVAL_RANGE_NS: std::ops::RangeInclusive<u64> = 100_000_000..=86_400_000_000_000;

/// Intervals that `+` and `-` lead through, in nanoseconds.
const INTERVALS_NS: [u64; 12] = [
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    3_000_000_000,
    5_000_000_000,
    10_000_000_000,
    30_000_000_000,
    60_000_000_000,
    600_000_000_000,
    3_600_000_000_000,
];

/// The next longer or shorter interval.
pub(super) fn next_interval(now_ns: u64, longer: bool) -> u64 {
    let next = match longer {
        true => INTERVALS_NS.iter().find(|&&ns| ns > now_ns),
        false => INTERVALS_NS.iter().rev().find(|&&ns| ns < now_ns),
    };
    next.copied().unwrap_or(now_ns)
}
