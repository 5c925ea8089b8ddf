//! hotset as somebody runs it who owns nothing and may do nothing.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::programs::hotset;

/// The user and the group `nobody`.
pub const NOBODY: u32 = 65534;

/// In a mount namespace of its own: the program and the directory are mounted where everybody may reach them. Where somebody
/// may not pass a directory on the way, an empty one is mounted over it, and the way is made anew below that.
const MOUNT: &str = r#"
    program=$1 dir=$2 closed=$3 options=$4; shift 4
    umask 022
    mount -t tmpfs -o mode=755 hotset-nobody /mnt
    mkdir /mnt/dir; touch /mnt/hotset
    mount --bind "$program" /mnt/hotset
    mount --bind "$dir" /mnt/dir
    if [ -n "$closed" ]; then
        mount -t tmpfs -o mode=755 hotset-nobody "$closed"
        mkdir -p "$dir"
        mount --bind /mnt/dir "$dir"
    fi
    exec setpriv --reuid=65534 --regid=65534 --clear-groups $options -- /mnt/hotset "$@"
"#;

/// A command that begins as that user with hotset, and may read `dir`, whatever the permissions on the way to it and to the
/// build.
pub fn as_nobody(dir: &Path) -> Command {
    as_nobody_with(dir, "")
}

/// The same with more options of setpriv(1), such as capabilities.
pub fn as_nobody_with(dir: &Path, options: &str) -> Command {
    std::fs::set_permissions(dir, PermissionsExt::from_mode(0o755)).expect("chmod");
    let dir = dir.canonicalize().expect("the directory");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-euc", MOUNT, "sh"]);
    command.arg(hotset()).arg(&dir).arg(closed(&dir)).arg(options);
    command
}

/// The first directory on the way that not everybody may pass; nothing where all may.
fn closed(dir: &Path) -> &Path {
    let mut way: Vec<&Path> = dir.ancestors().skip(1).collect();
    way.reverse();
    let is_closed = |dir: &&Path| {
        let mode = dir.metadata().expect("a directory").permissions().mode();
        mode & 0o001 == 0
    };
    way.into_iter().find(is_closed).unwrap_or(Path::new(""))
}
