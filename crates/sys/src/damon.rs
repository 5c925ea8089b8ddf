//! Does the kernel evict page cache that nobody used for a while? DAMON can be told to, and then "warm" does not last.

use std::path::{Path, PathBuf};

/// Actions of a scheme that make idle pages leave, or leave first.
const EVICTING_ACTIONS: [&str; 2] = ["pageout", "lru_deprio"];

/// What could be found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IdleEviction {
    /// Something evicts; what that is.
    Running(String),
    /// Nothing that could be seen does.
    NotSeen,
    /// The files may not be read.
    Denied(PathBuf),
}

/// Looks at DAMON's own threads and at the kernel's ready-made reclaimer.
pub(crate) fn idle_eviction() -> IdleEviction {
    probe(Path::new("/sys"))
}

fn probe(sys: &Path) -> IdleEviction {
    let enabled = sys.join("module/damon_reclaim/parameters/enabled");
    if read(&enabled).is_ok_and(|text| text == "Y") {
        return IdleEviction::Running("damon_reclaim is enabled".to_owned());
    }
    let mut answer = IdleEviction::NotSeen;
    for kdamond in numbered(&sys.join("kernel/mm/damon/admin/kdamonds")) {
        let state = kdamond.join("state");
        match read(&state) {
            Ok(text) if text == "on" => {
                if let Some(action) = evicting_action(&kdamond) {
                    let name = kdamond.display();
                    return IdleEviction::Running(format!("{name} runs a {action} scheme"));
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                answer = IdleEviction::Denied(state);
            }
            _ => {}
        }
    }
    answer
}

fn evicting_action(kdamond: &Path) -> Option<&'static str> {
    numbered(&kdamond.join("contexts"))
        .flat_map(|context| numbered(&context.join("schemes")))
        .filter_map(|scheme| read(&scheme.join("action")).ok())
        .find_map(|action| EVICTING_ACTIONS.into_iter().find(|evicting| *evicting == action))
}

/// The directories of `dir` whose name is a number.
fn numbered(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let is_number = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|n| n.parse::<u32>().is_ok())
    };
    std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_number)
}

fn read(path: &Path) -> std::io::Result<String> {
    Ok(std::fs::read_to_string(path)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_scheme_counts_and_a_stopped_one_does_not() {
        let sys = std::env::temp_dir().join(format!("hotset-damon-{}", std::process::id()));
        let kdamond = sys.join("kernel/mm/damon/admin/kdamonds/0");
        let scheme = kdamond.join("contexts/0/schemes/0");
        std::fs::create_dir_all(&scheme).expect("mkdir");
        std::fs::write(scheme.join("action"), "pageout\n").expect("write");
        std::fs::write(kdamond.join("state"), "off\n").expect("write");
        let stopped = probe(&sys);
        std::fs::write(kdamond.join("state"), "on\n").expect("write");
        let running = probe(&sys);
        std::fs::write(scheme.join("action"), "stat\n").expect("write");
        let watching = probe(&sys);
        std::fs::remove_dir_all(&sys).expect("cleanup");
        assert_eq!(stopped, IdleEviction::NotSeen);
        assert!(matches!(running, IdleEviction::Running(what) if what.contains("pageout")));
        assert_eq!(watching, IdleEviction::NotSeen);
    }
}
