//! Names of functions that are compiled at run time: a runtime has to tell them.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;

use hotset_facts::{Capability, Verdict};
use hotset_sys::support::{Check, supported, unsupported};

const NAMES: Check = ("perf_maps", "functions compiled at run time have names");

/// Runtimes whose functions a perf map names: the program, and how to have it write one.
const RUNTIMES: [(&str, &str); 3] = [
    ("node", "node --perf-basic-prof --interpreted-frames-native-stack"),
    ("java", "java -XX:+PreserveFramePointer (17 or later), then `jcmd PID Compiler.perfmap`"),
    ("python3", "python3 -X perf (3.12 or later)"),
];

/// For `hotset doctor`: which of them are installed, and what each has to be told.
pub fn perf_maps() -> Capability {
    of_those_in(std::env::var_os("PATH").as_deref())
}

fn of_those_in(search: Option<&OsStr>) -> Capability {
    let directories: Vec<_> = search.into_iter().flat_map(std::env::split_paths).collect();
    let is_there = |program: &str| {
        let is_program =
            |about: std::fs::Metadata| about.is_file() && about.permissions().mode() & 0o111 != 0;
        directories.iter().any(|one| one.join(program).metadata().is_ok_and(is_program))
    };
    let found: Vec<_> = RUNTIMES.into_iter().filter(|(program, _)| is_there(program)).collect();
    if found.is_empty() {
        return supported(NAMES, "neither node, java nor python3 is in PATH");
    }
    let programs: Vec<&str> = found.iter().map(|(program, _)| *program).collect();
    let ways: Vec<&str> = found.iter().map(|(_, way)| *way).collect();
    unsupported(
        NAMES,
        Verdict::Partly,
        format!("{} in PATH", programs.join(", ")),
        "--sites names their functions only where they write a perf map, /tmp/perf-PID.map",
        &ways.join("; "),
    )
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::*;

    #[test]
    fn each_runtime_that_is_there_is_told_how() {
        let directory =
            std::env::temp_dir().join(format!("hotset-runtimes-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let none = of_those_in(Some(directory.as_os_str()));
        assert_eq!((none.verdict, none.remedy.as_str()), (Verdict::Yes, ""));
        let program = directory.join("node");
        fs::write(&program, "#!/bin/sh\n").expect("a program");
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("executable");
        let node = of_those_in(Some(directory.as_os_str()));
        fs::remove_dir_all(&directory).expect("removed");
        assert_eq!((node.verdict, node.detail.as_str()), (Verdict::Partly, "node in PATH"));
        assert_eq!(node.remedy, RUNTIMES[0].1);
    }
}
