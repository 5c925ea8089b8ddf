//! What an experiment is asked to be.

use std::path::PathBuf;
use std::time::Duration;

use hotset_facts::units::{number, parse_duration, parse_size};
use hotset_facts::{LabSize, LabSkipped};
use hotset_lab::experiment::{Place, Rounds};
use hotset_lab::probes::{Interpreter, Language, Probe, find};

/// Below these there is no interval, and so no answer.
const LEAST_ROUNDS: u32 = 6;

/// What a plan is made of: the size, where its files go, and what was asked for by name.
#[derive(Debug, Clone)]
pub struct Request {
    /// How much is measured.
    pub size: LabSize,
    /// Exactly so many rounds, instead of what the size says.
    pub rounds: Option<u32>,
    /// The directory for its files, and what the file system there can do.
    pub place: Place,
    /// What was asked for.
    pub options: Options,
}

/// Rounds that are added where samples were excluded: a host that disturbs more than that is too busy.
const MADE_UP: u32 = 3;

impl Request {
    /// A path in the scratch directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.directory.join(name)
    }

    /// The rounds that were asked for, else `min` to `max` within so many seconds.
    pub(crate) fn rounds(&self, min: u32, max: u32, budget_s: impl Into<Option<u64>>) -> Rounds {
        match self.rounds {
            Some(exactly) => Rounds { min: exactly, max: exactly, budget: None, made_up: 0 },
            None => {
                let budget = budget_s.into().map(Duration::from_secs);
                Rounds { min, max, budget, made_up: MADE_UP }
            }
        }
    }

    /// The rounds of a size: from the fewest that have an interval to `max` within so many seconds. `--quick`, which has no
    /// seconds given, runs exactly the fewest, also where a busy host takes long: with less it would answer nothing.
    pub(crate) fn rounds_of_size(&self, max: u32, budget_s: Option<u64>) -> Rounds {
        match budget_s {
            None => self.rounds(LEAST_ROUNDS, LEAST_ROUNDS, None),
            Some(_) => self.rounds(LEAST_ROUNDS, max, budget_s),
        }
    }

    /// The language of `--runtime`; all where none was asked for.
    ///
    /// # Errors
    /// Where there is no such language.
    pub(crate) fn languages(&self) -> Result<Vec<Language>, String> {
        let Some(name) = self.options.runtime.as_deref() else { return Ok(Language::ALL.to_vec()) };
        let known: Vec<&str> = Language::ALL.iter().map(|language| language.as_str()).collect();
        let unknown = || format!("--runtime {name}: must be one of {}", known.join(", "));
        Language::from_name(name).map(|language| vec![language]).ok_or_else(unknown)
    }

    /// The probes that are shown beside native ones: none in `--quick`, whose answers don't need them, unless one was asked for.
    ///
    /// # Errors
    /// As [`Self::probes`].
    pub(crate) fn probes_beside_native(
        &self,
        languages: &[Language],
        what: &str,
    ) -> Result<(Vec<Probe>, Vec<LabSkipped>), String> {
        let is_asked = !self.options.interpreters.is_empty() || self.options.runtime.is_some();
        if self.size == LabSize::Quick && !is_asked {
            let why = "--quick has what its answers need; the default size and --full have more";
            return Ok((Vec::new(), vec![LabSkipped::new(what, why)]));
        }
        self.probes(languages)
    }

    /// The probes of those of these languages that the host has, by their usual names or by `--interpreter`; and the others,
    /// with the way to get them.
    ///
    /// # Errors
    /// Where an interpreter that was named can't be used, or two have one name.
    pub(crate) fn probes(
        &self,
        languages: &[Language],
    ) -> Result<(Vec<Probe>, Vec<LabSkipped>), String> {
        let named = &self.options.interpreters;
        for (place, Interpreter { name, .. }) in named.iter().enumerate() {
            if named.iter().take(place).any(|other| other.name == *name) {
                return Err(format!("--interpreter {name}=...: {name} is given twice"));
            }
        }
        let cache = hotset_sys::environment::cache_directory();
        let cache = cache.unwrap_or_else(|| self.place.directory.clone()).join("probes");
        let (probes, skipped) = find(languages, named, &cache);
        let refused = skipped.iter().find(|left| named.iter().any(|one| one.name == left.what));
        match refused {
            Some(left) => Err(format!("--interpreter {}: {}", left.what, left.why)),
            None => Ok((probes, skipped)),
        }
    }
}

/// What may be asked for instead of what a size says. Empty or `None`: what the size says. The command line
/// refuses an option that none of the chosen experiments has; its help names those that have it.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Override experiment parameters")]
pub struct Options {
    /// Use these sizes, separated by commas
    #[arg(long = "sizes", value_name = "SIZE", value_delimiter = ',', value_parser = parse_size)]
    pub sizes_bytes: Vec<u64>,
    /// Read a file N times in one process, at least 2
    ///
    /// The first read and the later ones are measured apart. By default, direct reads 4 times (--quick: 3, --full: 10), and reread
    /// 100 times (--quick: 20), a large file or document less often, but at least 4 times
    /// (a file in other languages: 2).
    #[arg(long, value_name = "N", value_parser = number(2..=1_000_000_u32))]
    pub count: Option<u32>,
    /// Pause between reads of a process, e.g. 10ms, 1s
    ///
    /// By default, direct pauses for 100 ms (--quick: not at all, --full: 1 s), and reread not at all.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub sleep: Option<Duration>,
    /// Read this many bytes at a time; several separated by commas
    #[arg(long = "block", value_name = "SIZE", value_delimiter = ',', value_parser = parse_size)]
    pub blocks_bytes: Vec<u64>,
    /// Set the size of the file
    #[arg(long = "size", value_name = "SIZE", value_parser = parse_size)]
    pub file_bytes: Option<u64>,
    /// Use these methods, separated by commas; an invalid one lists all
    #[arg(long, value_name = "METHOD", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Read in these orders, separated by commas: sequential, reverse, random, zipf, offsets, chain
    #[arg(long, value_name = "ORDER", value_delimiter = ',')]
    pub orders: Vec<String>,
    /// Make N reads from a cold cache in every order but sequential, e.g. 1000000
    #[arg(long, value_name = "N", value_parser = number(16..=1_000_000_000_u32))]
    pub reads: Option<u32>,
    /// Hand over this many bytes at a time; several separated by commas
    #[arg(long = "pieces", value_name = "SIZE", value_delimiter = ',', value_parser = parse_size)]
    pub pieces_bytes: Vec<u64>,
    /// Use buffers of these sizes, separated by commas; 0 is no buffer
    #[arg(long = "buffers", value_name = "SIZE", value_delimiter = ',', value_parser = parse_size)]
    pub buffers_bytes: Vec<u64>,
    /// Measure all sizes, pieces and buffers with these writers, e.g. native,go; an invalid one lists all
    #[arg(long, value_name = "WRITER", value_delimiter = ',')]
    pub writers: Vec<String>,
    /// Read this file instead of generated ones; it is evicted but never written to
    #[arg(long, value_name = "PATH", conflicts_with = "sizes_bytes")]
    pub file: Option<PathBuf>,
    /// Parse this JSON document instead of generated ones; it is evicted but never written to
    #[arg(long, value_name = "PATH")]
    pub document: Option<PathBuf>,
    /// Add an interpreter to those found; repeatable
    #[arg(long = "interpreter", value_name = "NAME=PATH", value_parser = parse_interpreter)]
    pub interpreters: Vec<Interpreter>,
    /// Measure only these, separated by commas, e.g. exists,search; an invalid one lists all
    #[arg(long, value_name = "WHAT", value_delimiter = ',', conflicts_with = "libraries")]
    pub what: Vec<String>,
    /// Load these libraries instead of the generated files, separated by commas
    #[arg(long = "library", value_name = "NAME", value_delimiter = ',', requires = "runtime")]
    pub libraries: Vec<String>,
    /// Use only this language's runtime: c, go, python, ruby, node, java
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,
    /// Read from this file or block device, which is evicted but never written to
    #[arg(short = 'd', long, value_name = "PATH")]
    pub device: Option<PathBuf>,
}

impl Options {
    /// Those that were given, as they are typed.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        // Each by its name: a new option that is missing here doesn't compile.
        let Self {
            sizes_bytes,
            count,
            sleep,
            blocks_bytes,
            file_bytes,
            methods,
            orders,
            reads,
            pieces_bytes,
            buffers_bytes,
            writers,
            file,
            document,
            interpreters,
            what,
            libraries,
            runtime,
            device,
        } = self;
        let all = [
            ("--sizes", !sizes_bytes.is_empty()),
            ("--count", count.is_some()),
            ("--sleep", sleep.is_some()),
            ("--block", !blocks_bytes.is_empty()),
            ("--size", file_bytes.is_some()),
            ("--methods", !methods.is_empty()),
            ("--orders", !orders.is_empty()),
            ("--reads", reads.is_some()),
            ("--pieces", !pieces_bytes.is_empty()),
            ("--buffers", !buffers_bytes.is_empty()),
            ("--writers", !writers.is_empty()),
            ("--file", file.is_some()),
            ("--document", document.is_some()),
            ("--interpreter", !interpreters.is_empty()),
            ("--what", !what.is_empty()),
            ("--library", !libraries.is_empty()),
            ("--runtime", runtime.is_some()),
            ("--device", device.is_some()),
        ];
        all.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

fn parse_interpreter(text: &str) -> Result<Interpreter, String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok(Interpreter { name: name.to_owned(), path: PathBuf::from(path) })
        }
        _ => Err("expected NAME=PATH, e.g. ruby-3.3=/opt/ruby/bin/ruby".to_owned()),
    }
}
