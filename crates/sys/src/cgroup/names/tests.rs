use super::*;

const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const UID: &str = "1f2e3d4c-5b6a-7988-9706-a5b4c3d2e1f0";

fn container(runtime: Runtime, pod: Option<&str>) -> GroupRole {
    GroupRole::Container { runtime, id: ID.to_owned(), pod: pod.map(str::to_owned) }
}

#[test]
fn paths_of_every_runtime_are_known() {
    let uid_ = UID.replace('-', "_");
    let cases = [
        (format!("/system.slice/docker-{ID}.scope"), container(Runtime::Docker, None)),
        (format!("/docker/{ID}"), container(Runtime::Docker, None)),
        (format!("/docker/{ID}/init.scope/worker"), container(Runtime::Docker, None)),
        (format!("/machine.slice/libpod-{ID}.scope"), container(Runtime::Podman, None)),
        (format!("/machine.slice/libpod-{ID}.scope/container"), container(Runtime::Podman, None)),
        (format!("/libpod_parent/libpod-{ID}"), container(Runtime::Podman, None)),
        (format!("/kubepods/burstable/pod{UID}/{ID}"), container(Runtime::Unknown, Some(UID))),
        (
            format!(
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid_}.slice/cri-containerd-{ID}.scope"
            ),
            container(Runtime::Containerd, Some(UID)),
        ),
        (
            format!("/kubepods.slice/kubepods-pod{uid_}.slice/crio-{ID}.scope"),
            container(Runtime::Crio, Some(UID)),
        ),
        (format!("/kubepods/besteffort/pod{UID}"), GroupRole::Pod(UID.into())),
        ("/system.slice/app.service/init.scope".into(), GroupRole::Unit("init.scope".into())),
        ("/system.slice/ssh.service".into(), GroupRole::Unit("ssh.service".into())),
        ("/system.slice/ssh.service/sub".into(), GroupRole::Unit("ssh.service".into())),
        ("/docker/notanid".into(), GroupRole::Other),
        ("/podcast".into(), GroupRole::Other),
        ("/".into(), GroupRole::Other),
        (String::new(), GroupRole::Other),
    ];
    for (path, wanted) in cases {
        assert_eq!(role(&path), wanted, "{path}");
    }
}

#[test]
fn an_lxc_container_is_called_by_its_path() {
    let lxc = role("/lxc.payload.web");
    assert_eq!(name_of(&lxc, &|_, _| None), (Some("lxc web".into()), true));
}

#[test]
fn a_container_without_a_name_stays_its_short_id() {
    let docker = container(Runtime::Docker, None);
    assert_eq!(name_of(&docker, &|_, _| None), (Some("docker 0123456789ab".into()), false));
    let named =
        |_: Runtime, _: &str| Some(ContainerName { pod: None, name: "web".into(), image: None });
    assert_eq!(name_of(&docker, &named), (Some("docker web".into()), true));
    let in_pod = container(Runtime::Containerd, Some(UID));
    let named = |_: Runtime, _: &str| {
        Some(ContainerName { pod: Some("shop/cart-0".into()), name: "redis".into(), image: None })
    };
    assert_eq!(name_of(&in_pod, &named), (Some("shop/cart-0/redis".into()), true));
    let (name, whole) = name_of(&in_pod, &|_, _| None);
    assert_eq!((name, whole), (Some(format!("pod {UID}: 0123456789ab")), false));
}

#[test]
fn dockers_and_containerds_files_give_names() {
    let docker = br#"{"State":{"Name":"/not this"},"ID":"x","Name":"/web-1","Config":{}}"#;
    assert_eq!(
        parse_docker(docker),
        Some(ContainerName { pod: None, name: "web-1".into(), image: None })
    );
    let oci = br#"{"annotations":{"io.kubernetes.cri.sandbox-namespace":"shop",
        "io.kubernetes.cri.sandbox-name":"cart-0","io.kubernetes.cri.container-name":"redis\u00e9"}}"#;
    let wanted =
        ContainerName { pod: Some("shop/cart-0".into()), name: "redis\u{e9}".into(), image: None };
    assert_eq!(parse_oci(oci), Some(wanted));
    for bad in [&b""[..], b"{", b"[]", b"{\"Name\":3}", b"\xff\xfe", b"{\"annotations\":[]}"] {
        assert_eq!(parse_docker(bad), None, "{bad:?}");
        assert_eq!(parse_oci(bad), None, "{bad:?}");
    }
}

#[test]
fn names_are_remembered_and_bounded() {
    let mut names = GroupNames::default();
    let unit: Arc<str> = Arc::from("/system.slice/cron.service");
    assert_eq!(names.of(&unit).as_deref(), Some("cron.service"));
    for n in 0..REMEMBERED + 10 {
        assert_eq!(names.of(&Arc::from(format!("/group{n}"))), None);
    }
    assert!(names.known.len() <= REMEMBERED);
    assert_eq!(names.of(&unit).as_deref(), Some("cron.service"));
}
