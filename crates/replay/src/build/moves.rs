//! Names that other names had before: of what is renamed or linked, and of all that is below a directory that is.
//!
//! What a record finds below a new name was there before the first step by the old one.

use std::collections::HashMap;

/// What happened to a name: something came there from another name, or what is there now began there.
#[derive(Debug)]
struct Event {
    number: usize,
    from: Option<Vec<u8>>,
}

/// What happened to names, in its order.
#[derive(Debug, Default)]
pub(super) struct Moves {
    events: HashMap<Vec<u8>, Vec<Event>>,
    count: usize,
}

impl Moves {
    /// What one name led to, another does.
    pub(super) fn renamed(&mut self, old: &[u8], new: &[u8], exchanges: bool) {
        if old == new {
            return;
        }
        // Both at once: what came to one name was at the other before.
        let number = self.next();
        self.put(new, number, Some(old.to_vec()));
        self.put(old, number, exchanges.then(|| new.to_vec()));
    }

    /// What one name leads to, another does too.
    pub(super) fn linked(&mut self, old: &[u8], new: &[u8]) {
        let number = self.next();
        self.put(new, number, Some(old.to_vec()));
    }

    /// What is at this name from now on is new, or nothing.
    pub(super) fn begins(&mut self, path: &[u8]) {
        if self.count > 0 {
            let number = self.next();
            self.put(path, number, None);
        }
    }

    fn next(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    fn put(&mut self, path: &[u8], number: usize, from: Option<Vec<u8>>) {
        self.events.entry(path.to_vec()).or_default().push(Event { number, from });
    }

    /// The name that this one's had before the first step, if it was another.
    pub(super) fn origin(&self, path: &[u8]) -> Option<Vec<u8>> {
        if self.count == 0 {
            return None;
        }
        let (mut at, mut before) = (path.to_vec(), usize::MAX);
        let mut moved = false;
        while let Some((length, event)) = self.latest(&at, before) {
            let from = event.from.as_ref()?;
            before = event.number;
            at = [from.as_slice(), at.get(length..).unwrap_or_default()].concat();
            moved = true;
        }
        moved.then_some(at)
    }

    /// The last that happened to a name or a directory above it, and how long that one's path is.
    fn latest(&self, path: &[u8], before: usize) -> Option<(usize, &Event)> {
        let slashes = path.iter().enumerate().filter(|(at, byte)| **byte == b'/' && *at > 0);
        let lengths = slashes.map(|(at, _)| at).chain([path.len()]);
        let events = lengths.filter_map(|length| {
            let events = self.events.get(path.get(..length)?)?;
            let last = events.iter().rev().find(|event| event.number < before)?;
            Some((length, last))
        });
        events.max_by_key(|(length, event)| (event.number, *length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(moves: &Moves, path: &str) -> Option<String> {
        moves.origin(path.as_bytes()).map(|path| String::from_utf8_lossy(&path).into_owned())
    }

    #[test]
    fn what_is_below_a_new_name_was_below_the_old_one() {
        let mut moves = Moves::default();
        moves.begins(b"/e/x");
        moves.renamed(b"/d", b"/e", false);
        moves.renamed(b"/e/in", b"/f", false);
        assert_eq!(origin(&moves, "/e/x").as_deref(), Some("/d/x"));
        assert_eq!(origin(&moves, "/f/x").as_deref(), Some("/d/in/x"));
        assert_eq!(origin(&moves, "/f").as_deref(), Some("/d/in"));
        assert_eq!(origin(&moves, "/d/x"), None, "what is there now began there");
        assert_eq!(origin(&moves, "/g"), None);
    }

    #[test]
    fn what_is_new_below_a_new_name_was_nowhere() {
        let mut moves = Moves::default();
        moves.renamed(b"/d", b"/e", false);
        moves.begins(b"/e/x");
        assert_eq!(origin(&moves, "/e/x"), None);
        assert_eq!(origin(&moves, "/e/x/y"), None);
        moves.renamed(b"/e/x", b"/e/y", false);
        assert_eq!(origin(&moves, "/e/y"), None);
        moves.renamed(b"/b", b"/e", false);
        assert_eq!(origin(&moves, "/e/x").as_deref(), Some("/b/x"), "another directory since");
    }

    #[test]
    fn what_has_another_name_keeps_its_own() {
        let mut moves = Moves::default();
        moves.linked(b"/a", b"/b");
        assert_eq!(origin(&moves, "/b").as_deref(), Some("/a"));
        assert_eq!(origin(&moves, "/a"), None);
        moves.renamed(b"/b", b"/c", false);
        assert_eq!(origin(&moves, "/c").as_deref(), Some("/a"));
    }

    #[test]
    fn two_names_change_places() {
        let mut moves = Moves::default();
        moves.renamed(b"/a", b"/b", true);
        assert_eq!(origin(&moves, "/a").as_deref(), Some("/b"));
        assert_eq!(origin(&moves, "/b/x").as_deref(), Some("/a/x"));
        moves.renamed(b"/a", b"/b", true);
        assert_eq!(origin(&moves, "/a").as_deref(), Some("/a"));
    }
}
