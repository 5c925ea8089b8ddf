"""Errors of engines are told in their own words, and in one line."""

from __future__ import annotations

import pathlib

import pytest

from hotset.fleet.duck import Duck
from hotset.fleet.engine import Engine
from hotset.fleet.errors import FleetError, in_a_line
from hotset.fleet.listing import Listing
from hotset.fleet.sources import with_care


class Thrown:
    """What Java threw, as Py4J hands it over."""

    def toString(self) -> str:
        return "java.nio.file.AccessDeniedException: s3a://fleet/pages: 403\n\tat org.apache.hadoop.fs"


class CallFailed(Exception):
    """Py4J's error of a call."""

    java_exception = Thrown()


def test_an_error_of_java_is_told_by_what_java_says() -> None:
    error = CallFailed("An error occurred while calling o33.listFiles.\n: java.nio.file.AccessDeniedException")
    assert in_a_line(error) == "java.nio.file.AccessDeniedException: s3a://fleet/pages: 403"


def test_other_errors_are_told_by_their_first_words() -> None:
    assert in_a_line(ValueError("\nno such column\nat line 1")) == "no such column"
    assert in_a_line(KeyError()) == "KeyError"


def test_a_table_that_no_care_makes_readable_is_named(tmp_path: pathlib.Path) -> None:
    engine: Engine = Duck()

    def refuse() -> None:
        raise CallFailed("An error occurred")

    listing = Listing(str(tmp_path), {"host": []}, [])
    with pytest.raises(FleetError) as caught:
        with_care(engine, listing, "host", refuse)
    assert str(caught.value) == f"table host of {tmp_path} can't be read: java.nio.file.AccessDeniedException: s3a://fleet/pages: 403"
