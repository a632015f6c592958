"""Command lines for tests."""

import json

import pytest

from fsdash.cli.main import main


@pytest.fixture
def fsdash(capsys):
    """A function that runs a command line and returns its exit code, stdout and stderr."""

    def run(line):
        try:
            code = main(line.split())
        except SystemExit as exit:
            code = exit.code
        out = capsys.readouterr()
        return code, out.out, out.err

    return run


@pytest.fixture
def as_json(fsdash):
    def run(line):
        code, out, err = fsdash(f"{line} --format json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return run
