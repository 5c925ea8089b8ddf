"""What can go wrong with a fleet."""

from __future__ import annotations

from hotset.errors import Error


class FleetError(Error):
    """The tables can't be analysed, or an option makes no sense: the message says what would be right."""
