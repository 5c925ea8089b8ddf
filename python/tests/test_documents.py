"""The dataclasses against the schemas, and against documents that the program writes."""

from __future__ import annotations

import dataclasses
import importlib
import json
import subprocess
import sys
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ROOT

import hotset
from hotset._decode import decode, fields
from hotset.documents import FORMATS

SCHEMAS = sorted(path for path in (ROOT / "schema").glob("*.json") if "toml" not in path.name)


def test_the_classes_are_what_the_schemas_give() -> None:
    tool = ROOT / "python" / "tools" / "generate_documents.py"
    ran = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_format_has_a_class() -> None:
    assert {json.loads(path.read_text())["title"] for path in SCHEMAS} == set(FORMATS)


def objects(schema: dict[str, Any], node: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All objects that a schema describes, with their places; without those of `$ref`, which are found as definitions."""
    if "properties" in node:
        yield place, node["properties"]
        for key, of in node["properties"].items():
            yield from objects(schema, of, f"{place}.{key}")
    for word in ("items", "additionalProperties"):
        if isinstance(node.get(word), dict):
            yield from objects(schema, node[word], place)
    for word in ("anyOf", "oneOf", "prefixItems"):
        for one in node.get(word, []):
            yield from objects(schema, one, place)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name.split("-1")[0])
def test_every_key_of_a_schema_is_a_field(path: Any) -> None:
    schema = json.loads(path.read_text())
    module = importlib.import_module(f"hotset.documents.{FORMATS[schema['title']][0]}")
    classes = [one for one in vars(module).values() if dataclasses.is_dataclass(one)]
    common = [one for one in vars(importlib.import_module("hotset.documents.common")).values() if dataclasses.is_dataclass(one)]
    known = [{key for _, key, _, _ in fields(one)} for one in [*classes, *common]]  # type: ignore[arg-type]
    places = [*objects(schema, schema, ""), *(pair for name, of in schema.get("$defs", {}).items() for pair in objects(schema, of, name))]
    assert places
    for place, keys in places:
        assert set(keys) in known, f"{place}: no class has exactly {sorted(keys)}"


def plain(value: Any) -> Any:
    """A dataclass as JSON again."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {key: plain(getattr(value, name)) for name, key, _, _ in fields(type(value))}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def same(made: Any, json: Any) -> bool:
    """Whether nothing was lost; a key that may be left out and was is None or 0."""
    if isinstance(made, dict) and isinstance(json, dict):
        return json.keys() <= made.keys() and all(
            same(one, json[key]) if key in json else one in (None, 0) for key, one in made.items()
        )
    if isinstance(made, list) and isinstance(json, list):
        return len(made) == len(json) and all(map(same, made, json))
    return bool(made == json)


def test_real_documents_lose_nothing(profile: hotset.Profile, program: str) -> None:
    results: list[hotset.Result[Any]] = [
        profile,
        hotset.ls(ROOT / "docs", dirs=True),
        hotset.system_cache(top=5),
        hotset.bench(["true"], runs=2, state="as-is"),
        hotset.evict(ROOT / "schema"),
    ]
    doctor = subprocess.run([program, "doctor", "--json"], stdout=subprocess.PIPE, check=True).stdout
    document = decode(importlib.import_module("hotset.documents.doctor").Doctor, json.loads(doctor))
    assert same(plain(document), json.loads(doctor))
    for result in results:
        assert same(plain(result.document), result.json), result.schema


def test_types_are_those_of_the_values(profile: hotset.Profile) -> None:
    assert typing.get_type_hints(type(profile.totals))
    assert isinstance(profile.document.environment.page_size_bytes, int)
    assert profile.command.target.kind == "command"
    assert profile.document.processes[0].pid > 0


def test_a_damaged_document_names_the_place(profile: hotset.Profile) -> None:
    class_ = importlib.import_module("hotset.documents.profile").Profile
    for change, place in (
        (lambda json: json["command"].pop("argv"), 'command: the key "argv" is missing'),
        (lambda json: json["files"][0].update(opens="3"), "files[0].opens: '3', where a whole number is expected"),
        (lambda json: json["environment"].update(cpus=True), "environment.cpus: True"),
        (lambda json: json["command"].update(target={"kind": "moon"}), "command.target"),
        (lambda json: json.update(files=None), "files: None, where a list is expected"),
    ):
        damaged = json.loads(json.dumps(profile.json))
        change(damaged)  # type: ignore[no-untyped-call]
        with pytest.raises(hotset.FormatError) as error:
            decode(class_, damaged)
        assert place in str(error.value)


def test_keys_of_later_versions_are_ignored(profile: hotset.Profile) -> None:
    newer = json.loads(json.dumps(profile.json))
    newer["command"]["mood"] = {"of": ["the", "command"]}
    assert decode(type(profile.document), newer) == profile.document
