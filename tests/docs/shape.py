"""The shape of an output: its words in order, with numbers, units and bars that may be others in another run.

Output is compared as a sequence of words, not of lines, because a sentence breaks elsewhere where a number in it is longer.
A line with nothing but an ellipsis stands for any number of words.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

ELLIPSIS = "…"
UNITS = "(?:[KMGT]i)?B/s|B|KiB|MiB|GiB|TiB|bytes?|ns|µs|us|ms|s|min|h|d|%|x|times"
# A number with its sign, as in +5, <0.1, ~3 or 12,345.6, and the unit that follows it. A bare dash in a cell is a number that is missing.
NUMBER = re.compile(rf"(?<![\w.])[<>+~≈−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?: ?(?:{UNITS})(?![\w/-]))?")
NOTHING = re.compile(r"(?<!\S)-(?!\S)")
# A separator is a dot, too, and a heat map shows an empty cell by one.
BARS = re.compile(r"[▀-▟⠀-⣿■·]*[▀-▟⠀-⣿■][▀-▟⠀-⣿■·]*|·{2,}")
# Names that a run makes anew: temporary files, device and process numbers, identifiers.
ANEW = re.compile(r"\b[0-9a-f]{12,}\b|(?<=[\w./-])\d+")
# How severe a finding is follows from times.
SEVERITY = re.compile(r"^  (?:CRITICAL|WARNING|INFO) +(?=\S)")
# Sections whose rows depend on how fast the host was just then: the heading is compared up to here, and nothing below it.
VARYING = ("Where the time went",)


@dataclass
class Words:
    """The words of an output, each with the number of its line and of the last line that it stands for."""

    words: list[str]
    lines: list[int]
    ends: list[int]


def words_of(lines: list[str], varying: Sequence[str] = ()) -> Words:
    """The words that matter, by line; of sections whose headings begin with one of `varying`, that beginning alone."""
    found = Words([], [], [])
    within = False
    for number, line in enumerate(lines):
        heading = next((start for start in (*VARYING, *varying) if line.startswith(start)), None)
        within = heading is not None or (within and line.startswith((" ", "\t")))
        if within:
            found.words += heading.split() if heading else []
            found.lines += [number] * (len(found.words) - len(found.lines))
            found.ends += [number] * (len(found.words) - len(found.ends))
            # The rows below a heading go with its last word.
            found.ends[-1] = number
            continue
        text = NUMBER.sub(" # ", BARS.sub(" ▒ ", SEVERITY.sub("  FINDING  ", line)))
        text = NOTHING.sub("#", ANEW.sub("#", text))
        previous = ""
        for word in text.split():
            # A bar of two halves is one, and a number may come and go before its unit.
            if word == previous == "▒":
                continue
            found.words.append(word)
            found.lines.append(number)
            found.ends.append(number)
            previous = word
    return found


def segments(expected: list[str]) -> list[list[str]]:
    """The documented lines between those that leave something out; the first and the last may be empty."""
    parts: list[list[str]] = [[]]
    for line in expected:
        if line.strip() == ELLIPSIS:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def same_word(expected: str, actual: str) -> bool:
    """Words are equal, or one of them was cut off by an ellipsis where the other goes on."""
    if expected == actual:
        return True
    for cut, other in ((expected, actual), (actual, expected)):
        before, ellipsis, after = cut.partition(ELLIPSIS)
        if ellipsis and other.startswith(before) and (ELLIPSIS in other or other.endswith(after)):
            return True
    return False


def matches(expected: list[str], actual: list[str], varying: Sequence[str] = ()) -> Optional[list[tuple[int, int]]]:
    """Where in the actual lines each segment of the documented ones is, first and last line; None if one is not there."""
    has = words_of(actual, varying)
    parts = [words_of(part, varying).words for part in segments(expected)]
    position = 0
    places = []
    for index, part in enumerate(parts):
        anchored = index == 0
        at_end = index == len(parts) - 1
        start = len(has.words) - len(part) if at_end else position
        if at_end and (start < position or (anchored and start != position)):
            return None
        found = _find(part, has.words, start, fixed=anchored or at_end)
        if found is None:
            return None
        position = found + len(part)
        places.append((has.lines[found], has.ends[position - 1]) if part else (-1, -1))
    return places


def _find(part: list[str], words: list[str], start: int, fixed: bool) -> Optional[int]:
    last = start if fixed else len(words) - len(part)
    for place in range(start, last + 1):
        if place + len(part) <= len(words) and all(map(same_word, part, words[place : place + len(part)])):
            return place
    return None


def difference(expected: list[str], actual: list[str], varying: Sequence[str] = ()) -> list[str]:
    """The lines whose shapes differ: `-` the page says, `+` was printed. Lines that the page leaves out are among the latter."""
    sides = []
    for lines in (expected, actual):
        words = words_of(lines, varying)
        shapes = [" ".join(word for word, at in zip(words.words, words.lines) if at == number) for number in range(len(lines))]
        sides.append([shape for shape in shapes if shape])
    marked = difflib.ndiff(sides[0], sides[1], charjunk=None)
    return [line for line in marked if line.startswith(("- ", "+ "))]
