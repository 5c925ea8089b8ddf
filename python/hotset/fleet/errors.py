"""What can go wrong with a fleet."""

from __future__ import annotations

from hotset.errors import Error


class FleetError(Error):
    """The tables can't be analysed, or an option makes no sense: the message says what would be right."""


def in_a_line(error: BaseException) -> str:
    """What an engine says went wrong. Of an error in Java, Py4J's own first line says only which call it was, and what follows is where in
    Java."""
    java = getattr(error, "java_exception", None)
    text = str(error) if java is None else str(java.toString())
    return next((line for line in text.splitlines() if line.strip()), type(error).__name__)
