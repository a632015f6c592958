"""The requirement files list what pyproject.toml declares."""

import tomllib
from pathlib import Path

import pytest

from tools.lowest import lowest_versions

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def listed(name: str) -> set[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith(("#", "-r"))}


def test_requirements_txt_is_the_library_with_the_extras_of_the_dashboard():
    declared = {*PROJECT["dependencies"], *EXTRAS["dashboard"], *EXTRAS["deep"]}
    assert listed("requirements.txt") == declared


@pytest.mark.parametrize(
    ("extra", "file"),
    [
        ("test", "requirements-dev.txt"),
        ("bench", "requirements-bench.txt"),
        ("cluster", "requirements-services.txt"),
    ],
)
def test_the_other_files_list_their_extra(extra, file):
    assert set(EXTRAS[extra]) - {"fsdash[dashboard,deep]"} <= listed(file)


def test_every_requirement_has_a_lower_bound_and_none_an_upper_bound():
    for requirement in listed("requirements.txt"):
        assert ">=" in requirement and "<" not in requirement


def test_lowest_versions_turn_lower_bounds_into_constraints():
    assert lowest_versions("# text\nnumpy>=2.2\nscikit-learn>=1.7\n") == [
        "numpy==2.2",
        "scikit-learn==1.7",
    ]
