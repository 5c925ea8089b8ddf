//! How long code is in use.
//!
//! Nobody sees later uses of a page that is mapped already. Code that a program began to run is taken for in use as long as the program
//! runs: a little too long for what only its start needs, and not too short for what its loops need.

use std::collections::BTreeMap;

use super::{ReferencesBuilder, TooMany};
use crate::references::{RequestKind, RoomChange};

/// Pages that one fault maps together, where they are cached (`fault_around_bytes`, mm/memory.c: 64 KiB).
const MAPPED_AROUND: u64 = 16;

impl ReferencesBuilder {
    /// Adds that a user, which is a number of the caller's, begins to run code of a file: one request for a page of it that is in use
    /// until the last user of the file is done.
    ///
    /// # Errors
    /// There are more files or pages than can be numbered.
    pub fn code(&mut self, file: u32, page: u64, user: u32) -> Result<(), TooMany> {
        let (first, request) = (self.pages.len(), self.requests.len());
        self.push(file, page..page.saturating_add(1), RequestKind::Code, false)?;
        self.code.used(file, user, request, &self.pages[first..]);
        let window = page / MAPPED_AROUND * MAPPED_AROUND;
        let window = (window..window.saturating_add(MAPPED_AROUND)).filter(|&other| other != page);
        let known: Vec<u64> =
            window.filter(|&other| self.ids.known(file, other).is_some()).collect();
        self.push(file, known, RequestKind::MapAround, false)
    }

    /// Says that a user of code still runs.
    pub fn runs(&mut self, user: u32) {
        self.code.runs(user, self.requests.len());
    }
}

/// Code by file, and who runs it.
#[derive(Debug, Clone, Default)]
pub(super) struct Code {
    files: BTreeMap<u32, CodeOfFile>,
    /// The last request during which each user is known to run.
    last_requests: BTreeMap<u32, usize>,
}

#[derive(Debug, Clone, Default)]
struct CodeOfFile {
    /// The first request of each user.
    users: BTreeMap<u32, usize>,
    pages: Vec<u32>,
}

impl Code {
    /// These pages of a file are in use by this user from the request with this place on.
    pub(super) fn used(&mut self, file: u32, user: u32, request: usize, pages: &[u32]) {
        let code = self.files.entry(file).or_default();
        code.users.entry(user).or_insert(request);
        code.pages.extend_from_slice(pages);
        self.last_requests.entry(user).or_insert(request);
    }

    /// A user of code runs while the request is made that has this place.
    pub(super) fn runs(&mut self, user: u32, request: usize) {
        if let Some(last) = self.last_requests.get_mut(&user) {
            *last = request;
        }
    }

    /// What is not in use any more, each from which of so many requests on. What is in use by the last request stays so.
    pub(super) fn unused(self, requests: usize) -> Vec<(usize, RoomChange)> {
        let Self { files, last_requests } = self;
        let mut unused = Vec::new();
        for mut code in files.into_values() {
            code.pages.sort_unstable();
            code.pages.dedup();
            let spans = code
                .users
                .iter()
                .filter_map(|(user, &first)| Some((first, *last_requests.get(user)?)));
            let ends = ends(spans.collect()).into_iter().filter(|end| end + 1 < requests);
            unused.extend(ends.map(|end| (end + 1, RoomChange::Unused(code.pages.clone()))));
        }
        unused
    }
}

/// The last requests of the times without a gap that these spans make together.
fn ends(mut spans: Vec<(usize, usize)>) -> Vec<usize> {
    spans.sort_unstable();
    let mut ends: Vec<usize> = Vec::new();
    for (first, last) in spans {
        match ends.last_mut() {
            Some(end) if first <= *end + 1 => *end = last.max(*end),
            _ => ends.push(last),
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_in_use_until_the_last_of_its_users_is_done() {
        let mut code = Code::default();
        code.runs(3, 5);
        code.used(1, 7, 1, &[4, 2]);
        code.used(1, 8, 2, &[4]);
        code.used(2, 8, 3, &[9]);
        for (user, request) in [(7, 10), (8, 3), (3, 99)] {
            code.runs(user, request);
        }
        let unused = |code: Code, requests| code.unused(requests);
        assert_eq!(
            unused(code.clone(), 100),
            [(11, RoomChange::Unused(vec![2, 4])), (4, RoomChange::Unused(vec![9]))]
        );
        assert_eq!(unused(code, 11), [(4, RoomChange::Unused(vec![9]))]);
    }

    #[test]
    fn between_two_users_it_is_not_in_use() {
        assert_eq!(ends(vec![(20, 30), (1, 5), (3, 9), (10, 12), (4, 4)]), [12, 30]);
        assert_eq!(ends(Vec::new()), [0; 0]);
    }
}
