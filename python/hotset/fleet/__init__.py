"""Answers for a whole fleet, from the tables that `hotset export --parquet` writes on each host.

    from hotset.fleet import Duck, Fleet

    fleet = Fleet("/srv/fleet", Duck())
    print(fleet.answer("workloads").to_pandas())

`python -m hotset.fleet` writes them as a page, as tables, and as files for Kubernetes. docs/fleet.md has the way from the first host on.
"""

from __future__ import annotations

from .analyses import ALL as ANALYSES
from .analysis import Analysis, Column, Options
from .duck import Duck
from .engine import Engine
from .errors import FleetError
from .fleet import Fleet
from .listing import BadFile
from .spark import Spark

__all__ = ["ANALYSES", "Analysis", "BadFile", "Column", "Duck", "Engine", "Fleet", "FleetError", "Options", "Spark"]
