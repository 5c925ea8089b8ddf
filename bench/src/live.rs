//! What watching costs: a session that samples, and a crowd of processes that use many files within one interval.

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hotset_facts::GroupCurve;
use hotset_observe::DRAIN_INTERVAL;
use hotset_observe::live::{LiveOptions, LiveSession};
use hotset_watch::interval::{CurveOptions, Drained, Live, LiveSource};

/// `live MILLISECONDS COUNT`: samples of everything on this host. One line a sample: nanoseconds in `sample()`, processes,
/// files and rows shown, requests for nobody, and of this process: nanoseconds on a CPU since the last line, resident KiB.
pub(crate) fn watch(milliseconds: &str, count: u64) -> Result<(), Box<dyn Error>> {
    let interval = Duration::from_millis(milliseconds.parse()?);
    let mut session = LiveSession::start(LiveOptions::default())?;
    println!("ready");
    let mut cpu = cpu_ns()?;
    let start = Instant::now();
    for number in 1..=u32::try_from(count)? {
        while let Some(left) = (interval * number).checked_sub(start.elapsed()) {
            std::thread::sleep(left.min(DRAIN_INTERVAL));
            session.drain()?;
        }
        let began = Instant::now();
        let sample = session.sample()?;
        let took = began.elapsed().as_nanos();
        let now = cpu_ns()?;
        println!(
            "{took} {} {} {} {} {} {}",
            sample.processes.len(),
            sample.files.len(),
            sample.rows.len(),
            sample.losses.unattributed,
            now - cpu,
            resident_kib()?
        );
        cpu = now;
    }
    Ok(())
}

/// `curves EXPONENT COUNT`: intervals of a second of everything on this host, without names of files; with curves of control
/// groups of one in 2^EXPONENT pages, or without where that is `off`, or with path lookups where it is `lookups`. One line an interval:
/// references of the groups, references to pages in the sample that were lost, pages in the sample, groups, of this process
/// nanoseconds on a CPU since the last line and resident KiB, and lookups and failed lookups.
pub(crate) fn curves(exponent: &str, count: u64) -> Result<(), Box<dyn Error>> {
    let curves = match exponent {
        "off" | "lookups" => None,
        exponent => Some(CurveOptions { exponent: exponent.parse()?, ..CurveOptions::default() }),
    };
    let lookups = exponent == "lookups";
    let options = LiveOptions { names: false, lookups, ..LiveOptions::default() };
    let mut live = Live::start(options, curves)?;
    println!("ready");
    let mut cpu = cpu_ns()?;
    let start = Instant::now();
    for number in 1..=u32::try_from(count)? {
        while let Some(left) = (Duration::from_secs(1) * number).checked_sub(start.elapsed()) {
            std::thread::sleep(left.min(DRAIN_INTERVAL));
            live.drain()?;
        }
        let interval = live.interval()?;
        let now = cpu_ns()?;
        let groups = interval.curves.map_or(Vec::new(), |curves| curves.groups);
        let sum = |of: fn(&GroupCurve) -> u64| groups.iter().map(of).sum::<u64>();
        let (references, lost) = (sum(|group| group.references), sum(|group| group.lost));
        let (pages, number) = (sum(|group| group.pages), groups.len());
        let lookups = interval.lookups.unwrap_or_default().into_iter();
        let (calls, failed) = lookups
            .fold((0, 0), |(calls, failed), group| (calls + group.calls, failed + group.failed));
        let (took, resident) = (now - cpu, resident_kib()?);
        println!("{references} {lost} {pages} {number} {took} {resident} {calls} {failed}");
        cpu = now;
    }
    Ok(())
}

/// User and system time of this process.
fn cpu_ns() -> Result<u128, Box<dyn Error>> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(u128::try_from(time.tv_sec)? * 1_000_000_000 + u128::try_from(time.tv_nsec)?)
}

fn resident_kib() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let words = line.ok_or("no VmRSS")?.split_whitespace().next().ok_or("VmRSS is empty")?;
    Ok(words.parse()?)
}

/// `crowd DIR PROCESSES`: so many processes read ten files each, over and over until standard input ends.
pub(crate) fn crowd(directory: &Path, processes: u64) -> Result<(), Box<dyn Error>> {
    let mut children = Vec::new();
    for process in 0..processes {
        let paths: Vec<PathBuf> =
            (0..10).map(|i| super::path_of(directory, process * 10 + i)).collect();
        // SAFETY: this program has one thread, so the child may go on as any program does.
        match unsafe { libc::fork() } {
            0 => read_for_ever(&paths),
            pid if pid > 0 => children.push(pid),
            _ => return Err(std::io::Error::last_os_error().into()),
        }
    }
    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    for pid in children {
        // SAFETY: our own children, none of which was waited for.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
    Ok(())
}

fn read_for_ever(paths: &[PathBuf]) -> ! {
    let mut buffer = vec![0_u8; 4096];
    loop {
        for path in paths {
            let _ = File::open(path).and_then(|mut file| file.read(&mut buffer));
        }
        std::thread::sleep(Duration::from_millis(1000));
    }
}
