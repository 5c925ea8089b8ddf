//! The names that container runtimes keep in their files.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Runtime;

/// What a container is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerName {
    /// `namespace/pod`, in Kubernetes.
    pub pod: Option<String>,
    /// Its own name.
    pub name: String,
    /// The image that was asked for.
    pub image: Option<String>,
}

/// Longer files are none of a runtime's.
const LONGEST_FILE: u64 = 4 << 20;

/// The name of a container, if its runtime's files tell it and may be read.
pub fn look_up(runtime: Runtime, id: &str) -> Option<ContainerName> {
    // An id becomes a part of a path.
    if !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    match runtime {
        Runtime::Docker => docker(id),
        Runtime::Containerd | Runtime::Unknown => containerd(id).or_else(|| docker(id)),
        Runtime::Crio | Runtime::Podman => containers_storage(id),
        Runtime::Lxc => None,
    }
}

fn docker(id: &str) -> Option<ContainerName> {
    let file = Path::new("/var/lib/docker/containers").join(id).join("config.v2.json");
    parse_docker(&read(&file)?)
}

fn containerd(id: &str) -> Option<ContainerName> {
    let tasks = Path::new("/run/containerd/io.containerd.runtime.v2.task");
    let namespaces = ["k8s.io", "moby", "default"];
    namespaces.iter().find_map(|namespace| {
        parse_oci(&read(&tasks.join(namespace).join(id).join("config.json"))?)
    })
}

fn containers_storage(id: &str) -> Option<ContainerName> {
    let stores = ["/run/containers/storage", "/var/lib/containers/storage"];
    stores.iter().find_map(|store| {
        let containers: PathBuf = Path::new(store).join("overlay-containers");
        let bundle = containers.join(id).join("userdata/config.json");
        let pod = read(&bundle).and_then(|bytes| parse_oci(&bytes));
        pod.or_else(|| parse_storage(&read(&containers.join("containers.json"))?, id))
    })
}

/// The name of a container in the list that Podman and CRI-O keep.
fn parse_storage(bytes: &[u8], id: &str) -> Option<ContainerName> {
    let all: Value = serde_json::from_slice(bytes).ok()?;
    let is_it = |one: &&Value| one.get("id").and_then(Value::as_str) == Some(id);
    let it = all.as_array()?.iter().find(is_it)?;
    let name = it.get("names")?.get(0)?.as_str()?;
    // A text that is JSON itself.
    let metadata = it.get("metadata").and_then(Value::as_str);
    let metadata: Option<Value> = metadata.and_then(|text| serde_json::from_str(text).ok());
    let image = metadata.as_ref().and_then(|metadata| text_of(metadata, "image-name"));
    (!name.is_empty()).then(|| ContainerName { pod: None, name: name.to_owned(), image })
}

/// A text that a key has, if there is one.
fn text_of(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_str().filter(|text| !text.is_empty())?.to_owned())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(LONGEST_FILE).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The name in Docker's `config.v2.json`, which begins with a slash there.
pub fn parse_docker(bytes: &[u8]) -> Option<ContainerName> {
    let config: Value = serde_json::from_slice(bytes).ok()?;
    let made_of = config.get("Config");
    let labels = made_of.and_then(|made_of| made_of.get("Labels"));
    let image = made_of.and_then(|made_of| text_of(made_of, "Image"));
    let label = |name: &str| Some(labels?.get(name)?.as_str()?.to_owned());
    if let (Some(namespace), Some(pod), Some(name)) = (
        label("io.kubernetes.pod.namespace"),
        label("io.kubernetes.pod.name"),
        label("io.kubernetes.container.name"),
    ) {
        return Some(ContainerName { pod: Some(format!("{namespace}/{pod}")), name, image });
    }
    let name = config.get("Name")?.as_str()?;
    let name = name.strip_prefix('/').unwrap_or(name);
    (!name.is_empty()).then(|| ContainerName { pod: None, name: name.to_owned(), image })
}

/// The names in the annotations of an OCI bundle's `config.json`, as Kubernetes' runtimes write them.
pub fn parse_oci(bytes: &[u8]) -> Option<ContainerName> {
    const NAMES: [[&str; 3]; 2] = [
        [
            "io.kubernetes.cri.sandbox-namespace",
            "io.kubernetes.cri.sandbox-name",
            "io.kubernetes.cri.container-name",
        ],
        ["io.kubernetes.pod.namespace", "io.kubernetes.pod.name", "io.kubernetes.container.name"],
    ];
    let config: Value = serde_json::from_slice(bytes).ok()?;
    let annotations = config.get("annotations")?;
    let note = |name: &str| Some(annotations.get(name)?.as_str()?.to_owned());
    // As containerd and CRI-O write it.
    let images = ["io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName"];
    let image = images.iter().find_map(|key| text_of(annotations, key));
    NAMES.iter().find_map(|[namespace, pod, name]| {
        let pod = format!("{}/{}", note(namespace)?, note(pod)?);
        // The sandbox of a pod has no name of its own.
        let name = note(name).filter(|name| !name.is_empty()).unwrap_or_else(|| "sandbox".into());
        Some(ContainerName { pod: Some(pod), name, image: image.clone() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_the_list_of_a_storage() {
        let list = br#"[{"id":"aa","names":["web"]},{"id":"bb","names":[]},{"id":"cc"}]"#;
        assert_eq!(parse_storage(list, "aa").map(|found| found.name), Some("web".into()));
        for none in ["bb", "cc", "dd"] {
            assert_eq!(parse_storage(list, none), None);
        }
        assert_eq!(parse_storage(b"{", "aa"), None);
    }

    #[test]
    fn the_image_is_what_was_asked_for() {
        let image = |found: Option<ContainerName>| found.and_then(|found| found.image);
        let list = r#"[{"id":"aa","names":["web"],"image":"5c5e",
            "metadata":"{\"image-name\":\"docker.io/library/nginx:1.27\",\"name\":\"web\"}"},
            {"id":"bb","names":["db"],"metadata":"{"}]"#;
        let nginx = Some("docker.io/library/nginx:1.27".to_owned());
        assert_eq!(image(parse_storage(list.as_bytes(), "aa")), nginx);
        assert_eq!(parse_storage(list.as_bytes(), "bb").map(|found| found.image), Some(None));
        let docker = br#"{"Name":"/web","Config":{"Image":"nginx:1.27"}}"#;
        assert_eq!(image(parse_docker(docker)).as_deref(), Some("nginx:1.27"));
        for key in ["io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName"] {
            let oci = format!(
                r#"{{"annotations":{{"{key}":"docker.io/library/nginx:1.27","io.kubernetes.pod.namespace":"a",
                "io.kubernetes.pod.name":"b","io.kubernetes.container.name":"c"}}}}"#
            );
            assert_eq!(image(parse_oci(oci.as_bytes())), nginx);
        }
        assert_eq!(image(parse_docker(br#"{"Name":"/web","Config":{"Image":""}}"#)), None);
    }

    #[test]
    fn an_id_that_would_leave_the_directory_is_not_looked_up() {
        assert_eq!(look_up(Runtime::Docker, "../../../etc"), None);
    }
}
