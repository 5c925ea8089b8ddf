//! The markup.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::model::{Answer, Chart, Doubtful, Page, Section, Table};
use super::{assets, data};

/// Longer tables are folded.
const OPEN_ROWS: usize = 24;

/// The whole document.
pub(super) fn document(page: &Page) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(assets::POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) " · hotset" }
                style { (PreEscaped(assets::UPLOT_STYLE)) }
                style { (PreEscaped(assets::STYLE)) }
            }
            (body(page))
        }
    }
}

/// Everything but the vendored script, which stands at the end: the page's own comes first and sees its errors.
fn body(page: &Page) -> Markup {
    html! {
        body {
            (content(page))
            script { (PreEscaped(assets::MARKS)) }
            script { (PreEscaped(assets::SCRIPT)) }
            script { (PreEscaped(assets::UPLOT)) }
        }
    }
}

/// What a reader sees.
pub(super) fn content(page: &Page) -> Markup {
    html! {
        a.skip href="#answers" { "Skip to the answers" }
        header {
            h1 { (page.title) }
            p.quiet { (page.subtitle) }
        }
        main {
            section id="answers" aria-label="Answers" {
                div.lead { @for one in &page.lead { (answer(one)) } }
                @if !page.doubts.is_empty() {
                    p { a href="#doubts" { (count(page.doubts.len(), "doubt")) } }
                }
            }
            noscript { p { "The charts need scripts. The tables hold every number without them." } }
            @for (index, one) in page.sections.iter().enumerate() { (section(one, index)) }
            (conditions(&page.conditions))
            (doubts(&page.doubts))
        }
        footer {
            p { "Written by hotset. Charts by uPlot " (assets::UPLOT_VERSION) "." }
            details {
                summary { "Licence of uPlot" }
                pre { (assets::UPLOT_LICENCE) }
            }
        }
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn answer(answer: &Answer) -> Markup {
    html! {
        article {
            p.number { (answer.number) }
            p { (answer.sentence) }
            p.sure { (answer.sure) }
        }
    }
}

fn section(section: &Section, index: usize) -> Markup {
    let heading = format!("question-{index}");
    html! {
        section aria-labelledby=(heading) {
            h2 id=(heading) { (section.question) }
            @if !section.answer.is_empty() { p { (section.answer) } }
            @if let Some(one) = &section.chart { (chart(one, index)) }
            @for note in &section.notes { p.quiet { (note) } }
            (table(&section.table, index))
        }
    }
}

fn chart(chart: &Chart, index: usize) -> Markup {
    let model = format!("data-{index}");
    let hint = format!("hint-{index}");
    let keys =
        "Point at a mark for its value. With the keyboard: Tab to the chart, then the arrow keys.";
    html! {
        figure {
            figcaption { (chart.label) }
            div.plot tabindex="0" role="group" aria-roledescription="chart"
                aria-label={ (chart.label) ". The table below holds all its numbers." }
                aria-describedby=(hint)
                data-model=(model) data-points=(data::drawable(chart)) {}
            output.readout id=(hint) aria-live="polite" { (keys) }
            div.legend role="group" aria-label="Series, click one to hide it" {
                @if !chart.aside.is_empty() { span { "× " (chart.aside) } }
            }
            script type="application/json" id=(model) { (PreEscaped(data::json(chart))) }
        }
    }
}

fn table(table: &Table, index: usize) -> Markup {
    if table.rows.is_empty() {
        return html! {};
    }
    let class = |number: usize| {
        table.columns.get(number).filter(|column| column.is_number).map(|_| "number")
    };
    let caption = format!("caption-{index}");
    let whole = html! {
        div.scroll tabindex="0" role="region" aria-labelledby=(caption) {
            table {
                caption id=(caption) { (table.caption) }
                thead {
                    tr {
                        @for (number, column) in table.columns.iter().enumerate() {
                            th scope="col" class=[class(number)] { (column.title) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (number, cell) in row.iter().enumerate() {
                                @if number == 0 { th scope="row" class=[class(0)] { (cell) } }
                                @else { td class=[class(number)] { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    };
    html! {
        @if table.rows.len() > OPEN_ROWS {
            details.table {
                summary { (table.caption) ": " (count(table.rows.len(), "row")) }
                (whole)
            }
        } @else { (whole) }
    }
}

fn conditions(conditions: &[(String, String)]) -> Markup {
    html! {
        @if !conditions.is_empty() {
            section aria-labelledby="conditions" {
                h2 id="conditions" { "Conditions" }
                dl { @for (name, value) in conditions { dt { (name) } dd { (value) } } }
            }
        }
    }
}

fn doubts(doubts: &[Doubtful]) -> Markup {
    html! {
        @if !doubts.is_empty() {
            section aria-labelledby="doubts" {
                h2 id="doubts" { "Doubts" }
                ul {
                    @for one in doubts {
                        li {
                            (one.text)
                            @if !one.advice.is_empty() { ": " span.quiet { (one.advice) } }
                        }
                    }
                }
            }
        }
    }
}
