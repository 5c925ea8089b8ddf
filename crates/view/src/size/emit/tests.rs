//! Files read back as who they are for reads them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use hotset_analysis::size::{Must, SizeLimit, SizeSummary};
use hotset_facts::Target;
use hotset_facts::trace::TraceHead;
use hotset_validate::violations;
use serde_json::Value;

use super::super::tests::full;
use super::*;

const K8S: &str = include_str!("../../../../../tests/schemas/kubernetes-resources.schema.json");
const VPA: &str = include_str!("../../../../../tests/schemas/vertical-pod-autoscaler.schema.json");

const MIB: u64 = 1 << 20;

/// Of which the parts of what must be there are 101 MiB.
fn summary() -> SizeSummary {
    let summary = super::super::tests::summary();
    let must = Must {
        anon_bytes: 100 * MIB - MIB / 2 - 190_000,
        shmem_bytes: MIB,
        page_tables_bytes: MIB / 2,
        code_bytes: 0,
        index_bytes: 190_000,
    };
    let enough =
        summary.enough.map(|enough| SizeLimit { limit_bytes: Some(171 * MIB + 4096), ..enough });
    SizeSummary { must: Some(must), enough, ..summary }
}

fn emitted(head: &TraceHead, summary: &SizeSummary, form: SizeForm) -> Result<String, NotEmitted> {
    let path = PathBuf::from("app.parquet");
    emit_size(&SizedTrace { path: Some(&path), head, summary }, form, Some("app"))
}

fn text(summary: &SizeSummary, form: SizeForm) -> String {
    emitted(&full(), summary, form).expect("all is known")
}

/// What a YAML parser makes of it, which the schema allows.
fn yaml(text: &str, schema: &str) -> Value {
    let value: Value =
        serde_yaml_ng::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(violations(schema, &value), [""; 0], "{text}");
    value
}

/// What a unit says: sections, and what is assigned in them (systemd.syntax(7)).
fn unit(text: &str) -> Vec<String> {
    let is_comment = |line: &&str| line.is_empty() || line.starts_with(['#', ';']);
    text.lines().filter(|line| !is_comment(line)).map(str::to_owned).collect()
}

fn one_pass(why: TooLittle) -> SizeSummary {
    let none =
        SizeSummary { limits: Vec::new(), enough: None, thrash: None, limit: None, ..summary() };
    SizeSummary { too_little: Some(why), ..none }
}

#[test]
fn each_form_says_why_its_numbers_are_what_they_are() {
    for form in SizeForm::ALL {
        insta::assert_snapshot!(form.as_str(), text(&summary(), form));
    }
}

#[test]
fn numbers_are_those_that_are_recommended() {
    let summary = summary();
    let patch = yaml(&text(&summary, SizeForm::K8s), K8S);
    let container = &patch["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["name"], "app");
    let of = |kind: &str| container["resources"][kind]["memory"].clone();
    assert_eq!((of("requests"), of("limits")), ("112Mi".into(), "182Mi".into()));

    let vpa = yaml(&text(&summary, SizeForm::Vpa), VPA);
    let container = &vpa["status"]["recommendation"]["containerRecommendations"][0];
    let bounds = ["lowerBound", "target", "uncappedTarget", "upperBound"];
    let bounds = bounds.map(|name| container[name]["memory"].as_str().expect("a quantity"));
    // 101 MiB, 20 MiB and a page, a tenth of 101 MiB; all pages are 78.1 MiB.
    assert_eq!(bounds, ["132Mi", "182Mi", "182Mi", "190Mi"]);
    assert_eq!(vpa["spec"]["updatePolicy"]["updateMode"], "Off");

    let unit = unit(&text(&summary, SizeForm::Systemd));
    assert_eq!(unit, ["[Service]", "MemoryHigh=175108K", "MemoryMax=182M"]);
}

#[test]
fn a_name_that_is_missing_is_one_that_kubernetes_refuses() {
    let (head, summary) = (full(), summary());
    let path = PathBuf::from("app.parquet");
    let trace = SizedTrace { path: Some(&path), head: &head, summary: &summary };
    for (form, schema) in [(SizeForm::K8s, K8S), (SizeForm::Vpa, VPA)] {
        let text = emit_size(&trace, form, None).expect("all is known");
        assert!(
            text.contains("Replace CONTAINER by") && text.contains("ame: \"CONTAINER\""),
            "{text}"
        );
        yaml(&text, schema);
    }
}

#[test]
fn names_of_any_bytes_change_nothing_but_comments() {
    let summary = summary();
    let mut words: Vec<Vec<u8>> = [
        "x\nspec: {}\n[Service]\nMemoryMax=1\r",
        "\"' # $(rm) %n \\",
        "\u{85}\u{2028}\u{feff}\u{fffe}\u{ffff}\u{202e}",
        "--- !!python/object:x",
        "\0\x1b[31m",
        "\\",
    ]
    .map(|word| word.as_bytes().to_vec())
    .into();
    words.push(b"\xff\xfe".to_vec());
    words.push(vec![b'x'; 100_000]);
    let path = PathBuf::from(OsString::from_vec(words.concat()));
    let mut head = TraceHead { ..full() };
    if let Some(command) = &mut head.command {
        command.argv = words.into_iter().map(OsString::from_vec).collect();
    }
    for target in [Target::Command, Target::Cgroup { path: path.clone() }] {
        if let Some(command) = &mut head.command {
            command.target = target;
        }
        let trace = SizedTrace { path: Some(&path), head: &head, summary: &summary };
        for form in SizeForm::ALL {
            let hostile = emit_size(&trace, form, Some("app")).expect("all is known");
            let (hostile_unit, plain) = (unit(&hostile), unit(&text(&summary, form)));
            assert!(
                hostile.is_ascii() && hostile.lines().all(|line| line.len() < 100),
                "{hostile}"
            );
            match form {
                SizeForm::Systemd => assert_eq!(hostile_unit, plain),
                SizeForm::K8s => assert_eq!(yaml(&hostile, K8S), yaml(&plain.join("\n"), K8S)),
                SizeForm::Vpa => assert_eq!(yaml(&hostile, VPA), yaml(&plain.join("\n"), VPA)),
            }
        }
    }
}

#[test]
fn where_no_limit_helps_the_request_stands_alone() {
    for why in [TooLittle::OnePass, TooLittle::FewPages] {
        let summary = one_pass(why);
        let said = text(&summary, SizeForm::K8s);
        let patch = yaml(&said, K8S);
        let resources = &patch["spec"]["template"]["spec"]["containers"][0]["resources"];
        assert_eq!(*resources, serde_json::json!({"requests": {"memory": "112Mi"}}));
        assert!(said.contains("# No limit: ") && !said.contains("thrash"), "{said}");
        let vpa = yaml(&text(&summary, SizeForm::Vpa), VPA);
        let policy = &vpa["spec"]["resourcePolicy"]["containerPolicies"][0];
        assert_eq!(policy["controlledValues"], "RequestsOnly");
        let container = &vpa["status"]["recommendation"]["containerRecommendations"][0];
        let bounds = ["lowerBound", "target", "upperBound"].map(|name| &container[name]["memory"]);
        assert_eq!(bounds, ["112Mi"; 3]);
        let refused = emitted(&full(), &summary, SizeForm::Systemd).expect_err("no limit");
        assert!(refused.to_string().starts_with("there is no limit to set. "), "{refused}");
    }
    insta::assert_snapshot!("one_pass", text(&one_pass(TooLittle::OnePass), SizeForm::K8s));
}

#[test]
fn what_is_not_known_is_not_emitted() {
    for form in SizeForm::ALL {
        let summary = SizeSummary { request: None, limit: None, must: None, ..summary() };
        assert_eq!(emitted(&full(), &summary, form), Err(NotEmitted::NoMemory));
        let nothing = one_pass(TooLittle::NoReferences);
        assert_eq!(emitted(&full(), &nothing, form), Err(NotEmitted::NoReferences));
    }
    assert!(NotEmitted::NoMemory.to_string().contains("--other SIZE"));
}

#[test]
fn what_was_told_is_not_called_measured() {
    let told = SizeSummary { must: None, ..summary() };
    for form in SizeForm::ALL {
        let said = text(&told, form).replace("\n", " ");
        assert!(
            said.contains("what --other says") && !said.contains("anonymous memory 1"),
            "{said}"
        );
    }
}

#[test]
fn a_limit_at_which_it_thrashes_says_so() {
    let mut low = summary();
    low.thrash = low.limits.get(2).copied();
    for form in SizeForm::ALL {
        let said = text(&low, form);
        assert!(said.contains("a higher --target"), "{said}");
    }
    let calm = SizeSummary { thrash: None, ..summary() };
    assert!(text(&calm, SizeForm::Systemd).contains("thrashes at none"));
}
