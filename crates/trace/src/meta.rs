//! What a trace says of itself: the key-value metadata of its file.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use hotset_facts::trace::{
    Frame, Gap, Site, SiteState, TraceFile, TraceHead, TraceLists, TraceProcess,
};
use parquet::file::metadata::KeyValue;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::TraceError;
use crate::head;

/// The version of the format that is written and read.
pub const SCHEMA: &str = "hotset.trace/1";

/// Keys of the metadata.
pub(crate) const HEAD: &str = "hotset.trace";
pub(crate) const PROCESSES: &str = "hotset.processes";
pub(crate) const FILES: &str = "hotset.files";
pub(crate) const FRAMES: &str = "hotset.frames";
pub(crate) const SITES: &str = "hotset.sites";
pub(crate) const GAPS: &str = "hotset.gaps";
pub(crate) const TOTALS: &str = "hotset.totals";
pub(crate) const PART: &str = "hotset.part";
pub(crate) const CHECKS: &str = "hotset.checks";

/// How many records there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Records that are in the file.
    pub records: u64,
    /// Records that were lost: those of the gaps.
    pub lost: u64,
}

/// What a part is of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its place among the parts, from 0.
    pub number: u32,
    /// Whether the recording ended with it.
    pub last: bool,
}

/// The version, before anything else of the head is looked at.
#[derive(Deserialize)]
struct Version {
    schema: String,
}

/// A JSON array that is written entry by entry: a list of many files stands once in memory, and not twice.
pub(crate) struct JsonArray {
    text: Vec<u8>,
    entries: usize,
}

impl JsonArray {
    pub(crate) fn new() -> Self {
        Self { text: b"[".to_vec(), entries: 0 }
    }

    /// Adds entries.
    ///
    /// # Errors
    /// Where one has no form in JSON.
    pub(crate) fn extend<T: Serialize>(&mut self, entries: &[T]) -> io::Result<()> {
        for entry in entries {
            if self.entries > 0 {
                self.text.write_all(b",\n")?;
            }
            serde_json::to_writer(&mut self.text, entry)?;
            self.entries += 1;
        }
        Ok(())
    }

    /// Bytes of it so far.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// The text of the array.
    pub(crate) fn finish(mut self) -> String {
        self.text.push(b']');
        // JSON is UTF-8; the text is handed on as it is, and copied only where that were not so.
        String::from_utf8(self.text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// A site as it is written: frames stand once in a list of their own, for most chains share most of them.
#[derive(Serialize, Deserialize)]
struct SiteKeys {
    frames: Vec<u32>,
    state: SiteState,
}

/// Lists as they are written.
pub(crate) struct ListWriter {
    processes: JsonArray,
    files: JsonArray,
    sites: JsonArray,
    frames: JsonArray,
    by_frame: HashMap<Arc<Frame>, u32>,
    gaps: JsonArray,
}

impl ListWriter {
    pub(crate) fn new() -> Self {
        let [processes, files, sites, frames, gaps] = std::array::from_fn(|_| JsonArray::new());
        Self { processes, files, sites, frames, by_frame: HashMap::new(), gaps }
    }

    /// Adds what is new.
    ///
    /// # Errors
    /// Where an entry has no form in JSON.
    pub(crate) fn extend(&mut self, added: &TraceLists) -> io::Result<()> {
        self.processes.extend(&added.processes)?;
        self.files.extend(&added.files)?;
        for site in &added.sites {
            let frames = site.frames.iter().map(|frame| self.frame(frame));
            let frames = frames.collect::<io::Result<_>>()?;
            self.sites.extend(&[SiteKeys { frames, state: site.state }])?;
        }
        self.gaps.extend(&added.gaps)
    }

    /// The place of a frame in its list.
    fn frame(&mut self, frame: &Arc<Frame>) -> io::Result<u32> {
        if let Some(known) = self.by_frame.get(frame) {
            return Ok(*known);
        }
        let place = u32::try_from(self.by_frame.len()).map_err(io::Error::other)?;
        self.frames.extend(&[frame.as_ref()])?;
        self.by_frame.insert(Arc::clone(frame), place);
        Ok(place)
    }

    /// Bytes of all lists so far.
    pub(crate) fn bytes(&self) -> usize {
        [&self.processes, &self.files, &self.sites, &self.frames, &self.gaps]
            .into_iter()
            .map(JsonArray::len)
            .sum()
    }

    /// The keys of all lists.
    pub(crate) fn finish(self) -> [KeyValue; 5] {
        [
            key(PROCESSES, self.processes.finish()),
            key(FILES, self.files.finish()),
            key(FRAMES, self.frames.finish()),
            key(SITES, self.sites.finish()),
            key(GAPS, self.gaps.finish()),
        ]
    }
}

pub(crate) fn key(name: &str, value: String) -> KeyValue {
    KeyValue::new(name.to_owned(), value)
}

/// A key with its value as JSON.
///
/// # Errors
/// Where it has no form in JSON.
pub(crate) fn json_key(name: &str, value: &impl Serialize) -> io::Result<KeyValue> {
    Ok(key(name, serde_json::to_string(value)?))
}

/// The key of the head.
///
/// # Errors
/// Where it has no form in JSON.
pub(crate) fn head_key(head: &TraceHead) -> io::Result<KeyValue> {
    json_key(HEAD, &head::to_json(head)?)
}

/// The metadata of a file.
pub(crate) struct Keys<'a>(pub(crate) &'a [KeyValue]);

impl Keys<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|pair| pair.key == name)?.value.as_deref()
    }

    /// A value, if there is one.
    ///
    /// # Errors
    /// Where it is not what the key holds.
    pub(crate) fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, TraceError> {
        let parse = |text| serde_json::from_str(text);
        let wrong = |error: serde_json::Error| {
            let place = format!("key {name}, line {}, column {}", error.line(), error.column());
            TraceError::damaged(place, error.to_string(), "JSON as docs/trace-format.md says")
        };
        self.text(name).map(parse).transpose().map_err(wrong)
    }

    /// The head, after its version.
    ///
    /// # Errors
    /// Where there is none, or it is of another version.
    pub(crate) fn head(&self, file: impl Fn() -> String) -> Result<TraceHead, TraceError> {
        let not = |found| TraceError::NotATrace { found };
        let version: Version =
            self.get(HEAD)?.ok_or_else(|| not(format!("{}, without the key {HEAD}", file())))?;
        if version.schema != SCHEMA {
            return Err(match version.schema.strip_prefix("hotset.trace/") {
                Some(_) => TraceError::Version { found: version.schema },
                None => not(format!("a file with the schema {:?}", version.schema)),
            });
        }
        let value = self.get(HEAD)?.ok_or_else(|| not(file()))?;
        head::from_json(value).map_err(|error| {
            let expected = "the head of a trace, as docs/trace-format.md says";
            TraceError::damaged(format!("key {HEAD}"), error.to_string(), expected)
        })
    }

    /// All lists; those that are not there are empty.
    ///
    /// # Errors
    /// Where one is no list of what it should be.
    pub(crate) fn lists(&self) -> Result<TraceLists, TraceError> {
        Ok(TraceLists {
            processes: self.get::<Vec<TraceProcess>>(PROCESSES)?.unwrap_or_default(),
            files: self.get::<Vec<TraceFile>>(FILES)?.unwrap_or_default(),
            sites: self.sites()?,
            gaps: self.get::<Vec<Gap>>(GAPS)?.unwrap_or_default(),
        })
    }

    /// Sites with their frames.
    fn sites(&self) -> Result<Vec<Site>, TraceError> {
        let frames = self.get::<Vec<Arc<Frame>>>(FRAMES)?.unwrap_or_default();
        let frame = |site: usize, place: u32| {
            frames.get(place as usize).cloned().ok_or_else(|| {
                TraceError::damaged(
                    format!("key {SITES}, entry {site}"),
                    format!("frame {place}"),
                    format!("one of the {} in {FRAMES}", frames.len()),
                )
            })
        };
        let sites = self.get::<Vec<SiteKeys>>(SITES)?.unwrap_or_default();
        let site = |(at, keys): (usize, SiteKeys)| {
            let frames = keys.frames.into_iter().map(|place| frame(at, place));
            Ok(Site { frames: frames.collect::<Result<_, _>>()?, state: keys.state })
        };
        sites.into_iter().enumerate().map(site).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(functions: &[&str], state: SiteState) -> Site {
        let frame = |function: &&str| Frame {
            function: Some((*function).to_owned()),
            module: Some("/opt/app".to_owned()),
            offset: 7,
            source: None,
            line: None,
        };
        Site { frames: functions.iter().map(frame).map(Arc::new).collect(), state }
    }

    #[test]
    fn frames_of_sites_stand_once_and_come_back() -> Result<(), TraceError> {
        let sites = vec![
            site(&["read", "load", "main"], SiteState::Whole),
            site(&["write", "main"], SiteState::Cut),
            site(&[], SiteState::Lost),
        ];
        let added = TraceLists { sites: sites.clone(), ..TraceLists::default() };
        let mut lists = ListWriter::new();
        lists.extend(&added)?;
        let keys = lists.finish();
        let frames: Vec<Frame> = Keys(&keys).get(FRAMES)?.unwrap_or_default();
        assert_eq!(frames.len(), 4);
        assert_eq!(Keys(&keys).lists()?.sites, sites);
        Ok(())
    }

    #[test]
    fn a_frame_that_is_in_no_list_is_damage() {
        let sites = r#"[{"frames":[],"state":"lost"},{"frames":[3],"state":"cut"}]"#;
        let keys = [key(FRAMES, "[]".to_owned()), key(SITES, sites.to_owned())];
        let said = Keys(&keys).lists().map_err(|error| error.to_string());
        let said = said.expect_err("no such frame");
        assert!(said.contains("hotset.sites, entry 1") && said.contains("frame 3"), "{said}");
    }
}
