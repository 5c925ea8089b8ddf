//! Control groups by what people call them: units of systemd, and containers.

use std::fs;
use std::path::{Path, PathBuf};

use super::Hierarchies;
use super::names::{ContainerName, GroupRole, Runtime, look_up, role, short_id};

/// Groups that a message names.
const TOLD: usize = 8;
/// Fewer characters of an id name nothing.
const LEAST_ID: usize = 4;

/// There is not exactly one such group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// There is none.
    #[error("no {kind} called {name:?} is running{}", running(.others))]
    None {
        /// `unit` or `container`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// Those that there are.
        others: Vec<String>,
    },
    /// There are several.
    #[error("{} {kind}s match {name:?}: {}; pass one of these to --cgroup", .paths.len(), some(.paths))]
    Several {
        /// `unit` or `container`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// Their directories.
        paths: Vec<String>,
    },
}

fn running(others: &[String]) -> String {
    if others.is_empty() { String::new() } else { format!("; running: {}", some(others)) }
}

/// The first of them, and how many more there are.
fn some(all: &[String]) -> String {
    let shown = all.iter().take(TOLD).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(TOLD) {
        0 => shown,
        more => format!("{shown}, {more} more"),
    }
}

/// The directory of the control group of a unit of systemd; a name without a type is a service's.
///
/// # Errors
/// Where no such unit has a group, or several have: of several users, say.
pub fn unit(name: &str) -> Result<PathBuf, SearchError> {
    let whole = with_type(name);
    let mut units = Vec::new();
    let mut found = Vec::new();
    each_group(&mut |path, dir| {
        let Some(last) = path.file_name().and_then(|last| last.to_str()) else { return };
        // systemd puts an underscore before a name that could be taken for a file of the kernel's.
        let last = last.strip_prefix('_').unwrap_or(last);
        if last == whole {
            found.push(dir.to_owned());
        } else if last.ends_with(".service") {
            units.push(last.to_owned());
        }
    });
    only(found, "unit", name, units)
}

fn with_type(name: &str) -> String {
    const TYPES: [&str; 6] = [".service", ".scope", ".slice", ".socket", ".mount", ".swap"];
    match TYPES.iter().any(|kind| name.ends_with(kind)) {
        true => name.to_owned(),
        false => format!("{name}.service"),
    }
}

/// The directory of the control group of a container, by its name, by that of its pod (`namespace/pod`) with or without the
/// container's own (`namespace/pod/name`), or by the first characters of its id, four or more.
///
/// # Errors
/// Where no such container runs, or several do.
pub fn container(name: &str) -> Result<PathBuf, SearchError> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    each_group(&mut |path, dir| {
        let Some((runtime, id)) = own_container(path) else { return };
        let called = look_up(runtime, &id);
        match matches(name, &id, called.as_ref()) {
            true => found.push(dir.to_owned()),
            false => others.push(shown(&id, called.as_ref())),
        }
    });
    only(found, "container", name, others)
}

/// The container whose outermost group this is.
fn own_container(path: &Path) -> Option<(Runtime, String)> {
    let id_of = |path: &Path| match role(path.to_str()?) {
        GroupRole::Container { runtime, id, .. } => Some((runtime, id)),
        _ => None,
    };
    let own = id_of(path)?;
    let is_inside = path.parent().and_then(id_of).is_some_and(|above| above == own);
    (!is_inside).then_some(own)
}

fn matches(name: &str, id: &str, called: Option<&ContainerName>) -> bool {
    let by_id = name.len() >= LEAST_ID && id.starts_with(name);
    by_id
        || called.is_some_and(|called| match &called.pod {
            // Each pod has a sandbox beside its containers.
            Some(pod) => {
                (name == pod && called.name != "sandbox")
                    || name == format!("{pod}/{}", called.name)
            }
            None => name == called.name,
        })
}

fn shown(id: &str, called: Option<&ContainerName>) -> String {
    match called {
        Some(ContainerName { pod: Some(pod), name, .. }) => format!("{pod}/{name}"),
        Some(ContainerName { pod: None, name, .. }) => name.clone(),
        None => short_id(id),
    }
}

fn only(
    mut found: Vec<PathBuf>,
    kind: &'static str,
    name: &str,
    mut others: Vec<String>,
) -> Result<PathBuf, SearchError> {
    let name = name.to_owned();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            others.sort();
            others.dedup();
            Err(SearchError::None { kind, name, others })
        }
        _ => {
            let paths = found.iter().map(|path| path.display().to_string()).collect();
            Err(SearchError::Several { kind, name, paths })
        }
    }
}

/// Shows every group of the hierarchy that names are looked for in: its path there, and its directory.
fn each_group(show: &mut dyn FnMut(&Path, &Path)) {
    let Some(top) = Hierarchies::now().named() else { return };
    let mut dirs = vec![top.clone()];
    while let Some(dir) = dirs.pop() {
        if let Ok(below) = dir.strip_prefix(&top) {
            show(&Path::new("/").join(below), &dir);
        }
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        let groups = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        dirs.extend(groups.map(|entry| entry.path()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn called(pod: Option<&str>, name: &str) -> ContainerName {
        ContainerName { pod: pod.map(str::to_owned), name: name.to_owned(), image: None }
    }

    #[test]
    fn a_container_is_known_by_id_name_and_pod() {
        for (name, known, wanted) in [
            ("0123", None, true),
            ("012", None, false),
            ("0123456789ab", Some(called(None, "web")), true),
            ("web", Some(called(None, "web")), true),
            ("we", Some(called(None, "web")), false),
            ("shop/web-1", Some(called(Some("shop/web-1"), "nginx")), true),
            ("shop/web-1/nginx", Some(called(Some("shop/web-1"), "nginx")), true),
            ("nginx", Some(called(Some("shop/web-1"), "nginx")), false),
            ("shop/web-1", Some(called(Some("shop/web-1"), "sandbox")), false),
        ] {
            assert_eq!(matches(name, ID, known.as_ref()), wanted, "{name} {known:?}");
        }
    }

    #[test]
    fn a_group_inside_of_a_container_is_not_the_container() {
        let scope = format!("/system.slice/docker-{ID}.scope");
        assert_eq!(own_container(Path::new(&scope)), Some((Runtime::Docker, ID.to_owned())));
        assert_eq!(own_container(Path::new(&format!("{scope}/init.scope"))), None);
        assert_eq!(own_container(Path::new("/system.slice")), None);
    }

    #[test]
    fn a_unit_without_a_type_is_a_service() {
        assert_eq!(with_type("nginx"), "nginx.service");
        assert_eq!(with_type("user@1000.service"), "user@1000.service");
        assert_eq!(with_type("system.slice"), "system.slice");
    }

    #[test]
    fn errors_name_what_there_is() {
        let others = (0..10).map(|number| format!("u{number}.service")).collect();
        let error = only(Vec::new(), "unit", "x", others).expect_err("none").to_string();
        assert!(
            error.starts_with("no unit called \"x\" is running; running: u0.service"),
            "{error}"
        );
        assert!(error.ends_with("u7.service, 2 more"), "{error}");
        let both = vec![PathBuf::from("/a"), PathBuf::from("/b")];
        let error = only(both, "container", "x", Vec::new()).expect_err("two").to_string();
        assert_eq!(error, "2 containers match \"x\": /a, /b; pass one of these to --cgroup");
    }

    #[test]
    fn a_unit_that_is_there_is_found_and_another_is_not() {
        crate::test_support::assert_root();
        let top = Hierarchies::now().named().expect("a hierarchy is mounted");
        let name = format!("hotset-unit-{}", std::process::id());
        let dir = top.join(format!("{name}.service"));
        fs::create_dir(&dir).expect("a group");
        let found = (unit(&name), unit(&format!("{name}.slice")));
        fs::remove_dir(&dir).expect("removed");
        assert_eq!(found.0, Ok(dir));
        assert!(matches!(found.1, Err(SearchError::None { .. })), "{:?}", found.1);
    }
}
