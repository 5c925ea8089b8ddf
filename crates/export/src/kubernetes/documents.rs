//! What Kubernetes' API server answers, as far as it is read: all else of an answer is skipped while it comes.

use serde::Deserialize;

/// A list, or a page of one.
#[derive(Debug, Deserialize)]
pub(super) struct PodList {
    pub(super) metadata: ListMetadata,
    /// Null where there is none.
    #[serde(default)]
    pub(super) items: Option<Vec<PodDocument>>,
}

/// Whether there is another page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ListMetadata {
    #[serde(default, rename = "continue")]
    pub(super) more: Option<String>,
}

/// A pod.
#[derive(Debug, Deserialize)]
pub(super) struct PodDocument {
    pub(super) metadata: Metadata,
    #[serde(default)]
    pub(super) spec: Option<Spec>,
    #[serde(default)]
    pub(super) status: Option<Status>,
}

/// Any object, of which only its metadata matter.
#[derive(Debug, Deserialize)]
pub(super) struct ObjectDocument {
    pub(super) metadata: Metadata,
}

/// What every object has.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: String,
    pub(super) uid: String,
    #[serde(default)]
    pub(super) annotations: Option<Annotations>,
    #[serde(default)]
    owner_references: Option<Vec<OwnerReference>>,
}

impl Metadata {
    /// The one that manages the object; at most one does.
    pub(super) fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
    }
}

/// Of the annotations, the one that the kubelet gives a static pod's mirror: the uid that the pod has on its node.
#[derive(Debug, Deserialize)]
pub(super) struct Annotations {
    #[serde(default, rename = "kubernetes.io/config.hash")]
    pub(super) config_hash: Option<String>,
}

/// Whose an object is.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OwnerReference {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
    #[serde(default)]
    controller: Option<bool>,
}

impl OwnerReference {
    /// The group of its API; "" of the first ones, such as nodes.
    pub(super) fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// What a pod is to be.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Spec {
    #[serde(default)]
    containers: Option<Vec<SpecContainer>>,
    #[serde(default)]
    init_containers: Option<Vec<SpecContainer>>,
    #[serde(default)]
    ephemeral_containers: Option<Vec<SpecContainer>>,
}

impl Spec {
    /// All its containers.
    pub(super) fn all(&self) -> impl Iterator<Item = &SpecContainer> {
        [&self.containers, &self.init_containers, &self.ephemeral_containers]
            .into_iter()
            .flatten()
            .flatten()
    }
}

/// What a container is to be.
#[derive(Debug, Deserialize)]
pub(super) struct SpecContainer {
    pub(super) name: String,
    #[serde(default)]
    pub(super) image: Option<String>,
}

/// What became of a pod.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    #[serde(default)]
    container_statuses: Option<Vec<StatusContainer>>,
    #[serde(default)]
    init_container_statuses: Option<Vec<StatusContainer>>,
    #[serde(default)]
    ephemeral_container_statuses: Option<Vec<StatusContainer>>,
}

impl Status {
    /// All its containers.
    pub(super) fn all(&self) -> impl Iterator<Item = &StatusContainer> {
        [
            &self.container_statuses,
            &self.init_container_statuses,
            &self.ephemeral_container_statuses,
        ]
        .into_iter()
        .flatten()
        .flatten()
    }
}

/// What became of a container.
#[derive(Debug, Deserialize)]
pub(super) struct StatusContainer {
    pub(super) name: String,
    #[serde(default, rename = "containerID")]
    id: Option<String>,
}

impl StatusContainer {
    /// The id that its runtime gave, without the runtime's name before it.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()?.split_once("://").map(|(_, id)| id)
    }
}

/// Why a request failed.
#[derive(Debug, Deserialize)]
pub(super) struct Refusal {
    pub(super) message: String,
}
