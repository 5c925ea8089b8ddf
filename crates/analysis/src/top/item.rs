//! Lines of processes, files and control groups, and who they are about.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use hotset_facts::{FileId, LiveFile, LiveIo, LiveProcess, Observed, PackedLiveIo};

/// What a view has lines of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A line for each process.
    Processes,
    /// A line for each file.
    Files,
    /// Control groups, or the containers that they are.
    Groups,
}

impl Kind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Processes, Self::Files, Self::Groups];

    /// Each with its name for `--view` and what it is.
    pub const NAMED: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Processes, "processes", "Processes"),
        (Self::Files, "files", "Files"),
        (Self::Groups, "cgroups", "Control groups and containers"),
    ];
}

/// Who a line is about, across intervals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ItemKey {
    /// [`LiveProcess::id`], which no other process of the session gets.
    Process(u32),
    /// A file.
    File(FileId),
    /// A control group by its path; `None` for processes whose group is not known.
    Group(Option<Arc<str>>),
}

/// How a line stands to the interval that it is shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineState {
    /// It did something in it.
    #[default]
    Active,
    /// It ended in it.
    Ended,
    /// It ended before; what is shown is its last interval.
    Gone,
    /// It did nothing in it, and is shown because somebody looks at it.
    Idle,
}

/// A process of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessItem {
    /// As the session knows it.
    #[serde(flatten)]
    pub process: LiveProcess,
    /// The name of its user; null where it is not known.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    pub user: Option<Arc<str>>,
    /// Files that it used in the interval.
    pub files: u32,
}

/// A file of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileItem {
    /// As the session knows it.
    #[serde(flatten)]
    pub file: LiveFile,
    /// Processes that used it in the interval.
    pub processes: u32,
}

/// A control group of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupItem {
    /// Its path.
    pub path: Observed<Arc<str>>,
    /// The name of its container, pod or unit; null where it is none of these.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    pub name: Option<Arc<str>>,
    /// Its processes that did something in the interval; those of groups below it are not among them.
    pub processes: u32,
    /// Its memory.
    #[serde(flatten)]
    pub memory: GroupMemory,
}

/// Memory of a control group with those below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupMemory {
    /// Bytes of page cache that are charged to it; null where the kernel does not account it.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    pub cache_bytes: Option<u64>,
    /// Bytes of its own limit; null where it has none or none is known.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    pub limit_bytes: Option<u64>,
    /// Pages of files that it read back in the interval after they had been evicted; null where the kernel does not tell (before 5.9), and in
    /// the first interval.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    pub refaulted_pages: Option<u64>,
    /// Bytes of page cache with 99 % of the hits that it could have had since the session began, by exact LRU of a sample; null where that was
    /// not asked for, or too little was sampled.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    pub need_bytes: Option<u64>,
}

impl GroupItem {
    /// What is known of it after another interval.
    pub(super) fn follow(&mut self, later: &Self) {
        let before = std::mem::replace(self, later.clone()).memory.refaulted_pages;
        let sum = &mut self.memory.refaulted_pages;
        *sum = match (before, *sum) {
            (Some(before), Some(now)) => Some(before.saturating_add(now)),
            (before, now) => before.or(now),
        };
    }
}

/// A process, a file or a control group, and what was counted of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Line<T, C = LiveIo> {
    /// The process, file or group that the numbers are of.
    #[serde(flatten)]
    pub item: T,
    /// What was counted.
    pub io: C,
    /// How it stands to the interval.
    #[serde(skip)]
    pub state: LineState,
}

/// A line as a frame keeps it: there can be 100,000.
pub type KeptLine<T> = Line<T, PackedLiveIo>;

impl<T> KeptLine<T> {
    /// A line of somebody who did something, which is still to be added.
    pub fn active(item: T) -> Self {
        Self { item, io: PackedLiveIo::default(), state: LineState::Active }
    }
}

/// Somebody, of whichever kind.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// A process.
    Process(&'a ProcessItem),
    /// A file.
    File(&'a FileItem),
    /// A control group.
    Group(&'a GroupItem),
}

impl Item<'_> {
    /// Who it is, across intervals.
    pub fn key(&self) -> ItemKey {
        match self {
            Self::Process(item) => ItemKey::Process(item.process.id),
            Self::File(item) => ItemKey::File(item.file.id),
            Self::Group(item) => ItemKey::Group(item.path.as_value().cloned()),
        }
    }

    /// Whether `key` is of this one.
    pub fn is(&self, key: &ItemKey) -> bool {
        match (self, key) {
            (Self::Process(item), ItemKey::Process(id)) => item.process.id == *id,
            (Self::File(item), ItemKey::File(id)) => item.file.id == *id,
            (Self::Group(item), ItemKey::Group(path)) => item.path.as_value() == path.as_ref(),
            _ => false,
        }
    }
}

/// Lines of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lines {
    /// Of processes.
    Processes(Vec<KeptLine<ProcessItem>>),
    /// Of files.
    Files(Vec<KeptLine<FileItem>>),
    /// Of control groups.
    Groups(Vec<KeptLine<GroupItem>>),
}

impl Lines {
    /// No lines.
    pub fn none(kind: Kind) -> Self {
        match kind {
            Kind::Processes => Self::Processes(Vec::new()),
            Kind::Files => Self::Files(Vec::new()),
            Kind::Groups => Self::Groups(Vec::new()),
        }
    }

    /// What they are of.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Processes(_) => Kind::Processes,
            Self::Files(_) => Kind::Files,
            Self::Groups(_) => Kind::Groups,
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::Processes(lines) => lines.len(),
            Self::Files(lines) => lines.len(),
            Self::Groups(lines) => lines.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The line at `index`.
    pub fn get(&self, index: usize) -> Option<Line<Item<'_>>> {
        fn line<'a, T>(
            lines: &'a [KeptLine<T>],
            index: usize,
            item: fn(&'a T) -> Item<'a>,
        ) -> Option<Line<Item<'a>>> {
            let Line { item: who, io, state } = lines.get(index)?;
            Some(Line { item: item(who), io: io.unpack(), state: *state })
        }
        match self {
            Self::Processes(lines) => line(lines, index, Item::Process),
            Self::Files(lines) => line(lines, index, Item::File),
            Self::Groups(lines) => line(lines, index, Item::Group),
        }
    }

    /// The counters of the line at `index`.
    pub fn io(&self, index: usize) -> Option<LiveIo> {
        let packed = match self {
            Self::Processes(lines) => lines.get(index).map(|line| &line.io),
            Self::Files(lines) => lines.get(index).map(|line| &line.io),
            Self::Groups(lines) => lines.get(index).map(|line| &line.io),
        };
        packed.map(PackedLiveIo::unpack)
    }

    /// Lines of the same kind: whom the lines at these indices are about, with other counters and another state.
    pub(super) fn pick(&self, lines: impl IntoIterator<Item = (usize, LiveIo, LineState)>) -> Self {
        fn pick<T: Clone>(
            from: &[KeptLine<T>],
            lines: impl IntoIterator<Item = (usize, LiveIo, LineState)>,
        ) -> Vec<KeptLine<T>> {
            let with = |(index, io, state): (usize, LiveIo, LineState)| {
                let line: &KeptLine<T> = from.get(index)?;
                Some(Line { item: line.item.clone(), io: io.into(), state })
            };
            lines.into_iter().filter_map(with).collect()
        }
        match self {
            Self::Processes(from) => Self::Processes(pick(from, lines)),
            Self::Files(from) => Self::Files(pick(from, lines)),
            Self::Groups(from) => Self::Groups(pick(from, lines)),
        }
    }

    /// The lines at these indices.
    pub fn at(&self, indices: impl IntoIterator<Item = usize>) -> Self {
        let line = |index| self.get(index).map(|line| (index, line.io, line.state));
        self.pick(indices.into_iter().filter_map(line))
    }

    /// The lines at these indices one interval later, if nothing more was heard: the last numbers of who ended, and nothing
    /// of who did nothing.
    pub fn later(&self, indices: impl IntoIterator<Item = usize>) -> Self {
        let later = |index| {
            let line = self.get(index)?;
            Some(match line.state {
                LineState::Ended | LineState::Gone => (index, line.io, LineState::Gone),
                LineState::Active | LineState::Idle => (index, LiveIo::default(), LineState::Idle),
            })
        };
        self.pick(indices.into_iter().filter_map(later))
    }

    /// Adds lines of the same kind at the end; those of another are none of these.
    pub fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Processes(lines), Self::Processes(more)) => lines.extend(more),
            (Self::Files(lines), Self::Files(more)) => lines.extend(more),
            (Self::Groups(lines), Self::Groups(more)) => lines.extend(more),
            _ => {}
        }
    }

    /// All lines.
    pub fn iter(&self) -> impl Iterator<Item = Line<Item<'_>>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Where the line of `key` is.
    pub fn position(&self, key: &ItemKey) -> Option<usize> {
        match (self, key) {
            (Self::Processes(lines), ItemKey::Process(id)) => {
                lines.iter().position(|line| line.item.process.id == *id)
            }
            (Self::Files(lines), ItemKey::File(id)) => {
                lines.iter().position(|line| line.item.file.id == *id)
            }
            (Self::Groups(lines), ItemKey::Group(path)) => {
                lines.iter().position(|line| line.item.path.as_value() == path.as_ref())
            }
            _ => None,
        }
    }
}

/// What has no line of its own, because a bound was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unlisted {
    /// How many have no line.
    pub items: u64,
    /// What they did.
    pub io: LiveIo,
}

impl Unlisted {
    /// One more.
    pub fn add(&mut self, io: &LiveIo) {
        self.items += 1;
        self.io.add(io);
    }
}
