"""What answers where there is no page: JSON to programs, a page to browsers, and a way in for people."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("path", "target"), [("/", "/admin/"), ("/login/?next=/x", "/admin/login/?next=/x")])
def test_people_are_led_to_the_admin(path: str, target: str) -> None:
    answer = Client().get(path)
    assert (answer.status_code, answer.headers["Location"]) == (302, target)


def test_a_program_is_answered_in_json_and_a_browser_with_a_page() -> None:
    program = Client().get("/nothing/here")
    browser = Client().get("/nothing/here", headers={"Accept": "text/html"})
    assert (program.status_code, program.json()["code"]) == (404, "not_found")
    assert (browser.status_code, browser.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "unsafe-inline" not in browser.headers["Content-Security-Policy"]
    assert browser.headers["X-Frame-Options"] == "DENY"


def test_a_form_from_another_site_is_refused_with_the_base_url_behind_a_proxy() -> None:
    strict = Client(enforce_csrf_checks=True)
    page = strict.get("/admin/login/")
    token = page.cookies["csrftoken"].value
    values = {"csrfmiddlewaretoken": token, "username": "x", "password": "y"}
    foreign = strict.post("/admin/login/", values, headers={"Origin": "https://evil.example"})
    own = strict.post("/admin/login/", values, headers={"Origin": "http://127.0.0.1:8000"})
    assert (foreign.status_code, own.status_code) == (403, 200)
    assert foreign.json() == {"error": "That is not allowed.", "code": "forbidden"}
