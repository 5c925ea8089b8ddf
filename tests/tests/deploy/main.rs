//! What lies in deploy/: each file is checked by whoever will read it, or against the schema of what it uses.

mod kubernetes;
mod prometheus;
mod systemd;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotset_validate::violations;
use serde_json::Value;

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(name)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn run(program: &str, words: &[&str]) -> Output {
    Command::new(program).args(words).current_dir(deploy("")).output().unwrap_or_else(|error| {
        panic!("{program}: {error}; `make setup` installs it (.ci/packages.sh test)")
    })
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

fn conforms(value: &Value, schema: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(schema);
    assert_eq!(violations(&read(&path), value), [""; 0], "{schema}");
}

/// The capabilities that the unit names.
const NEEDED: [&str; 3] = ["BPF", "PERFMON", "DAC_READ_SEARCH"];
/// Those that the manifest names: its user is root, to whom belongs what it reads.
const NEEDED_BY_ROOT: [&str; 2] = ["BPF", "PERFMON"];
