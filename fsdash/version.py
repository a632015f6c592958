"""The version, defined only here; pyproject.toml and the pages read it."""

__version__ = "0.1.0"
