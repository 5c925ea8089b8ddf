"""``spark-submit "$(python -m hotset.fleet script)" report s3a://bucket/prefix -o fleet.html``."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from hotset.fleet.__main__ import main

    sys.exit(main())
