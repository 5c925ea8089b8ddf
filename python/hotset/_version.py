"""The version of the package, which is that of the program that it runs."""

from importlib import metadata

try:
    VERSION = metadata.version("hotset")
except metadata.PackageNotFoundError:  # a copy that was not installed
    VERSION = "unknown"
