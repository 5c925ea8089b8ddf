//! Who did something in an interval, and what was counted of it.

use std::path::PathBuf;
use std::sync::Arc;

use hotset_analysis::top::{FileItem, GroupItem, Line, LineState, Lines, ProcessItem, Unlisted};
use hotset_facts::{FileId, FileKind, LiveFile, LiveIo, LiveProcess, LiveRow, Observed};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::wire::adapt::{List, Maybe, Owned, Wire, by, converted, remote};
use crate::wire::environment::FileIdDef;
use crate::wire::observed::Null;
use crate::wire::path::ObservedPath;
use crate::wire::profile::FileKindDef;

/// Counters by name; those that are 0 are left out, and a reader passes over those that it doesn't know.
pub(super) struct Counts;

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
pub(super) struct LinesKeys {
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
pub(super) struct PairDef {
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
pub(super) struct UnlistedKeys {
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

remote!(
    ProcessItemDef => ProcessItem, FileItemDef => FileItem, GroupItemDef => GroupItem,
    PairDef => LiveRow,
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
