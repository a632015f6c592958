"""How models, snapshots and results print in a terminal and in a notebook."""

from html.parser import HTMLParser

import numpy as np
import pytest

import fsdash
from fsdash.core.display import MAX_ROWS, Summary, as_text

MODEL = fsdash.make("inventory", y_max=10).build()
POLICY_XY = np.zeros((MODEL.n_slow, MODEL.n_fast), int)
WIDE_AXIS = fsdash.Axis([f"coordinate {i}" for i in range(20)], np.zeros((3, 20)))
OBJECTS = {
    "model": MODEL,
    "axis": WIDE_AXIS,
    "snapshot": next(fsdash.vi(MODEL)),
    "sampled snapshot": next(fsdash.e_vi(MODEL, np.random.default_rng(0))),
    "values": fsdash.policy_values(MODEL, POLICY_XY),
    "optimum": fsdash.optimum(MODEL),
    "regret": fsdash.regret(MODEL, POLICY_XY),
    "path": fsdash.simulate(MODEL, POLICY_XY, rng=np.random.default_rng(0), steps=5),
    "visits": fsdash.core.visits(MODEL, POLICY_XY),
}


class Cells(HTMLParser):
    """Collects the text of table cells, and checks that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("name", OBJECTS)
def test_a_repr_fits_in_ten_lines(name):
    lines = repr(OBJECTS[name]).splitlines()
    assert 2 <= len(lines) <= 1 + MAX_ROWS == 10
    assert all(len(line) <= 100 for line in lines)
    assert "array(" not in repr(OBJECTS[name])


@pytest.mark.parametrize("name", OBJECTS)
def test_a_notebook_shows_the_same_rows_as_a_table(name):
    cells = Cells()
    cells.feed(OBJECTS[name]._repr_html_())
    assert not cells.open
    title, rows = OBJECTS[name]._summary()
    shown = [title, *(text for label, value in rows for text in (label, as_text(value)))]
    assert cells.texts == shown


def test_a_repr_shows_the_important_numbers():
    assert f"{MODEL.n_slow} (demand)" in repr(MODEL) and "0.995" in repr(MODEL)
    third = fsdash.run_until(fsdash.fsvi(MODEL, 3), iterations=2)
    assert "phase upper, iteration 2" in repr(third) and "periodic, shape (3, 11, 11)" in repr(
        third
    )
    assert f"{OBJECTS['regret'].max_regret:.6g}" in repr(OBJECTS["regret"])


def test_html_is_escaped():
    class Named(Summary):
        def _summary(self):
            return "<b>", [("a & b", "<script>")]

    assert "<script>" not in Named()._repr_html_() and "&lt;script&gt;" in Named()._repr_html_()
