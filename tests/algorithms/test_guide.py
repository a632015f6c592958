"""What the guide says about the algorithms: names, choices and figures."""

import re
from pathlib import Path

import pytest

from fsdash.algorithms import fsavi, fsvi, polynomial, run_until
from fsdash.algorithms.architecture import FEATURES
from fsdash.algorithms.fsfvi import LOWER_POLICY
from fsdash.algorithms.optimum import optimum
from fsdash.algorithms.registry import ALGORITHMS
from fsdash.algorithms.terminal import TERMINALS
from fsdash.core.evaluation import policy_values
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


@pytest.mark.parametrize("page", ["algorithms.md", "command-line.md"])
def test_the_guide_lists_every_algorithm_and_no_other(page):
    text = (GUIDE / page).read_text("utf-8")
    assert set(ALGORITHMS) <= set(re.findall(r"`([a-z-]+)`", text))
    named = re.findall(r"--algorithm ([a-z,-]+)", text)
    assert {name for names in named for name in names.split(",")} <= set(ALGORITHMS)


def test_the_guide_explains_every_choice():
    text = (GUIDE / "algorithms.md").read_text("utf-8")
    for word in (*TERMINALS, *FEATURES, *(f"lower_policy={w}" for w in LOWER_POLICY)):
        assert f"`{word}`" in text
    for name in ("slow_cells", "fast_cells", "degree", "terminal"):
        assert f"`{name}`" in text


def test_the_domains_have_no_noise_while_the_slow_state_is_frozen():
    for name in DOMAINS:
        assert len(make(name).build().frozen.noise_W) == 1


def test_a_second_block_does_not_help_on_the_inventory():
    model = make("inventory").build()
    best = model.mean(optimum(model).U_XY)

    def share(terminal):
        last = run_until(fsvi(model, 6, terminal=terminal), iterations=60)
        return model.mean(policy_values(model, last.policy_PXY, tolerance=0.01).U_XY) / best

    assert share("last") < share("zero") - 0.01


def test_polynomials_of_degree_2_need_a_smaller_gamma_on_the_inventory():
    options = {"features": "polynomial", "degree": 2}
    low, high = (make("inventory", gamma=gamma).build() for gamma in (0.64, 0.65))
    assert polynomial(low, 2).kappa == pytest.approx(1.55, abs=0.005)
    run_until(fsavi(low, 3, **options), iterations=2)
    with pytest.raises(InputError, match="≥ 1"):
        next(fsavi(high, 3, **options))
