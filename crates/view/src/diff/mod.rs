//! What two runs differ in: text and page. JSON is `hotset.diff/1`.

mod caveats;
mod fold;
mod page;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod words;

pub use page::{difference_page, write_difference_html};
pub use text::render_difference;
