//! The files of one runtime: sources, and what its own tools make of them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::sources::{self, CLASS, EMPTY, FILES, ONE, WORD};
use hotset_lab::Word;
use hotset_lab::probes::{Language, Probe, Start, beside, said};

/// Directories that a search may have to go through before the one that has the files.
pub(super) const DIRECTORIES: usize = 100;

/// A directory with the files of one runtime.
#[derive(Debug, Clone)]
pub(super) struct Files {
    root: PathBuf,
    language: Language,
}

/// Which sources: how their names begin, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) prefix: &'static str,
    pub(super) count: usize,
}

/// Empty files.
pub(super) const EMPTIES: Set = Set { prefix: EMPTY, count: FILES };
/// A class each.
pub(super) const CLASSES: Set = Set { prefix: CLASS, count: FILES };
/// The same classes in one file.
pub(super) const TOGETHER: Set = Set { prefix: ONE, count: 1 };

impl Files {
    /// Writes the sources, and lets the runtime's own tools make the rest of them.
    ///
    /// # Errors
    /// Names the file that could not be written, or says what a tool said.
    pub(super) fn generate(root: &Path, probe: &Probe) -> Result<Self, String> {
        let files = Self { root: root.to_owned(), language: probe.language };
        for (directory, set) in [("empty", EMPTIES), ("class", CLASSES), ("one", TOGETHER)] {
            files.write_sources(directory, set)?;
        }
        files.write_legacy()?;
        for number in 0..DIRECTORIES {
            create(&root.join(format!("path/d{number:03}")))?;
        }
        match probe.language {
            Language::C => files.compile_c(probe)?,
            Language::Go => {}
            Language::Python => files.compile_python(probe)?,
            Language::Ruby => files.compile_ruby(probe)?,
            Language::Node => files.write_modules(probe)?,
            Language::Java => files.compile_java(probe)?,
        }
        // What is not on the device yet could not be evicted.
        let synced = File::open(root).map(rustix::fs::syncfs);
        synced.map_err(|error| at(root, &error))?.map_err(|errno| at(root, &errno.into()))?;
        Ok(files)
    }

    /// A directory of it.
    pub(super) fn directory(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The files of a set in a directory, with an ending.
    pub(super) fn of(&self, directory: &str, set: Set, suffix: &str) -> Vec<PathBuf> {
        let directory = self.directory(directory);
        set.names().map(|name| directory.join(format!("{name}{suffix}"))).collect()
    }

    fn write_sources(&self, directory: &str, set: Set) -> Result<(), String> {
        create(&self.directory(directory))?;
        let paths = self.of(directory, set, sources::suffix(self.language));
        for (number, path) in paths.iter().enumerate() {
            let text = match set {
                EMPTIES => sources::empty(self.language, number),
                CLASSES => sources::class(self.language, number),
                _ => (0..FILES).map(|number| sources::class(self.language, number)).collect(),
            };
            write(path, text.as_bytes())?;
        }
        Ok(())
    }

    /// The one file in Windows-31J.
    fn write_legacy(&self) -> Result<(), String> {
        create(&self.directory("legacy"))?;
        let suffix = sources::suffix(self.language);
        let text: String = (0..FILES).map(|number| sources::class(self.language, number)).collect();
        let mut bytes = Vec::with_capacity(text.len());
        let mut lines = text.split(WORD.0);
        bytes.extend(lines.next().unwrap_or_default().as_bytes());
        for line in lines {
            bytes.extend(WORD.1);
            bytes.extend(line.as_bytes());
        }
        self.of("legacy", TOGETHER, suffix).iter().try_for_each(|path| write(path, &bytes))
    }

    fn compile_python(&self, probe: &Probe) -> Result<(), String> {
        for (directory, set, how) in [
            ("empty-pyc", EMPTIES, "pyc"),
            ("class-pyc", CLASSES, "pyc"),
            ("one-pyc", TOGETHER, "pyc"),
            ("class", CLASSES, "zip"),
            ("class-packed", CLASSES, "zip-pyc"),
        ] {
            self.write_sources(directory, set)?;
            self.prepare(probe, directory, set, how)?;
        }
        Ok(())
    }

    fn compile_ruby(&self, probe: &Probe) -> Result<(), String> {
        if !probe.can("prepare:iseq") {
            return Ok(());
        }
        self.prepare(probe, "class", CLASSES, "iseq")?;
        self.prepare(probe, "one", TOGETHER, "iseq")
    }

    fn write_modules(&self, probe: &Probe) -> Result<(), String> {
        for (directory, set) in [("class-esm", CLASSES), ("one-esm", TOGETHER)] {
            create(&self.directory(directory))?;
            for (number, path) in self.of(directory, set, ".mjs").iter().enumerate() {
                let all = if set == TOGETHER { 0..FILES } else { number..number + 1 };
                let text: String = all.map(sources::ecmascript).collect();
                write(path, text.as_bytes())?;
            }
        }
        if probe.can("prepare:compile-cache") {
            self.prepare(probe, "class", CLASSES, "compile-cache")?;
            self.prepare(probe, "one", TOGETHER, "compile-cache")?;
        }
        Ok(())
    }

    fn prepare(&self, probe: &Probe, directory: &str, set: Set, how: &str) -> Result<(), String> {
        let directory = self.directory(directory);
        probe.ask(&Start::default(), "prepare", &set.words(directory, how)).map(drop)
    }

    fn compile_java(&self, probe: &Probe) -> Result<(), String> {
        let tool = |name| beside(&probe.program, name);
        for (from, set, to) in
            [("empty", EMPTIES, "empty-classes"), ("class", CLASSES, "class-classes")]
        {
            let sources = self.of(from, set, ".java");
            let mut javac = Command::new(tool("javac")?);
            javac.args(["-encoding", "UTF-8", "-d"]).arg(self.directory(to)).args(sources);
            said(&mut javac)?;
        }
        let jar = self.directory("one.jar");
        let mut command = Command::new(tool("jar")?);
        command.args(["--create", "--file"]).arg(&jar).arg("-C");
        said(command.arg(self.directory("class-classes")).arg("."))?;
        let archive = self.directory("one.jsa");
        let mut flag = std::ffi::OsString::from("-XX:ArchiveClassesAtExit=");
        flag.push(archive);
        let flags = probe.flags.iter().cloned().chain([flag, "-Xlog:disable".into()]).collect();
        let start = Start { flags: Some(flags), class_path: vec![jar] };
        // A runtime without class data archives has none: the cell is skipped then.
        let _ = probe.ask(&start, "load", &CLASSES.words(PathBuf::new(), "class"));
        Ok(())
    }

    /// One object of each kind is compiled, and copied: to the loader, files with other names are other objects.
    fn compile_c(&self, probe: &Probe) -> Result<(), String> {
        for (from, set) in [("empty", EMPTIES), ("class", CLASSES), ("one", TOGETHER)] {
            let source = self.of(from, set, ".c");
            let objects = self.of(from, set, ".so");
            let (Some(source), Some((first, others))) = (source.first(), objects.split_first())
            else {
                continue;
            };
            let mut command = Command::new(&probe.found);
            command.args(["-shared", "-fPIC", "-O1", "-o"]).arg(first).arg(source);
            said(&mut command)?;
            for object in others {
                fs::copy(first, object).map_err(|error| at(object, &error))?;
            }
        }
        Ok(())
    }
}

impl Set {
    /// The names of its files, without an ending.
    pub(super) fn names(self) -> impl Iterator<Item = String> {
        (0..self.count).map(move |number| format!("{}{number:03}", self.prefix))
    }

    /// The words that name it to a probe.
    pub(super) fn words(self, directory: PathBuf, how: &str) -> Vec<Word> {
        vec![
            ("dir", directory.into()),
            ("prefix", self.prefix.into()),
            ("count", self.count.to_string().into()),
            ("how", how.into()),
        ]
    }
}

fn create(directory: &Path) -> Result<(), String> {
    fs::create_dir_all(directory).map_err(|error| at(directory, &error))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| at(path, &error))
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
