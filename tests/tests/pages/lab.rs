//! Pages of experiments as a browser shows them: every point drawn, reachable by keyboard, readable on a phone.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotset_experiments::{ALL, present};
use hotset_tests::browser::{DARK, attribute, browse, driven, on_a_phone, picture, pictures};
use hotset_tests::{Scratch, hotset, labs, stderr};
use hotset_view::lab::{LabResult, Named, lab_pages, write_lab_json};
use hotset_view::page::{Page, write_page};

fn result(experiment: &str, kernel: &str, slower: f64) -> LabResult {
    present(labs::session(experiment, kernel, slower)).expect("a known experiment")
}

fn results(kernel: &str, slower: f64) -> Vec<LabResult> {
    ALL.iter().map(|experiment| result(experiment.name, kernel, slower)).collect()
}

fn all_on_one() -> Page {
    let all = results("6.12.9", 1.0);
    let runs: Vec<Named<'_>> = all.iter().map(|result| Named { name: "", result }).collect();
    Page::of_parts("hotset lab", lab_pages(&runs))
}

fn compared(experiment: &str) -> Page {
    let [a, b] = [("6.1.0", 1.3), ("6.12.9", 1.0)]
        .map(|(kernel, slower)| result(experiment, kernel, slower));
    let runs =
        [Named { name: "before.json", result: &a }, Named { name: "after.json", result: &b }];
    Page::of_parts("compared", lab_pages(&runs))
}

fn written(scratch: &Scratch, page: &Page) -> PathBuf {
    let path = scratch.path("page.html");
    let mut file = std::fs::File::create(&path).expect("the page's file");
    write_page(page, &mut file).expect("a page");
    path
}

/// How many points the charts of a page have, from its data.
fn points(page: &Page) -> Vec<usize> {
    let charts = page.parts.iter().chain([page]).flat_map(|part| &part.sections);
    let charts = charts.filter_map(|section| section.chart.as_ref());
    charts.map(|chart| chart.series.iter().map(|series| series.points.len()).sum()).collect()
}

#[test]
fn every_cell_of_every_experiment_is_drawn() {
    let scratch = Scratch::new("lab-page");
    let page = all_on_one();
    let path = written(&scratch, &page);
    let (dom, console) = browse(&scratch, &path, &["--dump-dom"]);
    let expected: Vec<String> = points(&page).iter().map(usize::to_string).collect();
    assert!(expected.len() >= 5, "each experiment has a chart: {expected:?}");
    assert_eq!(attribute(&dom, "data-drawn-points"), expected);
    assert_eq!(attribute(&dom, "data-points"), expected);
    assert_eq!(attribute(&dom, "data-errors"), ["[]"]);
    assert_eq!(console, Vec::<String>::new());
    let ids = attribute(&dom, "id");
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len(), "ids are unique on the page");
}

/// Tab reaches what can have the focus: every chart, every entry of a legend, every table. Each shows that it has it.
#[test]
fn the_keyboard_reaches_every_chart_and_every_series() {
    let scratch = Scratch::new("lab-page-keys");
    let page = compared("access");
    let path = written(&scratch, &page);
    let script = "
        const all = [...document.querySelectorAll('.plot, .legend button, .scroll')].filter((one) => one.checkVisibility());
        const reached = all.filter((one) => { one.focus(); return document.activeElement === one && one.tabIndex >= 0; });
        document.body.dataset.reached = `${reached.length} of ${all.length}`;
        const plot = document.querySelector('.plot');
        plot.focus();
        const press = (key) => plot.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        const said = new Set();
        const figure = plot.parentElement;
        figure.querySelectorAll('.legend button').forEach(() => {
          press('Home');
          for (let at = 0; at < 50; at++) { said.add(figure.querySelector('.readout').textContent); press('ArrowRight'); }
          press('ArrowDown');
        });
        document.body.dataset.said = said.size;
        dispatchEvent(new Event('beforeprint'));
        const closed = [...document.querySelectorAll('details.table')].filter((one) => !one.open);
        document.body.dataset.folded = closed.length;
    ";
    let (dom, _) = browse(&scratch, &driven(&scratch, &path, script), &["--dump-dom"]);
    let reached = attribute(&dom, "data-reached")[0];
    let (some, all) = reached.split_once(" of ").expect("two numbers");
    assert_eq!(some, all);
    assert!(all.parse::<u32>().is_ok_and(|all| all > 10), "{reached}");
    let said: Vec<String> = points(&page).iter().take(1).map(usize::to_string).collect();
    assert_eq!(attribute(&dom, "data-said"), said, "each point of the first chart by arrow keys");
    assert_eq!(attribute(&dom, "data-folded"), ["0"], "print shows every table");
    assert_eq!(attribute(&dom, "data-errors"), ["[]"]);
}

#[test]
fn a_phone_needs_no_sideways_scrolling() {
    let scratch = Scratch::new("lab-page-phone");
    for (name, page) in [("all", all_on_one()), ("compared", compared("access"))] {
        let path = written(&scratch, &page);
        let phone = on_a_phone(&scratch, &path, 9000);
        let (dom, console) = browse(&scratch, &phone, &["--dump-dom"]);
        assert_eq!(attribute(&dom, "data-wider"), ["0"], "{name}");
        assert_eq!(attribute(&dom, "data-inner-errors"), ["[]"], "{name}");
        assert_eq!(console, Vec::<String>::new(), "{name}");
        let drawn = points(&page).iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(attribute(&dom, "data-inner-drawn"), [drawn], "{name}");
    }
}

#[test]
fn it_can_be_looked_at_and_printed() {
    let scratch = Scratch::new("lab-page-pictures");
    let path = written(&scratch, &all_on_one());
    picture(&scratch, "lab-wide", &path, 9000, &[]);
    picture(&scratch, "lab-dark", &path, 9000, &DARK);
    picture(&scratch, "lab-phone", &on_a_phone(&scratch, &path, 9000), 9000, &[]);
    let print = pictures().join("lab.pdf");
    let _ = std::fs::remove_file(&print);
    browse(&scratch, &path, &[&format!("--print-to-pdf={}", print.display())]);
    let printed = std::fs::read(&print).expect("the print");
    assert!(printed.starts_with(b"%PDF") && printed.len() > 50_000, "{} bytes", printed.len());
    let both = written(&scratch, &compared("reread"));
    picture(&scratch, "lab-compared", &both, 6000, &[]);
}

fn report(words: &[&Path], output: &Path) -> Output {
    let mut command = Command::new(hotset());
    command.arg("report").args(words).arg("-o").arg(output);
    command.output().expect("hotset")
}

#[test]
fn report_makes_a_page_of_saved_results() {
    let scratch = Scratch::new("report");
    let (before, after) = (scratch.path("before.json"), scratch.path("after.json"));
    for (path, slower) in [(&before, 1.0), (&after, 2.0)] {
        let mut file = std::fs::File::create(path).expect("a file");
        write_lab_json(&results("6.12.9", slower), &mut file).expect("written");
    }
    let page = scratch.path("out.html");
    let output = report(&[&before, &after], &page);
    assert!(output.status.success(), "{}", stderr(&output));
    let (dom, console) = browse(&scratch, &page, &["--dump-dom"]);
    assert_eq!(attribute(&dom, "data-errors"), ["[]"]);
    assert_eq!(console, Vec::<String>::new());
    assert_eq!(attribute(&dom, "data-drawn-points"), attribute(&dom, "data-points"));
    assert!(dom.contains("How do the runs compare?"));
    let to_stdout = report(&[&before], Path::new("-"));
    assert!(to_stdout.stdout.starts_with(b"<!DOCTYPE html>"));
}

#[test]
fn report_writes_all_or_nothing_and_says_why() {
    let scratch = Scratch::new("report-wrong");
    let good = scratch.path("good.json");
    let mut bytes = Vec::new();
    write_lab_json(&results("6.12.9", 1.0), &mut bytes).expect("written");
    std::fs::write(&good, &bytes).expect("a file");
    let page = scratch.path("out.html");
    std::fs::write(&page, "as it was").expect("a file");
    let file = |name: &str, bytes: &[u8]| {
        let path = scratch.path(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let text = String::from_utf8(bytes.clone()).expect("text");
    let newer = text.replacen("hotset.lab/1", "hotset.lab/9", 1);
    let cases = [
        (file("cut.json", &bytes[..bytes.len() / 2]), "ends in the middle"),
        (file("newer.json", newer.as_bytes()), "expected one of hotset.lab/1"),
        (file("text.json", b"no JSON"), "not JSON"),
        (scratch.path("missing.json"), "No such file"),
    ];
    for (path, why) in cases {
        let output = report(&[&good, &path], &page);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(said.contains(name) && said.contains(why), "{said}");
        assert_eq!(std::fs::read_to_string(&page).expect("the page"), "as it was");
    }
    let output = report(&[&good], &good);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(std::fs::read(&good).expect("the result"), bytes, "it is not replaced");
    let parts = std::fs::read_dir(scratch.dir()).expect("the directory");
    assert!(parts.flatten().all(|entry| !entry.file_name().to_string_lossy().ends_with(".part")));
}
