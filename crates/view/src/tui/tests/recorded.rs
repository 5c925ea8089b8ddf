//! Recordings: what is written is read, and nothing that is read brings the program down.

use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use hotset_analysis::top::TopFrame;
use hotset_facts::{LiveLosses, Observed};
use proptest::prelude::*;

use crate::tui::testing::{Known, buffer, frame, gaps, interval, keys, setup};
use crate::tui::{App, Key};
use crate::wire::top::{Header, header_line, interval_line, read_header, read_interval, read_time};

fn header() -> Header {
    Header {
        hotset: "0.1.0".into(),
        host: "db-7".into(),
        interval_ns: 1_000_000_000,
        scope: Some("process 12".into()),
        not_measured: gaps(),
    }
}

#[test]
fn what_is_written_is_read_again() {
    let line = header_line(&header());
    assert_eq!(read_header(&line).expect("read"), header());
    let mut full = interval(7);
    full.processes[1].ended = true;
    full.losses = LiveLosses { tasks: 3, requests: 9, calls: 2, ..LiveLosses::default() };
    full.others = full.rows[0].io.unpack();
    let strange = std::ffi::OsString::from_vec(b"/tmp/\xff\xfe".to_vec());
    full.files[0].path = Observed::Value(Arc::new(strange.into()));
    full.files[2].path = Observed::Value(Arc::new("/known".into()));
    let frame = TopFrame::of(full, &mut Known);
    let line = interval_line(&frame);
    assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1, "one line");
    assert_eq!(read_interval(&line).expect("read"), frame);
    assert_eq!(read_time(&line).expect("time"), frame.at);
    for line in [line, header_line(&header())] {
        let refused = crate::wire::schema_tests::refused("hotset.top/1", &line);
        assert_eq!(refused.expect("a schema"), [""; 0]);
    }
}

#[test]
fn a_bounded_frame_keeps_the_totals() {
    let mut many = interval(1);
    many.files[2].path = Observed::Value(Arc::new("/known".into()));
    let (process, row) = (many.processes[0].clone(), many.rows[1].clone());
    for n in 0..500_u32 {
        many.processes.push(hotset_facts::LiveProcess { id: 1000 + n, ..process.clone() });
        let index = many.processes.len() as u32 - 1;
        many.rows.push(hotset_facts::LiveRow { process: index, ..row.clone() });
    }
    let frame = TopFrame::of(many, &mut Known);
    let bounded = frame.bounded(20);
    for kind in hotset_analysis::top::Kind::ALL {
        let mut sum = bounded.unlisted(kind).io;
        bounded.of_kind(kind).iter().for_each(|line| sum.add(&line.io));
        assert_eq!(sum, frame.totals, "{kind:?}");
        assert!(bounded.of_kind(kind).len() <= 20);
    }
    assert_eq!(bounded.unlisted[0].items, 485);
    let line = interval_line(&bounded);
    assert_eq!(read_interval(&line).expect("read"), bounded);
}

#[test]
fn an_error_says_what_would_be_right() {
    assert!(read_header(b"{}").expect_err("no schema").contains("hotset.top/1"));
    let line = interval_line(&frame(1));
    let text = String::from_utf8(line).expect("UTF-8");
    let wrong = text.replace("\"read_pages\":41", "\"read_pages\":-41");
    assert_ne!(text, wrong);
    assert!(read_interval(wrong.as_bytes()).expect_err("negative").contains("read_pages"));
}

/// Shows whatever was read, in all the ways there are.
fn show(frame: TopFrame) {
    let mut app = App::new(setup(80, 24));
    app.update(frame.clone());
    for typed in ["", "t", "c", "c", "2", "3"] {
        crate::tui::testing::text(&mut app, typed);
        app.update(frame.clone());
        buffer(&app);
    }
    keys(&mut app, &[Key::Down, Key::Enter, Key::Tab, Key::Enter]);
    app.update(frame);
    buffer(&app);
}

proptest! {
    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_header(&bytes);
        let _ = read_time(&bytes);
        let _ = read_interval(&bytes);
    }

    /// A line of a recording with a few bytes changed is still nearly one.
    #[test]
    fn a_damaged_line_is_refused_or_shown(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        digits in proptest::collection::vec((any::<prop::sample::Index>(), b'0'..=b'9'), 0..40),
    ) {
        let mut line = interval_line(&frame(3));
        for (index, byte) in changes {
            let at = index.index(line.len());
            line[at] = byte;
        }
        for (index, digit) in digits {
            let at = index.index(line.len());
            if line[at].is_ascii_digit() {
                line[at] = digit;
            }
        }
        let _ = read_header(&line);
        if let Ok(frame) = read_interval(&line) {
            show(frame);
        }
    }
}
