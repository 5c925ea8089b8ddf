//! What the analyses of a fleet found, as a page. JSON is `hotset.fleet/1`.

mod page;
#[cfg(test)]
pub(crate) mod tests;
mod words;

pub use page::fleet_page;
