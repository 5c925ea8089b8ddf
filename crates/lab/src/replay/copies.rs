//! Copies of what a replay changes: made anew before each replay, from what is there now.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use hotset_facts::replay::{FileRole, NameKind, ReplayPlan, Step, StepKind};
use rustix::fs::OFlags;

/// A base page: of a page that is written in part, the rest is there to be read.
const PAGE_BYTES: u64 = 4096;
/// What is made up is written in such pieces.
const PIECE_BYTES: usize = 256 << 10;

/// A file that is copied.
#[derive(Debug)]
struct CopiedFile {
    /// Its names below the directory of copies: the others are links to the first.
    names: Vec<PathBuf>,
    /// Where its bytes come from.
    source: PathBuf,
    size_bytes: u64,
    /// Ranges of it that steps are about, in whole pages.
    ranges: Vec<(u64, u64)>,
}

/// What is there of copies before the first step.
#[derive(Debug, Default)]
pub(super) struct Copies {
    directories: BTreeSet<PathBuf>,
    /// Names of symbolic links, and how long what they hold is.
    links: BTreeMap<PathBuf, usize>,
    files: Vec<CopiedFile>,
    /// Files that nobody reads or writes.
    empty: Vec<PathBuf>,
    /// All names but those of directories.
    names: BTreeSet<PathBuf>,
    /// Files by their place in the plan.
    places: HashMap<u32, usize>,
}

/// What making them came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Made {
    /// Bytes that were written.
    pub(super) bytes: u64,
    /// Files whose bytes were made up, at least in part: their original is gone, or shorter.
    pub(super) made_up: u64,
}

/// An absolute path as one below a root; `..` leads nowhere above it.
pub(super) fn inside(path: &Path) -> PathBuf {
    let mut below = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => below.push(name),
            Component::ParentDir => drop(below.pop()),
            _ => {}
        }
    }
    below
}

/// The path that a step makes a name of.
fn made_by(step: &Step) -> Option<u32> {
    match step.kind {
        StepKind::MakeDirectory => Some(step.target),
        StepKind::Rename | StepKind::Link | StepKind::Symlink => u32::try_from(step.offset).ok(),
        _ => None,
    }
}

impl Copies {
    /// What a plan needs.
    pub(super) fn of(plan: &ReplayPlan) -> Self {
        let path = |place: u32| {
            let path = plan.paths.get(place as usize)?;
            Some(PathBuf::from(OsString::from_vec(path.bytes.clone())))
        };
        let steps = plan.threads.iter().flat_map(|thread| &thread.steps);
        let mut made: BTreeSet<PathBuf> = steps.filter_map(made_by).filter_map(path).collect();
        for name in &plan.there {
            made.remove(&path(name.path).unwrap_or_default());
        }
        let mut copies = Self::default();
        for name in &plan.there {
            let Some(own) = path(name.path) else { continue };
            match name.kind {
                NameKind::Directory => drop(copies.directories.insert(inside(&own))),
                NameKind::Link => {
                    copies.names.insert(inside(&own));
                    copies.links.insert(inside(&own), words_of(&own));
                }
                NameKind::File => copies.file(plan, name.file, own),
            }
        }
        let all = plan.paths.iter().filter(|path| path.role == FileRole::Copy);
        for path in all {
            let own = PathBuf::from(OsString::from_vec(path.bytes.clone()));
            copies.directories_above(&own, &made);
        }
        copies
    }

    fn file(&mut self, plan: &ReplayPlan, place: Option<u32>, own: PathBuf) {
        let name = inside(&own);
        self.names.insert(name.clone());
        let file = place.and_then(|place| Some((place, plan.files.get(place as usize)?)));
        let Some((place, file)) = file else {
            self.empty.push(name);
            return;
        };
        if let Some(known) = self.places.get(&place).and_then(|at| self.files.get_mut(*at)) {
            known.names.push(name);
            return;
        }
        self.places.insert(place, self.files.len());
        let size_bytes = file.size_bytes;
        let ranges = whole_pages(&file.touched, size_bytes.next_multiple_of(PAGE_BYTES));
        self.files.push(CopiedFile { names: vec![name], source: own, size_bytes, ranges });
    }

    /// The directories on the way to a copy that no step makes.
    fn directories_above(&mut self, path: &Path, made: &BTreeSet<PathBuf>) {
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for directory in above.into_iter().rev() {
            if made.contains(directory) {
                return;
            }
            let below = inside(directory);
            // A path that goes through a file leads nowhere, as when it was recorded.
            if self.names.contains(&below) {
                return;
            }
            self.directories.insert(below);
        }
    }

    /// Whether a replay changes nothing, and needs no copy.
    pub(super) fn is_empty(&self) -> bool {
        self.directories.is_empty() && self.names.is_empty()
    }

    /// Bytes on a disk that they take at most.
    pub(super) fn bytes(&self) -> u64 {
        let ranges = self.files.iter().flat_map(|file| &file.ranges);
        ranges.map(|(begin, end)| end - begin).sum()
    }

    /// Makes them in an empty directory, on the disk.
    ///
    /// # Errors
    /// Names the copy that can't be made.
    pub(super) fn make(&self, directory: &Path) -> io::Result<Made> {
        let named = |path: &Path, error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        let at = |name: &Path| directory.join(name);
        for name in &self.directories {
            fs::create_dir_all(at(name)).map_err(|error| named(name, error))?;
        }
        let mut made = Made::default();
        for file in &self.files {
            let Some((first, others)) = file.names.split_first() else { continue };
            made.bytes += file.ranges.iter().map(|(begin, end)| end - begin).sum::<u64>();
            let is_made_up = file.make(&at(first)).map_err(|error| named(first, error))?;
            made.made_up += u64::from(is_made_up);
            for other in others {
                fs::hard_link(at(first), at(other)).map_err(|error| named(other, error))?;
            }
        }
        for name in &self.empty {
            File::create(at(name)).map_err(|error| named(name, error))?;
        }
        for (name, words) in &self.links {
            // Followed, what it holds would lead out of the copies.
            std::os::unix::fs::symlink("x".repeat((*words).max(1)), at(name))
                .map_err(|error| named(name, error))?;
        }
        // What is dirty beside what a replay writes would be written by its first sync.
        rustix::fs::syncfs(File::open(directory)?)?;
        Ok(made)
    }
}

/// These ranges in whole pages, as far as `end`.
fn whole_pages(ranges: &[(u64, u64)], end: u64) -> Vec<(u64, u64)> {
    let mut whole: Vec<(u64, u64)> = Vec::new();
    for (begin, last) in ranges {
        let begin = begin - begin % PAGE_BYTES;
        let last = last.next_multiple_of(PAGE_BYTES).min(end);
        match whole.last_mut() {
            Some(before) if begin <= before.1 => before.1 = before.1.max(last),
            _ if begin < last => whole.push((begin, last)),
            _ => {}
        }
    }
    whole
}

/// How long what a symbolic link holds is.
fn words_of(link: &Path) -> usize {
    fs::read_link(link).map_or(1, |words| words.as_os_str().len())
}

impl CopiedFile {
    /// Makes it: whether its bytes had to be made up.
    fn make(&self, path: &Path) -> io::Result<bool> {
        let copy = File::options().write(true).create_new(true).open(path)?;
        copy.set_len(self.size_bytes)?;
        let quiet = (OFlags::NOATIME | OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
        let open = |flags| File::options().read(true).custom_flags(flags).open(&self.source);
        let original = open(quiet).or_else(|error| match error.kind() {
            // Only its owner may ask that its time of access stays.
            io::ErrorKind::PermissionDenied => open(OFlags::NONBLOCK.bits() as i32),
            _ => Err(error),
        });
        let original = original.ok().filter(|file| file.metadata().is_ok_and(|of| of.is_file()));
        let mut is_made_up = false;
        for (begin, end) in &self.ranges {
            let end = (*end).min(self.size_bytes);
            let at = match &original {
                Some(original) => copy_range(original, &copy, *begin, end)?,
                None => *begin,
            };
            is_made_up |= at < end;
            make_up(&copy, at, end)?;
        }
        Ok(is_made_up)
    }
}

/// Copies bytes, by reference where the file system can; up to where the original ends.
fn copy_range(from: &File, to: &File, begin: u64, end: u64) -> io::Result<u64> {
    use std::os::unix::fs::FileExt;
    let mut at = begin;
    while at < end {
        let (mut there, mut here) = (at, at);
        let bytes = usize::try_from(end - at).unwrap_or(usize::MAX);
        match rustix::fs::copy_file_range(from, Some(&mut there), to, Some(&mut here), bytes) {
            Ok(0) => break,
            Ok(copied) => at += copied as u64,
            // From another file system, or from one that can't.
            Err(_) => {
                let mut piece = vec![0; bytes.min(PIECE_BYTES)];
                match from.read_at(&mut piece, at)? {
                    0 => break,
                    read => {
                        to.write_all_at(piece.get(..read).unwrap_or_default(), at)?;
                        at += read as u64;
                    }
                }
            }
        }
    }
    Ok(at.min(end))
}

/// Bytes that no file system compresses.
fn make_up(file: &File, mut at: u64, end: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let mut random = hotset_facts::random::Random::new(at);
    while at < end {
        let bytes = (end - at).min(PIECE_BYTES as u64) as usize;
        let words = bytes.div_ceil(8);
        let mut piece: Vec<u8> = (0..words).flat_map(|_| random.number().to_ne_bytes()).collect();
        piece.truncate(bytes);
        file.write_all_at(&piece, at)?;
        at += bytes as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use hotset_facts::replay::{PlanFile, PlanName, PlanPath, PlanThread};

    use super::*;
    use crate::test_support::Scratch;

    struct Planned {
        plan: ReplayPlan,
        scratch: Scratch,
    }

    impl Planned {
        fn new() -> Self {
            Self { plan: ReplayPlan::default(), scratch: Scratch::new() }
        }

        fn path(&mut self, name: &str) -> u32 {
            let bytes = self.scratch.path(name).into_os_string().into_vec();
            self.plan.paths.push(PlanPath { bytes, role: FileRole::Copy });
            self.plan.paths.len() as u32 - 1
        }

        fn there(&mut self, name: &str, kind: NameKind, file: Option<u32>) -> u32 {
            let path = self.path(name);
            self.plan.there.push(PlanName { path, kind, file });
            path
        }

        fn file(&mut self, size_bytes: u64, touched: Vec<(u64, u64)>) -> u32 {
            self.plan.files.push(PlanFile {
                index: 0,
                path: None,
                role: FileRole::Copy,
                is_there: true,
                size_bytes,
                cached: Vec::new(),
                touched,
            });
            self.plan.files.len() as u32 - 1
        }

        fn make(&self) -> (Made, PathBuf) {
            let directory = self.scratch.path("copies");
            fs::create_dir(&directory).expect("a directory");
            let made = Copies::of(&self.plan).make(&directory).expect("made");
            (made, directory.join(inside(&self.scratch.path(""))))
        }
    }

    #[test]
    fn what_is_touched_is_copied_and_the_rest_is_a_hole() {
        let mut planned = Planned::new();
        let bytes: Vec<u8> = (0..1_000_000_u32).map(|at| (at / 4096) as u8 + 1).collect();
        let path = planned.scratch.file("data", &bytes);
        let file = planned.file(1_000_000, vec![(5_000, 5_001), (900_000, 2_000_000)]);
        planned.there("data", NameKind::File, Some(file));
        planned.there("other/name", NameKind::File, Some(file));
        planned.there("looked-up", NameKind::File, None);
        let (made, below) = planned.make();
        let copy = fs::read(below.join("data")).expect("read");
        let wanted = |at: usize| match at {
            4_096..8_192 | 897_024.. => bytes[at],
            _ => 0,
        };
        assert_eq!(copy.len(), 1_000_000);
        assert!(copy.iter().enumerate().all(|(at, byte)| *byte == wanted(at)));
        assert_eq!(made, Made { bytes: 4_096 + (1_003_520 - 897_024), made_up: 0 });
        let (one, two) = (fs::metadata(below.join("data")), fs::metadata(below.join("other/name")));
        let (one, two) = (one.expect("stat"), two.expect("stat"));
        assert_eq!((one.ino(), one.nlink()), (two.ino(), 2));
        assert!(one.blocks() * 512 < 200_000, "holes take no room: {}", one.blocks());
        assert_eq!(fs::read(path).expect("read"), bytes);
        assert_eq!(fs::metadata(below.join("looked-up")).expect("stat").len(), 0);
    }

    #[test]
    fn what_is_gone_is_made_up() {
        let mut planned = Planned::new();
        planned.scratch.file("short", &[7; 100]);
        let short = planned.file(300, vec![(0, 300)]);
        let gone = planned.file(300, vec![(0, 300)]);
        planned.there("short", NameKind::File, Some(short));
        planned.there("gone", NameKind::File, Some(gone));
        let (made, below) = planned.make();
        assert_eq!(made.made_up, 2);
        let copy = fs::read(below.join("short")).expect("read");
        assert_eq!((&copy[..100], copy.len()), (&[7; 100][..], 300));
        let copy = fs::read(below.join("gone")).expect("read");
        assert!(copy.len() == 300 && copy.iter().any(|byte| *byte != copy[0]));
    }

    #[test]
    fn directories_are_made_but_for_those_that_a_step_makes() {
        let mut planned = Planned::new();
        let new = planned.path("new");
        planned.path("new/below");
        planned.path("old/below");
        planned.there("empty", NameKind::Directory, None);
        std::os::unix::fs::symlink("abcde", planned.scratch.path("link")).expect("a link");
        planned.there("link", NameKind::Link, None);
        let step = Step::new(StepKind::MakeDirectory, new, 0);
        planned.plan.threads.push(PlanThread { steps: vec![step], ..PlanThread::default() });
        let (_, below) = planned.make();
        assert!(below.join("old").is_dir() && below.join("empty").is_dir());
        assert!(!below.join("new").exists() && !below.join("old/below").exists());
        let words = fs::read_link(below.join("link")).expect("a link");
        assert_eq!(words, Path::new("xxxxx"), "as long, and leads nowhere");
    }

    #[test]
    fn no_path_leads_out_of_the_copies() {
        assert_eq!(inside(Path::new("/a/../../b/./c")), Path::new("b/c"));
        assert_eq!(inside(Path::new("/..")), Path::new(""));
    }
}
