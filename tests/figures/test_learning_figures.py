"""Learning curves show the numbers of the summary in the colour of the algorithm."""

import numpy as np
import pandas as pd
import pytest

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.figures.learning import learning_figure
from fsdash.figures.palette import FAMILY_COLOURS, fsvi_colour
from fsdash.runs.columns import NAMES
from fsdash.runs.measures import optimal_return
from fsdash.runs.summary import summarise

GRID = np.array([0, 100, 200, 400])


def run(algorithm, T=None, replication=0, start=0.2, looks=4, phase="base", kind="stationary"):
    worth = start + 0.1 * np.arange(looks) + 0.02 * replication
    return pd.DataFrame(
        {
            "domain": "inventory",
            "algorithm": algorithm,
            "T": T,
            "replication": replication,
            "step": range(looks),
            "phase": phase,
            "iteration": range(looks),
            "evaluations": GRID[:looks],
            "seconds": GRID[:looks] / 100,
            "mean_return": 500 * worth,
            "fraction_of_optimal": worth,
            "max_regret": 9 * (1 - worth),
            "policy_kind": kind,
        },
        columns=list(NAMES),
    ).astype({"T": "Int64"})


FRAME = pd.concat(
    [run("e-vi", replication=i) for i in range(3)]
    + [run("e-fsvi", T, i, 0.3) for T in (3, 6) for i in range(3)]
    + [run("e-fsvi", 6, i, 0.6, 2, "lower") for i in range(3)]
    + [run("slow-agnostic")],
    ignore_index=True,
)


def trace(figure, name):
    [found] = [trace for trace in figure.data if trace.name == name]
    return found


def test_the_lines_show_the_summary():
    figure = learning_figure(FRAME, "sweeps", sweep=100, log_x=False)
    expected = summarise(FRAME, "sweeps", sweep=100)
    line = trace(figure, "E-FSVI, T=6 (n=3)")
    mine = expected[expected["method"] == "E-FSVI, T=6"]
    np.testing.assert_array_equal(line.x, mine["x"])
    np.testing.assert_array_equal(line.y, mine["mean"])
    np.testing.assert_array_equal(line.customdata[:, :2], mine[["low", "high"]])
    band = trace(figure, "E-FSVI, T=6, 95% interval")
    assert max(y for y in band.y if y is not None) == mine["high"].max()


def test_the_colour_depends_on_the_algorithm_and_T():
    figure = learning_figure(FRAME)
    for name, colour in (
        ("Base E-VI (n=3)", FAMILY_COLOURS["VI"]),
        ("E-FSVI, T=3 (n=3)", fsvi_colour(3)),
        ("Slow-agnostic E-VI (n=1)", FAMILY_COLOURS["slow-agnostic"]),
    ):
        assert trace(figure, name).line.color == colour


def test_every_algorithm_has_a_colour():
    for method in ALGORITHMS.values():
        T = 6 if method.freezes else None
        assert learning_figure(run(method.name, T)).data


def test_a_single_replication_has_no_band_and_is_labelled():
    figure = learning_figure(run("slow-agnostic"))
    assert not trace(figure, "Slow-agnostic E-VI, 95% interval").x
    line = trace(figure, "Slow-agnostic E-VI (n=1)")
    assert "interval" not in line.hovertemplate


def test_a_diverged_replication_reduces_the_number_in_the_legend():
    frame = pd.concat([run("e-qi"), run("e-qi", replication=1, looks=2)])
    line = trace(learning_figure(frame, log_x=False), "Base E-QI (n=2 to 1)")
    assert list(line.customdata[:, 2]) == [2, 2, 1, 1]
    assert "n = %{customdata[2]}" in line.hovertemplate


def test_only_the_linear_axis_includes_zero():
    assert min(trace(learning_figure(FRAME), "Base E-VI (n=3)").x) > 0
    assert min(trace(learning_figure(FRAME, log_x=False), "Base E-VI (n=3)").x) == 0


@pytest.mark.parametrize(
    ("y", "best"), [("fraction_of_optimal", 1), ("mean_return", 500), ("max_regret", 0)]
)
def test_the_optimum_is_drawn(y, best):
    figure = learning_figure(FRAME, y=y)
    [line] = [shape for shape in figure.layout.shapes if shape.name == "optimum"]
    assert line.y0 == pytest.approx(best)


@pytest.mark.parametrize("y", ["fraction_of_optimal", "mean_return", "max_regret"])
def test_a_wide_band_does_not_enlarge_the_axis(y):
    figure = learning_figure(FRAME, y=y)
    low, high = figure.layout.yaxis.range
    means = np.concatenate([trace.y for trace in figure.data if trace.fill is None])
    best = figure.layout.shapes[0].y0
    assert low < min(means.min(), best) and max(means.max(), best) < high
    assert high - low < 1.3 * (max(means.max(), best) - min(means.min(), best, best - 0.2))


def test_without_shares_no_optimum_is_drawn():
    frame = FRAME.assign(fraction_of_optimal=np.nan)
    assert np.isnan(optimal_return(frame))
    assert not learning_figure(frame, y="mean_return").layout.shapes


def test_single_replications_and_the_greedy_policy_are_optional():
    plain = learning_figure(FRAME)
    assert not [t for t in plain.data if t.name.endswith("one run")]
    assert not [t for t in plain.data if "greedy for J" in t.name]
    full = learning_figure(FRAME, runs=True, lower_policies=("stationary",))
    single = trace(full, "E-FSVI, T=6, one run")
    assert list(single.x).count(None) == list(single.y).count(None) == 2  # between three of them
    assert trace(full, "E-FSVI, T=6, greedy for J (n=3)").line.dash == "dot"
    assert trace(learning_figure(FRAME, counts=False), "E-FSVI, T=6")


def test_lines_of_the_same_colour_differ_in_their_dash():
    frame = pd.concat([run("mpi").assign(method=f"MPI, m={m}") for m in (2, 5, 11)])
    lines = [t for t in learning_figure(frame).data if t.mode == "lines" and not t.fill]
    assert len({t.line.color for t in lines}) == 1
    assert len({t.line.dash for t in lines}) == 3


def test_sampled_and_exact_members_of_a_family_differ_in_their_dash():
    figure = learning_figure(pd.concat([run("e-vi"), run("vi")]))
    assert trace(figure, "Base VI").line.dash != trace(figure, "Base E-VI (n=1)").line.dash


@pytest.mark.parametrize("x", ["evaluations", "sweeps", "seconds"])
def test_the_axes_have_titles(x):
    figure = learning_figure(FRAME, x, sweep=100, sweep_of="FVI")
    title = figure.layout.xaxis.title.text
    assert title and (x != "sweeps" or title.endswith("FVI"))


def test_an_empty_frame_gives_an_empty_figure():
    assert not learning_figure(FRAME.iloc[:0]).data


def test_curves_and_bands_are_steps():
    """Between two evaluated policies the earlier one counts, so no line rises before it."""
    figure = learning_figure(FRAME, "evaluations", log_x=False, runs=True)
    lines = [t for t in figure.data if t.mode != "markers" and not t.fill]
    assert lines and {t.line.shape for t in lines} == {"hv"}
    band = trace(figure, "Base E-VI, 95% interval")
    end = list(band.x).index(GRID[-1])
    upper = list(zip(band.x[: end + 1], band.y[: end + 1], strict=True))
    mean = summarise(FRAME).query("method == 'Base E-VI'").set_index("x")["high"]
    for at, height in upper:
        before = mean[mean.index < at]
        assert height == pytest.approx(mean[at]) or height == pytest.approx(before.iloc[-1])


def test_replications_are_drawn_where_their_interval_is_doubtful():
    def last_policies(values):
        frames = [run("e-vi", replication=i, start=v) for i, v in enumerate(values)]
        figure = learning_figure(pd.concat(frames), log_x=False)
        [dots] = [t for t in figure.data if t.name.endswith("last policies")]
        return list(dots.y or ()), figure

    three, figure = last_policies([0.2, 0.2, 0.2])
    assert three == pytest.approx([0.5, 0.52, 0.54])
    assert "few replications" in trace(figure, "Base E-VI (n=3)").hovertemplate
    groups, figure = last_policies([0.0, 0.0, 0.0, 0.6, 0.6, 0.6])
    assert len(groups) == 6
    assert "two groups" in trace(figure, "Base E-VI (n=6)").hovertemplate
    assert last_policies([0.2] * 6)[0] == []
