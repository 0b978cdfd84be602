"""A new FreshWiki built from a local server that speaks the services' wire formats, errors and limits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import Reply
from typer.testing import CliRunner
from wikimedia import FakeWikimedia, WikiPageStub, article_html, lagged

from storm_bench.datasets import building
from storm_bench.datasets.building import Build
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.freshwiki_builder import FreshWikiPlan, build_freshwiki
from storm_bench.datasets.wikigenbench_builder import WikiGenBenchPlan
from storm_pipeline.errors import DatasetError
from storm_pipeline.interfaces.cli import app

URLS = [f"https://news{n}.example/{n}" for n in range(1, 6)]
GOOD = article_html(URLS)
LONG = article_html(URLS, sentences=20)
FLAT = "<p>A flood came to the town and went away again after some days of rain.</p><h2>Course</h2><p>It rose.</p>"
LIST = (
    "<p>Those who died.</p><h2>May</h2><h3>1</h3>"
    + "<ul>"
    + "<li>A person of some fame, aged ninety</li>" * 40
    + "</ul>"
)


def pages() -> list[WikiPageStub]:
    return [
        WikiPageStub("Big flood", 1, GOOD),
        WikiPageStub("Small flood", 2, GOOD.replace("harbour", "river"), grade="GA", redirect_from="Little flood"),
        WikiPageStub("Poor flood", 3, GOOD, grade="C"),
        WikiPageStub("List of floods", 4, GOOD),
        WikiPageStub("Flood", 5, GOOD, properties={"disambiguation": ""}),
        WikiPageStub("Long flood", 6, LONG, grade="FA"),
        WikiPageStub("Flat flood", 7, FLAT),
        WikiPageStub("Floods of the year", 8, LIST),
        WikiPageStub("Rivers by length", 9, GOOD, properties={"wikibase-shortdesc": "Wikimedia list article"}),
        WikiPageStub("Template:Flood", 10, GOOD, namespace=10),
    ]


MONTHS = {
    "2024-01": [(page.title, 100 - page.number) for page in pages() if page.number != 2] + [("Gone flood", 3)],
    "2024-02": [("Big flood", 40), ("Little flood", 30)],
}
PLAN = FreshWikiPlan(("2024-01", "2024-02"), max_words=700)


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


def test_articles_of_quality_are_built(tmp_path: Path) -> None:
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        built = build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services))
    assert built == read_freshwiki(tmp_path)
    assert [topic.title for topic in built.topics] == ["Big flood", "Small flood"]
    human = built.topics[0].human
    assert human.url == "https://en.wikipedia.org/wiki/Big_flood"
    assert human.headings() == ("Course", "Rescue", "Aftermath")
    assert [section.heading for section in human.back_matter] == ["References", "External links"]
    assert [document.url for document in human.references] == URLS
    first = human.sections[0].sentences[0]
    assert first.text == "The harbour course clerks number 0 counted grey barrels beside the northern harbour wall."
    assert list(first.references) == URLS[1:3]
    assert "entry" not in human.text() and "[" not in human.text()


def test_the_manifest_lists_topics_and_exclusions(tmp_path: Path) -> None:
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services))
    told = manifest(tmp_path)
    assert told["plan"]["months"] == ["2024-01", "2024-02"]
    assert told["made_by"].startswith("storm-pipeline/")
    assert told["topics"][0] | {"words": 0} == {
        "id": "Big_flood",
        "title": "Big flood",
        "url": "https://en.wikipedia.org/wiki/Big_flood",
        "page": 1,
        "revision": 1001,
        "grade": "B",
        "judge": "lift-wing enwiki-articlequality 0.9.2",
        "months": ["2024-01", "2024-02"],
        "edits_in_months": 139,
        "words": 0,
        "references": 5,
        "copies": [],
    }
    assert {one["title"]: one["reason"] for one in told["excluded"]} == {
        "Poor flood": "quality C",
        "List of floods": "list",
        "Flood": "disambiguation",
        "Long flood": "over 700 words",
        "Flat flood": "no subsections",
        "Floods of the year": "list",
        "Rivers by length": "list",
        "Template:Flood": "no article",
    }


class _KilledError(BaseException):
    """As an interrupt: nothing may catch it."""


def test_a_killed_build_continues_without_repeating_requests(tmp_path: Path) -> None:
    def kill(line: str) -> None:
        seen.append(line)
        if len(seen) == 5:
            raise _KilledError

    seen: list[str] = []
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        with pytest.raises(_KilledError):
            build_freshwiki(PLAN, Build(tmp_path / "killed", services=wikimedia.services, on_progress=kill))
        assert sum(wikimedia.asked.values()) > 5
        killed = build_freshwiki(PLAN, Build(tmp_path / "killed", services=wikimedia.services))
        assert max(count for kind, count in wikimedia.asked.items() if kind != "metrics") == 1
        before = sum(wikimedia.asked.values())
        assert build_freshwiki(PLAN, Build(tmp_path / "killed", services=wikimedia.services)) == killed
        assert sum(wikimedia.asked.values()) == before
        whole = build_freshwiki(PLAN, Build(tmp_path / "whole", services=wikimedia.services))
    assert killed.topics == whole.topics
    assert manifest(tmp_path / "killed") == manifest(tmp_path / "whole")


def test_a_failing_service_ends_the_build_but_keeps_responses(tmp_path: Path) -> None:
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        wikimedia.faults["parse"] = [Reply(status=500)] * 3
        with pytest.raises(DatasetError, match=r"Wikipedia answered 500.*run the same build again to continue"):
            build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services))
        assert not (tmp_path / "manifest.json").exists()
        assert len(build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services)).topics) == 2
        assert wikimedia.asked["metrics"] == 2


def test_lag_limits_and_broken_connections_are_waited_out(tmp_path: Path) -> None:
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        wikimedia.faults = {
            "metrics": [Reply(status=429, headers={"Retry-After": "0"})],
            "query": [lagged(), Reply(status=503, headers={"Retry-After": "0"})],
            "parse": [Reply(reset=True), lagged()],
            "lift-wing": [Reply(status=429, headers={"Retry-After": "0"}), Reply(reset=True)],
        }
        assert len(build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services)).topics) == 2


def test_pages_that_lift_wing_does_not_grade_are_left_out(tmp_path: Path) -> None:
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        wikimedia.faults["lift-wing 1001"] = [Reply(status=400)]
        assert [
            topic.title for topic in build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services)).topics
        ] == ["Small flood"]
        wikimedia.faults["lift-wing"] = [Reply(status=403)] * 20
        with pytest.raises(DatasetError, match=r"not graded: Lift Wing answered 403: set WIKIMEDIA_TOKEN"):
            build_freshwiki(PLAN, Build(tmp_path / "none", services=wikimedia.services))


def test_the_command_builds_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["experiment", "data", "freshwiki", "2024-01", "2024-02", "--to", str(tmp_path), "--max-words", "700"]
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        monkeypatch.setattr(building, "Wikimedia", lambda: wikimedia.services)
        ended = CliRunner().invoke(app, command)
    assert (ended.exit_code, ended.stdout.splitlines()) == (0, [f"2 topics in {tmp_path}"]), ended.output


def test_a_token_is_sent_to_lift_wing_alone_and_never_shown(tmp_path: Path) -> None:
    from dataclasses import replace

    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        services = replace(wikimedia.services, token="secret")
        assert "secret" not in repr(services)
        build_freshwiki(PLAN, Build(tmp_path, services=services))
        for request in wikimedia.requests:
            assert ("authorization" in request.headers) == request.path.startswith("/models")
    assert "secret" not in (tmp_path / "manifest.json").read_text()


def test_topics_are_drawn_by_the_seed(tmp_path: Path) -> None:
    many = [WikiPageStub(f"Flood {n}", n, GOOD) for n in range(1, 21)]
    months = {"2024-01": [(page.title, 1) for page in many]}
    drawn = {}
    with FakeWikimedia(many, months) as wikimedia:
        for name, seed in [("a", 1), ("b", 1), ("c", 2)]:
            plan = FreshWikiPlan(("2024-01",), size=4, seed=seed)
            built = build_freshwiki(plan, Build(tmp_path / name, services=wikimedia.services))
            drawn[name] = [topic.title for topic in built.topics]
    assert len(drawn["a"]) == 4
    assert drawn["a"] == drawn["b"] != drawn["c"]


@pytest.mark.parametrize("link", ["to", "to/topics", "to/.build"])
def test_nothing_is_deleted_or_written_through_a_link(tmp_path: Path, link: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.json").write_text("{}")
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / "own")
    (tmp_path / "to" / ".build").mkdir(exist_ok=True)
    with FakeWikimedia(pages(), MONTHS) as wikimedia, pytest.raises(DatasetError, match="is a link"):
        build_freshwiki(PLAN, Build(tmp_path / "to", services=wikimedia.services))
    assert (tmp_path / "own" / "mine.json").read_text() == "{}"


def test_a_data_set_from_elsewhere_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "mine.json").write_text("{}")
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        with pytest.raises(DatasetError, match="not built here; choose an empty folder"):
            build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services))
        assert not wikimedia.asked


@pytest.mark.parametrize(
    ("kind", "reply", "said"),
    [
        ("metrics", Reply(body={"items": []}), "Analytics API returned an unexpected response"),
        ("metrics", Reply(body="<html>login</html>"), "a web page instead of JSON"),
        ("query", Reply(body={"batchcomplete": True}), "Wikipedia returned an unexpected response"),
        ("query", Reply(body={"error": {"code": "badvalue", "info": "No such property."}}), "No such property"),
        ("parse", Reply(body={"parse": {"title": "x"}}), "Wikipedia returned an unexpected response"),
    ],
)
def test_unexpected_responses_are_reported_and_not_cached(kind: str, reply: Reply, said: str, tmp_path: Path) -> None:
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        wikimedia.faults[kind] = [reply]
        with pytest.raises(DatasetError, match=said):
            build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services))
        assert len(build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services)).topics) == 2


def test_a_revision_that_was_deleted_is_left_out(tmp_path: Path) -> None:
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        gone = {"error": {"code": "nosuchrevid", "info": "There is no revision with ID 1001."}}
        wikimedia.faults["parse 1001"] = [Reply(body=gone)]
        built = build_freshwiki(PLAN, Build(tmp_path, services=wikimedia.services))
    assert [topic.title for topic in built.topics] == ["Small flood"]
    assert {"title": "Big flood", "reason": "deleted"} in manifest(tmp_path)["excluded"]


def test_invalid_months_are_reported(tmp_path: Path) -> None:
    with FakeWikimedia(pages(), MONTHS) as wikimedia:
        with pytest.raises(DatasetError, match=r"answered 404: it has no data for this month"):
            build_freshwiki(FreshWikiPlan(("2030-01",)), Build(tmp_path, services=wikimedia.services))
        with pytest.raises(DatasetError, match="'2024-13' is not a month; write it as 2024-01"):
            build_freshwiki(FreshWikiPlan(("2024-13",)), Build(tmp_path, services=wikimedia.services))
        with pytest.raises(DatasetError, match=r"no article qualifies \(.*quality C"):
            build_freshwiki(FreshWikiPlan(("2024-01",), max_words=1), Build(tmp_path, services=wikimedia.services))


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (lambda: FreshWikiPlan(()), "no months given"),
        (lambda: FreshWikiPlan(("2024-01",), size=0), "size must be at least 1"),
        (WikiGenBenchPlan, "needs candidates"),
        (lambda: WikiGenBenchPlan(titles=("x",), created_after="May"), "'May' is not a date"),
        (lambda: WikiGenBenchPlan(titles=("x",), min_fetched=1.0), "min_fetched in"),
    ],
)
def test_invalid_plans_are_refused(plan: Callable[[], object], said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        plan()
