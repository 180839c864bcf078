"""The readable documentation works in a real browser, under the policy that forbids inline script and style."""

import os
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

CHROMIUM = os.environ.get("SWITCHBOARD_CHROMIUM")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium")]


def open_documentation(page: Page, address: str) -> list[str]:
    """Open the page, unfold one operation, and return what the browser complained about."""
    complaints: list[str] = []
    page.on("console", lambda line: complaints.append(line.text) if line.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{address}/api/v1/docs/")
    page.get_by_text("Vend an endpoint").click()
    page.get_by_text("webhook_source_types").first.wait_for()
    return complaints


def test_the_documentation_opens_without_a_complaint(live_server: Any) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        assert open_documentation(browser.new_page(), live_server.url) == []
        browser.close()
