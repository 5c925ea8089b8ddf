//! Putting a probe's sources where its runtime finds them, and building it where it must be.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::language::Language;
use crate::program::on_path;

/// What a compiler says that is kept of it, in bytes.
const WORDS_KEPT: usize = 400;

/// Threads that build the same at once do so in directories of their own.
static TURN: AtomicU32 = AtomicU32::new(0);

/// The directory of a probe that is ready to run, made if it isn't there yet.
///
/// # Errors
/// What the compiler says, or which file could not be written.
pub(super) fn build(language: Language, program: &Path, cache: &Path) -> Result<PathBuf, String> {
    let tools = Tools::of(language, program)?;
    let place = cache.join(format!("{}-{:016x}", language.as_str(), tools.key(language)));
    if place.is_dir() {
        return Ok(place);
    }
    let (pid, turn) = (std::process::id(), TURN.fetch_add(1, Ordering::Relaxed));
    let beside = cache.join(format!(".{}-{pid}-{turn}", language.as_str()));
    let built = write_sources(language, &beside)
        .and_then(|()| tools.run(language, &beside))
        .and_then(|()| keep(&beside, &place));
    if built.is_err() {
        let _ = fs::remove_dir_all(&beside);
    }
    built.map(|()| place)
}

fn write_sources(language: Language, place: &Path) -> Result<(), String> {
    let at = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let _ = fs::remove_dir_all(place);
    fs::create_dir_all(place).map_err(|error| at(place, error))?;
    for (name, text) in language.sources() {
        let path = place.join(name);
        fs::write(&path, text).map_err(|error| at(&path, error))?;
    }
    Ok(())
}

/// Someone else may have built the same meanwhile, which is as good.
fn keep(beside: &Path, place: &Path) -> Result<(), String> {
    match fs::rename(beside, place) {
        Err(_) if place.is_dir() => {
            let _ = fs::remove_dir_all(beside);
            Ok(())
        }
        renamed => renamed.map_err(|error| format!("{}: {error}", place.display())),
    }
}

/// What builds a language's probe. Nothing is built where it is interpreted.
struct Tools {
    compiler: Option<PathBuf>,
    /// What the compiler says of its version.
    version: Vec<u8>,
}

impl Tools {
    fn of(language: Language, program: &Path) -> Result<Self, String> {
        let (compiler, asked) = match language {
            Language::Python | Language::Ruby | Language::Node => {
                return Ok(Self { compiler: None, version: Vec::new() });
            }
            Language::C => (program.to_owned(), "--version"),
            Language::Go => (program.to_owned(), "version"),
            Language::Java => (beside(program, "javac")?, "-version"),
        };
        let version = said(Command::new(&compiler).arg(asked))?;
        Ok(Self { compiler: Some(compiler), version })
    }

    /// Another source or another compiler makes another probe.
    fn key(&self, language: Language) -> u64 {
        let compiler =
            self.compiler.as_ref().map_or(&[][..], |path| path.as_os_str().as_encoded_bytes());
        let sources = language.sources().iter().map(|(_, text)| text.as_bytes());
        let parts = sources.chain([compiler, &self.version]);
        parts.fold(FNV_BASIS, |hash, part| fnv1a(fnv1a(hash, part), &[0]))
    }

    fn run(&self, language: Language, place: &Path) -> Result<(), String> {
        let Some(compiler) = &self.compiler else { return Ok(()) };
        let mut command = Command::new(compiler);
        command.current_dir(place);
        match language {
            Language::C => command.args(["-std=c11", "-O2", "-o", "probe", "probe.c", "-ldl"]),
            Language::Go => command
                .args(["build", "-trimpath", "-o", "probe", "."])
                // Nothing is to be fetched.
                .envs([("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("CGO_ENABLED", "0")])
                .env_remove("GOFLAGS"),
            _ => command.args(["-encoding", "UTF-8", "-d", "classes", "Probe.java"]),
        };
        let built = said(&mut command);
        if language == Language::Go && built.is_err() {
            // Without a home directory that it may write to, Go has no place for what it compiles on the way.
            let own = place.join("gocache");
            let built = said(command.env("GOCACHE", &own));
            let _ = fs::remove_dir_all(own);
            return built.map(drop);
        }
        built?;
        if language == Language::Java {
            archive(&beside(compiler, "jar")?, place)?;
        }
        Ok(())
    }
}

/// Class data can be archived only for classes that come from archives.
fn archive(jar: &Path, place: &Path) -> Result<(), String> {
    let words = ["--create", "--file", "probe.jar", "-C", "classes", "."];
    said(Command::new(jar).args(words).current_dir(place)).map(drop)
}

/// A tool of the same installation.
pub fn beside(program: &Path, tool: &str) -> Result<PathBuf, String> {
    let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let own = real.parent().map(|place| place.join(tool)).filter(|path| path.is_file());
    own.or_else(|| on_path(tool))
        .ok_or_else(|| format!("there is no {tool} beside {}", real.display()))
}

/// Runs a tool to its end.
///
/// # Errors
/// Where it can't be run, or fails: the end of what it says.
pub fn said(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = Path::new(command.get_program()).file_name().map(OsStr::to_owned);
    let name = name.unwrap_or_default().to_string_lossy().into_owned();
    let output = command
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| format!("{name} can't be run: {error}"))?;
    if output.status.success() {
        return Ok([output.stdout, output.stderr].concat());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut words = words.join(" ");
    while words.len() > WORDS_KEPT {
        words.pop();
    }
    Err(format!("{name} failed ({}): {words}", output.status))
}

/// FNV-1a, 64 bits: <http://www.isthe.com/chongo/tech/comp/fnv/>.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
