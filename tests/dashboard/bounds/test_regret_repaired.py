"""The repaired bound on the Bounds page, and the model in which the stated one does not hold."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.dashboard.bounds import state as bounds
from fsdash.dashboard.bounds import text
from fsdash.dashboard.bounds.view import FROZEN
from fsdash.formatting import number
from fsdash.theory import advise, fsvi_bound, rolling_bound
from fsdash.theory.measured import measure
from fsdash.theory.repaired import repaired_bound
from fsdash.theory.rolling import rolling_cost
from fsdash.theory.sensitivity import best_T
from tests.dashboard.bounds.kit import PAGE, THREE, advised, expected, view
from tests.dashboard.kit import figures, metrics, opened, traces
from tests.theory.test_counterexample import reversing_model


def test_the_repaired_bound_can_be_chosen():
    stated, repaired = opened(PAGE, tab="regret"), opened(PAGE, tab="regret", bound="repaired")
    # Without a given L̃ it is √(1 + L_f²).
    assert advised(repaired) == expected(view(repaired=True, l_frozen=np.hypot(1, 1.2)))
    assert advised(stated) != advised(repaired)
    field = repaired.number_input(key="bounds.Lfrozen")
    assert field.placeholder == "√(1 + L_f²)" and "√(1 + L_f²)" in field.help
    page = opened(PAGE, tab="regret", bound="repaired", Lfrozen="2.0", budget="10")
    run = advise(
        THREE.constants,
        THREE.sizes,
        budget=10 * THREE.sizes.sweep,
        T=THREE.T,
        bound=lambda c, T, k: repaired_bound(c, T, k=k, l_frozen=2.0),
    ).choice
    assert metrics(page)["Regret bound"] == number(run.regret)


@pytest.mark.parametrize("given", [{}, {"Lfrozen": "0.5"}])
def test_with_one_slow_state_the_frozen_dynamics_are_the_true_ones(given):
    page = opened(PAGE, tab="regret", bound="repaired", nx="1", **given)
    l_frozen = float(given.get("Lfrozen", THREE.constants.l_f))
    sizes = replace(THREE.sizes, n_slow=1)
    run = advise(
        THREE.constants,
        sizes,
        budget=4 * sizes.sweep,
        T=THREE.T,
        bound=partial(repaired_bound, l_frozen=l_frozen, n_slow=1),
    ).choice
    assert metrics(page)["Regret bound"] == number(run.regret)
    assert page.number_input(key="bounds.Lfrozen").placeholder == "L_f"


def test_a_sensitivity_below_1_is_refused_in_words():
    for bound in ("repaired", "stated"):  # rolling freeze's bound needs L̃ in any case
        page = opened(PAGE, tab="regret", bound=bound, Lfrozen="0.5")
        (error,) = page.error
        assert "L̃ = 0.5 is below 1" in error.value
        assert not page.metric


def test_a_frozen_map_of_its_own_needs_its_sensitivity():
    (error,) = opened(PAGE, tab="regret", bound="repaired", eta="0.5").error
    assert "Give L̃ too" in error.value
    own = replace(THREE.constants, l_frozen=1.3, eta=0.5, d_y_frozen=2.0)
    link = {"bound": "repaired", "Lfrozen": "1.3", "eta": "0.5", "dYfrozen": "2"}
    assert advised(opened(PAGE, tab="regret", **link)) == expected(
        view(constants=own, repaired=True)
    )


def test_an_example_fills_the_constants_of_its_frozen_map():
    page = opened(PAGE, tab="regret", bound="repaired")
    page.button(key="load-inventory").click().run()
    stored = bounds.example("inventory")[0]
    for name, field in FROZEN.items():
        assert page.number_input(key=f"bounds.{name}").value == getattr(stored, field) > 0
    page.button(key="load-three-regimes").click().run()
    assert all(page.number_input(key=f"bounds.{name}").value is None for name in FROZEN)


def test_the_figure_has_the_bound_of_rolling_freeze():
    shown = view()
    page = opened(PAGE, tab="regret")
    curve = traces(figures(page)["regret-cost"])["Rolling"]
    best = int(rolling_bound(THREE.constants, np.arange(1, 101)).total.argmin()) + 1
    n = np.arange(1, best + 1)
    np.testing.assert_allclose(curve["x"][:-1], rolling_cost(THREE.sizes, n))
    np.testing.assert_allclose(curve["y"][:-1], rolling_bound(THREE.constants, n).total)
    assert curve["y"][-1] == curve["y"][-2]  # the last step goes on to the edge
    table = bounds.curves_frame(shown)
    rows = table[table["method"] == "rolling"]
    assert rows["T"].tolist() == n.tolist() and rows["regret"].tolist() == list(curve["y"][:-1])
    assert f"at n = {best}." in text.describe_rolling(shown)


def test_the_default_sensitivity_follows_the_varied_constant():
    shown = view(repaired=True)
    _, table = bounds.heat_map(shown, "l_f")
    cells = table()
    row = cells[cells["l_f"] == cells["l_f"].unique()[3]]
    constants = replace(THREE.constants, l_f=float(row["l_f"].iloc[0]))
    budgets = bounds.heat_budgets(shown)
    best = best_T(constants, THREE.sizes, budgets=budgets, T=THREE.T, bound=repaired_bound)
    assert row["T"].tolist() == best.T.tolist()


def test_the_counterexample_in_the_text_is_the_one_of_the_theory_s_tests():
    said = text.COUNTEREXAMPLE
    model = reversing_model(said["gamma"])
    best = optimum(model, tolerance=1e-8)
    constants = measure(model, best.U_XY).constants(said["gamma"])
    for name in ("long", "short"):
        T = said[f"{name}_T"]
        policy_PXY = run_until(fsvi(model, T), tolerance=1e-8).policy_PXY
        true = regret(model, policy_PXY, best=best).max_regret
        stated = fsvi_bound(constants, T, k=10**6).total
        assert true == pytest.approx(float(said[f"{name}_regret"]), abs=0.005)
        assert stated == pytest.approx(float(said[f"{name}_bound"]), abs=0.005)
