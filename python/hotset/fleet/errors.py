"""What can go wrong with a fleet."""

from __future__ import annotations


class FleetError(Exception):
    """The tables can't be analysed, or an option makes no sense: the message says what would be right."""
