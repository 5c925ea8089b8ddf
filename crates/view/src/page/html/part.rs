//! A page's answers, sections, conditions and doubts: of the whole document, or of a part of it.

use maud::{Markup, PreEscaped, html};

use super::table::table;
use crate::page::data;
use crate::page::model::{Answer, Chart, Entry, Page, Section};
use crate::page::picture::{Drawn, Picture};
use crate::report::text::unbroken;

/// A page in its place: ids are unique on the document, and headings are a level lower inside of another page.
pub(super) struct Part<'a> {
    page: &'a Page,
    prefix: String,
    inside: bool,
}

/// The id of a part.
pub(super) fn id_of(index: usize) -> String {
    format!("part-{index}")
}

impl<'a> Part<'a> {
    /// The page that the document is.
    pub(super) fn whole(page: &'a Page) -> Self {
        Self { page, prefix: String::new(), inside: false }
    }

    /// A page that stands on another.
    pub(super) fn inside(page: &'a Page, index: usize) -> Self {
        Self { page, prefix: format!("{}-", id_of(index)), inside: true }
    }

    fn id(&self, of: &str) -> String {
        format!("{}{of}", self.prefix)
    }

    fn numbered(&self, of: &str, index: usize) -> String {
        format!("{}{of}-{index}", self.prefix)
    }

    fn heading(&self, id: &str, text: &str) -> Markup {
        html! {
            @if self.inside { h3 id=(id) { (text) } } @else { h2 id=(id) { (text) } }
        }
    }

    /// With its title.
    pub(super) fn markup(&self) -> Markup {
        let id = self.prefix.trim_end_matches('-');
        html! {
            section.part aria-labelledby=(id) {
                h2 id=(id) { (self.page.title) }
                p.quiet { (self.page.subtitle) }
                (self.answers())
                (self.rest())
            }
        }
    }

    pub(super) fn answers(&self) -> Markup {
        let page = self.page;
        html! {
            @if !(page.headline.is_empty() && page.doubts.is_empty()) {
                section id=(self.id("answers")) aria-label="Answers" {
                    @if !page.headline.is_empty() { div.lead { @for one in &page.headline { (answer(one)) } } }
                    @if !page.doubts.is_empty() {
                        p { a href={ "#" (self.id("warnings")) } { (count(page.doubts.len(), "warning")) } }
                    }
                }
            }
        }
    }

    /// All that comes after the answers.
    pub(super) fn rest(&self) -> Markup {
        html! {
            @for (index, one) in self.page.sections.iter().enumerate() { (self.section(one, index)) }
            (self.conditions())
            (self.doubts())
        }
    }

    fn section(&self, section: &Section, index: usize) -> Markup {
        let heading = self.numbered("question", index);
        html! {
            section aria-labelledby=(heading) {
                (self.heading(&heading, &section.question))
                @if !section.answer.is_empty() { p { (unbroken(&section.answer)) } }
                @for one in &section.entries { (self.entry(one)) }
                @if !section.text.is_empty() { div.scroll { pre { (section.text) } } }
                @if let Some(one) = &section.chart { (self.chart(one, index)) }
                @if let Some(one) = &section.picture { (self.picture(one, index)) }
                @for note in &section.notes { p.quiet { (unbroken(note)) } }
                (table(&section.table, &self.numbered("caption", index)))
                @for one in &section.below { (self.entry(one)) }
            }
        }
    }

    fn entry(&self, entry: &Entry) -> Markup {
        let title = html! {
            @if !entry.label.is_empty() { span.label { (entry.label) } " " }
            (entry.title)
        };
        html! {
            article.entry {
                @if self.inside { h4 { (title) } } @else { h3 { (title) } }
                @for line in &entry.lines { p { (line) } }
                @if !entry.command.is_empty() { pre.command { (entry.command) } }
            }
        }
    }

    fn chart(&self, chart: &Chart, index: usize) -> Markup {
        let model = self.numbered("data", index);
        let hint = self.numbered("hint", index);
        let keys = "Point at a mark for its value. With the keyboard: Tab to the chart, then the arrow keys.";
        html! {
            figure {
                figcaption { (chart.label) }
                div.plot tabindex="0" role="group" aria-roledescription="chart"
                    aria-label={ (chart.label) ". The table below holds all its numbers." }
                    aria-describedby=(hint)
                    data-model=(model) data-points=(data::drawable(chart)) {}
                output.readout id=(hint) aria-live="polite" { (keys) }
                div.legend role="group" aria-label="Series, click one to hide it" {
                    @if !chart.excluded.is_empty() { span { "× " (chart.excluded) } }
                    @for area in &chart.areas { span.area { (area.text) } }
                    @for line in &chart.lines { span.line { (line.text) } }
                }
                script type="application/json" id=(model) { (PreEscaped(data::json(chart))) }
            }
        }
    }

    /// A canvas that the script fills, with what it needs around it.
    fn picture(&self, picture: &Picture, index: usize) -> Markup {
        let model = self.numbered("picture", index);
        let hint = self.numbered("picture-hint", index);
        let keys = match picture.drawn {
            Drawn::Flame(_) => {
                "Point at a box for its numbers, click it to zoom. Keyboard: Tab to the picture, arrow keys to move, Enter to zoom, Escape to reset."
            }
            Drawn::Pattern(_) => {
                "Point at a mark for what it is. Keyboard: Tab to the picture, left and right arrow keys to move, up and down for the other row."
            }
            _ => {
                "Point at a cell for its numbers, drag to zoom. Keyboard: Tab to the picture, arrow keys to move, + and - to zoom, Escape to reset."
            }
        };
        html! {
            figure.picture {
                figcaption { (picture.label) }
                div.canvas tabindex="0" role="group" aria-roledescription="picture"
                    aria-label={ (picture.label) ". The table below sums it up." }
                    aria-describedby=(hint) data-kind=(picture.kind())
                    data-model=(model) data-things=(picture.things()) {}
                output.readout id=(hint) aria-live="polite" { (keys) }
                div.legend role="group" aria-label="Parts of the picture" {}
                script type="application/json" id=(model) { (PreEscaped(data::picture_json(picture))) }
            }
        }
    }

    fn conditions(&self) -> Markup {
        let id = self.id("conditions");
        html! {
            @if !self.page.conditions.is_empty() {
                section aria-labelledby=(id) {
                    (self.heading(&id, "Conditions"))
                    dl {
                        @for (name, value) in &self.page.conditions { div { dt { (name) } dd { (value) } } }
                    }
                }
            }
        }
    }

    fn doubts(&self) -> Markup {
        let id = self.id("warnings");
        html! {
            @if !self.page.doubts.is_empty() {
                section aria-labelledby=(id) {
                    (self.heading(&id, "Warnings"))
                    ul {
                        @for one in &self.page.doubts {
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
}

/// `1 doubt`, `2 doubts`.
pub(super) fn count(number: usize, what: &str) -> String {
    crate::units::plural(number as u64, what)
}

/// Characters of an answer that would make a narrow and very high column: it has a row of its own.
const LONG: usize = 240;
/// Characters of a number with words that would break over lines in large letters.
const WORDY: usize = 14;

fn answer(answer: &Answer) -> Markup {
    let long = (answer.sentence.chars().count() > LONG).then_some("long");
    let wordy = answer.number.chars().count() > WORDY;
    html! {
        article class=[long] {
            @if !answer.question.is_empty() { p.asked { (answer.question) } }
            p.number.wordy[wordy] { (answer.number) }
            p { (unbroken(&answer.sentence)) }
            p.sure { (unbroken(&answer.confidence)) }
        }
    }
}
