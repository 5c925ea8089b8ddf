//! A page's markup as tests compare it.

use super::Page;

/// What a reader sees, an element a line: without scripts and styles.
pub(crate) fn lines(page: &Page) -> String {
    let markup = super::html::content(page).into_string();
    let licence = super::assets::UPLOT_LICENCE;
    let markup = markup.replace(&licence.replace('"', "&quot;"), "(licence)");
    markup.replace("><", ">\n<").replace("},{", "},\n{")
}
