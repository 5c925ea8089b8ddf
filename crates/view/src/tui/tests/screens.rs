//! Screens as people see them.

use std::time::{Duration, UNIX_EPOCH};

use hotset_analysis::top::{ItemKey, Kind};
use hotset_facts::{LiveIo, LiveLosses, SizeHistogram};
use insta::assert_snapshot;
use ratatui::style::Color;

use crate::tui::testing::{
    Known, app, buffer, frame, gaps, interval, keys, reads, screen, setup, started, text,
};
use crate::tui::{Key, Look, Place, Setup};

#[test]
fn processes_at_three_sizes() {
    for (width, height) in [(80, 24), (200, 60), (40, 10)] {
        assert_snapshot!(format!("processes_{width}x{height}"), screen(&app(width, height)));
    }
}

#[test]
fn files_and_groups() {
    for (name, key) in [("files", '2'), ("cgroups", '3')] {
        for (width, height) in [(80, 24), (200, 60)] {
            let mut app = app(width, height);
            text(&mut app, &key.to_string());
            assert_snapshot!(format!("{name}_{width}x{height}"), screen(&app));
        }
    }
}

fn sizes() -> (SizeHistogram, SizeHistogram) {
    let (mut reads, mut writes) = (SizeHistogram::default(), SizeHistogram::default());
    (reads.0[4], reads.0[6], writes.0[5]) = (123_456, 2_048, 40);
    (reads, writes)
}

#[test]
fn an_expanded_process_file_and_group() {
    let mut process = app(80, 24);
    keys(&mut process, &[Key::Down, Key::Down, Key::Enter]);
    process.set_histogram(ItemKey::Process(3), Some(sizes()));
    assert_snapshot!("expanded_process_80x24", screen(&process));
    let mut wide = app(200, 60);
    keys(&mut wide, &[Key::Down, Key::Down, Key::Enter]);
    wide.set_histogram(ItemKey::Process(3), Some(sizes()));
    assert_snapshot!("expanded_process_200x60", screen(&wide));
    let mut file = app(80, 24);
    keys(&mut file, &[Key::Char('2'), Key::Enter]);
    assert_snapshot!("expanded_file_80x24", screen(&file));
    let mut group = app(80, 24);
    keys(&mut group, &[Key::Char('3'), Key::Enter, Key::Tab]);
    assert_snapshot!("expanded_group_files_80x24", screen(&group));
}

#[test]
fn help_menus_and_filter() {
    let mut help = app(80, 24);
    text(&mut help, "?");
    assert_snapshot!("help_80x24", screen(&help));
    let mut gaps_told = started(Setup { not_measured: gaps(), ..setup(200, 60) });
    text(&mut gaps_told, "?");
    assert_snapshot!("help_not_measured_200x60", screen(&gaps_told));
    let mut sort = app(80, 24);
    text(&mut sort, "s");
    assert_snapshot!("sort_menu_80x24", screen(&sort));
    let mut filter = app(80, 24);
    text(&mut filter, "/NGI");
    assert_snapshot!("filter_typed_80x24", screen(&filter));
}

#[test]
fn a_stopped_screen_a_tree_and_other_counts() {
    let mut paused = app(80, 24);
    text(&mut paused, "pt");
    paused.update(frame(31));
    assert_snapshot!("paused_tree_80x24", screen(&paused));
    let mut since = app(80, 24);
    text(&mut since, "cc");
    assert_snapshot!("since_start_80x24", screen(&since));
}

#[test]
fn a_recording() {
    let mut app = crate::tui::App::new(setup(80, 24));
    let time = |n: u64| UNIX_EPOCH + Duration::from_secs(1_795_270_000 + n);
    let place = Place {
        file: "night.jsonl".into(),
        index: 20,
        count: 60,
        first: time(1),
        last: time(60),
        playing: false,
    };
    let before: Vec<_> = (1..21).map(frame).collect();
    app.replay(&before, frame(21), place);
    assert_snapshot!("replay_80x24", screen(&app));
    text(&mut app, "g12:0");
    assert_snapshot!("replay_goto_80x24", screen(&app));
}

#[test]
fn losses_others_and_what_is_not_measured() {
    let mut app = started(Setup { not_measured: gaps(), ..setup(80, 24) });
    let mut full = interval(31);
    full.others = reads(5_000, 4_000, 0);
    full.losses = LiveLosses { tasks: 3, events: 1_200, ..LiveLosses::default() };
    app.update(hotset_analysis::top::TopFrame::of(full, &mut Known));
    assert_snapshot!("losses_others_gaps_80x24", screen(&app));
}

#[test]
fn who_ended_stays_greyed_for_one_interval() {
    let mut app = app(80, 24);
    let mut last = interval(31);
    last.processes[2].ended = true;
    app.update(hotset_analysis::top::TopFrame::of(last, &mut Known));
    let mut after = interval(32);
    after.rows.retain(|row| row.process != 2);
    after.processes[2] = after.processes[4].clone();
    after.processes[2].id = 99;
    app.update(hotset_analysis::top::TopFrame::of(after.clone(), &mut Known));
    let drawn = screen(&app);
    assert_snapshot!("ended_80x24", drawn);
    let line = drawn.lines().position(|line| line.contains("sqlite3")).expect("still there");
    let cell = buffer(&app)[(20, line as u16)].clone();
    assert_eq!(cell.fg, Color::DarkGray, "greyed");
    after.at += Duration::from_secs(1);
    app.update(hotset_analysis::top::TopFrame::of(after, &mut Known));
    assert!(!screen(&app).contains("sqlite3"), "one interval only");
}

#[test]
fn without_colour_nothing_has_a_colour_and_marks_tell() {
    let look = Look { color: false, ascii: true };
    let mut app = started(Setup { look, ..setup(80, 24) });
    keys(&mut app, &[Key::Down]);
    let drawn = screen(&app);
    assert!(drawn.is_ascii() || drawn.contains('日'), "names only:\n{drawn}");
    assert_snapshot!("no_colour_ascii_80x24", drawn);
    let colored = buffer(&app)
        .content
        .iter()
        .any(|cell| !matches!((cell.fg, cell.bg), (Color::Reset, Color::Reset)));
    assert!(!colored);
}

#[test]
fn a_narrow_header_leaves_numbers_out_and_cuts_none() {
    let header = |width| -> Vec<String> {
        let drawn = screen(&app(width, 24));
        drawn.lines().skip(1).take(4).map(|line| line.trim_end().to_owned()).collect()
    };
    let wide = header(90);
    assert!(wide.iter().all(|line| line.len() > 60), "{wide:#?}");
    for width in 40..90 {
        for (narrow, wide) in header(width).iter().zip(&wide) {
            let rest = wide.strip_prefix(narrow.as_str());
            let whole = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("  "));
            assert!(whole, "{width} columns: {narrow:?} of {wide:?}");
        }
    }
}

#[test]
fn every_width_has_room_for_its_keys() {
    for width in [40, 59, 60, 69, 70, 79, 80, 89, 90] {
        for opened in [false, true] {
            let mut app = app(width, 24);
            keys(&mut app, &[Key::Down, Key::Enter][..if opened { 2 } else { 0 }]);
            let drawn = screen(&app);
            let last = drawn.lines().last().unwrap_or_default().trim_end();
            assert!(last.ends_with("quit"), "{width} columns: {last:?}");
        }
    }
}

#[test]
fn no_size_panics_and_the_width_is_kept() {
    for kind in Kind::ALL {
        for (width, height) in
            [(0, 0), (1, 1), (2, 40), (300, 1), (7, 7), (20, 5), (40, 10), (79, 23), (500, 200)]
        {
            let mut app = started(Setup { kind, not_measured: gaps(), ..setup(width, height) });
            for typed in ["", "\t", "t", "s", "\u{1b}", "?", "\u{1b}", "/x"] {
                for c in typed.chars() {
                    let key = if c == '\u{1b}' { Key::Esc } else { Key::Char(c) };
                    keys(&mut app, &[key]);
                }
                buffer(&app);
            }
            keys(&mut app, &[Key::Esc, Key::Esc, Key::Enter]);
            buffer(&app);
        }
    }
}

#[test]
fn nothing_to_show_is_said() {
    let empty = crate::tui::App::new(setup(80, 24));
    assert!(screen(&empty).contains("the first interval has not ended yet"));
    let mut app = app(80, 24);
    text(&mut app, "/nobody");
    assert!(screen(&app).contains("nothing here holds the filter's text"));
    let mut idle = interval(31);
    (idle.rows, idle.processes, idle.files) = (Vec::new(), Vec::new(), Vec::new());
    idle.others = LiveIo::default();
    let mut app = crate::tui::App::new(setup(80, 24));
    app.update(hotset_analysis::top::TopFrame::of(idle, &mut Known));
    assert!(screen(&app).contains("no page was asked for in this interval"));
}
