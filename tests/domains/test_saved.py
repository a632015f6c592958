"""A model of one's own is a domain, known by its content."""

import gc
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pytest

from fsdash.algorithms.optimum import optimum
from fsdash.domains import DOMAINS, domain_label, make
from fsdash.domains.registry import is_saved_name
from fsdash.domains.saved import domain_name, remember, saved_domain
from fsdash.errors import InputError
from fsdash.figures.domains import describe_domain, domain_svg
from fsdash.models import content_hash
from fsdash.runs.engine import execute
from fsdash.runs.errors import StoreError
from fsdash.runs.runner import run_all
from fsdash.runs.spec import RunSpec
from fsdash.runs.store import models
from fsdash.runs.store.experiments import Store
from tests.saved_models import shop_model

UNKNOWN = "model-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_database_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
    monkeypatch.delenv("FSDASH_DATABASE_URL", raising=False)


def test_the_name_depends_on_the_content_alone():
    name = domain_name(shop_model())
    assert is_saved_name(name)
    assert domain_name(shop_model()) == name
    assert len({name, domain_name(shop_model(0.8)), domain_name(shop_model(cost=True))}) == 3


def test_a_remembered_model_is_a_domain_that_is_not_listed():
    model = shop_model()
    name = remember(model, "corner shop")
    assert name in DOMAINS
    assert name not in list(DOMAINS)
    domain = make(name)
    assert domain.name == name
    assert domain.shape == (2, 4, 4, model.true.outcomes)
    assert domain.gamma == 0.9
    assert domain.build() is model
    assert domain_label(name) == "corner shop"
    assert domain == make(name)
    assert hash(domain) == hash(make(name))


def test_only_gamma_can_be_changed():
    name = remember(shop_model())
    changed = make(name, gamma="0.5").build()
    assert changed.gamma == 0.5
    np.testing.assert_array_equal(changed.reward_XYA, shop_model().reward_XYA)
    with pytest.raises(InputError, match="has no parameter 'shelf'; it has gamma"):
        make(name, shelf=3)


def test_an_unknown_model_is_refused_with_the_remedy():
    assert UNKNOWN not in DOMAINS
    assert saved_domain(UNKNOWN) is None
    with pytest.raises(InputError, match=r"not saved here.*open its file on the page Your model"):
        make(UNKNOWN)
    with pytest.raises(InputError, match="is not saved here"):
        RunSpec(UNKNOWN, "vi", iterations=1)


def test_drawing_and_description_use_the_names_of_the_variables():
    domain = make(remember(shop_model(cost=True)))
    drawing = domain_svg(domain)
    assert "season" in drawing
    assert "stock" in drawing
    assert describe_domain(domain).startswith("Costs are minimised, discounted by γ = 0.9.")


# ------------------------------------------------------------------------------------------ runs


def test_a_specification_takes_a_model_and_survives_as_json_command_and_python():
    model = shop_model()
    spec = RunSpec(model, "fsvi", T=3, iterations=5)
    assert spec.domain == domain_name(model)
    assert RunSpec.from_json(spec.to_json()) == spec
    assert eval(spec.to_python()) == spec
    assert spec.to_command().startswith(f"fsdash run {spec.domain} --algorithm fsvi")


def test_an_exact_run_reaches_the_optimum():
    model, records = shop_model(), []
    execute(RunSpec(model, "vi", iterations=500), 0, records.append)
    best = model.mean(optimum(model).U_XY)
    assert records[-1].row["mean_return"] == pytest.approx(best, abs=1e-3)
    assert records[-1].row["fraction_of_optimal"] == pytest.approx(1, abs=1e-4)


def test_a_model_of_costs_is_measured_by_regret():
    records = []
    execute(RunSpec(shop_model(cost=True), "vi", iterations=500), 0, records.append)
    last = records[-1].row
    assert np.isnan(last["fraction_of_optimal"])
    assert last["mean_regret"] == pytest.approx(0, abs=1e-3)
    assert last["mean_return"] < 0


@pytest.mark.processes
def test_workers_receive_a_model_that_only_this_process_knows():
    spec = RunSpec(shop_model(0.83), "e-vi", iterations=2, replications=2)
    alone, _ = run_all([spec])
    together, endings = run_all([spec], workers=2)
    assert [ending.outcome.status for ending in endings] == ["finished", "finished"]
    columns = ["replication", "step", "evaluations", "mean_return"]
    np.testing.assert_array_equal(alone[columns], together[columns])


# -------------------------------------------------------------------------------------- databases


@pytest.mark.processes
@pytest.mark.parametrize("module", ["fsdash", "fsdash.domains"])
def test_a_new_process_finds_a_model_in_the_users_database(tmp_path, module):
    name = Store(tmp_path / "runs.db").models.add("me", "shop", shop_model(0.44)).domain
    code = f"from {module} import make; print(make({name!r}).build().gamma)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "0.44"


def test_a_database_that_cannot_be_read_is_reported_only_if_it_may_have_the_model(tmp_path):
    (tmp_path / "runs.db").write_bytes(b"not a database, " * 100)
    with pytest.raises(StoreError, match="not a database"):
        make(UNKNOWN)
    name = remember(shop_model(0.41))
    assert make(name).gamma == 0.41
    other = Store(tmp_path / "elsewhere" / "runs.db")
    assert make(other.models.add("me", "shop", shop_model(0.42)).domain).gamma == 0.42


def test_a_model_is_found_behind_an_open_database_that_cannot_be_read(tmp_path, monkeypatch):
    stores = [Store(tmp_path / name / "runs.db") for name in ("damaged", "healthy")]
    name = stores[1].models.add("me", "shop", shop_model(0.43)).domain
    monkeypatch.setattr(models, "_databases", [store.database for store in stores])
    monkeypatch.setattr(models, "look_in", lambda database: None)
    monkeypatch.setattr(stores[0].database, "reading", Mock(side_effect=StoreError("damaged")))
    assert models.find_content(name).gamma == 0.43
    with pytest.raises(StoreError, match="damaged"):
        models.find_content(UNKNOWN)


def test_a_model_is_found_in_an_open_store_and_in_the_users_own(tmp_path):
    model = shop_model(0.77)
    other = Store(tmp_path / "elsewhere" / "runs.db")
    name = other.models.add("me", "elsewhere", model).domain
    assert content_hash(make(name).build()) == content_hash(model)
    other.models.delete(name)
    assert name not in DOMAINS

    own = Store()
    own.models.add("me", "my own", model)
    own.close()
    del own
    gc.collect()
    assert domain_label(name) == "my own"
    assert content_hash(make(name).build()) == content_hash(model)
