//! Names: which change, and which must be there before the first step.
//!
//! A replay does nothing to a recorded name that could change it, not even what failed when it was recorded: what is made, renamed or
//! removed, or would have been, is a copy, and so is all that stands below such a directory and every other name of the same file.

use std::collections::{BTreeMap, HashMap, HashSet};

use hotset_facts::replay::{FileRole, NameKind, PlanName, PlanPath};

use super::files::Files;

/// What the first record about a name says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum First {
    /// It was there.
    There,
    /// It was not, or may not have been.
    #[default]
    Absent,
}

/// What is known of one name.
#[derive(Debug, Default)]
struct Name {
    first: First,
    kind: Option<NameKind>,
    changes: bool,
    /// It is opened as what descriptors are of, and has no pages: a directory.
    is_opened: bool,
    /// Files that it led to.
    files: Vec<u32>,
    /// What was read of it as of a symbolic link.
    link_bytes: u32,
}

/// All names by the place of their path.
#[derive(Debug, Default)]
pub(super) struct Names {
    all: BTreeMap<u32, Name>,
    /// Of names whose files had other names before, those names.
    origins: HashMap<u32, u32>,
}

/// What came of it: where each path leads.
#[derive(Debug, Default)]
pub(super) struct Changed {
    copies: HashSet<u32>,
    /// Names that change: what is done to them keeps its order.
    pub(super) names: HashSet<u32>,
    /// Of names below such a name, the nearest: they keep their order with it too.
    pub(super) above: HashMap<u32, u32>,
    /// Names of copies that are there before the first step.
    pub(super) there: Vec<PlanName>,
}

impl Names {
    fn at(&mut self, path: u32, first: First) -> &mut Name {
        let origin = self.origins.get(&path).copied().filter(|_| first == First::There);
        // What came here was there by its other name.
        let first = match origin {
            Some(origin) => {
                self.all.entry(origin).or_insert_with(|| Name { first, ..Name::default() });
                First::Absent
            }
            None => first,
        };
        self.all.entry(path).or_insert_with(|| Name { first, ..Name::default() })
    }

    /// From now on, what is found by this path had this one before the first step; or the same.
    pub(super) fn comes_from(&mut self, path: u32, origin: Option<u32>) {
        match origin {
            Some(origin) => drop(self.origins.insert(path, origin)),
            None => drop(self.origins.remove(&path)),
        }
    }

    /// The path that is there before the first step for what is found by this one.
    pub(super) fn origin(&self, path: u32) -> u32 {
        self.origins.get(&path).copied().unwrap_or(path)
    }

    /// A name, and what it was before, are told the same.
    fn both(&mut self, path: u32, tell: impl Fn(&mut Name)) {
        tell(self.at(path, First::There));
        let origin = self.origin(path);
        if let Some(before) = self.all.get_mut(&origin).filter(|_| origin != path) {
            tell(before);
        }
    }

    /// A call asked for it, and found it or not.
    pub(super) fn asked(&mut self, path: u32, is_found: bool) {
        self.at(path, if is_found { First::There } else { First::Absent });
    }

    /// It was found to be this.
    pub(super) fn is(&mut self, path: u32, kind: NameKind) {
        self.both(path, |name| name.kind = name.kind.or(Some(kind)));
    }

    /// It was read as a symbolic link.
    pub(super) fn is_link(&mut self, path: u32, bytes: i64) {
        self.is(path, NameKind::Link);
        self.both(path, |name| name.link_bytes = u32::try_from(bytes).unwrap_or(0));
    }

    /// It led to a file.
    pub(super) fn leads_to(&mut self, path: u32, file: u32) {
        self.both(path, |name| {
            name.kind.get_or_insert(NameKind::File);
            if !name.files.contains(&file) {
                name.files.push(file);
            }
        });
    }

    /// A descriptor of it was made, or used.
    pub(super) fn opened(&mut self, path: u32) {
        self.both(path, |name| name.is_opened = true);
    }

    /// It is made, renamed or removed, or a call tried to; and it was there before, or not.
    pub(super) fn changes(&mut self, path: u32, was_there: bool) {
        self.asked(path, was_there);
        if let Some(name) = self.all.get_mut(&path) {
            name.changes = true;
        }
    }

    /// Whether the first call that asked for it did not find it.
    pub(super) fn is_absent(&self, path: u32) -> bool {
        self.all.get(&path).is_some_and(|name| name.first == First::Absent)
    }

    /// Says what happens on copies, and tells the files.
    pub(super) fn changed(
        &self,
        paths: &[Vec<u8>],
        files: &mut Files,
        all_on_copies: bool,
    ) -> Changed {
        let path = |place: &u32| paths.get(*place as usize).map_or(&[][..], Vec::as_slice);
        let names: HashSet<u32> =
            self.all.iter().filter(|(_, name)| name.changes).map(|(place, _)| *place).collect();
        let changing: HashMap<&[u8], u32> =
            names.iter().map(|place| (path(place), *place)).collect();
        let holders: HashSet<&[u8]> = changing.keys().flat_map(|path| parents(path)).collect();
        let (mut copies, mut above) = (HashSet::new(), HashMap::new());
        for (place, name) in &self.all {
            let own = path(place);
            let nearest = parents(own).find_map(|parent| changing.get(parent));
            above.extend(nearest.map(|nearest| (*place, *nearest)));
            let holds = name.is_opened && name.files.is_empty() && holders.contains(own);
            if name.changes || nearest.is_some() || holds {
                copies.insert(*place);
            }
        }
        self.spread(files, &mut copies);
        if all_on_copies {
            copies.extend(self.all.keys());
        }
        let there = self.there(paths, &copies, files);
        Changed { copies, names, above, there }
    }

    /// All names of a file that is a copy are of the copy, and the files of all such names are copies.
    fn spread(&self, files: &mut Files, copies: &mut HashSet<u32>) {
        let mut by_file: HashMap<u32, Vec<u32>> = HashMap::new();
        for (place, name) in &self.all {
            for file in &name.files {
                by_file.entry(*file).or_default().push(*place);
            }
        }
        let mut left: Vec<u32> = copies.iter().copied().collect();
        left.extend(
            by_file
                .iter()
                .filter(|(file, _)| files.is_changed(**file))
                .flat_map(|(_, names)| names),
        );
        while let Some(place) = left.pop() {
            copies.insert(place);
            for file in self.all.get(&place).map_or(&[][..], |name| &name.files) {
                files.changes(*file);
                let others = by_file.remove(file).unwrap_or_default();
                left.extend(others.into_iter().filter(|other| *other != place));
            }
        }
    }

    fn there(&self, paths: &[Vec<u8>], copies: &HashSet<u32>, files: &Files) -> Vec<PlanName> {
        let path = |place: &u32| paths.get(*place as usize).map_or(&[][..], Vec::as_slice);
        let holders: HashSet<&[u8]> =
            copies.iter().flat_map(|place| parents(path(place))).collect();
        let name = |(place, name): (&u32, &Name)| {
            let is_directory =
                holders.contains(path(place)) || (name.is_opened && name.files.is_empty());
            let kind = name.kind.unwrap_or(if is_directory {
                NameKind::Directory
            } else {
                NameKind::File
            });
            PlanName {
                path: *place,
                kind,
                file: name.files.first().copied(),
                link_bytes: name.link_bytes,
            }
        };
        // What is below a directory that a step makes, a step makes too.
        let absent: HashSet<&[u8]> = self
            .all
            .iter()
            .filter(|(_, name)| name.first == First::Absent)
            .map(|(place, _)| path(place))
            .collect();
        let is_below_absent =
            |place: &u32| parents(path(place)).any(|parent| absent.contains(parent));
        let is_there = |(place, name): &(&u32, &Name)| {
            let is_made = name.files.first().is_some_and(|file| files.is_made(*file));
            copies.contains(place)
                && name.first == First::There
                && !is_made
                && !is_below_absent(place)
        };
        self.all.iter().filter(is_there).map(name).collect()
    }
}

impl Changed {
    /// All paths, and where they lead.
    pub(super) fn paths(&self, all: Vec<Vec<u8>>) -> Vec<PlanPath> {
        let role = |place: u32| match self.copies.contains(&place) {
            true => FileRole::Copy,
            false => FileRole::Original,
        };
        all.into_iter()
            .zip(0..)
            .map(|(bytes, place)| PlanPath { bytes, role: role(place) })
            .collect()
    }
}

/// The directories that a path goes through, the nearest first; not the root.
fn parents(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let slash = rest.iter().rposition(|byte| *byte == b'/').filter(|slash| *slash > 0)?;
        rest = rest.get(..slash)?;
        Some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies(names: &Names, paths: &[&str], files: &mut Files) -> Vec<String> {
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let changed = names.changed(&paths, files, false);
        let copied = changed.paths(paths).into_iter().filter(|path| path.role == FileRole::Copy);
        copied.map(|path| String::from_utf8_lossy(&path.bytes).into_owned()).collect()
    }

    #[test]
    fn the_directories_of_a_path() {
        let all: Vec<&[u8]> = parents(b"/a/bc/d").collect();
        assert_eq!(all, [&b"/a/bc"[..], b"/a"]);
        assert_eq!(parents(b"/a").count(), 0);
        assert_eq!(parents(b"words").count(), 0);
    }

    #[test]
    fn what_changes_is_a_copy_with_all_below_it() {
        let paths = ["/a/old", "/a/new", "/a/new/below", "/a/newer", "/a", "/b"];
        let mut names = Names::default();
        names.changes(0, true);
        names.changes(1, false);
        for path in 2..6 {
            names.asked(path, true);
        }
        names.opened(4);
        names.opened(5);
        let copied = copies(&names, &paths, &mut Files::default());
        assert_eq!(copied, ["/a/old", "/a/new", "/a/new/below", "/a"], "and what is synced for it");
    }

    #[test]
    fn a_file_that_is_written_is_a_copy_by_all_its_names() {
        let lists = hotset_facts::trace::TraceLists::default();
        let mut files = Files::default();
        let [one, two, other] =
            [1, 2, 3].map(|index| files.place(hotset_facts::trace::FileIndex(index), &lists));
        let mut names = Names::default();
        for (path, file) in [(0, one), (1, one), (1, two), (2, two), (3, other)] {
            names.leads_to(path, file);
        }
        files.changes(one);
        let copied = copies(&names, &["/one", "/both", "/two", "/other"], &mut files);
        assert_eq!(copied, ["/one", "/both", "/two"]);
        assert!(files.is_changed(two) && !files.is_changed(other));
    }

    #[test]
    fn what_was_there_first_is_there_before_the_first_step() {
        let paths: Vec<Vec<u8>> = ["/d/made", "/d/removed", "/d/emptied", "/d/emptied/x"]
            .map(|path| path.as_bytes().to_vec())
            .into();
        let mut names = Names::default();
        names.asked(0, false);
        names.changes(0, true);
        names.changes(1, true);
        names.is(2, NameKind::Directory);
        names.changes(2, true);
        names.changes(3, true);
        let there = names.changed(&paths, &mut Files::default(), false).there;
        let kinds: Vec<(u32, NameKind)> = there.iter().map(|name| (name.path, name.kind)).collect();
        assert_eq!(kinds, [(1, NameKind::File), (2, NameKind::Directory), (3, NameKind::File)]);
    }
}
