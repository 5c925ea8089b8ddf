//! Where the programs under test are.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The hotset binary: `HOTSET_BIN`, or the release build of this workspace.
pub fn hotset() -> PathBuf {
    if let Some(path) = std::env::var_os("HOTSET_BIN") {
        return required(PathBuf::from(path), "HOTSET_BIN names it");
    }
    let path = target_dir().join("release/hotset");
    required(path, "build it with `cargo build --release`, or set HOTSET_BIN")
}

/// The workload program, which `cargo test` builds beside the tests.
pub fn workload() -> PathBuf {
    let path = profile_dir().join("workload");
    required(path, "build it with `cargo build -p hotset-tests --bin workload`")
}

/// The program that does a random mixture of I/O, built beside the tests too.
pub fn mix() -> PathBuf {
    let path = profile_dir().join("mix");
    required(path, "build it with `cargo build -p hotset-tests --bin mix`")
}

/// The program that answers for a device whose requests a test holds, built beside the tests too.
pub fn gate_server() -> PathBuf {
    let path = profile_dir().join("gate");
    required(path, "build it with `cargo build -p hotset-tests --bin gate`")
}

/// A program and what its start reads, as ldd(1) lists it: the loader and libraries.
pub fn loaded_by(program: &Path) -> Vec<PathBuf> {
    let listed = Command::new("ldd").arg(program).output().expect("ldd");
    assert!(listed.status.success(), "ldd {}", program.display());
    let listed = String::from_utf8(listed.stdout).expect("paths");
    let paths = listed.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from);
    [program.to_owned(), PathBuf::from("/etc/ld.so.cache")].into_iter().chain(paths).collect()
}

fn required(path: PathBuf, remedy: &str) -> PathBuf {
    assert!(path.is_file(), "{} does not exist: {remedy}", path.display());
    path
}

/// The directory that Cargo builds into, whatever it is called. Below it is one for the target, if that was named.
pub(crate) fn target_dir() -> PathBuf {
    let above = profile_dir();
    let above = parent(&above);
    let is_triple =
        above.file_name().is_some_and(|name| name.to_string_lossy().contains("-linux-"));
    if is_triple { parent(above) } else { above }.to_owned()
}

/// Tests lie in `target/PROFILE/deps`.
fn profile_dir() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    parent(parent(&test)).to_owned()
}

fn parent(path: &Path) -> &Path {
    path.parent().expect("tests lie in target/PROFILE/deps")
}
