"""The databases on which the tests of store and servers run."""

import itertools
import subprocess
from contextlib import contextmanager

import pytest

from tools.postgres import Postgres, find_programs

DATABASES = ["sqlite", pytest.param("postgres", marks=pytest.mark.services)]
_numbers = itertools.count()


@contextmanager
def postgres_or_skip(host="127.0.0.1"):
    """A PostgreSQL server; the test is skipped, with the reason, where none can be started."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: run `make test-services`")
    if find_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    server = Postgres(host)
    try:
        server.__enter__()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        pytest.skip(f"PostgreSQL cannot be started here ({error})")
    try:
        yield server
    finally:
        server.__exit__()


def new_url(database, request, folder):
    """The URL of an empty database of this kind."""
    if database == "sqlite":
        return f"sqlite:///{folder}/runs.db"
    return request.getfixturevalue("postgres").new_database(f"runs{next(_numbers)}")
