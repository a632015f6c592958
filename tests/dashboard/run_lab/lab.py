"""The Run lab without a browser, for its tests."""

from streamlit.testing.v1 import AppTest

from fsdash.dashboard.service import Service
from fsdash.runs.records import Experiment
from tests.dashboard.kit import address, opened

PAGE = "5_Run_lab.py"


def lab(**query: str) -> AppTest:
    return opened(PAGE, **query)


def errors(test: AppTest) -> str:
    return " ".join(e.value for e in test.error)


def html(test: AppTest) -> str:
    return " ".join(element.proto.body for element in test.get("html"))


def shown(service: Service, test: AppTest) -> Experiment:
    """The experiment in the URL."""
    return service.store.experiment(address(test)["experiment"])
