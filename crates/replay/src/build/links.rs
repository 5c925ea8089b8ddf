//! Symbolic links that the recording makes, and where paths lead through them.
//!
//! A replay makes such a link with words that lead nowhere, so that no step is led out of the copies by it. What a path means that
//! goes through it is found here, while the records are read: the step is about the path that the link led to.

use std::collections::BTreeMap;

/// The kernel follows as many in one path (path_resolution(7)).
const MOST_FOLLOWED: usize = 40;

/// The links that are there by now, and what they hold.
#[derive(Debug, Default)]
pub(super) struct Links {
    words: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Led {
    /// Through no link that the recording made.
    Straight,
    /// To this path.
    To(Vec<u8>),
    /// Through more of them than the kernel follows.
    Nowhere,
}

impl Links {
    /// A link is made.
    pub(super) fn made(&mut self, path: &[u8], words: &[u8]) {
        self.words.insert(path.to_vec(), words.to_vec());
    }

    /// Whether this is one.
    pub(super) fn has(&self, path: &[u8]) -> bool {
        self.words.contains_key(path)
    }

    /// A name gets another beside it.
    pub(super) fn linked(&mut self, old: &[u8], new: &[u8]) {
        if let Some(words) = self.words.get(old).cloned() {
            self.words.insert(new.to_vec(), words);
        }
    }

    /// A name is removed, or another takes its place.
    pub(super) fn gone(&mut self, path: &[u8]) {
        self.words.remove(path);
    }

    /// A name and all below it get another; or two change places.
    pub(super) fn renamed(&mut self, old: &[u8], new: &[u8], exchanges: bool) {
        if self.words.is_empty() || old == new {
            return;
        }
        let moved = self.take(old);
        let back = self.take(new);
        self.put(moved, old, new);
        if exchanges {
            self.put(back, new, old);
        }
    }

    /// A name and those below it.
    fn take(&mut self, path: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let below = [path, b"/"].concat();
        let is_of_it = |known: &&Vec<u8>| known.starts_with(&below);
        let found: Vec<Vec<u8>> = match self.words.contains_key(path) {
            true => vec![path.to_vec()],
            false => {
                let from = self.words.range(below.clone()..).map(|(known, _)| known);
                from.take_while(is_of_it).cloned().collect()
            }
        };
        found.into_iter().filter_map(|path| self.words.remove_entry(&path)).collect()
    }

    fn put(&mut self, links: Vec<(Vec<u8>, Vec<u8>)>, old: &[u8], new: &[u8]) {
        for (path, words) in links {
            let rest = path.get(old.len()..).unwrap_or_default();
            self.words.insert([new, rest].concat(), words);
        }
    }

    /// Where an absolute path leads; a link at its end is followed or not.
    pub(super) fn follow(&self, path: &[u8], follows_last: bool) -> Led {
        if self.words.is_empty() {
            return Led::Straight;
        }
        let mut left: Vec<Vec<u8>> = names(path).rev().map(<[u8]>::to_vec).collect();
        let (mut at, mut followed) = (Vec::new(), 0);
        while let Some(name) = left.pop() {
            if name == b".." {
                at.truncate(at.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
                continue;
            }
            let parent = at.len();
            at.push(b'/');
            at.extend_from_slice(&name);
            let Some(words) = self.words.get(&at).filter(|_| follows_last || !left.is_empty())
            else {
                continue;
            };
            followed += 1;
            if followed > MOST_FOLLOWED {
                return Led::Nowhere;
            }
            at.truncate(if words.starts_with(b"/") { 0 } else { parent });
            left.extend(names(words).rev().map(<[u8]>::to_vec));
        }
        if followed == 0 { Led::Straight } else { Led::To(at) }
    }
}

/// The names in a path, but for those that lead nowhere else.
fn names(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| !matches!(name, [] | [b'.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(path: &str) -> Led {
        Led::To(path.as_bytes().to_vec())
    }

    #[test]
    fn a_path_leads_where_its_links_lead() {
        let mut links = Links::default();
        assert_eq!(links.follow(b"/d/l", true), Led::Straight);
        links.made(b"/d/l", b"a");
        links.made(b"/d/up", b"../e//f/.");
        links.made(b"/d/root", b"/r");
        links.made(b"/e/f", b"g");
        assert_eq!(links.follow(b"/d/l", true), to("/d/a"));
        assert_eq!(links.follow(b"/d/l", false), Led::Straight);
        assert_eq!(links.follow(b"/d/up/x/../y", true), to("/e/g/y"));
        assert_eq!(links.follow(b"/d/root/l", false), to("/r/l"));
        assert_eq!(links.follow(b"/d/lx", true), Led::Straight);
        links.gone(b"/d/l");
        assert_eq!(links.follow(b"/d/l", true), Led::Straight);
    }

    #[test]
    fn links_that_lead_to_each_other_lead_nowhere() {
        let mut links = Links::default();
        links.made(b"/a", b"b");
        links.made(b"/b", b"/a");
        assert_eq!(links.follow(b"/a", true), Led::Nowhere);
        assert_eq!(links.follow(b"/a", false), Led::Straight);
    }

    #[test]
    fn links_move_with_their_directories() {
        let mut links = Links::default();
        links.made(b"/d/in/l", b"a");
        links.made(b"/d/l", b"/x");
        links.made(b"/dd", b"/y");
        links.renamed(b"/d", b"/e", false);
        assert_eq!(links.follow(b"/e/in/l", true), to("/e/in/a"));
        assert_eq!(links.follow(b"/d/l", true), Led::Straight);
        assert_eq!(links.follow(b"/dd", true), to("/y"));
        links.renamed(b"/e/l", b"/dd", true);
        assert_eq!((links.follow(b"/dd", true), links.follow(b"/e/l", true)), (to("/x"), to("/y")));
        links.renamed(b"/dd", b"/e/l", false);
        assert_eq!(
            (links.follow(b"/dd", true), links.follow(b"/e/l", true)),
            (Led::Straight, to("/x"))
        );
    }
}
