//! One mixture: run, judged, and made smaller where it fails.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_facts::random::Random;
use hotset_tests::books::Books;
use hotset_tests::filesystems::{FileSystem, Kind};
use hotset_tests::scratch::text;
use hotset_tests::{Evictions, Scratch, assert_invariants, hotset, mix, read_json, stderr};
use serde_json::Value;

use crate::{judge, live, recorded, unfit, watched};

/// A mixture is tried this often where others evict pages of its files meanwhile.
const ATTEMPTS: u32 = 10;

/// What is wrong with a run.
enum Wrong {
    /// Hotset's counts do not fit together.
    Contradicts(String),
    /// They are not those of the program's books.
    Differs(String),
}

/// Begins a line that says more of the books, and not what is wrong.
const BOOKS: &str = "books of process ";

/// What is done, where.
#[derive(Clone)]
pub(crate) struct Mixture<'a> {
    system: &'a FileSystem,
    seed: u64,
    /// A thread.
    operations: u64,
    /// What does not come up.
    without: BTreeSet<String>,
}

impl<'a> Mixture<'a> {
    /// All operations that fit the kind of file system, but those that are named.
    pub(crate) fn new(
        system: &'a FileSystem,
        seed: u64,
        operations: u64,
        without: &BTreeSet<String>,
    ) -> Self {
        let unfit = unfit::on(system.kind()).into_iter().map(str::to_owned);
        Self { system, seed, operations, without: unfit.chain(without.iter().cloned()).collect() }
    }

    /// Runs it under hotset. How often each operation succeeded, or what is wrong.
    pub(crate) fn try_it(&self) -> Result<Vec<(String, u64)>, String> {
        for _ in 0..ATTEMPTS {
            let evictions = Evictions::on(self.system.caching_root());
            match self.try_once() {
                // Between the program's look at the cache and its call, a page can be evicted: its books are not the truth
                // then. What must hold of a profile alone was asked before.
                Err(Wrong::Differs(_)) if !evictions.none() => {}
                Err(Wrong::Differs(seen) | Wrong::Contradicts(seen)) => return Err(seen),
                Ok(times) => return Ok(times),
            }
        }
        Err("others evict pages all the time: the program's own books are not the truth".to_owned())
    }

    fn try_once(&self) -> Result<Vec<(String, u64)>, Wrong> {
        let scratch = Scratch::new("mixture");
        let dir = self.prepare();
        let kind = self.system.kind();
        let block = rustix::fs::statvfs(self.system.root()).expect("statvfs").f_bsize;
        let words = self.words(&dir);
        // Two of four are observed by those who come later.
        let (profile, books, mut differences) = match self.seed % 4 {
            0 => live::watch(&scratch, &words, kind),
            1 => recorded::watch(&scratch, &words, kind),
            3 => self.observe(&scratch, &words),
            _ => {
                let root = self.system.root();
                let (books, found) = watched::watch(&scratch, &words, kind, root, block);
                (Value::Null, books, found)
            }
        };
        // What is deleted now makes room, and its inode numbers come up again in the next.
        std::fs::remove_dir_all(&dir).expect("remove");
        if let Some(lower) = self.lower() {
            // Or the device is full after some fifty mixtures, and a store to a mapping ends its process.
            std::fs::remove_dir_all(lower).expect("remove");
        }
        if !profile.is_null() {
            let kept = profile.clone();
            catch_unwind(AssertUnwindSafe(|| assert_invariants(&kept)))
                .map_err(|panic| Wrong::Contradicts(said(&*panic)))?;
            let device = self.device(&profile);
            let device = device.as_deref();
            differences.extend(judge::differences(&profile, &books, kind, device, block));
        }
        if !differences.is_empty() {
            differences.extend(books.iter().map(|books| {
                format!("{BOOKS}{}: major faults: {:?}", books.pid, books.majors_by_operation)
            }));
            return Err(Wrong::Differs(differences.join("\n")));
        }
        Ok(books.into_iter().flat_map(|books| books.done).collect())
    }

    /// Fewer operations, and fewer kinds of them, that still fail; and how to repeat them. What hangs on the order in which
    /// threads run may pass when it is tried again, so each is tried a few times.
    pub(crate) fn shrink(&self, seen: String) -> String {
        let failure = &kinds(&seen);
        let (mut smallest, mut seen) = (self.clone(), seen);
        let halves = std::iter::successors(Some(self.operations / 2), |next| Some(next / 2));
        for operations in halves.take_while(|next| *next > 0) {
            let Some(again) = smallest.with(failure, |mixture| mixture.operations = operations)
            else {
                break;
            };
            (smallest, seen) = again;
        }
        // Half of the kinds at once, then a quarter, down to each alone: few are needed.
        let mut needed = self.names();
        let mut many = needed.len();
        while many > 1 {
            many = many.div_ceil(2);
            let mut kept = Vec::new();
            for some in needed.chunks(many) {
                let less = |mixture: &mut Self| mixture.without.extend(some.iter().cloned());
                match smallest.with(failure, less) {
                    Some(again) => (smallest, seen) = again,
                    None => kept.extend_from_slice(some),
                }
            }
            needed = kept;
        }
        smallest.say(&seen, &needed)
    }

    /// One that is changed, and how it fails; nothing where it does not fail in one of these ways.
    fn with(
        &self,
        failure: &BTreeSet<String>,
        change: impl Fn(&mut Self),
    ) -> Option<(Self, String)> {
        let mut changed = self.clone();
        change(&mut changed);
        let same = |seen: &String| !kinds(seen).is_disjoint(failure);
        let seen = (0..3).find_map(|_| changed.try_it().err().filter(same))?;
        Some((changed, seen))
    }

    /// What comes up.
    fn names(&self) -> Vec<String> {
        let none = Self { operations: 0, ..self.clone() };
        let names = none.try_it().unwrap_or_default();
        names.into_iter().map(|(name, _)| name).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// What is wrong, of which operations if that is known, and how to repeat it.
    pub(crate) fn say(&self, seen: &str, needed: &[String]) -> String {
        let (kind, seed, operations) = (self.system.kind().name(), self.seed, self.operations);
        let unfit = unfit::on(self.system.kind());
        let without: Vec<&str> =
            self.without.iter().map(String::as_str).filter(|name| !unfit.contains(name)).collect();
        let needed = if needed.is_empty() { "every kind".to_owned() } else { needed.join(" ") };
        format!(
            "{kind}, seed {seed}, {operations} operations a thread of {needed}:\n{seen}\nRepeat it: \
             HOTSET_RANDOM_KIND={kind} HOTSET_RANDOM_SEED={seed} \
             HOTSET_RANDOM_OPERATIONS={operations} HOTSET_RANDOM_SECONDS=0 \
             HOTSET_RANDOM_WITHOUT={} cargo test -p hotset-tests --test random_workloads",
            without.join(",")
        )
    }

    fn name(&self) -> String {
        format!("mixture-{}", self.seed)
    }

    /// On an overlay, what is only read: in the layer below.
    fn lower(&self) -> Option<PathBuf> {
        let below = || self.system.root().with_file_name("lower").join(self.name());
        (self.system.kind() == Kind::Overlay).then(below)
    }

    fn prepare(&self) -> PathBuf {
        let dir = self.system.path(&self.name());
        let seed = self.seed.to_string();
        let mut command = Command::new(mix());
        command.args(["prepare", "--dir", text(&dir), "--seed", &seed]);
        if let Some(lower) = self.lower() {
            let _ = std::fs::remove_dir_all(&lower);
            command.args(["--lower", text(&lower)]);
        }
        let output = command.output().expect("mix");
        assert!(output.status.success(), "{command:?}: {}", stderr(&output));
        dir
    }

    fn observe(&self, scratch: &Scratch, words: &[String]) -> (Value, Vec<Books>, Vec<String>) {
        let path = scratch.path("profile.json");
        let mut command = Command::new(hotset());
        command.args(["run", "-q", "--json", text(&path), "--"]).arg(mix());
        command.args(words);
        let output = command.output().expect("hotset");
        assert!(output.status.success(), "{command:?}: {}", stderr(&output));
        let books = serde_json::from_slice(&output.stdout).expect("books");
        (read_json(&path), books, Vec::new())
    }

    fn words(&self, dir: &Path) -> Vec<String> {
        let mut random = Random::new(self.seed);
        let (processes, threads) = (1 + random.below(3), 1 + random.below(3));
        let without: Vec<&str> = self.without.iter().map(String::as_str).collect();
        [
            "run",
            "--dir",
            text(dir),
            "--seed",
            &self.seed.to_string(),
            "--operations",
            &self.operations.to_string(),
            "--processes",
            &processes.to_string(),
            "--threads",
            &threads.to_string(),
            "--without",
            &without.join(","),
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// The device that the rows name, where stat(2) names another: on an overlay that of the layer.
    fn device(&self, profile: &Value) -> Option<String> {
        if !matches!(self.system.kind(), Kind::Overlay | Kind::Btrfs | Kind::Compressed) {
            return None;
        }
        let below = |row: &&Value| {
            row["kind"] == "regular"
                && row["path"]
                    .as_str()
                    .is_some_and(|path| Path::new(path).starts_with(self.system.root()))
        };
        let rows = profile["files"].as_array().expect("files");
        rows.iter().find(below).map(|row| row["dev"].as_str().expect("a device").to_owned())
    }
}

/// Its lines without their numbers: what is wrong, and not by how much.
fn kinds(seen: &str) -> BTreeSet<String> {
    let wrong = seen.lines().filter(|line| !line.starts_with(BOOKS));
    wrong.map(|line| line.chars().filter(|c| !c.is_ascii_digit()).collect()).collect()
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a panic without words".to_owned())
}
