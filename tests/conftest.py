"""Hypothesis draws the same examples on every machine, and takes the time it needs."""

from hypothesis import settings

settings.register_profile("fsdash", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("fsdash")
