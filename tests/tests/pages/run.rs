//! The HTML page as a browser shows it: every point drawn, nothing fetched, no error on the console.
//!
//! The page itself says how many points it drew and which errors it saw (`data-drawn-points`, `data-errors`); how many
//! there should be comes from the data that this test made. Screenshots stay in `target/page-screenshots` to be looked at.

use std::path::PathBuf;

use hotset_tests::Scratch;
use hotset_tests::browser::{DARK, attribute, browse, picture};
use hotset_view::page::{
    Answer, Axis, Chart, ChartKind, Column, MarkArea, MarkLine, Page, PageWarning, Point, Section,
    Series, Spread, Table, Unit, write_page,
};

/// Would run as a script if it were taken for markup, and stop ours if it got into the data unescaped.
const NASTY: &str = "a</script><script>throw 'from a name'</script> & \"b\"";

fn points(count: u32, of: impl Fn(f64) -> f64) -> Vec<Point> {
    let point = |at: u32| {
        let (x, y) = (f64::from(at), of(f64::from(at)));
        let excluded = at % 7 == 6;
        Point { x, y, interval: Some((0.9 * y, 1.1 * y)), text: format!("{at}: {y}"), excluded }
    };
    (0..count).map(point).collect()
}

fn series(name: &str, points: Vec<Point>) -> Series {
    Series { name: name.to_owned(), points, ..Series::default() }
}

fn chart(kind: ChartKind, x: Axis, y: Axis, series: Vec<Series>) -> Section {
    let label = format!("{kind:?}");
    let columns = vec![Column::words("Series"), Column::numbers("Points")];
    let row = |one: &Series| vec![one.name.clone(), one.points.len().to_string()];
    let rows = series.iter().map(row).collect();
    let reference = (kind == ChartKind::Points).then_some(1.0);
    let excluded = "not counted".to_owned();
    let marked =
        |one: &Point| MarkLine { at: one.x, name: NASTY.to_owned(), text: NASTY.to_owned() };
    let lines: Vec<MarkLine> = series[0].points.iter().take(2).map(marked).collect();
    let area = |line: &MarkLine| MarkArea { to: line.at, text: NASTY.to_owned() };
    let areas = lines.iter().take(1).map(area).collect();
    Section {
        question: label.clone(),
        table: Table { caption: NASTY.to_owned(), columns, rows },
        chart: Some(Chart { label, kind, x, y, series, reference, areas, lines, excluded }),
        ..Section::default()
    }
}

/// Every kind of chart, with linear, logarithmic and named axes, and names that attack.
fn page() -> Page {
    let axis = |unit, log| Axis { title: NASTY.to_owned(), unit, log, ..Axis::default() };
    let names = |names: &[&str]| Axis {
        names: names.iter().map(|&name| name.to_owned()).collect(),
        ..Axis::default()
    };
    let powers = |factor: f64| {
        let mut points = points(15, |at| factor * (at + 1.0));
        points.iter_mut().for_each(|point| point.x = 64.0 * point.x.exp2());
        points
    };
    let mut strip = series("strip", points(40, |at| 1e8 + 1e6 * (at % 5.0)));
    strip.points.iter_mut().for_each(|point| point.x = point.x / 50.0 - 0.4);
    let quartiles = (1e8, 1.01e8, 1.02e8, 1.03e8, 1.04e8);
    let (low, lower, median, upper, high) = quartiles;
    strip.boxes = vec![Spread { x: 0.0, low, lower, median, upper, high }];
    let band = Series { band: true, ..series("other", powers(1e5)) };
    let lines = vec![series(NASTY, powers(1e3)), band];
    let bars = vec![series("cold", points(3, |at| 4e8 + at)), series("warm", points(3, |_| 1e8))];
    let answer = Answer {
        question: NASTY.to_owned(),
        sentence: NASTY.to_owned(),
        number: "4.30x".to_owned(),
        confidence: "95 % CI 4.26 to 4.33".to_owned(),
    };
    Page {
        title: NASTY.to_owned(),
        name: NASTY.to_owned(),
        subtitle: NASTY.to_owned(),
        headline: vec![answer],
        sections: vec![
            chart(ChartKind::Lines, axis(Unit::Bytes, true), axis(Unit::Nanoseconds, true), lines),
            chart(
                ChartKind::Points,
                axis(Unit::Count, false),
                axis(Unit::Ratio, false),
                vec![series("one", points(100, |at| at + 0.5)), series("none", Vec::new())],
            ),
            chart(ChartKind::Bars, names(&["A", NASTY, "C"]), axis(Unit::Nanoseconds, false), bars),
            chart(
                ChartKind::Distribution,
                names(&["cold"]),
                axis(Unit::Nanoseconds, false),
                vec![strip],
            ),
        ],
        conditions: vec![("Kernel".to_owned(), NASTY.to_owned())],
        doubts: vec![PageWarning { text: NASTY.to_owned(), advice: NASTY.to_owned() }],
        parts: Vec::new(),
    }
}

fn written(scratch: &Scratch, page: &Page) -> PathBuf {
    let path = scratch.path("page.html");
    let mut file = std::fs::File::create(&path).expect("the page's file");
    write_page(page, &mut file).expect("a page");
    path
}

#[test]
fn a_browser_draws_every_point() {
    let scratch = Scratch::new("page");
    let page = page();
    let path = written(&scratch, &page);
    let (dom, console) = browse(&scratch, &path, &["--dump-dom"]);
    let expected: Vec<String> = page
        .sections
        .iter()
        .filter_map(|section| section.chart.as_ref())
        .map(|chart| {
            chart.series.iter().map(|series| series.points.len()).sum::<usize>().to_string()
        })
        .collect();
    assert_eq!(expected, ["30", "100", "6", "40"]);
    assert_eq!(attribute(&dom, "data-drawn-points"), expected);
    assert_eq!(attribute(&dom, "data-errors"), ["[]"]);
    assert_eq!(console, Vec::<String>::new());
    assert_eq!(dom.matches("<button").count(), 7, "a legend entry for each series");
}

/// The test above could not fail if the page didn't notice errors.
#[test]
fn the_page_notices_errors_and_runs_no_foreign_script() {
    let scratch = Scratch::new("page-broken");
    let path = written(&scratch, &page());
    let html = std::fs::read_to_string(&path).expect("the page");
    let foreign = "<script>document.body.dataset.foreign = 'ran'</script></body>";
    std::fs::write(&path, html.replace("</body>", foreign)).expect("the page's file");
    let (dom, console) = browse(&scratch, &path, &["--dump-dom"]);
    assert_eq!(attribute(&dom, "data-foreign"), Vec::<&str>::new());
    assert_eq!(console.len(), 1, "{console:?}");
    let errors = attribute(&dom, "data-errors");
    assert!(errors.iter().all(|errors| errors.contains("script-src")), "{errors:?}");
    assert_eq!(errors.len(), 1);
}

/// Drives the page as a person without a mouse would, in a copy whose policy lets this test's own script run.
#[test]
fn keys_and_the_legend_work() {
    let scratch = Scratch::new("page-keys");
    let path = written(&scratch, &page());
    let html = std::fs::read_to_string(&path).expect("the page");
    let driver = "<script>addEventListener('DOMContentLoaded', () => {
        const plot = document.querySelectorAll('.plot')[1], figure = plot.parentElement;
        const press = (key) => plot.dispatchEvent(new KeyboardEvent('keydown', { key }));
        press('ArrowRight'); press('ArrowRight');
        document.body.dataset.second = figure.querySelector('.readout').textContent;
        press('End');
        document.body.dataset.last = figure.querySelector('.readout').textContent;
        const hide = document.querySelectorAll('.plot')[0].parentElement.querySelector('button');
        hide.click();
        document.body.dataset.pressed = hide.getAttribute('aria-pressed');
    })</script></body>";
    let open = html.replace("Content-Security-Policy", "x-none").replace("</body>", driver);
    std::fs::write(&path, open).expect("the page's file");
    let (dom, _) = browse(&scratch, &path, &["--dump-dom"]);
    assert_eq!(attribute(&dom, "data-second"), ["1: 1.5"]);
    assert_eq!(attribute(&dom, "data-last"), ["99: 99.5"]);
    assert_eq!(attribute(&dom, "data-pressed"), ["false"]);
    assert_eq!(
        attribute(&dom, "data-drawn-points"),
        ["15", "100", "6", "40"],
        "a series is hidden"
    );
    assert_eq!(attribute(&dom, "data-errors"), ["[]"]);
}

#[test]
fn it_fits_a_screen_a_phone_and_the_dark() {
    let scratch = Scratch::new("page-pictures");
    let path = written(&scratch, &page());
    // A window can't be as narrow as a phone, so a frame is.
    let phone = scratch.path("phone.html");
    let frame =
        "<body style='margin:0'><iframe src=page.html style='width:390px;height:3000px;border:0'>";
    std::fs::write(&phone, frame).expect("the frame's file");
    for (name, page, options) in
        [("wide", &path, &[][..]), ("dark", &path, &DARK[..]), ("phone", &phone, &[][..])]
    {
        picture(&scratch, name, page, 3000, options);
    }
}
