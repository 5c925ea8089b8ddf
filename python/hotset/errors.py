"""What can go wrong, with hotset's own words.

What the system says stays an `OSError`: a directory that is not there, a file that may not be read.
"""

from __future__ import annotations

from collections.abc import Sequence


class Error(Exception):
    """Anything that hotset refuses or fails at."""


class BinaryNotFound(Error):
    """The program `hotset` is in none of the places where it could be.

    `searched` has all of them.
    """

    def __init__(self, searched: Sequence[str]) -> None:
        self.searched = tuple(searched)
        places = "".join(f"\n  {place}" for place in searched)
        super().__init__(
            f"the program hotset was not found; it was searched for at:{places}\n"
            "Wheels of this package have it. HOTSET_BIN may name another one."
        )


class VersionMismatch(Error):
    """The program is of another version than this package."""


class CommandError(Error):
    """hotset ended without a result.

    `exit_status` is its exit status, with 125 for a failure of its own, 126 and 127 for a command that can't be executed or
    was not found, and 2 for arguments that it refuses; `message` is what it said.
    """

    def __init__(self, message: str, exit_status: int, arguments: Sequence[str]) -> None:
        self.message = message
        self.exit_status = exit_status
        self.arguments = tuple(arguments)
        super().__init__(message)

    def __reduce__(self) -> tuple[type[CommandError], tuple[str, int, tuple[str, ...]]]:
        return (type(self), (self.message, self.exit_status, self.arguments))


class FormatError(Error):
    """A file that is no document of hotset, a damaged one, or one of a version that this package does not know."""
