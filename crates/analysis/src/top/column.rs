//! What a line says in a column. Ratios are of what is there: where there were no pages there is no ratio.

use std::cmp::Ordering;

use hotset_facts::{Counter, LIVE, LiveIo, NotMeasured, Unit};

use super::item::{Item, Kind, Line};
use crate::live::LiveNumbers;

macro_rules! columns {
    (@counter) => { None };
    (@counter $counter:ident) => { Some(&LIVE.$counter) };
    ($($variant:ident $name:literal $help:literal $(= $counter:ident)?;)*) => {
        /// A column of a view, and what its lines can be sorted by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Column {
            $(#[doc = $help] $variant,)*
        }

        impl Column {
            /// All of them, each with its name for `--sort` and what it says.
            pub const NAMED: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$variant, $name, $help),)*];

            /// The counter that stands in this column, where it is one as it was counted.
            pub fn counter(self) -> Option<&'static Counter> {
                match self {
                    $(Self::$variant => columns!(@counter $($counter)?),)*
                }
            }
        }
    };
}

// A variant, its name, what it says, and the counter that it shows as it was counted.
columns! {
    Pid "pid" "The process's number";
    User "user" "The user's name";
    Name "name" "The command, the path, or the control group";
    Hits "hits" "Requested pages that were cached";
    Misses "misses" "Requested pages that were not" = read_misses;
    Dirties "dirties" "Pages that turned dirty" = dirtied_pages;
    ReadHit "read-hit" "Hits by requested pages";
    WriteHit "write-hit" "Written pages that were cached already, by written pages";
    Device "device" "Pages that had to be read, by requested pages";
    Direct "direct" "Bytes past the cache";
    Faults "faults" "Page faults on file mappings" = faults;
    Count "count" "Files that a process used, or processes of a file or a control group";
    ReadAhead "read-ahead" "Pages read ahead" = readahead_pages;
    ReadBytes "read-bytes" "Bytes of buffered reads" = read_bytes;
    WriteBytes "write-bytes" "Bytes of buffered writes" = write_bytes;
    DeviceRead "device-read" "Bytes read from the device" = device_read_bytes;
    DeviceWrite "device-write" "Bytes written to the device" = device_write_bytes;
    Syncs "syncs" "Calls of fsync and the like" = sync_calls;
    Wait "wait" "Time in reads that waited for a device, and in direct I/O";
    Group "group" "The control group of a process";
    Refaults "refaults" "Pages of files that a control group read back after they had been evicted";
    Cache "cache" "Page cache that is charged to a control group";
    Need "need" "Page cache with 99 % of the hits that a control group could have (--curves)";
}

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// So many, which a rate divides by time.
    Count(u64),
    /// Bytes, which a rate divides by time.
    Bytes(u64),
    /// Bytes at a time, which no rate changes.
    Size(u64),
    /// Nanoseconds, which a rate divides by time.
    Nanoseconds(u64),
    /// A share of 1, which no rate changes.
    Share(f64),
    /// So many at a time, which no rate changes.
    Number(u64),
    /// There is none.
    None,
}

impl Column {
    /// What keeps this column from saying anything, among what is not measured.
    pub fn gap(self, not_measured: &[NotMeasured]) -> Option<&NotMeasured> {
        self.counter()?.gap(not_measured)
    }

    /// What `io` says in this column, as far as counters alone can say it.
    pub fn value(self, io: &LiveIo) -> Value {
        if let Some(counter) = self.counter() {
            return Value::counted(counter.unit, (counter.of)(io));
        }
        let numbers = LiveNumbers::new(*io, 0.0);
        match self {
            Self::Hits => Value::Count(numbers.hits()),
            Self::ReadHit => share(numbers.hit_ratio()),
            Self::WriteHit => share(numbers.write_hit_ratio()),
            Self::Device => share(numbers.device_share()),
            Self::Direct => Value::Bytes(io.direct_bytes()),
            Self::Wait => Value::Nanoseconds(io.read_wait_ns.saturating_add(io.direct_ns)),
            _ => Value::None,
        }
    }

    /// What a line says in this column; names are none.
    pub fn of(self, line: &Line<Item<'_>>) -> Value {
        match (self, line.item) {
            (Self::Pid, Item::Process(item)) => Value::Number(item.process.pid.into()),
            (Self::Count, Item::Process(item)) => Value::Number(item.files.into()),
            (Self::Count, Item::File(item)) => Value::Number(item.processes.into()),
            (Self::Count, Item::Group(item)) => Value::Number(item.processes.into()),
            (Self::Refaults, Item::Group(item)) => {
                item.memory.refaulted_pages.map_or(Value::None, Value::Count)
            }
            (Self::Cache, Item::Group(item)) => size(item.memory.cache_bytes),
            (Self::Need, Item::Group(item)) => size(item.memory.need_bytes),
            _ => self.value(&line.io),
        }
    }

    /// Whether the largest come first when one sorts by it: so for numbers, and not for names.
    pub fn largest_first(self) -> bool {
        !matches!(self, Self::Pid | Self::User | Self::Name | Self::Group)
    }

    /// The columns that lines of a kind have, those that matter most first.
    pub fn all(kind: Kind) -> &'static [Self] {
        match kind {
            Kind::Processes => lists::PROCESSES,
            Kind::Files => lists::FILES,
            Kind::Groups => lists::GROUPS,
        }
    }

    /// How two lines stand to each other by this column, smaller ones first; where there is no value, least.
    pub fn compare(self, a: &Line<Item<'_>>, b: &Line<Item<'_>>) -> Ordering {
        match (self, a.item, b.item) {
            (Self::User, Item::Process(x), Item::Process(y)) => {
                let name = |item: &super::ProcessItem| item.user.clone();
                name(x).cmp(&name(y)).then(x.process.uid.value().cmp(&y.process.uid.value()))
            }
            (Self::Name, Item::Process(x), Item::Process(y)) => x.process.comm.cmp(&y.process.comm),
            (Self::Name, Item::File(x), Item::File(y)) => {
                x.file.path.as_value().cmp(&y.file.path.as_value())
            }
            (Self::Name, Item::Group(x), Item::Group(y)) => {
                let path = |item: &super::GroupItem| item.path.as_value().cloned();
                (&x.name, path(x)).cmp(&(&y.name, path(y)))
            }
            (Self::Group, Item::Process(x), Item::Process(y)) => {
                x.process.cgroup.as_value().cmp(&y.process.cgroup.as_value())
            }
            _ => self.of(a).rank().total_cmp(&self.of(b).rank()),
        }
    }

    /// A number to sort by, if this column has numbers.
    pub(super) fn rank(self, line: &Line<Item<'_>>) -> Option<f64> {
        match self {
            Self::User | Self::Name | Self::Group => None,
            _ => Some(self.of(line).rank()),
        }
    }
}

/// Which columns a view has.
mod lists {
    use super::Column::{
        Cache, Count, Device, DeviceRead, DeviceWrite, Direct, Dirties, Faults, Group, Hits,
        Misses, Name, Need, Pid, ReadAhead, ReadBytes, ReadHit, Refaults, Syncs, User, Wait,
        WriteBytes, WriteHit,
    };

    pub(super) const PROCESSES: &[super::Column] = &[
        Pid,
        User,
        Name,
        Hits,
        Misses,
        Dirties,
        ReadHit,
        WriteHit,
        Device,
        Direct,
        Faults,
        ReadAhead,
        ReadBytes,
        WriteBytes,
        DeviceRead,
        DeviceWrite,
        Wait,
        Syncs,
        Count,
        Group,
    ];
    pub(super) const FILES: &[super::Column] = &[
        Name,
        Hits,
        Misses,
        Dirties,
        ReadHit,
        Device,
        Direct,
        Faults,
        Count,
        WriteHit,
        ReadAhead,
        ReadBytes,
        WriteBytes,
        DeviceRead,
        DeviceWrite,
        Wait,
        Syncs,
    ];
    pub(super) const GROUPS: &[super::Column] = &[
        Name,
        Hits,
        Misses,
        ReadHit,
        Device,
        Direct,
        Refaults,
        Cache,
        Need,
        Dirties,
        Faults,
        Count,
        WriteHit,
        ReadAhead,
        ReadBytes,
        WriteBytes,
        DeviceRead,
        DeviceWrite,
        Wait,
        Syncs,
    ];
}

impl Value {
    fn counted(unit: Unit, count: u64) -> Self {
        match unit {
            Unit::Count | Unit::Pages => Self::Count(count),
            Unit::Bytes => Self::Bytes(count),
            Unit::Nanoseconds => Self::Nanoseconds(count),
        }
    }

    /// A number to sort by. Counts beyond 2^53 lose their last digits here and nowhere else.
    fn rank(self) -> f64 {
        match self {
            Self::Count(n)
            | Self::Bytes(n)
            | Self::Size(n)
            | Self::Nanoseconds(n)
            | Self::Number(n) => n as f64,
            Self::Share(share) => share,
            Self::None => -1.0,
        }
    }

    /// A count, bytes or nanoseconds by a second; a share and what is no sum stay as they are.
    pub fn per_second(self, seconds: f64) -> Self {
        let rate = |n: u64| if seconds > 0.0 { (n as f64 / seconds).round() as u64 } else { 0 };
        match self {
            Self::Count(n) => Self::Count(rate(n)),
            Self::Bytes(n) => Self::Bytes(rate(n)),
            Self::Nanoseconds(n) => Self::Nanoseconds(rate(n)),
            other => other,
        }
    }
}

fn size(bytes: Option<u64>) -> Value {
    bytes.map_or(Value::None, Value::Size)
}

fn share(share: Option<f64>) -> Value {
    share.map_or(Value::None, Value::Share)
}
