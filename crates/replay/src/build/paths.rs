//! From the paths of records to those of a plan, and from what changes names to steps.

use hotset_facts::FileKind;
use hotset_facts::replay::{LeftOut, NameKind, Step, StepKind};
use hotset_facts::trace::{Operation, PathIndex, RecordFlags, TraceBatch, TraceRecord};

use super::PlanBuilder;
use super::convert::{Converted, ELOOP, ENOENT, ENOTDIR};
use super::links::Led;

/// File systems of the kernel's own: what they say is another process's in a replay.
const SPECIAL: [&[u8]; 3] = [b"/proc", b"/sys", b"/dev"];

impl PlanBuilder<'_> {
    /// The absolute path of an open file, which is none of the kernel's own.
    pub(super) fn path(
        &mut self,
        index: Option<PathIndex>,
        batch: &TraceBatch,
    ) -> Result<u32, LeftOut> {
        let path = absolute(index, batch)?;
        self.place(path)
    }

    /// A path that was asked for, through the links that the recording made; at its end, none is followed.
    pub(super) fn own_path(
        &mut self,
        index: Option<PathIndex>,
        batch: &TraceBatch,
    ) -> Result<u32, LeftOut> {
        let path = absolute(index, batch)?;
        match self.links.follow(path, false) {
            Led::To(led) => self.place(&led),
            Led::Straight => self.place(path),
            Led::Nowhere => Err(LeftOut::OtherError),
        }
    }

    /// The path that a call was led to by the one that it asked for.
    pub(super) fn led_path(
        &mut self,
        record: &TraceRecord,
        batch: &TraceBatch,
    ) -> Result<u32, LeftOut> {
        let path = absolute(record.path, batch)?;
        match self.links.follow(path, true) {
            // It asked for a directory by a slash at the end, of what is none.
            _ if record.result == Some(-ENOTDIR) && path.ends_with(b"/") => {
                Err(LeftOut::OtherError)
            }
            // It asked not to be led, in a way that is not recorded, or by more links than there may be.
            Led::To(_) if record.result == Some(-ELOOP) => Err(LeftOut::OtherError),
            Led::To(led) => self.place(&led),
            Led::Straight => self.place(path),
            Led::Nowhere => Err(LeftOut::OtherError),
        }
    }

    fn place(&mut self, path: &[u8]) -> Result<u32, LeftOut> {
        let path = &*without_dots(path);
        let is_in = |top: &&[u8]| {
            path.strip_prefix(*top).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        if SPECIAL.iter().any(is_in) {
            return Err(LeftOut::SpecialFile);
        }
        let place = self.paths.place(path);
        let origin = self.moves.origin(path).filter(|origin| origin != path);
        let origin = origin.map(|origin| self.paths.place(&origin));
        self.names.comes_from(place, origin);
        Ok(place)
    }

    /// The file of a record, by its place in the plan; its path is one of its names.
    pub(super) fn file(&mut self, record: &TraceRecord, path: u32) -> Result<u32, LeftOut> {
        let index = record.file.ok_or(LeftOut::NoFile)?;
        let kind = self.lists.file(index).map_or(FileKind::Others, |file| file.kind);
        if kind != FileKind::Regular {
            return Err(LeftOut::SpecialFile);
        }
        let file = self.files.place(index, self.lists);
        self.names.leads_to(path, file);
        self.files.named(file, self.names.origin(path));
        Ok(file)
    }

    /// The step that a call becomes which makes, changes or removes a name.
    pub(super) fn name(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let result = record.result.ok_or(LeftOut::NoResult)?;
        let is_there = result != -ENOENT && result != -ENOTDIR;
        let (kind, makes) = match record.operation {
            Operation::Rename | Operation::Renameat | Operation::Renameat2 => {
                (StepKind::Rename, false)
            }
            Operation::Unlink | Operation::Unlinkat => (StepKind::Unlink, false),
            Operation::Link | Operation::Linkat => (StepKind::Link, false),
            Operation::Symlink | Operation::Symlinkat => return self.symlink(record, batch),
            Operation::Mkdir | Operation::Mkdirat => (StepKind::MakeDirectory, true),
            _ => (StepKind::RemoveDirectory, false),
        };
        let path = self.own_path(record.path, batch)?;
        let mut step = self.new_step(kind, path, record)?;
        let mut new = None;
        if matches!(kind, StepKind::Rename | StepKind::Link) {
            let other = self.own_path(record.new_path, batch)?;
            let exchanges = record.flags.has(RecordFlags::EXCHANGE);
            self.names.changes(other, is_there && (result < 0 || exchanges));
            step.offset = other.into();
            new = Some(other);
        }
        self.names.changes(path, if makes { result < 0 && is_there } else { is_there });
        if kind == StepKind::RemoveDirectory && is_there {
            self.names.is(path, NameKind::Directory);
        }
        if result >= 0 {
            self.changed(&step, new);
        }
        Ok(step)
    }

    /// What later paths mean once a name has changed.
    fn changed(&mut self, step: &Step, new: Option<u32>) {
        let path = self.paths.bytes(step.target).to_vec();
        let new = new.map(|new| self.paths.bytes(new).to_vec());
        match (step.kind, new) {
            (StepKind::Rename, Some(new)) => {
                let exchanges = step.flags.has(RecordFlags::EXCHANGE);
                self.links.renamed(&path, &new, exchanges);
                self.moves.renamed(&path, &new, exchanges);
            }
            (_, Some(new)) => {
                self.links.linked(&path, &new);
                self.moves.linked(&path, &new);
            }
            (_, None) => {
                self.links.gone(&path);
                self.moves.begins(&path);
            }
        }
    }

    /// What a symbolic link holds is words, and no path of anything.
    fn symlink(&mut self, record: &TraceRecord, batch: &TraceBatch) -> Converted {
        let words = record.path.and_then(|index| batch.path(index)).ok_or(LeftOut::NoPath)?;
        let target = self.paths.place(words);
        let path = self.own_path(record.new_path, batch)?;
        let failed = record.result.is_some_and(|result| result < 0);
        self.names.changes(path, failed);
        if !failed {
            let path = self.paths.bytes(path);
            self.links.made(path, words);
            self.moves.begins(path);
        }
        Ok(Step { offset: path.into(), ..self.new_step(StepKind::Symlink, target, record)? })
    }
}

fn absolute(index: Option<PathIndex>, batch: &TraceBatch) -> Result<&[u8], LeftOut> {
    let path = index.and_then(|index| batch.path(index)).ok_or(LeftOut::NoPath)?;
    if path.starts_with(b"/") { Ok(path) } else { Err(LeftOut::RelativePath) }
}

/// A path without names that lead nowhere else, and without a slash at its end.
fn without_dots(path: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let has = |part: &[u8]| path.windows(part.len()).any(|window| window == part);
    let has_end = path.len() > 1 && (path.ends_with(b"/.") || path.ends_with(b"/"));
    if !has(b"//") && !has(b"/./") && !has_end {
        return path.into();
    }
    let mut plain = Vec::with_capacity(path.len());
    for name in path.split(|byte| *byte == b'/').filter(|name| !matches!(name, [] | [b'.'])) {
        plain.push(b'/');
        plain.extend_from_slice(name);
    }
    if plain.is_empty() {
        plain.push(b'/');
    }
    plain.into()
}

#[test]
fn dots_in_a_path_lead_nowhere() {
    let plain = |path: &str| String::from_utf8_lossy(&without_dots(path.as_bytes())).into_owned();
    for (path, wanted) in [
        ("/a/b", "/a/b"),
        ("/a/./b//c/.", "/a/b/c"),
        ("/a//b/", "/a/b"),
        ("/a/../.b", "/a/../.b"),
        ("/.", "/"),
        ("/", "/"),
    ] {
        assert_eq!(plain(path), wanted, "{path}");
    }
}
