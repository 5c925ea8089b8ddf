use sha2::{Digest, Sha256};

use super::*;

type TestResult = Result<(), Box<dyn std::error::Error>>;

fn written(page: &Page) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    write_page(page, &mut out)?;
    Ok(String::from_utf8(out)?)
}

fn chart(name: &str) -> Chart {
    let point = |x: f64, y: f64| Point {
        x,
        y,
        interval: Some((0.9 * y, 1.1 * y)),
        text: format!("{name}: {y}"),
        excluded: false,
    };
    Chart {
        label: name.to_owned(),
        kind: ChartKind::Lines,
        x: Axis { title: "size".to_owned(), unit: Unit::Bytes, log: true, ..Axis::default() },
        y: Axis { title: name.to_owned(), ..Axis::default() },
        series: vec![Series {
            name: name.to_owned(),
            points: vec![point(0.0, 3.0), point(1024.0, 1.0), point(4096.0, 2.0)],
            ..Series::default()
        }],
        reference: None,
        areas: vec![MarkArea { to: 2048.0, text: name.to_owned() }],
        lines: vec![MarkLine { at: 3072.0, name: name.to_owned(), text: name.to_owned() }],
        excluded: name.to_owned(),
    }
}

/// A page with this text in every place that takes one.
fn page_of(text: &str) -> Page {
    let text = text.to_owned();
    let table = Table {
        caption: text.clone(),
        columns: vec![Column::words(&text), Column::numbers(&text)],
        rows: vec![vec![text.clone(), text.clone()]],
    };
    let entry = Entry {
        label: text.clone(),
        title: text.clone(),
        lines: vec![text.clone(), text.clone()],
        command: text.clone(),
    };
    Page {
        title: text.clone(),
        name: text.clone(),
        subtitle: text.clone(),
        headline: vec![Answer {
            question: text.clone(),
            sentence: text.clone(),
            number: text.clone(),
            confidence: text.clone(),
        }],
        sections: vec![Section {
            text: text.clone(),
            entries: vec![entry.clone()],
            question: text.clone(),
            answer: text.clone(),
            chart: Some(chart(&text)),
            picture: None,
            table,
            notes: vec![text.clone()],
            below: vec![entry],
        }],
        conditions: vec![(text.clone(), text.clone())],
        doubts: vec![PageWarning { text: text.clone(), advice: text.clone() }],
        parts: vec![Page { title: text, ..Page::default() }],
    }
}

fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut out = String::new();
    for three in digest.chunks(3) {
        let bits = three.iter().fold(0_usize, |bits, &byte| bits << 8 | usize::from(byte));
        let bits = bits << (8 * (3 - three.len()));
        for place in 0..=three.len() {
            out.push(char::from(DIGITS[bits >> (18 - 6 * place) & 63]));
        }
    }
    format!("'sha256-{out}='")
}

#[test]
fn the_policy_names_what_stands_in_the_page() {
    let scripts = [
        assets::MARKS,
        assets::SCRIPT,
        assets::UPLOT,
        assets::DRAWINGS,
        assets::PATTERNS,
        assets::PICTURES,
    ];
    let hashes = scripts.map(hash).join(" ");
    let styles = [assets::STYLE, assets::UPLOT_STYLE].map(hash).join(" ");
    let right = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; script-src {hashes}; style-src {styles}"
    );
    assert_eq!(assets::POLICY, right, "an asset changed: put its new hash into assets.rs");
    for text in scripts {
        assert!(!text.contains("</script"), "it would end its own element");
    }
    assert!(assets::UPLOT.contains(&format!("(v{})", assets::UPLOT_VERSION)));
    for text in [assets::SCRIPT, assets::DRAWINGS, assets::PATTERNS, assets::PICTURES] {
        assert!(text.lines().count() < 300);
    }
}

#[test]
fn the_model_reads_like_this_in_tests() {
    insta::assert_snapshot!(testing::lines(&page_of("Reads < writes")));
}

#[test]
fn every_thing_of_a_page_has_its_place_in_the_markup() {
    let html = html::content(&page_of("a < b")).into_string();
    let mut rest = html.as_str();
    for wanted in [
        r##"<a class="skip" href="#content">"##,
        r#"<header><h1>a &lt; b</h1><p class="quiet">a &lt; b</p>"#,
        r#"<nav aria-label="Parts of this page">"#,
        r##"<a href="#part-0">a &lt; b</a>"##,
        r#"<main id="content"><section id="answers" aria-label="Answers">"#,
        r#"<article><p class="asked">a &lt; b</p><p class="number">a &lt; b</p>"#,
        r#"<p>a &lt; b</p><p class="sure">a &lt; b</p></article>"#,
        r##"<a href="#warnings">1 warning</a>"##,
        "<noscript>",
        r#"<section aria-labelledby="question-0"><h2 id="question-0">a &lt; b</h2><p>a &lt; b</p>"#,
        "<pre>a &lt; b</pre>",
        "<figure><figcaption>a &lt; b</figcaption>",
        r#"aria-label="a &lt; b. The table below holds all its numbers.""#,
        r#"aria-describedby="hint-0" data-model="data-0" data-points="2""#,
        r#"<output class="readout" id="hint-0""#,
        "<span>× a &lt; b</span>",
        r#"<span class="area">a &lt; b</span>"#,
        r#"<span class="line">a &lt; b</span>"#,
        r#"<script type="application/json" id="data-0">"#,
        r#"</figure><p class="quiet">a &lt; b</p>"#,
        r#"aria-labelledby="caption-0"><table><caption id="caption-0"><span>a &lt; b</span></caption>"#,
        r#"<th scope="col">a &lt; b</th><th scope="col" class="number">a &lt; b</th>"#,
        r#"<th scope="row">a &lt; b</th><td class="number">a &lt; b</td>"#,
        r#"<h2 id="conditions">"#,
        "<dt>a &lt; b</dt><dd>a &lt; b</dd>",
        r#"<h2 id="warnings">Warnings</h2><ul><li>a &lt; b: <span class="quiet">a &lt; b</span></li>"#,
        r#"<section class="part" aria-labelledby="part-0"><h2 id="part-0">a &lt; b</h2>"#,
        "<footer>",
    ] {
        let at = rest.find(wanted);
        assert!(at.is_some(), "{wanted} is not in {rest}");
        rest = &rest[at.unwrap_or(0) + wanted.len()..];
    }
}

#[test]
fn what_a_page_lacks_leaves_no_markup() {
    let html = html::content(&Page::default()).into_string();
    for none in ["<section", "<table", "<figure", "<nav", "<dl", "<li", "<pre><", "<article"] {
        assert!(!html.contains(none), "{none}");
    }
}

/// Of what is there, all that may be empty is.
#[test]
fn what_a_section_an_answer_or_a_doubt_lacks_leaves_no_markup() {
    let page = Page {
        headline: vec![Answer { number: "7".to_owned(), ..Answer::default() }],
        sections: vec![
            Section { question: "bare".to_owned(), ..Section::default() },
            Section {
                chart: Some(Chart { excluded: String::new(), ..chart("drawn") }),
                ..Section::default()
            },
        ],
        doubts: vec![PageWarning { text: "slow".to_owned(), ..PageWarning::default() }],
        ..Page::default()
    };
    let html = html::content(&page).into_string();
    for wanted in [
        r#"<article><p class="number">7</p>"#,
        r#"<section aria-labelledby="question-0"><h2 id="question-0">bare</h2></section>"#,
        "<ul><li>slow</li></ul>",
    ] {
        assert!(html.contains(wanted), "{wanted} is not in {html}");
    }
    for none in ["class=\"asked\"", "×", "<table", "<nav", "<dl", "<pre>a"] {
        assert!(!html.contains(none), "{none}");
    }
}

#[test]
fn a_long_table_is_folded() {
    let mut page = page_of("x");
    page.sections[0].table.rows = vec![vec!["1".to_owned()]; 25];
    let html = html::content(&page).into_string();
    assert!(html.contains(r#"<details class="table"><summary>x: 25 rows</summary>"#), "{html}");
}

#[test]
fn a_chart_is_data_for_the_script() -> TestResult {
    let data: serde_json::Value = serde_json::from_str(&data::json(&chart("x")))?;
    let point = |x: f64, y: f64| {
        serde_json::json!({
            "x": x, "y": y, "low": 0.9 * y, "high": 1.1 * y, "text": format!("x: {y}"), "aside": false,
        })
    };
    let wanted = serde_json::json!({
        "kind": "lines",
        "x": {"title": "size", "unit": "bytes", "log": true, "zero": false, "names": []},
        "y": {"title": "x", "unit": "count", "log": false, "zero": false, "names": []},
        "series": [{
            "name": "x",
            "points": [point(0.0, 3.0), point(1024.0, 1.0), point(4096.0, 2.0)],
            "boxes": [],
            "band": false,
        }],
        "reference": null,
        "areas": [{ "to": 2048.0 }],
        "lines": [{ "at": 3072.0, "name": "x" }],
    });
    assert_eq!(data, wanted);
    Ok(())
}

#[test]
fn the_page_has_its_scripts_once() -> TestResult {
    let mut page = page_of("x");
    page.parts.push(page_of("y"));
    let html = written(&page)?;
    assert_eq!(html.matches("<script>").count(), 3, "marks, the page's own, the library");
    assert_eq!(html.matches("<style>").count(), 2);
    assert_eq!(html.matches("<script type=\"application/json\"").count(), 2, "a chart each");
    Ok(())
}

#[test]
fn no_text_becomes_markup() -> TestResult {
    let plain = written(&page_of("x"))?;
    for nasty in
        ["</script><script>alert(1)</script>", "<!--", "\"><img src=x onerror=a>", "' & &amp;"]
    {
        let html = written(&page_of(nasty))?;
        for mark in ["<script", "</script", "<img", "<!--"] {
            assert_eq!(html.matches(mark).count(), plain.matches(mark).count(), "{nasty}: {mark}");
        }
        // What stands in the data comes back as it went in.
        let begin = html.find("id=\"data-0\">").ok_or("no data")? + "id=\"data-0\">".len();
        let end = begin + html[begin..].find("</script>").ok_or("no end")?;
        let data: serde_json::Value = serde_json::from_str(&html[begin..end])?;
        assert_eq!(data["series"][0]["name"], nasty);
    }
    Ok(())
}

#[test]
fn points_off_a_logarithmic_axis_are_not_expected() -> TestResult {
    let html = written(&page_of("x"))?;
    assert!(html.contains("data-points=\"2\""), "size 0 has no place");
    Ok(())
}

#[test]
fn nothing_is_fetched() -> TestResult {
    let html = written(&page_of("x"))?;
    for attribute in [" src=", "<link", "@import", "url("] {
        assert!(!html.contains(attribute), "{attribute}");
    }
    Ok(())
}
