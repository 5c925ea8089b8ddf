//! Running programs by their names.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hotset_facts::Pid;

use super::stat::{self, Stat};
use super::{ProcError, cmdline, numbers_in};

/// What the kernel keeps of a name, in bytes (TASK_COMM_LEN less its end).
const COMM_BYTES: usize = 15;

/// The running programs that are called `name`, in ascending order: by the kernel's name of the process, by the last part of its
/// first word, or by that of its executable. Of a program whose ancestor has the same name, the ancestor stands for both.
/// Kernel threads and this process are left out.
///
/// # Errors
/// Where /proc can't be read. Processes that vanish meanwhile are none.
pub fn named(name: &OsStr) -> Result<Vec<Pid>, ProcError> {
    let own = std::process::id();
    let mut parents: HashMap<Pid, Pid> = HashMap::new();
    let mut found: Vec<Pid> = Vec::new();
    for pid in numbers_in(Path::new("/proc"))?.unwrap_or_default() {
        let stat = match stat::of(pid) {
            Ok(Some(stat)) if stat.is_alive() => stat,
            Ok(_) => continue,
            Err(error) if error.is_denied() => continue,
            Err(error) => return Err(error),
        };
        parents.insert(pid, stat.ppid);
        if pid != own && is_called(&stat, name) {
            found.push(pid);
        }
    }
    let all = found.clone();
    found.retain(|&pid| !ancestors(pid, &parents).any(|above| all.contains(&above)));
    found.sort_unstable();
    Ok(found)
}

/// The processes above one, nearest first.
fn ancestors(pid: Pid, parents: &HashMap<Pid, Pid>) -> impl Iterator<Item = Pid> + '_ {
    let above = move |pid: &Pid| parents.get(pid).copied().filter(|&parent| parent != 0);
    // Ids that are reused during the scan can make a circle.
    std::iter::successors(above(&pid), above).take(parents.len())
}

fn is_called(stat: &Stat, name: &OsStr) -> bool {
    let words = cmdline::of(stat.pid).ok().flatten().unwrap_or_default();
    let exe = fs::read_link(format!("/proc/{}/exe", stat.pid)).ok();
    // A kernel thread has neither, and is no program.
    if words.is_empty() && exe.is_none() {
        return false;
    }
    let short = name.len() <= COMM_BYTES && stat.comm.as_bytes() == name.as_bytes();
    let last_part = |path: &Path| path.file_name() == Some(name);
    let started_as = words.first().is_some_and(|word| last_part(Path::new(word)));
    short || started_as || exe.is_some_and(|exe| last_part(&exe))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use hotset_tests::Scratch;

    use super::*;

    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn start(words: &[&str]) -> Running {
        Running(Command::new(words[0]).args(&words[1..]).spawn().expect("spawn"))
    }

    /// A program under a name that nobody else has.
    fn linked(scratch: &Scratch, program: &str, name: &str) -> String {
        let path = scratch.path(name);
        std::os::unix::fs::symlink(program, &path).expect("symlink");
        path.to_str().expect("text").to_owned()
    }

    fn until_named(name: &str, wanted: &[Pid]) {
        let started = std::time::Instant::now();
        // Between fork and exec a child has its parent's name.
        while named(OsStr::new(name)).expect("/proc") != wanted {
            let found = named(OsStr::new(name)).expect("/proc");
            assert!(started.elapsed().as_secs() < 20, "{found:?} of {wanted:?}");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    #[test]
    fn a_program_is_known_by_its_short_and_its_long_name() {
        let long = "hotset-a-name-of-more-than-fifteen-bytes";
        let scratch = Scratch::new("named");
        let running = start(&[&linked(&scratch, "/bin/sleep", long), "60"]);
        until_named(long, &[running.0.id()]);
        assert_eq!(named(OsStr::new("hotset-a-name-o")).expect("/proc"), [running.0.id()]);
        assert_eq!(named(OsStr::new("hotset-a-name")).expect("/proc"), [0; 0], "a part of a name");
    }

    #[test]
    fn of_a_family_of_one_name_the_eldest_is_found() {
        let scratch = Scratch::new("family");
        let path = linked(&scratch, "/bin/sh", "hotset-family");
        let running = start(&[&path, "-c", &format!("{path} -c 'sleep 60; :'; :")]);
        let pid = running.0.id();
        until_named("hotset-family", &[pid]);
        let below = super::super::children::descendants(pid).expect("/proc");
        drop(running);
        for child in below {
            if let Some(pid) = rustix::process::Pid::from_raw(child.pid.cast_signed()) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }

    #[test]
    fn kernel_threads_are_no_programs() {
        assert_eq!(named(OsStr::new("kthreadd")).expect("/proc"), [0; 0]);
    }
}
