"""`python -m hotset`: the program itself, with these arguments."""

import os
import sys

from hotset._binary import find
from hotset.errors import BinaryNotFound


def main() -> None:
    try:
        path = find()
    except BinaryNotFound as error:
        sys.exit(str(error))
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
