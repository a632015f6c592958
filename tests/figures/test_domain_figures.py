"""The drawings of domains, and where they come from."""

import xml.etree.ElementTree as xml
from dataclasses import dataclass
from typing import ClassVar

import pytest

from examples.machine import Machine
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError
from fsdash.figures.domains import describe_domain, domain_svg


def drawing(domain):
    return f"<svg><text>{domain.wear_max}</text></svg>"


@dataclass(frozen=True)
class DrawnMachine(Machine):
    figures: ClassVar[str | None] = __name__


@dataclass(frozen=True)
class BrokenMachine(Machine):
    figures: ClassVar[str | None] = "no.such.module"


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_paper_domains_have_their_own_drawing_and_description(name):
    domain = make(name, "large")
    assert xml.fromstring(domain_svg(domain)).tag.endswith("svg")
    n_slow, n_fast, *_ = domain.shape
    assert f"{n_slow * n_fast:,} states" in describe_domain(domain)
    assert DOMAINS[name].figures == f"fsdash.figures.domains.{name}"
    assert domain.title not in describe_domain(domain)


def test_a_domain_without_figures_gets_generic_ones():
    machine = Machine()
    assert "5 values" in domain_svg(machine) and "10 values" in domain_svg(machine)
    assert describe_domain(machine) == f"{machine.title}. 50 states, 3 actions."


def test_a_domain_can_define_some_figures_in_its_own_file():
    machine = DrawnMachine(wear_max=7)
    assert domain_svg(machine) == "<svg><text>7</text></svg>"
    assert machine.title in describe_domain(machine)


def test_a_figures_module_that_cannot_be_imported_is_named():
    with pytest.raises(InputError, match=r"BrokenMachine.figures = 'no.such.module'"):
        domain_svg(BrokenMachine())


def test_the_drawing_of_the_inventory_shows_the_demands():
    assert ">0 … 10<" in domain_svg(make("inventory"))
    assert ">0, 5 … 50<" in domain_svg(make("inventory", "coarse-demand"))
