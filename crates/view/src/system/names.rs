//! What a file of the list, or its file system, is called.

use hotset_facts::{CachedFile, CachedFileSystem, FileSystemKind, Observed, PageHolder};

/// The name of a file, raw bytes, and a mark behind it that must not be cut.
pub(super) fn of_file(file: &CachedFile, fs: &CachedFileSystem) -> (Vec<u8>, &'static str) {
    let Observed::Value(path) = &file.path else {
        let what = if file.holder == PageHolder::Internal { "own inode" } else { "inode" };
        return (format!("[{what} {} on {}]", file.id.ino, place(fs)).into_bytes(), gone(file));
    };
    let mut name = path.as_os_str().as_encoded_bytes().to_vec();
    if file.holder == PageHolder::Directory && !name.ends_with(b"/") {
        name.push(b'/');
    }
    if file.holder == PageHolder::BlockDevice {
        return (name, " (device)");
    }
    if fs.mount_point.is_some() {
        let hidden = !file.reachable && !file.deleted && file.holder == PageHolder::Regular;
        return (name, if hidden { " (hidden)" } else { gone(file) });
    }
    // Nobody gave these a directory, so the slash means nothing, and that they have no name even less.
    if fs.kind == FileSystemKind::SharedMemory && file.deleted {
        return ([b"[shared memory] ", name.strip_prefix(b"/").unwrap_or(&name)].concat(), "");
    }
    ([format!("[{}] ", place(fs)).as_bytes(), name.as_slice()].concat(), gone(file))
}

fn gone(file: &CachedFile) -> &'static str {
    if file.deleted { " (deleted)" } else { "" }
}

/// Where a file system is, in a word or two.
pub(super) fn place(fs: &CachedFileSystem) -> String {
    match &fs.mount_point {
        Some(at) => at.to_string_lossy().into_owned(),
        None => type_and_name(fs),
    }
}

/// `ext4 vda`, or `tmpfs` where the kernel has no other name for it.
pub(super) fn type_and_name(fs: &CachedFileSystem) -> String {
    if fs.name.is_empty() || fs.name == fs.fs_type {
        fs.fs_type.clone()
    } else {
        format!("{} {}", fs.fs_type, fs.name)
    }
}
