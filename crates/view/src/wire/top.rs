//! `hotset.top/1`: a recording by `hotset top --record`, of JSON lines. The first is a [`Header`], each other one an
//! interval. Counters that are 0 are left out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use hotset_analysis::top::{
    FileItem, GroupItem, Line, LineState, Lines, ProcessItem, TopFrame, Unlisted,
};
use hotset_facts::{
    FileId, FileKind, HostMemory, LiveFile, LiveIo, LiveLosses, LiveProcess, LiveRow, MemInfo,
    NotMeasured, Observed, Pressure,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::adapt::{List, Maybe, Owned, Wire, by, converted, remote};
use super::environment::{FileIdDef, Time};
use super::observed::{Null, from_object, to_object};
use super::path::ObservedPath;
use super::process::NotMeasuredKeys;
use super::profile::FileKindDef;
use super::system::MemInfoDef;
use super::{Envelope, documents};

/// The name of the format.
pub const SCHEMA: &str = "hotset.top/1";

/// What a recording says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The version of hotset that wrote it.
    pub hotset: String,
    /// The host's name.
    pub host: String,
    /// The interval in nanoseconds.
    pub interval_ns: u64,
    /// The scope, if it was not the whole host.
    pub scope: Option<String>,
    /// What the kernel could not tell.
    pub not_measured: Vec<NotMeasured>,
}

/// The first line, with its end.
pub fn header_line(header: &Header) -> Vec<u8> {
    let keys = HeaderKeys {
        host: header.host.clone(),
        interval_ns: header.interval_ns,
        scope: header.scope.clone(),
        not_measured: NotMeasuredKeys::of(&header.not_measured),
    };
    Envelope::of_version(SCHEMA, &header.hotset, keys).to_line()
}

/// An interval as a line, with its end. Bound it first: see [`TopFrame::bounded`].
pub fn interval_line(moment: &TopFrame) -> Vec<u8> {
    let mut line = to_object(&by::<MomentDef>(moment));
    line.push(b'\n');
    line
}

/// Reads the first line.
///
/// # Errors
/// What the line should have been.
pub fn read_header(line: &[u8]) -> Result<Header, String> {
    let read = || {
        let documents = documents(line)?;
        let first = documents.first().ok_or_else(|| super::ReadError::at("", "it is empty"))?;
        let keys: HeaderKeys = first.read(SCHEMA)?;
        Ok(Header {
            hotset: first.hotset.clone().into_owned(),
            host: keys.host,
            interval_ns: keys.interval_ns,
            scope: keys.scope,
            not_measured: NotMeasuredKeys::facts(&keys.not_measured),
        })
    };
    read().map_err(|error: super::ReadError| {
        let found = crate::escape_text(&error.to_string());
        format!(
            "{found}; right is a header with \"schema\": \"{SCHEMA}\", as `hotset top --record` writes it"
        )
    })
}

/// Reads only when an interval ended.
///
/// # Errors
/// What the line should have been.
pub fn read_time(line: &[u8]) -> Result<SystemTime, String> {
    #[derive(Deserialize)]
    struct At {
        #[serde(with = "Time")]
        at: SystemTime,
    }
    let read: Result<At, _> = serde_json::from_slice(line);
    read.map(|read| read.at).map_err(not_an_interval)
}

/// Reads an interval.
///
/// # Errors
/// What the line should have been.
pub fn read_interval(line: &[u8]) -> Result<TopFrame, String> {
    let value: Value = serde_json::from_slice(line).map_err(not_an_interval)?;
    let Owned::<MomentDef>(moment) = from_object(value).map_err(not_an_interval)?;
    Ok(moment)
}

fn not_an_interval(error: impl std::fmt::Display) -> String {
    format!("not an interval of {SCHEMA}: {}", crate::escape_text(&error.to_string()))
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HeaderKeys {
    /// The host's name.
    host: String,
    /// The interval.
    interval_ns: u64,
    /// The scope; null where it was the whole host.
    scope: Option<String>,
    /// What the kernel could not tell.
    not_measured: Vec<NotMeasuredKeys>,
}

/// An interval.
#[derive(Serialize, Deserialize)]
#[serde(remote = "TopFrame")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MomentDef {
    /// When it ended.
    #[serde(with = "Time")]
    at: SystemTime,
    /// When it ended, since the session began.
    ended_after_ns: u64,
    /// How long it was.
    length_ns: u64,
    /// All that was counted.
    #[serde(with = "Counts")]
    totals: LiveIo,
    /// What was counted for nobody: a table was full, or who it belongs to had ended.
    #[serde(with = "Counts")]
    others: LiveIo,
    #[serde(flatten, with = "LinesKeys")]
    lines: [Lines; 3],
    /// What each process did to each file, by their places in the lists.
    #[serde(with = "List::<PairDef>")]
    pairs: Vec<LiveRow>,
    #[serde(with = "UnlistedKeys")]
    unlisted: [Unlisted; 3],
    /// Pages that left the cache but for truncation and unlinking.
    #[serde(with = "Null::<u64>")]
    evicted_pages: Observed<u64>,
    #[serde(with = "HostDef")]
    host: HostMemory,
    /// Losses since the session began.
    #[serde(with = "LossesDef")]
    losses: LiveLosses,
}

/// Counters by name; those that are 0 are left out, and a reader passes over those that it doesn't know.
struct Counts;

impl Wire for Counts {
    type Fact = LiveIo;

    fn serialize<S: Serializer>(io: &LiveIo, to: S) -> Result<S::Ok, S::Error> {
        let values = LiveIo::COUNTERS.iter().map(|counter| (counter.name, (counter.of)(io)));
        to.collect_map(values.filter(|(_, value)| *value != 0))
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<LiveIo, D::Error> {
        let named = Map::<String, Value>::deserialize(from)?;
        LiveIo::by_name(|name| match named.get(name) {
            None => Ok(0),
            Some(value) => value.as_u64().ok_or_else(|| {
                serde::de::Error::custom(format!(
                    "\"{name}\" is no whole number from 0 to 2^64 - 1"
                ))
            }),
        })
    }
}

/// Processes, files and control groups that did something, or were used.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LinesKeys {
    #[serde(with = "List::<LineDef::<ProcessItemDef>>")]
    processes: Vec<Line<ProcessItem>>,
    #[serde(with = "List::<LineDef::<FileItemDef>>")]
    files: Vec<Line<FileItem>>,
    #[serde(with = "List::<LineDef::<GroupItemDef>>")]
    cgroups: Vec<Line<GroupItem>>,
}

impl From<[Lines; 3]> for LinesKeys {
    fn from(lines: [Lines; 3]) -> Self {
        // Lines of the interval itself, and not those that a screen keeps. They come first, so that indices hold.
        fn happened<T>(lines: Vec<Line<T>>) -> Vec<Line<T>> {
            let is = |line: &Line<T>| matches!(line.state, LineState::Active | LineState::Ended);
            lines.into_iter().filter(is).collect()
        }
        let mut keys = Self { processes: Vec::new(), files: Vec::new(), cgroups: Vec::new() };
        for lines in lines {
            match lines {
                Lines::Processes(lines) => keys.processes = happened(lines),
                Lines::Files(lines) => keys.files = happened(lines),
                Lines::Groups(lines) => keys.cgroups = happened(lines),
            }
        }
        keys
    }
}

impl From<LinesKeys> for [Lines; 3] {
    fn from(mut keys: LinesKeys) -> Self {
        for line in keys.processes.iter_mut().filter(|line| line.item.process.ended) {
            line.state = LineState::Ended;
        }
        [Lines::Processes(keys.processes), Lines::Files(keys.files), Lines::Groups(keys.cgroups)]
    }
}

/// A line: who, and what was counted.
struct LineDef<W>(std::marker::PhantomData<W>);

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(inline))]
struct LineKeys<I, C> {
    #[serde(flatten)]
    item: I,
    /// What was counted.
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, u64>"))]
    io: C,
}

impl<W: Wire> Wire for LineDef<W> {
    type Fact = Line<W::Fact>;

    fn serialize<S: Serializer>(line: &Line<W::Fact>, to: S) -> Result<S::Ok, S::Error> {
        LineKeys { item: by::<W>(&line.item), io: by::<Counts>(&line.io) }.serialize(to)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Line<W::Fact>, D::Error> {
        let keys: LineKeys<Owned<W>, Owned<Counts>> = Deserialize::deserialize(from)?;
        Ok(Line::active(keys.item.0, keys.io.0))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ProcessItem")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ProcessItemDef {
    #[serde(flatten, with = "ProcessDef")]
    process: LiveProcess,
    /// The name of its user, if known.
    #[serde(with = "Maybe::<Text>")]
    user: Option<Arc<str>>,
    /// Files that it used in the interval.
    files: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LiveProcess")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ProcessDef {
    /// Unique in the session, where process ids come up again.
    id: u32,
    /// Its process id.
    pid: u32,
    /// That of its parent.
    #[serde(with = "Null::<u32>")]
    ppid: Observed<u32>,
    /// Its user.
    #[serde(with = "Null::<u32>")]
    uid: Observed<u32>,
    /// The kernel's short name for it.
    #[serde(with = "Text")]
    comm: Arc<str>,
    /// Its control group.
    #[serde(with = "Null::<Text>")]
    cgroup: Observed<Arc<str>>,
    /// It ended in the interval.
    ended: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FileItem")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileItemDef {
    #[serde(flatten, with = "FileDef")]
    file: LiveFile,
    /// Processes that used it in the interval.
    processes: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LiveFile")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileDef {
    #[serde(flatten, with = "FileIdDef")]
    id: FileId,
    #[serde(with = "FileKindDef")]
    kind: FileKind,
    #[serde(flatten, with = "SharedPath")]
    path: Observed<Arc<PathBuf>>,
    /// It had no name left when it was first seen.
    deleted: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "GroupItem")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GroupItemDef {
    /// The path of the control group.
    #[serde(with = "Null::<Text>")]
    path: Observed<Arc<str>>,
    /// The name of its container, pod or unit, if known.
    #[serde(with = "Maybe::<Text>")]
    name: Option<Arc<str>>,
    /// Its processes that did something in the interval.
    processes: u32,
}

/// Shared text.
struct Text;

impl Wire for Text {
    type Fact = Arc<str>;

    fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        <String as Deserialize>::deserialize(from).map(Arc::from)
    }
}

/// A shared path.
struct SharedPath;

impl Wire for SharedPath {
    type Fact = Observed<Arc<PathBuf>>;

    fn serialize<S: Serializer>(path: &Self::Fact, to: S) -> Result<S::Ok, S::Error> {
        ObservedPath::serialize(&path.clone().map(|path| path.as_ref().clone()), to)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Self::Fact, D::Error> {
        Ok(ObservedPath::deserialize(from)?.map(Arc::new))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LiveRow")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PairDef {
    /// The place of the process.
    process: u32,
    /// The place of the file.
    file: u32,
    /// What was counted.
    #[serde(with = "Counts")]
    io: LiveIo,
}

/// What has no line.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct UnlistedKeys {
    #[serde(with = "UnlistedDef")]
    processes: Unlisted,
    #[serde(with = "UnlistedDef")]
    files: Unlisted,
    #[serde(with = "UnlistedDef")]
    cgroups: Unlisted,
}

impl From<[Unlisted; 3]> for UnlistedKeys {
    fn from([processes, files, cgroups]: [Unlisted; 3]) -> Self {
        Self { processes, files, cgroups }
    }
}

impl From<UnlistedKeys> for [Unlisted; 3] {
    fn from(keys: UnlistedKeys) -> Self {
        [keys.processes, keys.files, keys.cgroups]
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Unlisted")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct UnlistedDef {
    /// How many.
    items: u64,
    /// What they did.
    #[serde(with = "Counts")]
    io: LiveIo,
}

/// The host's own numbers, of the interval.
#[derive(Serialize, Deserialize)]
#[serde(remote = "HostMemory")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HostDef {
    #[serde(with = "Null::<MemInfoDef>")]
    memory: Observed<MemInfo>,
    /// Pages that were read again after they had been evicted.
    #[serde(with = "Null::<u64>")]
    refaulted_pages: Observed<u64>,
    /// Pages that the kernel reclaimed.
    #[serde(with = "Null::<u64>")]
    reclaimed_pages: Observed<u64>,
    /// Pages that were written back.
    #[serde(with = "Null::<u64>")]
    written_back_pages: Observed<u64>,
    #[serde(flatten, with = "PressureDef")]
    pressure: Pressure,
}

/// Time in which tasks waited (PSI).
#[derive(Serialize, Deserialize)]
#[serde(remote = "Pressure")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PressureDef {
    /// Some task waited for memory.
    #[serde(with = "Null::<u64>")]
    memory_some_ns: Observed<u64>,
    /// All tasks that could have run waited for memory.
    #[serde(with = "Null::<u64>")]
    memory_full_ns: Observed<u64>,
    /// Some task waited for I/O.
    #[serde(with = "Null::<u64>")]
    io_some_ns: Observed<u64>,
    /// All tasks that could have run waited for I/O.
    #[serde(with = "Null::<u64>")]
    io_full_ns: Observed<u64>,
    /// Some task waited for a CPU.
    #[serde(with = "Null::<u64>")]
    cpu_some_ns: Observed<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LiveLosses")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LossesDef {
    /// Pages and calls that were booked to nobody.
    unattributed: u64,
    /// Names and process events.
    events: u64,
    /// Ranges read ahead that could not be remembered.
    origins: u64,
    /// Tasks that could not be followed.
    tasks: u64,
    /// Requests of io_uring that could not be followed.
    requests: u64,
    /// Runs of the sensor's programs that the kernel skipped.
    skipped_programs: u64,
    /// Calls that could not be followed.
    calls: u64,
}

remote!(
    MomentDef => TopFrame, ProcessItemDef => ProcessItem, FileItemDef => FileItem,
    GroupItemDef => GroupItem, PairDef => LiveRow,
);
converted!(LinesKeys => [Lines; 3], UnlistedKeys => [Unlisted; 3]);

/// What is not by itself a declaration, for the schema.
#[cfg(test)]
mod schemas {
    use std::borrow::Cow;
    use std::collections::BTreeMap;

    use schemars::{JsonSchema, Schema, SchemaGenerator};

    use super::*;

    macro_rules! same_schema {
        ($($type:ident $(<$param:ident>)? as $other:ty;)*) => {$(
            impl $(<$param: JsonSchema>)? JsonSchema for $type $(<$param>)? {
                fn schema_name() -> Cow<'static, str> {
                    <$other>::schema_name()
                }

                fn inline_schema() -> bool {
                    <$other>::inline_schema()
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    <$other>::json_schema(generator)
                }
            }
        )*};
    }

    same_schema! {
        Counts as BTreeMap<String, u64>;
        Text as String;
        SharedPath as ObservedPath;
        LineDef<W> as LineKeys<W, ()>;
    }
}
