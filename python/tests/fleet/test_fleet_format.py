"""What the analyses know of the tables is what docs/fleet-format.md says."""

from __future__ import annotations

import pathlib
import re

from hotset.fleet import format
from hotset.fleet.analyses import ALL
from hotset.fleet.analysis import Options

DOCS = pathlib.Path(__file__).parents[3] / "docs"


def test_columns_are_those_of_the_format() -> None:
    text = (DOCS / "fleet-format.md").read_text().split("<!-- columns -->")[1]
    tables: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        if heading := re.match(r"### (\w+)", line):
            columns = tables.setdefault(heading[1], {})
        elif row := re.match(r"\| `(\w+)` \| ([\w ]+)", line):
            columns[row[1]] = row[2].split(",")[0].strip()
    assert {name: list(columns) for name, columns in tables.items()} == format.TABLES
    kinds = {"text": format.TEXTS, "time": format.TIMES, "true or false": format.FLAGS}
    for columns in tables.values():
        for column, kind in columns.items():
            assert [word for word, names in kinds.items() if column in names] == ([kind] if kind in kinds else []), column


def test_every_column_of_an_answer_has_words() -> None:
    for make in ALL.values():
        analysis = make(Options())
        assert analysis.question.endswith("?")
        names = [column.name for column in analysis.columns]
        assert len(set(names)) == len(names)
        for column in analysis.columns:
            assert column.meaning and column.title and not column.meaning.endswith("."), column
            assert column.unit in ("text", "count", "number", "bytes", "ratio", "ns"), column
            for ending, unit in (("_bytes", "bytes"), ("_ratio", "ratio"), ("_ns", "ns")):
                assert not column.name.endswith(ending) or column.unit == unit, column
