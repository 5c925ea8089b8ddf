//! Settings that spare what a finding is about: of a program that is known by its name, or of a disk. No code has to change for them.

mod disk;
mod programs;

use std::path::Path;

use hotset_facts::format::required;
use hotset_facts::trace::{FileIndex, ProcessIndex, TraceLists, TraceProcess};
use serde::{Deserialize, Serialize};

use super::blame::Blame;

pub(super) use disk::{Disk, disks};

/// The part of a finding that a setting must be about, at least: what it is not about stays as it is.
const MOST: f64 = 0.5;

/// A setting, as a file that can be applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// Whose it is: a program or a disk.
    pub of: String,
    /// What to set, and what that does, in one sentence.
    pub how: String,
    /// What it risks.
    pub risks: String,
    /// The name of the file that sets it.
    pub file: String,
    /// Where the file belongs.
    pub place: String,
    /// What to run to load it; null where `place` says all.
    #[serde(deserialize_with = "required")]
    pub run: Option<String>,
    /// How a comment begins in it.
    pub comment: String,
    /// The lines of the file, without comments.
    pub text: String,
}

/// The settings that would spare most of what a rule found.
pub(super) fn settings(
    rule: &str,
    blame: &Blame,
    lists: &TraceLists,
    disks: &[Disk],
) -> Vec<Setting> {
    let rows = programs::ROWS.iter().filter(|row| row.rule == rule);
    let of_programs = rows.filter_map(|row| Some(row.setting(program(row, blame, lists)?)));
    let has_most = |disk: &&Disk| {
        let dev_of = |file| lists.file(file).and_then(|file| file.id).map(|id| id.dev);
        blame.share_of_files(|file| dev_of(file) == Some(disk.dev)) >= MOST
    };
    let of_disk = disks.iter().filter(|_| rule == disk::RULE).find(has_most).map(Disk::setting);
    of_programs.chain(of_disk).collect()
}

/// The program of a row, where it has most of a finding, and most of that is about files that its setting is about.
fn program(row: &programs::Row, blame: &Blame, lists: &TraceLists) -> Option<&'static str> {
    let is_about = |file: FileIndex| {
        let path = lists.file(file).and_then(|file| file.path.as_deref());
        let path = path.map(|path| path.to_string_lossy());
        path.is_some_and(|path| row.paths.iter().any(|part| path.contains(part)))
    };
    if !row.paths.is_empty() && blame.share_of_files(is_about) < MOST {
        return None;
    }
    let is_of = |program: &str| {
        blame.share_of_processes(|process: ProcessIndex| {
            lists.process(process).is_some_and(|process| is_program(process, program))
        })
    };
    row.programs.iter().copied().find(|program| is_of(program) >= MOST)
}

/// Whether a process runs a program, by the kernel's name for it or by its first word.
fn is_program(process: &TraceProcess, program: &str) -> bool {
    let word = process.argv.first().and_then(|word| Path::new(word).file_name());
    process.comm == program || word.is_some_and(|word| word == program)
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{Operation, TraceProcess};
    use hotset_facts::{Dev, FileId, Filesystem, Observed};

    use super::*;
    use crate::explain::EXPLAIN_RULES;
    use crate::explain::testing::{MS, Script, US};

    /// A program that syncs after each little write, `per_mille` of them to a file with this path, and the rest to another.
    fn syncs(argv: &str, comm: &str, path: &str, per_mille: u64) -> Vec<Setting> {
        let mut script = Script::new();
        script.lists.processes[0] = TraceProcess {
            comm: comm.to_owned(),
            argv: vec![argv.into()],
            ..script.lists.processes[0].clone()
        };
        script.lists.files[2].path = Some(path.into());
        for at in 0..1_000 {
            let file = if at < per_mille { 2 } else { 3 };
            script.write(file, at * 100, 100, 2 * US);
            script.call(Operation::Fdatasync, file, MS);
        }
        script.finding("fsync-per-write").settings
    }

    #[test]
    fn a_program_is_known_by_its_name_and_by_the_files_that_its_setting_is_about() {
        let of = |argv, comm, path, per_mille| {
            let found = syncs(argv, comm, path, per_mille);
            found.into_iter().map(|one| (one.of, one.file)).collect::<Vec<_>>()
        };
        let sqlite = [("sqlite3".to_owned(), "sqliterc".to_owned())];
        assert_eq!(of("/usr/bin/sqlite3", "sqlite3", "/srv/x.db", 1_000), sqlite);
        assert_eq!(of("python3", "python3", "/srv/x.db", 1_000), []);
        // A server that changes its first word is known by the kernel's name for it, and a wrapped one by its first word.
        let postgres = [("postgres".to_owned(), "hotset-commit.conf".to_owned())];
        assert_eq!(of("postgres: walwriter", "postgres", "/data/pg_wal/0001", 600), postgres);
        assert_eq!(of("/opt/postgres", "wrapped", "/data/pg_wal/0001", 600), postgres);
        assert_eq!(of("postgres", "postgres", "/data/pg_wal/0001", 400), []);
        assert_eq!(of("git", "git", "/src/.git/objects/pack/tmp_pack_x", 1_000), []);
        let maria = &syncs("mariadbd", "mariadbd", "/data/ib_logfile0", 1_000)[0];
        assert_eq!(
            (maria.of.as_str(), maria.text.as_str()),
            ("mariadbd", "[mysqld]\ninnodb_flush_log_at_trx_commit = 2\n")
        );
    }

    #[test]
    fn a_program_with_a_small_part_of_it_is_not_named() {
        let of = |records| {
            let mut script = Script::new();
            script.lists.processes[1].comm = "sqlite3".to_owned();
            for at in 0..1_000 {
                script.process = u32::from(at < records);
                script.write(2, at * 100, 100, 2 * US);
                script.call(Operation::Fsync, 2, MS);
            }
            script.finding("fsync-per-write").settings.len()
        };
        assert_eq!((of(501), of(499)), (1, 0));
    }

    /// Reads at random places of a file on this device.
    fn wasted(device: &str, read_ahead_kb: u64, page_size_bytes: u64) -> Vec<Setting> {
        let mut script = Script::new();
        let dev = Dev { major: 254, minor: 1 };
        script.lists.files[1].id = Some(FileId { dev, ino: 5, generation: None });
        script.host.page_size_bytes = page_size_bytes;
        script.host.filesystems.push(Filesystem {
            mount: "/srv".into(),
            fs_type: "ext4".to_owned(),
            device: device.to_owned(),
            dev,
            options: String::new(),
            read_ahead_kb: Observed::Value(read_ahead_kb),
        });
        for at in 0..400 {
            let record = script.miss(1, at * 7919 % 5003 * 4096, 4096, 200 * US);
            if let Some(pages) = &mut record.pages {
                pages.read_ahead = 31;
            }
        }
        script.finding("readahead-wasted").settings
    }

    #[test]
    fn read_ahead_is_set_for_the_disk_that_the_recording_names() {
        let setting = &wasted("/dev/vda1", 128, 4096)[0];
        assert_eq!(
            setting.text,
            "ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"vda\", ATTR{queue/read_ahead_kb}=\"16\"\n"
        );
        assert!(setting.how.contains("up to 16 KiB, instead of up to 128 KiB"), "{}", setting.how);
        assert!(setting.risks.contains("write 128 to /sys/block/vda/queue/read_ahead_kb"));
        assert!(setting.run.as_ref().is_some_and(|run| run.ends_with("--sysname-match=vda")));
        assert!(wasted("/dev/nvme0n1", 128, 16_384)[0].text.ends_with("=\"64\"\n"));
        // A window that is as small already, and devices whose disk the recording does not tell.
        assert_eq!(wasted("/dev/vda1", 16, 4096), []);
        assert_eq!(wasted("/dev/vda1", 128, 65_536), []);
        assert_eq!(wasted("/dev/mapper/vg-root", 128, 4096), []);
    }

    #[test]
    fn rows_are_of_rules_and_each_has_a_file_of_its_own_in_the_document() {
        let document = include_str!("../../../../../docs/explain.md");
        let mut files: Vec<String> = Vec::new();
        for row in programs::ROWS {
            let Setting { how, risks, file, place, run, comment, text, .. } = row.setting("x");
            assert!(document.contains(&format!("| `{file}` |")), "{file}");
            files.push(file.clone());
            assert!(EXPLAIN_RULES.iter().any(|rule| rule.id == row.rule), "{}", row.rule);
            assert!(how.ends_with('.') && risks.ends_with('.') && !place.is_empty(), "{file}");
            assert!(text.ends_with('\n') && !text.contains(&comment), "{file}: {text}");
            assert_eq!(place.ends_with(':'), run.is_some(), "{file}: {place}");
        }
        assert!(EXPLAIN_RULES.iter().any(|rule| rule.id == disk::RULE));
        files.sort_unstable();
        let all = files.len();
        files.dedup();
        assert_eq!(files.len(), all, "{files:?}");
    }
}
