//! Whom a line is about, in words that a terminal may see.

use hotset_analysis::top::{FileItem, GroupItem, Item, ProcessItem};
use hotset_facts::{FileId, FileKind};

use crate::escape::{escape_path, escape_text};

/// The user's name, else the number, else `-`.
pub(super) fn user(item: &ProcessItem) -> String {
    match (&item.user, item.process.uid.value()) {
        (Some(name), _) => escape_text(name),
        (None, Some(uid)) => uid.to_string(),
        (None, None) => "-".to_owned(),
    }
}

/// Who a process is beside its name, each with what it is.
pub(super) fn process(item: &ProcessItem) -> [(&'static str, String); 3] {
    let parent = item.process.ppid.value();
    let parent = parent.map_or("-".to_owned(), |pid| pid.to_string());
    [("user", user(item)), ("parent", parent), ("cgroup", group_of(item))]
}

/// The control group of a process.
pub(super) fn group_of(item: &ProcessItem) -> String {
    item.process.cgroup.as_value().map_or("-".to_owned(), |path| escape_text(path))
}

/// The name of the program.
pub(super) fn command(item: &ProcessItem) -> String {
    escape_text(&item.process.comm)
}

/// The path; without one the device and inode.
pub(super) fn file(item: &FileItem) -> String {
    let id = item.file.id;
    let name = match item.file.path.as_value() {
        Some(path) => escape_path(path),
        None if id == FileId::default() => "(no file)".to_owned(),
        None if item.file.kind == FileKind::AllFileSystems => "(all file systems)".to_owned(),
        None => format!("({id})"),
    };
    match (item.file.kind, item.file.deleted) {
        (FileKind::FileSystem, _) => format!("{name} (file system)"),
        (FileKind::Directory, false) => format!("{name}/"),
        (_, true) => format!("{name} (deleted)"),
        (_, false) => name,
    }
}

/// The container's, pod's or unit's name, else the path.
pub(super) fn group(item: &GroupItem) -> String {
    match (&item.name, item.path.as_value()) {
        (Some(name), _) => escape_text(name),
        (None, Some(path)) => escape_text(path),
        (None, None) => "(not known)".to_owned(),
    }
}

/// The path of a control group.
pub(super) fn group_path(item: &GroupItem) -> String {
    item.path.as_value().map_or("(not known)".to_owned(), |path| escape_text(path))
}

/// Whom a line is about.
pub(super) fn item(item: Item<'_>) -> String {
    match item {
        Item::Process(item) => format!("{} {}", item.process.pid, command(item)),
        Item::File(item) => file(item),
        Item::Group(item) => group(item),
    }
}
