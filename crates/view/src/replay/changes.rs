//! The list of changes that a replay can make.

use crate::report::Options;
use crate::report::screen::Screen;
use crate::table::INDENT;

/// A change, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeEntry<'a> {
    /// What it is asked for by: `buffer=SIZE`.
    pub name: String,
    /// What it does.
    pub summary: &'a str,
    /// What the programmer would do.
    pub programmer: &'a str,
    /// What that risks.
    pub risks: Option<&'a str>,
}

/// The list for a terminal.
pub fn render_changes<'a>(
    entries: impl Iterator<Item = ChangeEntry<'a>>,
    options: &Options,
) -> String {
    let mut screen = Screen::new(options);
    screen.title("Changes for hotset replay --as");
    for entry in entries {
        screen.heading(&entry.name, "");
        screen.paragraph("", " ", entry.summary, INDENT);
        screen.paragraph("How: ", " ", entry.programmer, INDENT);
        if let Some(risks) = entry.risks {
            screen.paragraph("What it risks: ", " ", risks, INDENT);
        }
    }
    screen.finish()
}
