//! The units: what systemd says of them, and that what they leave a service is enough.

use std::path::Path;
use std::process::Command;

use hotset_tests::exporter::Exporter;
use hotset_tests::scratch::text;
use hotset_tests::{NOBODY, Scratch, as_nobody_with, until};

use crate::{NEEDED, deploy, read, run, said};

/// What `systemd-analyze security` may say at most of the unit: 10 is a service without any restriction.
const EXPOSURE: f64 = 2.5;

/// The files of this ending in deploy/systemd, by name.
fn units(ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(deploy("systemd")).expect("deploy/systemd");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort_unstable();
    assert!(!names.is_empty(), "{ending}");
    names
}

#[test]
fn systemd_accepts_the_units_and_finds_them_hardened() {
    let scratch = Scratch::new("deploy-unit");
    let program = hotset_tests::hotset();
    let mut paths = Vec::new();
    for name in [units(".service"), units(".timer")].concat() {
        let words = read(&deploy("systemd").join(&name));
        let path = scratch.path(&name);
        // systemd looks for it where programs are installed.
        std::fs::write(&path, words.replace("=hotset ", &format!("={} ", text(&program))))
            .expect("the unit");
        paths.push(path);
    }
    let words: Vec<&str> =
        ["verify", "--man=no"].into_iter().chain(paths.iter().map(|p| text(p))).collect();
    let output = run("systemd-analyze", &words);
    let about = said(&output);
    assert!(output.status.success() && !about.contains("hotset-"), "{about}");
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "service")) {
        let level = exposure(text(path));
        assert!(level <= EXPOSURE, "{}: {level}", path.display());
    }
}

/// What `systemd-analyze security` says of a unit.
fn exposure(unit: &str) -> f64 {
    let output = run("systemd-analyze", &["security", "--offline=true", "--no-pager", unit]);
    let about = said(&output);
    let level = about
        .lines()
        .find_map(|line| line.split_once("Overall exposure level for")?.1.split_once(": "))
        .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    level.unwrap_or_else(|| panic!("no level: {about}"))
}

/// The values of a key in a unit, or of a variable in a file of flags.
fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

#[test]
fn the_files_of_flags_have_what_the_units_use() {
    for name in units(".service") {
        let unit = read(&deploy("systemd").join(&name));
        let files = values(&unit, "EnvironmentFile");
        let [file] = files[..] else { panic!("{name}: {files:?}") };
        let (_, file) = file.split_once("/etc/default/").expect("in /etc/default");
        let flags = read(&deploy("systemd").join(format!("{file}.default")));
        let started = values(&unit, "ExecStart");
        let used = started[0].split(' ').filter_map(|word| word.strip_prefix('$'));
        for variable in used.filter(|word| !word.starts_with('{')) {
            assert_eq!(values(&flags, variable), ["\"\""], "{name}: {variable} in {file}.default");
        }
    }
}

#[test]
fn examples_in_the_files_of_flags_are_understood() {
    let mut understood = 0;
    for name in units(".default") {
        let flags = read(&deploy("systemd").join(&name));
        let examples = flags.lines().filter_map(|line| line.strip_prefix("#   "));
        for line in examples {
            let (command, words) = match line.split_once('=') {
                Some((variable, words)) if variable.starts_with("HOTSET_") => {
                    let command = variable.trim_start_matches("HOTSET_").to_lowercase();
                    (command, words.trim_matches('"'))
                }
                _ if line.starts_with("--") => {
                    ("export".to_owned(), line.split_once("  ").expect("two columns").0)
                }
                _ => continue,
            };
            let output = std::process::Command::new(hotset_tests::hotset())
                .arg(&command)
                .args(words.split(' '))
                .arg("--help")
                .output()
                .expect("hotset");
            assert!(output.status.success(), "{name}: {line}: {}", said(&output));
            understood += 1;
        }
    }
    assert_eq!(understood, 8);
}

#[test]
fn the_capabilities_of_the_unit_are_enough_for_nobody() {
    let unit = read(&deploy("systemd/hotset-export.service"));
    for key in ["AmbientCapabilities=", "CapabilityBoundingSet="] {
        let line = unit.lines().find_map(|line| line.strip_prefix(key)).expect(key);
        let named: Vec<&str> =
            line.split(' ').map(|word| word.trim_start_matches("CAP_")).collect();
        assert_eq!(named, NEEDED);
    }
    let scratch = Scratch::new("deploy-nobody");
    let mut command = as_the_unit(scratch.dir());
    command.args(["export", "--listen", "127.0.0.1:0", "--interval", "0.2", "--commands", "1000"]);
    let exporter = Exporter::start_command(command);
    let name = format!("hsnobody{:06}", std::process::id() % 1_000_000);
    let status = Command::new(scratch.program(&name, Path::new("/bin/cat")))
        .arg(scratch.file("f", 1 << 20))
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.expect("cat").success());
    let series = format!("hotset_command_read_pages_total{{command=\"{name}\"}}");
    // What root does is seen by nobody.
    until("the pages of another user", || exporter.value(&series).filter(|pages| *pages >= 256.0));
    assert_eq!(exporter.get("/healthz").status, 200);
}

/// Nobody, with the capabilities of the unit.
fn as_the_unit(dir: &Path) -> Command {
    let sets: String = NEEDED.map(|name| format!(",+{}", name.to_lowercase())).concat();
    let options =
        ["inh-caps", "ambient-caps", "bounding-set"].map(|set| format!(" --{set}=-all{sets}"));
    as_nobody_with(dir, &format!("--no-new-privs{}", options.concat()))
}

#[test]
fn the_unit_can_write_the_tables_of_a_fleet() {
    let unit = read(&deploy("systemd/hotset-export.service"));
    assert!(unit.contains("\nStateDirectory=hotset\n"), "it may write nowhere else: {unit}");
    let scratch = Scratch::new("deploy-fleet");
    let [state, root] = ["state", "root"].map(|name| {
        let dir = scratch.path(name);
        std::fs::create_dir(&dir).expect("mkdir");
        std::os::unix::fs::chown(&dir, Some(NOBODY), Some(NOBODY)).expect("chown");
        dir
    });
    let mut command = as_the_unit(scratch.dir());
    command.args(["export", "--listen", "127.0.0.1:0", "--interval", "0.2"]);
    command.args(["--parquet", text(&root)]).env("STATE_DIRECTORY", &state);
    let exporter = Exporter::start_command(command);
    exporter.settle();
    let (status, said) = exporter.stop_with_words();
    assert!(status.success() && !said.contains("not known"), "{said}");
    for table in ["host", "group_interval", "file_interval"] {
        let days = std::fs::read_dir(root.join(table).join("v=1"));
        assert_eq!(days.map(Iterator::count).ok(), Some(1), "{table}: {said}");
    }
    assert!(state.join("fleet/ready").is_dir(), "the spool is where systemd says");
}
