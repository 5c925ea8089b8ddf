//! What keys and the mouse do.

use hotset_analysis::top::{Column, ItemKey, Kind};

use crate::tui::app::{Counting, Overlay};
use crate::tui::testing::{Known, app, frame, interval, keys, screen, text};
use crate::tui::{App, Effect, Input, Key, Step};

fn key(app: &mut App, key: Key) -> Effect {
    app.input(&Input::Key(key))
}

#[test]
fn quitting_and_stopping() {
    let mut app = app(80, 24);
    assert_eq!(key(&mut app, Key::Char('q')), Effect::Quit);
    text(&mut app, "?");
    assert_eq!(key(&mut app, Key::Char('q')), Effect::None, "closes the help");
    text(&mut app, "/q");
    assert_eq!(app.table_mut().filter, "q", "a letter of the filter");
    assert_eq!(key(&mut app, Key::Ctrl('c')), Effect::Quit, "from anywhere");
    assert_eq!(key(&mut app, Key::Ctrl('z')), Effect::Suspend);
}

#[test]
fn the_selection_follows_its_item() {
    let mut app = app(80, 24);
    keys(&mut app, &[Key::Down, Key::Down]);
    assert_eq!(app.table_mut().selected, Some(ItemKey::Process(3)));
    let mut next = interval(31);
    let io = hotset_facts::LiveIo { read_pages: 1_000_000, ..next.rows[2].io.unpack() };
    next.rows[2].io = io.into();
    app.update(hotset_analysis::top::TopFrame::of(next, &mut Known));
    assert_eq!(app.table_mut().selected, Some(ItemKey::Process(3)));
    assert_eq!(app.table_mut().place, Some(0));
    keys(&mut app, &[Key::End]);
    let last = app.table_mut().place;
    assert_eq!(last, Some(4));
    keys(&mut app, &[Key::Home, Key::Up, Key::PageDown]);
    assert_eq!(app.table_mut().place, Some(4), "a page is longer than the list");
    keys(&mut app, &[Key::Esc]);
    assert_eq!(app.table_mut().selected, None);
}

#[test]
fn who_is_selected_and_does_nothing_stays_with_nothing() {
    let mut app = app(80, 24);
    keys(&mut app, &[Key::Down, Key::Down]);
    let mut idle = interval(31);
    idle.rows.retain(|row| row.process != 2);
    idle.processes[2].id = 77;
    idle.processes[2].comm = "other".into();
    app.update(hotset_analysis::top::TopFrame::of(idle, &mut Known));
    let drawn = screen(&app);
    let line = drawn.lines().find(|line| line.contains("sqlite3")).expect("stays").to_owned();
    assert!(line.starts_with('>') && line.contains(" 0 "), "{line}");
}

#[test]
fn sorting_by_menu_by_neighbour_and_by_title() {
    let mut app = app(80, 24);
    keys(&mut app, &[Key::Char('s'), Key::Down, Key::Enter]);
    let order = app.table_mut().order;
    assert_eq!((order.by, order.descending), (Column::Misses, true));
    text(&mut app, "r");
    assert!(!app.table_mut().order.descending);
    text(&mut app, "<<");
    assert_eq!(app.table_mut().order.by, Column::Name);
    assert!(!app.table_mut().order.descending, "names from A");
    text(&mut app, ">");
    assert_eq!(app.table_mut().order.by, Column::Hits);
    let drawn = screen(&app);
    let (row, titles) =
        drawn.lines().enumerate().find(|(_, line)| line.contains("FAULTS")).expect("titles");
    let x = titles.find("FAULTS").map(|at| titles[..at].chars().count()).expect("there") as u16;
    app.input(&Input::Click(x + 1, row as u16));
    assert_eq!(app.table_mut().order.by, Column::Faults);
    assert!(screen(&app).contains("▼FAULTS"), "{}", screen(&app));
    app.input(&Input::Click(x + 1, row as u16));
    assert!(!app.table_mut().order.descending, "the other way round");
}

#[test]
fn the_filter_is_live_and_can_be_undone() {
    let mut app = app(80, 24);
    text(&mut app, "/WWW-d");
    assert_eq!(app.table_mut().total, 2, "by user");
    keys(&mut app, &[Key::Enter]);
    assert_eq!(app.overlay, Overlay::None);
    text(&mut app, "/x");
    assert_eq!(app.table_mut().total, 0);
    keys(&mut app, &[Key::Esc]);
    assert_eq!(app.table_mut().filter, "WWW-d", "what it was");
    keys(&mut app, &[Key::Esc]);
    assert_eq!(app.table_mut().total, 5);
    app.input(&Input::Key(Key::Char('/')));
    app.input(&Input::Paste("user-0\n.slice".into()));
    assert_eq!(app.table_mut().filter, "user-0.slice");
    assert_eq!(app.table_mut().total, 2);
}

#[test]
fn views_items_and_back() {
    let mut app = app(80, 24);
    keys(&mut app, &[Key::Tab]);
    assert_eq!(app.kind, Kind::Files);
    keys(&mut app, &[Key::BackTab, Key::BackTab]);
    assert_eq!(app.kind, Kind::Groups);
    keys(&mut app, &[Key::Enter]);
    assert_eq!(app.shown_kind(), Kind::Processes);
    keys(&mut app, &[Key::Enter]);
    assert_eq!((app.stack.len(), app.shown_kind()), (2, Kind::Files));
    keys(&mut app, &[Key::Esc, Key::Esc]);
    assert!(app.stack.is_empty());
    text(&mut app, "1");
    assert_eq!(app.kind, Kind::Processes);
    for _ in 0..50 {
        keys(&mut app, &[Key::Enter]);
    }
    assert!(app.stack.len() <= 8);
}

#[test]
fn a_click_selects_and_then_opens() {
    let mut app = app(80, 24);
    let drawn = screen(&app);
    let row = drawn.lines().position(|line| line.contains("sqlite3")).expect("there") as u16;
    app.input(&Input::Click(30, row));
    assert_eq!(app.table_mut().selected, Some(ItemKey::Process(3)));
    app.input(&Input::Click(30, row));
    assert_eq!(app.stack.len(), 1);
    keys(&mut app, &[Key::Esc]);
    app.input(&Input::Wheel(1));
    assert_eq!(app.table_mut().place, Some(4), "three lines on, and no further than the last");
    let tabs = screen(&app).lines().position(|line| line.contains("Files")).expect("tabs") as u16;
    app.input(&Input::Click(18, tabs));
    assert_eq!(app.kind, Kind::Files);
}

#[test]
fn counts_intervals_and_pauses() {
    let mut app = app(80, 24);
    assert_eq!(key(&mut app, Key::Char('+')), Effect::Interval(2_000_000_000));
    assert_eq!(key(&mut app, Key::Char('-')), Effect::Interval(1_000_000_000));
    for _ in 0..20 {
        key(&mut app, Key::Char('-'));
    }
    assert_eq!(app.setup.interval_ns, 100_000_000);
    text(&mut app, "c");
    assert_eq!(app.counting, Counting::Second);
    text(&mut app, "p");
    let (before, seen) = (screen(&app), app.since.frame().map(|m| m.totals.read_pages));
    app.update(frame(31));
    app.update(frame(32));
    assert_eq!(screen(&app), before, "a stopped screen stands still");
    text(&mut app, "p");
    assert_ne!(screen(&app), before);
    let more = frame(31).totals.read_pages + frame(32).totals.read_pages;
    assert_eq!(app.since.frame().map(|m| m.totals.read_pages), seen.map(|seen| seen + more));
}

#[test]
fn an_expanded_item_is_never_called_a_sum_since_the_start() {
    let mut app = app(80, 24);
    text(&mut app, "cc");
    assert!(screen(&app).contains("counts since the start"));
    key(&mut app, Key::Enter);
    assert!(!app.stack.is_empty());
    assert!(screen(&app).contains("counts per interval"), "{}", screen(&app));
    key(&mut app, Key::Esc);
    assert!(screen(&app).contains("counts since the start"));
}

#[test]
fn keys_of_a_recording() {
    let mut app = app(80, 24);
    assert_eq!(key(&mut app, Key::Right), Effect::None, "not in one");
    let at = app.frame().map(|frame| frame.at).expect("shown");
    app.place = Some(crate::tui::Place {
        file: "f".into(),
        index: 3,
        count: 9,
        first: at,
        last: at,
        playing: false,
    });
    let steps = [
        (Key::Left, Step::By(-1)),
        (Key::Char('.'), Step::By(1)),
        (Key::Char('['), Step::Seconds(-60)),
        (Key::Char(']'), Step::Seconds(60)),
        (Key::Home, Step::First),
        (Key::End, Step::Last),
        (Key::Char(' '), Step::PlayPause),
    ];
    for (pressed, step) in steps {
        assert_eq!(key(&mut app, pressed), Effect::Replay(step), "{pressed:?}");
    }
    text(&mut app, "g-5m");
    let near = crate::tui::unix_seconds(at);
    assert_eq!(key(&mut app, Key::Enter), Effect::Replay(Step::At(near - 300)));
    text(&mut app, "gnoon");
    assert_eq!(key(&mut app, Key::Enter), Effect::None);
    assert!(screen(&app).contains("a time is HH:MM"));
}
