"""Numbers for sentences, as hotset writes them."""

from __future__ import annotations

UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]


def size(count: float) -> str:
    """Bytes in three digits: 1.50 GiB."""
    unit = 0
    while abs(count) >= 1000 and unit < len(UNITS) - 1:
        count, unit = count / 1024, unit + 1
    if unit == 0:
        return f"{count:.0f} B"
    digits = 2 if abs(count) < 9.995 else 1 if abs(count) < 99.95 else 0
    return f"{count:.{digits}f} {UNITS[unit]}"


def plural(count: int, what: str) -> str:
    """So many things: 1 host, 2,000 hosts."""
    return f"{count:,} {what if count == 1 else what + 's'}"
