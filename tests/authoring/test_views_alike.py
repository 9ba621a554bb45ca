"""What holds for every page of authoring."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.support import make_application, make_configuration, make_scenario, make_suite

pytestmark = pytest.mark.django_db

NAME = "Süd / Ost"
PAGES: list[tuple[str, list[object]]] = [
    ("scenarios", []),
    ("scenario-new", []),
    ("scenarios-import", []),
    ("scenario", ["book_table"]),
    ("scenario-edit", ["book_table"]),
    ("scenario-version", ["book_table", 1]),
    ("scenario-diff", ["book_table"]),
    ("suites", []),
    ("suite", [NAME]),
    ("suite-export", [NAME]),
    ("applications", []),
    ("application-new", []),
    ("application", [NAME]),
    ("application-edit", [NAME]),
    ("application-version", [NAME, 1]),
    ("application-diff", [NAME]),
    ("configurations", []),
    ("configuration-new", []),
    ("configuration", [NAME]),
    ("configuration-edit", [NAME]),
    ("configuration-version", [NAME, 1]),
    ("configuration-diff", [NAME]),
]
EMPTY = [page for page in PAGES if not page[1]]
POSTS_ONLY: list[tuple[str, list[object]]] = [
    ("scenario-validate", []),
    ("scenario-archive", ["book_table"]),
    ("application-validate", []),
    ("configuration-validate", []),
]
TAKE_POSTS = {
    "scenario-new",
    "scenario-edit",
    "scenarios-import",
    "suites",
    "suite",
    "application-new",
    "application-edit",
    "configuration-new",
    "configuration-edit",
}


@pytest.fixture
def content(db: None) -> None:
    scenario = make_scenario("book_table").scenario
    make_suite(NAME, [scenario])
    make_application(NAME)
    make_configuration(NAME, application={"name": NAME, "version": 1})


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize(("name", "args"), PAGES, ids=[page[0] for page in PAGES])
def test_it_is_shown(browser: Client, name: str, args: list[object]) -> None:
    response = browser.get(reverse(name, args=args))
    assert response.status_code == 200
    assert browser.head(reverse(name, args=args)).status_code == 200


@pytest.mark.parametrize(("name", "args"), EMPTY, ids=[page[0] for page in EMPTY])
def test_it_is_shown_while_there_is_nothing(browser: Client, name: str, args: list[object]) -> None:
    assert browser.get(reverse(name, args=args)).status_code == 200


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize(("name", "args"), PAGES + POSTS_ONLY, ids=[page[0] for page in PAGES + POSTS_ONLY])
def test_a_stranger_is_sent_to_sign_in(client: Client, name: str, args: list[object]) -> None:
    url = reverse(name, args=args)
    for response in (client.get(url), client.post(url)):
        assert response.status_code == 302
        assert response.headers["Location"].startswith(reverse("sign-in"))


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize(("name", "args"), PAGES + POSTS_ONLY, ids=[page[0] for page in PAGES + POSTS_ONLY])
def test_other_methods_are_refused(browser: Client, name: str, args: list[object]) -> None:
    url = reverse(name, args=args)
    assert browser.delete(url).status_code == 405
    if name not in TAKE_POSTS and (name, args) not in POSTS_ONLY:
        assert browser.post(url).status_code == 405
    if (name, args) in POSTS_ONLY:
        assert browser.get(url).status_code == 405


@pytest.mark.parametrize(("name", "args"), [p for p in PAGES if p[1]], ids=[p[0] for p in PAGES if p[1]])
def test_what_is_not_there_is_404(browser: Client, name: str, args: list[object]) -> None:
    assert browser.get(reverse(name, args=args)).status_code == 404


@pytest.mark.usefixtures("content")
@pytest.mark.parametrize("query", ["from=7", "from=x", "to=0", "from=1&to=99"])
def test_a_version_that_is_not_there_cannot_be_compared(browser: Client, query: str) -> None:
    for name in ("scenario-diff", "application-diff", "configuration-diff"):
        key = "book_table" if name == "scenario-diff" else NAME
        assert browser.get(f"{reverse(name, args=[key])}?{query}").status_code == 404


@pytest.mark.parametrize("name", sorted(TAKE_POSTS) + [name for name, _ in POSTS_ONLY])
@pytest.mark.usefixtures("content")
def test_a_post_without_a_token_is_refused(alice: object, name: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)  # type: ignore[arg-type]
    args = next(args for page, args in PAGES + POSTS_ONLY if page == name)
    assert strict.post(reverse(name, args=args)).status_code == 403


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("scenarios", "Write the first one"),
        ("suites", "Name one above"),
        ("applications", "Write the first one"),
        ("configurations", "Describe the first one"),
    ],
)
def test_an_empty_list_says_what_to_do_next(browser: Client, name: str, said: str) -> None:
    assert said in browser.get(reverse(name)).content.decode()
    assert "Nothing matches" in browser.get(reverse(name), {"q": "x"}).content.decode()
