"""Three pages in a real browser, on a server with PostgreSQL and a Dask cluster."""

import pytest
from playwright.sync_api import expect

from tests.dashboard.conftest import running_server
from tests.databases import postgres_or_skip
from tools.dask_cluster import Cluster

pytest.importorskip("distributed", reason="`make test-services` installs it")
pytestmark = [pytest.mark.browser, pytest.mark.services]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    with postgres_or_skip() as postgres, Cluster() as cluster:
        cluster.start_worker()
        variables = {
            "FSDASH_DATABASE_URL": postgres.new_database("pages"),
            "FSDASH_DASK": cluster.address,
        }
        with running_server(folder, **variables) as url:
            yield url


def test_a_run_is_started_listed_and_inspected(chromium, url):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{url}/Run_lab?preset=custom&T=3&unit=iterations&budget=5&replications=2")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_test_id("stMain").get_by_text("finished").first).to_be_visible()
    experiment = page.evaluate("new URL(location).searchParams.get('experiment')")
    page.goto(f"{url}/Run_lab?tab=stored&selected={experiment}")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    page.goto(f"{url}/Policy_inspector?experiment={experiment}")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    context.close()
