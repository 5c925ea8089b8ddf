//! The processes below a process, and the threads within one.

use std::path::{Path, PathBuf};

use hotset_facts::Pid;

use super::stat::{self, Stat};
use super::{ProcError, numbers_in};

/// All live descendants of `root`, parents before children, without `root`.
///
/// A snapshot: what was born or lost its parent during the scan can be missing.
pub fn descendants(root: Pid) -> Result<Vec<Stat>, ProcError> {
    let mut all = Vec::new();
    for pid in numbers_in(Path::new("/proc"))?.unwrap_or_default() {
        match stat::of(pid) {
            Ok(stat) => all.extend(stat),
            // With hidepid=1, other users' processes have names and no more; they are no descendants of this user's.
            Err(error) if error.is_denied() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(below(root, &all))
}

/// The threads of `pid`, its first one included, or nothing where it is gone.
pub fn threads(pid: Pid) -> Result<Option<Vec<Pid>>, ProcError> {
    numbers_in(&PathBuf::from(format!("/proc/{pid}/task")))
}

/// The live descendants of `root` among `all`, parents before children.
pub fn below(root: Pid, all: &[Stat]) -> Vec<Stat> {
    let mut found: Vec<&Stat> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|stat| stat.ppid == parent && stat.pid != parent) {
            // Ids can be reused during the scan, and then make a circle.
            if child.pid != root && !found.iter().any(|known| known.pid == child.pid) {
                found.push(child);
                parents.push(child.pid);
            }
        }
    }
    found.into_iter().filter(|stat| stat.is_alive()).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: Pid, ppid: Pid, state: char) -> Stat {
        let line = format!("{pid} (x) {state} {ppid} 0 0 0 0 0 1 0 0 0 0 0 0 0 20 0 1 0 5 0 0");
        stat::parse(line.as_bytes()).expect("stat")
    }

    #[test]
    fn grandchildren_count_and_zombies_do_not() {
        let all = [
            process(1, 0, 'S'),
            process(10, 1, 'S'),
            process(11, 10, 'R'),
            process(12, 10, 'Z'),
            process(13, 11, 'D'),
            process(20, 1, 'S'),
        ];
        let pids: Vec<Pid> = below(10, &all).iter().map(|stat| stat.pid).collect();
        assert_eq!(pids, [11, 13]);
    }

    #[test]
    fn a_circle_of_reused_ids_ends() {
        let all = [process(10, 11, 'S'), process(11, 10, 'S')];
        assert_eq!(below(10, &all).len(), 1);
    }

    #[test]
    fn a_child_of_this_process_is_found_and_threads_are_listed() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("spawn");
        let found = descendants(std::process::id()).expect("descendants");
        child.kill().expect("kill");
        child.wait().expect("wait");
        assert!(found.iter().any(|stat| stat.pid == child.id()), "{found:?}");
        let threads = threads(std::process::id()).expect("threads").expect("this process");
        assert!(threads.contains(&std::process::id()));
    }
}
