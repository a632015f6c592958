"""Settings for all tests."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from fsdash import compilation

# The same examples on every machine, and no time limit for a single example.
settings.register_profile("fsdash", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("fsdash")


@pytest.fixture(scope="session", autouse=True)
def no_compilation_in_advance() -> Iterator[None]:
    """Commands run in a test compile only the kernels that they call, without a message.

    `make test` compiles all of them before it starts.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compilation, "ensure_compiled", lambda: None)
        yield


@pytest.fixture(autouse=True)
def own_main_module() -> Iterator[None]:
    """Undo what Streamlit's AppTest leaves behind: a page's script as the module `__main__`.

    Worker processes of a later test would run that script when they start.
    """
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
