"""Figures are drawn with Plotly's own checks here, which the pages leave out to save time."""

import pytest

from fsdash.figures import unchecked as plain


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setattr(plain, "VALIDATE", True)
