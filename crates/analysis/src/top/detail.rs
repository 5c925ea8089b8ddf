//! One item expanded: the files of a process, the processes of a file, either of a control group.

use std::collections::HashMap;

use hotset_facts::LiveIo;

use super::bounded::activity;
use super::frame::TopFrame;
use super::item::{ItemKey, KeptLine, Kind, LineState, Lines, Unlisted};

/// Lines that an expanded item has at most; the rest is summed up.
pub const DETAIL_LINES: usize = 10_000;

/// What an item has below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// Its files or processes.
    pub lines: Lines,
    /// What is not among them.
    pub unlisted: Unlisted,
}

/// The files or processes (`wanted`) of the item `key` in a frame; nothing if it has no line there.
///
/// What a recording left out is summed up: the sum of all lines is what the item's own line says.
pub fn detail(frame: &TopFrame, key: &ItemKey, wanted: Kind) -> Option<Detail> {
    let (own, members) = members(frame, key)?;
    let mut sums: HashMap<u32, LiveIo> = HashMap::new();
    for pair in &frame.pairs {
        let belongs = match &members {
            Members::Processes(processes) => processes.contains(&pair.process),
            Members::File(file) => *file == pair.file,
        };
        if belongs {
            let below = if wanted == Kind::Files { pair.file } else { pair.process };
            sums.entry(below).or_default().add(&pair.io.unpack());
        }
    }
    if let (Members::Processes(processes), Kind::Processes) = (&members, wanted) {
        let lines = frame.of_kind(Kind::Processes);
        sums = processes.iter().filter_map(|&i| Some((i, lines.io(i as usize)?))).collect();
    }
    let mut sums: Vec<(u32, LiveIo)> = sums.into_iter().collect();
    sums.sort_unstable_by(|a, b| activity(&b.1).cmp(&activity(&a.1)).then(a.0.cmp(&b.0)));
    let mut unlisted = Unlisted::default();
    for (_, io) in sums.iter().skip(DETAIL_LINES) {
        unlisted.add(io);
    }
    let told = sums.iter().fold(LiveIo::default(), |mut sum, (_, io)| {
        sum.add(io);
        sum
    });
    let missing = own.zip_with(&told, u64::saturating_sub);
    if !missing.is_idle() {
        unlisted.add(&missing);
    }
    sums.truncate(DETAIL_LINES);
    let all = frame.of_kind(wanted);
    let line = |(index, io): (u32, LiveIo)| {
        let index = index as usize;
        Some((index, io, all.get(index)?.state))
    };
    Some(Detail { lines: all.pick(sums.into_iter().filter_map(line)), unlisted })
}

enum Members {
    Processes(Vec<u32>),
    File(u32),
}

fn members(frame: &TopFrame, key: &ItemKey) -> Option<(LiveIo, Members)> {
    let index_of = |kind: Kind| u32::try_from(frame.of_kind(kind).position(key)?).ok();
    match key {
        ItemKey::Process(_) => {
            let index = index_of(Kind::Processes)?;
            let own = frame.of_kind(Kind::Processes).io(index as usize)?;
            Some((own, Members::Processes(vec![index])))
        }
        ItemKey::File(_) => {
            let index = index_of(Kind::Files)?;
            Some((frame.of_kind(Kind::Files).io(index as usize)?, Members::File(index)))
        }
        ItemKey::Group(path) => {
            let index = index_of(Kind::Groups)?;
            let own = frame.of_kind(Kind::Groups).io(index as usize)?;
            let Lines::Processes(processes) = frame.of_kind(Kind::Processes) else { return None };
            let inside = |line: &KeptLine<super::ProcessItem>| {
                line.item.process.cgroup.as_value() == path.as_ref()
                    && line.state != LineState::Gone
            };
            let members = (0_u32..).zip(processes).filter(|(_, line)| inside(line));
            Some((own, Members::Processes(members.map(|(index, _)| index).collect())))
        }
    }
}
