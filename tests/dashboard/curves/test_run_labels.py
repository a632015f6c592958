"""The names of runs in a legend."""

from fsdash.runs.records import Run, differing_settings, run_labels
from fsdash.runs.spec import RunSpec


def run_of(id: int, spec: RunSpec) -> Run:
    return Run(id, "e", id, spec.to_json(), spec.hash, spec.domain, spec.algorithm, spec.T, ())


def test_runs_are_told_apart_by_a_parameter_of_the_domain():
    parameters = ({"d_max": 50}, {"d_max": 50, "d_step": 5})
    specs = [RunSpec("inventory", "vi", domain_parameters=p, iterations=3) for p in parameters]
    runs = [run_of(i, spec) for i, spec in enumerate(specs)]
    assert differing_settings(runs) == ["inventory.d_step"]
    assert run_labels(runs) == {0: "Base VI, d_step=1", 1: "Base VI, d_step=5"}


def test_runs_are_told_apart_by_a_parameter_of_the_algorithm():
    specs = [
        RunSpec("inventory", "fsvi", T=3, parameters={"terminal": terminal}, iterations=3)
        for terminal in ("zero", "last")
    ]
    runs = [run_of(i, spec) for i, spec in enumerate(specs)]
    assert run_labels(runs) == {0: "FSVI, T=3, terminal=zero", 1: "FSVI, T=3, terminal=last"}
