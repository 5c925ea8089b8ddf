//! How many bytes a host's day takes, in files of an hour:
//!
//! ```text
//! cargo run --release -p hotset-fleet --example tables [GROUPS] [FILES] [SECONDS]
//! ```
//!
//! Groups, files with rows in an interval, and seconds of an interval: 50, 20 and 60, if nothing is said. Half of the groups are idle in an
//! interval; the others read, a third of them also write and sync, with amounts drawn at random over three orders of magnitude. Memory of all groups
//! changes. A curve has 60 limits an hour, and one group in five a finding.

use std::io::Write as _;

use hotset_facts::LiveIo;
use hotset_facts::fleet::{
    CountedIo, CurveRow, FileIntervalRow, FindingRow, GroupIntervalRow, HostRow, IntervalKey,
    Workload,
};
use hotset_facts::random::Random;
use hotset_fleet::encode;

const LIMITS: u64 = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut asked = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let mut next = |default: u64| asked.next().transpose().map(|found| found.unwrap_or(default));
    let (groups, files, seconds) = (next(50)?, next(20)?, next(60)?);
    let mut random = Random::new(20_261_127);
    let mut sums = [0_usize; 5];
    let mut session = Session { random: &mut random, sequence: 0, seconds };
    for hour in 0..24 {
        let made = session.hour(hour, groups, files)?;
        sums.iter_mut().zip(made).for_each(|(sum, bytes)| *sum += bytes);
    }
    let names = ["host", "group_interval", "file_interval", "curve", "finding"];
    let mut out = std::io::stdout().lock();
    for (name, bytes) in names.iter().zip(sums) {
        writeln!(out, "{name}: {bytes} bytes a day")?;
    }
    writeln!(out, "all: {} bytes a day", sums.iter().sum::<usize>())?;
    Ok(())
}

struct Session<'a> {
    random: &'a mut Random,
    sequence: u64,
    seconds: u64,
}

impl Session<'_> {
    /// Bytes of each table's file.
    fn hour(
        &mut self,
        hour: u64,
        groups: u64,
        files: u64,
    ) -> Result<[usize; 5], Box<dyn std::error::Error>> {
        let (mut host, mut group, mut file) = (vec![], vec![], vec![]);
        let (mut curve, mut finding) = (vec![], vec![]);
        for interval in 0..3_600 / self.seconds {
            let key = self.key(hour * 3_600 + (interval + 1) * self.seconds);
            host.push(HostRow { key: key.clone(), io: counted(self.io(0)), ..HostRow::default() });
            for number in 0..groups {
                group.push(self.group(&key, number));
            }
            for number in 0..files {
                file.push(self.file(&key, number, groups));
            }
        }
        let key = self.key((hour + 1) * 3_600);
        for number in 0..groups {
            for limit in 0..=LIMITS {
                let sampled_hits = self.amount();
                let (key, who) = (key.clone(), who(number));
                curve.push(CurveRow {
                    key,
                    who,
                    limit_pages: limit * 97,
                    sampled_hits,
                    ..CurveRow::default()
                });
            }
        }
        for number in (0..groups).step_by(5) {
            finding.push(self.finding(&key, number));
        }
        Ok([
            encode(host)?.len(),
            encode(group)?.len(),
            encode(file)?.len(),
            encode(curve)?.len(),
            encode(finding)?.len(),
        ])
    }

    fn finding(&mut self, key: &IntervalKey, number: u64) -> FindingRow {
        let (low, high) = (self.amount(), self.amount());
        FindingRow {
            key: key.clone(),
            who: who(number),
            rule: "fsync-per-write".into(),
            severity: "warning".into(),
            title: format!("One fsync per {} B written", self.amount()).into(),
            advice: "Group commits: sync once per 10 to 50 records (in SQL, one transaction)."
                .into(),
            saving_low_ns: Some(low),
            saving_high_ns: Some(high),
            evidence: format!("{{\"sync_calls\":{},\"sync_ns\":{}}}", self.amount(), self.amount())
                .into(),
            path: Some(format!("/srv/{number}/journal").into()),
            other_paths: "[]".into(),
            ..FindingRow::default()
        }
    }

    fn key(&mut self, second: u64) -> IntervalKey {
        self.sequence += 1;
        let late = self.random.below(2_000) as i64;
        IntervalKey {
            ts: 1_795_000_000_000_000 + second as i64 * 1_000_000 + late,
            length_ns: self.seconds * 1_000_000_000 + self.random.below(2_000_000),
            host: "node-17".into(),
            host_id: "a4eef70b92f3a424f0d0367c6997d830".into(),
            boot_id: "0b4f0f6c-6a35-4b8b-9a7e-3f0b8f2d9f55".into(),
            session: 1_795_000_000_000_000,
            sequence: self.sequence,
        }
    }

    /// One to a thousand, small ones as often as large ones.
    fn amount(&mut self) -> u64 {
        1 << self.random.below(10) | self.random.below(7)
    }

    fn io(&mut self, number: u64) -> LiveIo {
        let calls = self.amount();
        let mut io = LiveIo {
            read_calls: calls,
            read_bytes: calls * 4_096 + self.random.below(4_096),
            read_pages: calls + self.amount(),
            sequential_reads: calls / 2,
            read_misses: self.amount() / 4,
            readahead_pages: self.amount() / 4,
            device_read_bytes: (self.amount() / 4) * 4_096,
            read_hit_ns: self.random.below(1 << 30),
            read_wait_ns: self.random.below(1 << 28),
            faults: self.amount(),
            ..LiveIo::ZERO
        };
        if number.is_multiple_of(3) {
            io.write_calls = self.amount();
            io.write_bytes = io.write_calls * 512;
            io.write_pages = io.write_calls;
            io.dirtied_pages = io.write_calls / 2;
            io.sync_calls = self.amount() / 100;
            io.sync_ns = self.random.below(1 << 28);
            io.write_ns = self.random.below(1 << 26);
        }
        io
    }

    fn group(&mut self, key: &IntervalKey, number: u64) -> GroupIntervalRow {
        let is_idle = self.random.below(2) == 0;
        let io = if is_idle { LiveIo::ZERO } else { self.io(number) };
        let mut row = GroupIntervalRow {
            key: key.clone(),
            who: who(number),
            io: counted(io),
            ..Default::default()
        };
        row.memory.limit_bytes = Some(1 << 30);
        row.memory.used_bytes = Some((1 << 28) + self.random.below(1 << 14) * 4_096);
        row.memory.file_bytes = Some((1 << 27) + self.random.below(1 << 14) * 4_096);
        row.memory.anon_bytes = Some((1 << 27) + self.random.below(1 << 8) * 4_096);
        row.memory.refaulted_pages = Some(self.amount() / 16);
        row
    }

    fn file(&mut self, key: &IntervalKey, number: u64, groups: u64) -> FileIntervalRow {
        let number = number + 10 * self.random.below(10);
        FileIntervalRow {
            key: key.clone(),
            who: who(number % groups.max(1)),
            path: Some(format!("/var/lib/postgresql/15/main/base/16384/{number}").as_str().into()),
            device: "8:1".into(),
            inode: 1_000_000 + number,
            io: counted(self.io(number)),
            size_bytes: Some(1 << 24),
            cached_pages: Some(self.random.below(1 << 12)),
            ..FileIntervalRow::default()
        }
    }
}

fn counted(io: LiveIo) -> CountedIo {
    CountedIo { io, lacks: Vec::new() }
}

fn who(number: u64) -> Workload {
    let name = format!("shop/service-{}/main", number % 17);
    Workload {
        cgroup: format!("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_{number:04x}.slice/cri-containerd-{number:064x}.scope")
            .as_str()
            .into(),
        namespace: Some("shop".into()),
        pod: Some(format!("service-{}-7d4b9c6f5d-x{number:04}", number % 17).as_str().into()),
        container: Some("main".into()),
        workload_kind: "deployment".into(),
        workload: name.as_str().into(),
        ..Workload::default()
    }
}
