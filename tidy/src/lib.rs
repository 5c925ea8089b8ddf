//! Tests of the source itself: what ARCHITECTURE.md and CONTRIBUTING.md promise of it and no compiler checks.
//!
//! - `layers`: crates use what the table of ARCHITECTURE.md lets them use, and say what they are.
//! - `rooms`: ARCHITECTURE.md names every module, and every experiment is registered.
//! - `sizes`: no file above 400 lines, no function above 60.
//! - `layout`: a module with children is `x/mod.rs`.
//! - `comments`: none promises, none is a single word.
//! - `versions`: what names hotset's version names the workspace's.
//! - `links`: what documents link to and name is there, and so are the files of ARCHITECTURE.md's walks.
//!
//! It must not hold anything that another crate uses: there is nothing here but tests. Each collects all that is wrong and
//! fails with one line for each place: file, line, and what would be right.

#![forbid(unsafe_code)]

#[cfg(test)]
mod comments;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod links;
#[cfg(test)]
mod rooms;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod source;
#[cfg(test)]
mod versions;
