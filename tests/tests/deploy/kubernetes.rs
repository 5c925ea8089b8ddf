//! The manifests: what Kubernetes takes, and arguments that hotset takes.

use std::collections::BTreeSet;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::{NEEDED_BY_ROOT, conforms, deploy, read, said};

/// The objects in a file, each as Kubernetes takes it.
fn documents(name: &str) -> Vec<Value> {
    let text = read(&deploy(name));
    let all = serde_yaml_ng::Deserializer::from_str(&text);
    let all = all.map(|document| Value::deserialize(document).expect("YAML")).inspect(|value| {
        conforms(value, "kubernetes.schema.json");
    });
    all.collect()
}

#[test]
fn the_manifest_is_what_kubernetes_takes() {
    let documents = documents("kubernetes/daemonset.yaml");
    let [_, account, set] = &documents[..] else { panic!("{documents:?}") };
    assert_eq!((&account["kind"], &set["kind"]), (&"ServiceAccount".into(), &"DaemonSet".into()));
    let pod = &set["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], account["metadata"]["name"]);
    // No token where nothing is asked.
    assert_eq!(pod["automountServiceAccountToken"], false);
    let (spec, container) =
        (&set["spec"]["template"]["spec"], &set["spec"]["template"]["spec"]["containers"][0]);
    assert_eq!(spec["hostPID"], true);
    assert_eq!(
        set["spec"]["selector"]["matchLabels"],
        set["spec"]["template"]["metadata"]["labels"]
    );
    let capabilities = &container["securityContext"]["capabilities"]["add"];
    assert_eq!(*capabilities, serde_json::json!(NEEDED_BY_ROOT));
    let named = |list: &Value| -> BTreeSet<String> {
        list.as_array().expect("a list").iter().map(|volume| volume["name"].to_string()).collect()
    };
    assert_eq!(named(&spec["volumes"]), named(&container["volumeMounts"]));
    understood(&container["args"]);
}

/// hotset understands these flags.
fn understood(args: &Value) {
    let args: Vec<&str> = args.as_array().expect("args").iter().filter_map(Value::as_str).collect();
    let output =
        Command::new(hotset_tests::hotset()).args(&args).arg("--help").output().expect("hotset");
    assert!(output.status.success(), "{args:?}: {}", said(&output));
}

#[test]
fn the_patch_of_a_fleet_adds_to_the_manifest() {
    let patch = serde_yaml_ng::from_str::<Value>(&read(&deploy("kubernetes/fleet.yaml")));
    let spec = &patch.expect("YAML")["spec"]["template"]["spec"];
    let container = &spec["containers"][0];
    // A container is patched by its name.
    assert_eq!(container["name"], "hotset");
    understood(&container["args"]);
    let names = |list: &Value| -> BTreeSet<String> {
        list.as_array().expect("a list").iter().map(|one| one["name"].to_string()).collect()
    };
    assert_eq!(names(&spec["volumes"]), names(&container["volumeMounts"]));
    // What flags name is there: the spool in its volume, the variable, the token.
    let args = container["args"].to_string();
    assert!(args.contains("--kubernetes-api"), "{args}");
    assert_eq!(spec["automountServiceAccountToken"], true);
    assert!(args.contains("--spool=/var/lib/hotset/") && args.contains("$(NODE_NAME)"), "{args}");
    assert_eq!(container["env"][0]["name"], "NODE_NAME");
    assert!(container["volumeMounts"].to_string().contains(r#""mountPath":"/var/lib/hotset""#));
}

#[test]
fn the_rights_of_a_fleet_are_those_that_it_uses() {
    let documents = documents("kubernetes/fleet-rbac.yaml");
    let [role, binding] = &documents[..] else { panic!("{documents:?}") };
    let rights = serde_json::json!([
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
        {"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": ["get"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
    ]);
    assert_eq!(role["rules"], rights);
    assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
    let account = self::documents("kubernetes/daemonset.yaml").swap_remove(1);
    for key in ["name", "namespace"] {
        assert_eq!(binding["subjects"][0][key], account["metadata"][key]);
    }
}
