//! Which kinds of I/O and which files tell the commands apart.

use hotset_analysis::bench::{BenchSummary, FileDifference, IoDifference, KindDifference};

use super::look::BenchLook;
use super::words::letter;
use crate::escape::shorten_path;
use crate::report::screen::Screen;
use crate::table::{Align, Table};
use crate::units::{bytes, count};

/// Files that are shown unless everything is asked for.
const FILES: usize = 5;
const INDENT: usize = 2;

pub(super) fn push(screen: &mut Screen, summary: &BenchSummary, look: BenchLook) {
    for difference in &summary.io_differences {
        push_one(screen, difference, look);
    }
}

fn push_one(screen: &mut Screen, difference: &IoDifference, look: BenchLook) {
    let (a, b) = (letter(difference.command_a), letter(difference.command_b));
    if difference.totals.is_empty() && difference.files.is_empty() {
        return;
    }
    let mut table = Table::new(vec![(a.as_str(), Align::Right), (b.as_str(), Align::Right)]);
    for kind in &difference.totals {
        table.push(vec![amount(kind, kind.a, look), amount(kind, kind.b, look)]);
    }
    let names: Vec<String> = difference.totals.iter().map(name).collect();
    screen.table(&format!("I/O, {a} against {b}, one run each"), &table, &names);
    let shown = if screen.all { difference.files.len() } else { FILES };
    for file in difference.files.iter().take(shown) {
        push_file(screen, file, [&a, &b], look);
    }
    let more = difference.files.len().saturating_sub(shown);
    if more > 0 {
        screen.below_table(&format!("{} more files differ", count(more as u64)));
    }
}

/// The path, and below it who touches it and how.
fn push_file(screen: &mut Screen, file: &FileDifference, [a, b]: [&str; 2], look: BenchLook) {
    let path = screen.path(&file.path);
    let path = shorten_path(&path, screen.width.saturating_sub(INDENT));
    screen.line(&format!("{:INDENT$}{path}", ""));
    let who = match (file.in_a, file.in_b) {
        (true, false) => format!("only {a}: "),
        (false, true) => format!("only {b}: "),
        _ => String::new(),
    };
    let words = |kind: &KindDifference| {
        let [in_a, in_b] = [kind.a, kind.b].map(|value| amount(kind, value, look));
        match (file.in_a, file.in_b) {
            (true, false) => format!("{} {in_a}", name(kind)),
            (false, true) => format!("{} {in_b}", name(kind)),
            _ => format!("{} {in_a} → {in_b}", name(kind)),
        }
    };
    let kinds: Vec<String> = file.kinds.iter().map(words).collect();
    screen.paragraph("", ", ", &format!("{who}{}", kinds.join(", ")), 2 * INDENT);
}

/// The kind without its unit, which stands at the number.
fn name(kind: &KindDifference) -> String {
    let word = kind.kind.as_str();
    match word {
        "read_bytes" => "bytes read".to_owned(),
        "written_bytes" => "bytes written".to_owned(),
        "device_bytes" => "from the device".to_owned(),
        "direct_bytes" => "read past the cache".to_owned(),
        "time_ns" => "time in I/O".to_owned(),
        "faults" => "faults on mappings".to_owned(),
        "mapped_pages" => "pages mapped in".to_owned(),
        _ => word.replace('_', " "),
    }
}

fn amount(kind: &KindDifference, value: u64, look: BenchLook) -> String {
    match kind.kind.as_str().rsplit('_').next() {
        Some("bytes") => bytes(value),
        Some("ns") => look.exact_time(value as f64),
        _ => count(value),
    }
}
