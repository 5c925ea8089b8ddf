#!/usr/bin/env python3
"""Writes hotset/documents from schema/: a module a format, a dataclass an object. `--check` only compares.

What formats have in common stands in `common`: an object that has one name and the same keys in several schemas.
"""

from __future__ import annotations

import argparse
import json
import keyword
import re
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "python" / "hotset" / "documents"
LINE = 120


@dataclass
class Key:
    """A key of an object: its name in Python and in JSON, its type, what it is where it may be left out."""

    name: str
    key: str
    type: str
    default: Union[str, None]
    doc: str


@dataclass
class Class:
    """An object of a schema."""

    name: str
    doc: str
    keys: list[Key] = field(default_factory=list)

    def types(self) -> str:
        return " ".join(key.type for key in self.keys)

    def text(self) -> str:
        lines = ["@dataclass(frozen=True)", f"class {self.name}:"]
        lines += comment(self.doc, '    """', '"""')
        for key in self.keys:
            lines.append("")
            lines += [f"    #: {line}" for line in wrapped(key.doc, LINE - 7)]
            lines.append(f"    {key.name}: {key.type}{value_of(key)}")
        return "\n".join(lines)


@dataclass
class Alias:
    """A schema that is no object."""

    name: str
    doc: str
    type: str

    def types(self) -> str:
        return self.type

    def text(self) -> str:
        lines = [f"#: {line}" for line in wrapped(self.doc, LINE - 3)]
        return "\n".join([*lines, f"{self.name} = {self.type}"])


Definition = Union[Class, Alias]


def wrapped(text: str, width: int) -> list[str]:
    return [line for part in text.splitlines() for line in textwrap.wrap(part, width)]


def comment(text: str, before: str, after: str) -> list[str]:
    lines = wrapped(text, LINE - 10) or ["An object."]
    if len(lines) == 1:
        return [f"{before}{lines[0]}{after}"]
    return [f"{before}{lines[0]}", *(f"    {line}" for line in lines[1:]), f"    {after}"]


def value_of(key: Key) -> str:
    metadata = f'metadata={{"key": "{key.key}"}}' if key.key != key.name else None
    default = f"default={key.default}" if key.default is not None and metadata else key.default
    if metadata:
        return f" = field({', '.join(part for part in (default, metadata) if part)})"
    return f" = {default}" if default is not None else ""


def singular(key: str) -> str:
    word = "".join(part.capitalize() for part in key.split("_"))
    if word.endswith("sses"):
        return word[:-2]
    return {"Directories": "Directory"}.get(word, word[:-1] if word.endswith("s") else word)


class Schema:
    """The definitions of a schema, by name."""

    def __init__(self, path: Path) -> None:
        self.schema = json.loads(path.read_text())
        self.title: str = self.schema["title"]
        self.module = self.title.split(".", 1)[1].split("/")[0].replace("-", "_")
        self.root = "".join(part.capitalize() for part in self.module.split("_"))
        self.definitions: dict[str, Definition] = {}
        self.names: dict[str, str] = {name: name for name in self.schema.get("$defs", {})}
        if self.root in self.names:
            self.names[self.root] = f"{self.root}Part"
        self.roots = self.add_roots()
        for name, schema in self.schema.get("$defs", {}).items():
            self.define(self.names[name], schema)

    def add_roots(self) -> list[str]:
        kinds = self.schema.get("anyOf")
        if kinds is None:
            self.define(self.root, self.schema)
            return [self.root]
        names = [self.root + ("Header" if "schema" in kind["properties"] else "Line") for kind in kinds]
        for name, kind in zip(names, kinds):
            self.define(name, {**kind, "description": self.schema["description"]})
        return names

    def define(self, name: str, schema: dict[str, Any]) -> None:
        assert name not in self.definitions, (self.title, name)
        doc = schema.get("description", "")
        if "properties" not in schema:
            self.definitions[name] = Alias(name, doc, self.type_of(schema, name))
            return
        made = Class(name, doc)
        self.definitions[name] = made
        required = schema.get("required", [])
        for key, of in schema["properties"].items():
            type_ = self.type_of(of, self.below(name, key))
            default = None
            if key not in required:
                default = "0" if type_ == "int" else "None"
                if default == "None" and not type_.startswith("Optional"):
                    type_ = f"Optional[{type_}]"
            attribute = f"{key}_" if keyword.iskeyword(key) else key
            made.keys.append(Key(attribute, key, type_, default, of.get("description", "")))
        made.keys.sort(key=lambda one: one.default is not None)

    def below(self, name: str, key: str) -> str:
        roots = {self.root, f"{self.root}Line", f"{self.root}Header"}
        own = singular(key) if name in roots else name + singular(key)
        return own if own not in self.names.values() else f"{self.root}{own}"

    def type_of(self, schema: dict[str, Any], name: str) -> str:
        if "$ref" in schema:
            return self.names[str(schema["$ref"]).rsplit("/", 1)[1]]
        if "const" in schema:
            return f'Literal["{schema["const"]}"]'
        if "enum" in schema:
            return f"Literal[{', '.join(json.dumps(word) for word in schema['enum'])}]"
        if "anyOf" in schema:
            return self.union([self.type_of(one, name) for one in schema["anyOf"]])
        if "oneOf" in schema:
            return self.union([self.one_of(one, name) for one in schema["oneOf"]])
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return self.union([self.plain(one, schema, name) for one in types])

    def one_of(self, schema: dict[str, Any], name: str) -> str:
        if "properties" not in schema:
            return self.type_of(schema, name)
        tags = [of["const"] for of in schema["properties"].values() if "const" in of]
        own = name + "".join(part.capitalize() for part in re.split(r"[-_ ]", tags[0]))
        self.define(own, schema)
        return own

    def plain(self, kind: str, schema: dict[str, Any], name: str) -> str:
        plain = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}
        if kind in plain:
            return plain[kind]
        if kind == "array":
            if "prefixItems" in schema:
                return f"tuple[{', '.join(self.type_of(one, name) for one in schema['prefixItems'])}]"
            return f"list[{self.type_of(schema['items'], name)}]"
        if "properties" in schema:
            if name not in self.definitions:
                self.define(name, schema)
            return name
        return f"dict[str, {self.type_of(schema['additionalProperties'], name)}]"

    @staticmethod
    def union(types: list[str]) -> str:
        parts: list[str] = []
        for one in types:
            inner = re.fullmatch(r"Optional\[(.*)\]", one)
            parts += [inner.group(1), "None"] if inner else [one]
        words = [re.fullmatch(r"Literal\[(.*)\]", part) for part in parts]
        literals = [word.group(1) for word in words if word]
        others = [part for part in dict.fromkeys(parts) if part != "None" and not part.startswith("Literal[")]
        if "float" in others and "int" in others:
            others.remove("int")
        if literals:
            others.insert(0, f"Literal[{', '.join(literals)}]")
        if not others:
            return "None"
        made = others[0] if len(others) == 1 else f"Union[{', '.join(others)}]"
        return f"Optional[{made}]" if "None" in parts else made

    def references(self, name: str) -> list[str]:
        words = words_of(self.definitions[name].types())
        return [word for word in sorted(words) if word in self.definitions]

    def shape(self, name: str, seen: tuple[str, ...] = ()) -> str:
        """All that tells this object from others, without the words about it."""
        if name in seen:
            return name
        made = self.definitions[name]
        own = [(key.key, key.type, key.default) for key in made.keys] if isinstance(made, Class) else made.type
        return repr((name, own, [self.shape(one, (*seen, name)) for one in self.references(name)]))


def common_of(schemas: list[Schema]) -> dict[str, tuple[str, Schema]]:
    """What several schemas have in common: its shape, and a schema that has it."""
    shapes: dict[str, Counter[str]] = {}
    owner: dict[tuple[str, str], Schema] = {}
    for schema in schemas:
        for name in schema.definitions:
            shape = schema.shape(name)
            shapes.setdefault(name, Counter())[shape] += 1
            owner.setdefault((name, shape), schema)
    found = {}
    for name, counts in shapes.items():
        shape, count = counts.most_common(1)[0]
        if count > 1:
            found[name] = (shape, owner[name, shape])
    while True:
        broken = [
            name
            for name, (_, schema) in found.items()
            if any(found.get(one, ("",))[0] != schema.shape(one) for one in schema.references(name))
        ]
        if not broken:
            return found
        for name in broken:
            del found[name]


HEAD = '''"""{doc}

Written by tools/generate_documents.py from schema/; do not change it by hand.
"""

from __future__ import annotations

'''


def module_text(doc: str, definitions: list[Definition], imported: list[str]) -> str:
    body = "\n\n\n".join(one.text() for one in ordered(definitions))
    lines = []
    used = [word for word in ("dataclass", "field") if re.search(rf"\b{word}\(", body)]
    if used:
        lines.append(f"from dataclasses import {', '.join(used)}")
    used = [word for word in ("Literal", "Optional", "Union") if f"{word}[" in body]
    if used:
        lines.append(f"from typing import {', '.join(used)}")
    if imported:
        names = "".join(f"    {name},\n" for name in sorted(imported))
        lines.append(f"\nfrom hotset.documents.common import (\n{names})")
    return HEAD.format(doc=doc) + "\n".join(lines) + "\n\n\n" + body + "\n"


def ordered(definitions: list[Definition]) -> list[Definition]:
    """Classes first, whose annotations are read when all is there; then aliases, each behind those that it is made of."""
    classes = [one for one in definitions if isinstance(one, Class)]
    aliases = [one for one in definitions if isinstance(one, Alias)]
    done: list[Definition] = []
    while aliases:
        names = {one.name for one in aliases}
        free = [one for one in aliases if not names & (words_of(one.type) - {one.name})]
        assert free, names
        done += free
        aliases = [one for one in aliases if one not in free]
    return [*classes, *done]


def words_of(type_: str) -> set[str]:
    return set(re.findall(r"\w+", re.sub(r'"[^"]*"', "", type_)))


def index_text(schemas: list[Schema]) -> str:
    rows = "".join(f'    "{one.title}": ("{one.module}", ({tuple_of(one.roots)})),\n' for one in schemas)
    return (
        HEAD.format(doc="The formats of hotset's documents as dataclasses, a module each.")
        + f"#: Of each format the module, and the classes of its objects.\nFORMATS: dict[str, tuple[str, tuple[str, ...]]] = {{\n{rows}}}\n"
    )


def tuple_of(words: list[str]) -> str:
    return "".join(f'"{word}", ' for word in words).strip() if len(words) > 1 else f'"{words[0]}",'


def files() -> dict[str, str]:
    """The modules by their names."""
    paths = sorted(path for path in (ROOT / "schema").glob("*.json") if "toml" not in path.name)
    schemas = [Schema(path) for path in paths]
    common = common_of(schemas)
    made = {"__init__.py": index_text(schemas)}
    shared = [schema.definitions[name] for name, (_, schema) in sorted(common.items())]
    made["common.py"] = module_text("What several formats have in common.", shared, [])
    for schema in schemas:
        own: list[Definition] = []
        imported: set[str] = set()
        for name, definition in schema.definitions.items():
            if name in common and common[name][0] == schema.shape(name):
                continue
            own.append(definition)
            imported.update(
                one for one in schema.references(name) if one in common and common[one][0] == schema.shape(one)
            )
        made[f"{schema.module}.py"] = module_text(f"`{schema.title}`.", own, sorted(imported))
    return made


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="fail where a file is not what the schemas give")
    is_check = arguments.parse_args().check
    wanted = files()
    there = {path.name: path.read_text() for path in TARGET.glob("*.py")}
    differing = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
    if is_check:
        for name in differing:
            print(f"hotset/documents/{name}: not what schema/ gives; run python/tools/generate_documents.py")
        return int(bool(differing))
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in differing:
        if name in wanted:
            (TARGET / name).write_text(wanted[name])
        else:
            (TARGET / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
