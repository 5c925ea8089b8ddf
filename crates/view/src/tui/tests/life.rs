//! Processes that end, and PID reuse.

use hotset_analysis::top::{ItemKey, TopFrame};

use crate::tui::Key;
use crate::tui::testing::{Known, app, interval, keys, screen};

/// An interval in which the process of the id 3 is gone, and another has its PID.
fn pid_reused(n: u64) -> TopFrame {
    let mut interval = interval(n);
    interval.processes[2].id = 300;
    interval.processes[2].comm = "newcomer".into();
    TopFrame::of(interval, &mut Known)
}

fn ends(n: u64) -> TopFrame {
    let mut interval = interval(n);
    interval.processes[2].ended = true;
    TopFrame::of(interval, &mut Known)
}

#[test]
fn who_is_selected_stays_after_the_end_and_is_not_mixed_with_a_newcomer() {
    let mut app = app(80, 24);
    keys(&mut app, &[Key::Down, Key::Down]);
    app.update(ends(31));
    for n in 32..36 {
        app.update(pid_reused(n));
        assert_eq!(app.table_mut().selected, Some(ItemKey::Process(3)));
        let drawn = screen(&app);
        let with_pid: Vec<&str> = drawn.lines().filter(|line| line.contains("40312")).collect();
        assert_eq!(with_pid.len(), 2, "{drawn}");
        let old = with_pid.iter().find(|line| line.contains("sqlite3")).expect("the old");
        assert!(old.starts_with('×'), "{old}");
        let new = with_pid.iter().find(|line| line.contains("newcomer")).expect("the new");
        assert!(!new.starts_with('×'), "{new}");
    }
    keys(&mut app, &[Key::Esc]);
    app.update(pid_reused(36));
    assert!(!screen(&app).contains("sqlite3"), "nobody looks at it any more");
}

#[test]
fn an_expanded_process_keeps_its_last_files() {
    let mut app = app(80, 24);
    keys(&mut app, &[Key::Down, Key::Down, Key::Enter]);
    app.update(ends(31));
    assert!(screen(&app).contains("ended in this interval"));
    app.update(pid_reused(32));
    app.update(pid_reused(33));
    let drawn = screen(&app);
    assert!(drawn.contains("has ended: this is its last interval"), "{drawn}");
    assert!(drawn.contains("the-day.sqlite"), "{drawn}");
}

#[test]
fn a_stopped_screen_keeps_who_ended() {
    let mut app = app(80, 24);
    app.update(ends(31));
    keys(&mut app, &[Key::Char('p')]);
    for n in 32..40 {
        app.update(pid_reused(n));
    }
    assert!(screen(&app).contains("sqlite3"));
}
