//! Whose writers are measured.

use hotset_facts::LabSkipped;
use hotset_lab::probes::{Language, Probe};
use hotset_sys::rawio::buffered::WriterKind;

use crate::Request;

/// Whose writers are shown beside the native one unless writers are chosen.
const USUAL: [Language; 2] = [Language::Go, Language::Python];

/// Ruby's own buffer has this size; it can only be left out.
const RUBY_BYTES: u64 = 8192;
/// No buffer.
const NONE: u64 = 0;

/// The writers of a session.
pub(super) struct Writers {
    /// Those of this binary that were chosen; empty where none was.
    pub(super) native: Vec<WriterKind>,
    /// Those of other languages.
    pub(super) programs: Vec<Probe>,
    /// What can't be had, and why.
    pub(super) missing: Vec<LabSkipped>,
    /// Chosen by name: then each writes all sizes in all pieces through all buffers.
    pub(super) are_chosen: bool,
}

impl Writers {
    /// Those that were chosen, else the usual ones.
    ///
    /// # Errors
    /// Where a name is none of a writer, or that writer can't be had.
    pub(super) fn of(request: &Request) -> Result<Self, String> {
        let asked = &request.options.writers;
        if asked.is_empty() {
            let (programs, missing) =
                request.probes_beside_native(&USUAL, "writers of other languages")?;
            return Ok(Self { native: Vec::new(), programs, missing, are_chosen: false });
        }
        let native: Vec<WriterKind> = asked.iter().filter_map(|name| name.parse().ok()).collect();
        let named: Vec<&String> =
            asked.iter().filter(|name| name.parse::<WriterKind>().is_err()).collect();
        let (mut programs, missing) = request.probes(&languages(request, &named)?)?;
        programs.retain(|probe| probe.can("write") && named.contains(&&probe.name));
        for name in named {
            if !programs.iter().any(|probe| probe.name == *name) {
                let why = missing.iter().find(|left| left.what == *name);
                let why = why.map_or("it can't write", |left| left.why.as_str());
                return Err(format!("--writers {name}: {why}"));
            }
        }
        Ok(Self { native, programs, missing: Vec::new(), are_chosen: true })
    }
}

/// The languages of these names; an interpreter that was named may be of any.
fn languages(request: &Request, named: &[&String]) -> Result<Vec<Language>, String> {
    let mut languages = Vec::new();
    for name in named {
        let is_interpreter = request.options.interpreters.iter().any(|one| one.name == **name);
        match Language::from_name(name) {
            _ if is_interpreter => languages.extend(Language::ALL),
            Some(language) => languages.push(language),
            None => return Err(format!("--writers {name}: unknown writer; expected {}", known())),
        }
    }
    languages.sort_unstable();
    languages.dedup();
    Ok(languages)
}

fn known() -> String {
    let native = WriterKind::ALL.iter().map(|writer| writer.as_str());
    let languages = Language::ALL.iter().map(|language| language.as_str());
    let all: Vec<&str> = native.chain(languages).collect();
    format!("{}, or the name of an --interpreter", all.join(", "))
}

/// Whether a language's writer can have a buffer of this size; why not.
pub(super) fn can_have(language: Language, buffer_bytes: u64) -> Result<(), &'static str> {
    match (language, buffer_bytes) {
        (Language::Ruby, NONE | RUBY_BYTES) | (Language::Node, NONE) => Ok(()),
        (Language::Ruby, _) => Err("its own buffer has 8192 bytes and can only be left out (0)"),
        (Language::Node, _) => Err("its synchronous writes have no buffer (0)"),
        _ => Ok(()),
    }
}
