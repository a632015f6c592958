"""Plans on a page: live, stopped, with what was reached."""

import threading

import numpy as np
import pytest

from fsdash.algorithms.optimum import optimum
from fsdash.dashboard.widgets.planning import Planning
from fsdash.domains import make
from fsdash.figures.gap import gap_figure
from tests.dashboard.kit import opened


def test_a_plan_ends_with_a_certified_gap_above_the_true_one():
    model = make("inventory").build()
    planning = Planning(lambda: model, seconds=20.0, gap=0.01)
    planning.work.future.result(timeout=60)
    plan, best = planning.plan(), model.mean(optimum(model).U_XY)
    assert plan.gap <= 0.01
    assert plan.value <= best * (1 + 1e-9) and plan.bound >= best * (1 - 1e-9)
    assert all(step.policy_PXY.size == 0 for step in planning.steps[:-1])


def test_a_stopped_plan_keeps_what_was_reached():
    begun, stopped = threading.Event(), threading.Event()

    class Halting(Planning):
        def _run(self, advance):
            def halt(share):
                if self.steps:
                    begun.set()
                    stopped.wait(30)
                advance(share)

            super()._run(halt)

    planning = Halting(make("gridworld").build, seconds=60.0, gap=1e-9)
    assert begun.wait(60)
    planning.work.stopped = True
    stopped.set()
    planning.work.future.result(timeout=60)
    assert planning.plan().policy_PXY.shape[1:] == planning.model.real_XY.shape


@pytest.mark.parametrize("sense", ["max", "min"])
def test_the_figure_has_value_and_bound_with_the_sign_of_the_model(sense):
    planning = Planning(make("inventory").build, seconds=20.0, gap=0.01)
    planning.work.future.result(timeout=60)
    log = planning.plan().log
    bound, value = gap_figure(log, sense).data
    sign = -1 if sense == "min" else 1
    certified = log[log["gap"].notna()]
    assert np.array_equal(bound.y, sign * certified["bound"])
    assert np.array_equal(value.y, sign * certified["value"])


def test_choose_t_offers_a_plan_for_its_model():
    page = opened("3_Choose_T.py")
    [button] = [button for button in page.button if button.label == "Plan"]
    button.click().run()
    page.session_state["planning-inventory"].work.future.result(timeout=60)
    page.run()
    labels = {metric.label for metric in page.metric}
    assert {"Gap at most", "Value of the policy", "No policy is better than"} <= labels
    assert not page.exception
