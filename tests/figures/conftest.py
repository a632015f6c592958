"""In these tests Plotly validates every figure; the pages skip the validation to save time."""

import pytest

from fsdash.figures import unchecked


@pytest.fixture(autouse=True)
def validation(monkeypatch):
    monkeypatch.setattr(unchecked, "VALIDATE", True)
