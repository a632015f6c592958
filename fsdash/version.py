"""The one place where the version is written; pyproject.toml and the pages read it here."""

__version__ = "0.1.0"
