//! The markup: the document, and what stands once on it.

mod part;
mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets;
use super::model::Page;
use super::picture::Drawn;
use part::Part;

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
            @if has_picture(page, &|_| true) {
                script { (PreEscaped(assets::DRAWINGS)) }
                @if has_picture(page, &|drawn| matches!(drawn, Drawn::Pattern(_))) {
                    script { (PreEscaped(assets::PATTERNS)) }
                }
                script { (PreEscaped(assets::PICTURES)) }
            }
            script { (PreEscaped(assets::UPLOT)) }
        }
    }
}

/// Only a page that has a picture of a kind carries the script that draws it.
fn has_picture(page: &Page, is: &dyn Fn(&Drawn) -> bool) -> bool {
    let mut pictures = page.sections.iter().filter_map(|section| section.picture.as_ref());
    pictures.any(|picture| is(&picture.drawn))
        || page.parts.iter().any(|part| has_picture(part, is))
}

/// What a reader sees.
pub(super) fn content(page: &Page) -> Markup {
    let own = Part::whole(page);
    html! {
        a.skip href="#content" { "Skip to the answers" }
        header {
            h1 { (page.title) }
            p.quiet { (page.subtitle) }
            (contents(page))
        }
        main id="content" {
            (own.answers())
            noscript { p { "The charts need scripts. The tables hold every number without them." } }
            (own.rest())
            @for (index, one) in page.parts.iter().enumerate() { (Part::inside(one, index).markup()) }
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

/// Where to find each part.
fn contents(page: &Page) -> Markup {
    html! {
        @if !page.parts.is_empty() {
            nav aria-label="Parts of this page" {
                ul {
                    @for (index, one) in page.parts.iter().enumerate() {
                        li { a href={ "#" (part::id_of(index)) } { (one.title) } }
                    }
                }
            }
        }
    }
}
