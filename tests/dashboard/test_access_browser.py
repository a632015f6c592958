"""The password of a server in a real browser."""

import pytest
from playwright.sync_api import expect

from fsdash.dashboard.access import WRONG
from tests.dashboard.conftest import running_server

pytestmark = [pytest.mark.browser]


def test_a_visitor_gives_the_password_once(chromium, tmp_path):
    variables = {"FSDASH_DATA": str(tmp_path), "FSDASH_PASSWORD": "open sesame"}
    with running_server(tmp_path, **variables) as url:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{url}/Bounds?T=7")
        page.get_by_label("Password").fill("sesame")
        page.get_by_role("button").click()
        expect(page.get_by_role("alert")).to_have_text(WRONG)
        page.get_by_label("Password").fill("open sesame")
        page.get_by_role("button").click()
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        assert page.url.startswith(f"{url}/Bounds?T=7")
        page.reload()
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        assert page.evaluate("document.cookie").find("fsdash") == -1
        context.close()
