//! hotset as somebody runs it who owns nothing and may do nothing.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::programs::hotset;
use crate::scratch::Scratch;

/// The user and the group `nobody`.
pub const NOBODY: u32 = 65534;

/// A command that begins as that user with a copy of hotset, in a scratch directory which everybody may read from then on.
pub fn as_nobody(scratch: &Scratch) -> Command {
    std::fs::set_permissions(scratch.dir(), PermissionsExt::from_mode(0o755)).expect("chmod");
    let program = scratch.path("hotset-copy");
    if !program.exists() {
        scratch.program("hotset-copy", &hotset());
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(program);
    command
}
