"""A new round of Wiki Live built from local servers: Wikipedia's API, and sites that editors cite and searches find."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from judge_llm import FakeModel
from servers import Reply, ScriptedServer
from test_datasets_wikigenbench_builder import Web, report, urls
from typer.testing import CliRunner
from wikimedia import FakeWikimedia, WikiPageStub, article_html

from storm_bench.commands import datasets as cli_datasets
from storm_bench.datasets import building
from storm_bench.datasets.building import Build
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wiki_live_builder import WikiLivePlan, build_wiki_live
from storm_bench.experiments import Experiment
from storm_bench.experiments.config import read_config
from storm_bench.experiments.executors import LocalExecutor
from storm_pipeline.errors import DatasetError
from storm_pipeline.interfaces.cli import app
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import Snippet

PLAN = WikiLivePlan(("2024-03",), min_words=300, min_pages=2)
ROOT = Path(__file__).resolve().parents[3]
MIRROR = "https://mirror.example/x"
MIRRORS = ["https://www.wikiwand.com/en/articles/Flood", "https://de.wikipedia.org/wiki/Flut"]


def promoted(title: str, number: int, day: str = "2024-03-05", **values: Any) -> WikiPageStub:
    """An article that was written in January, became a Good Article on a day, and was edited in May."""
    plain: dict[str, Any] = {
        "html": article_html(urls(f"s{number}"), seed=f"gauge{number}"),
        "revisions": ("", "", ""),
        "times": ("2024-01-09T10:00:00Z", f"{day}T10:00:00Z", "2024-05-01T10:00:00Z"),
        "good": (False, True, True),
        "joined": f"{day}T10:00:00Z",
    }
    return WikiPageStub(title, number, **(plain | values))


def pages() -> list[WikiPageStub]:
    early = ("2024-01-09T10:00:00Z", "2024-02-20T10:00:00Z", "2024-03-07T10:00:00Z")
    return [
        promoted("Big flood", 1),
        promoted("High flood", 2, "2024-03-31"),
        promoted("April flood", 3, "2024-04-01"),
        promoted("Rejoined flood", 4, times=early, joined="2024-03-07T10:00:00Z"),
        promoted("Delisted flood", 5, good=(False, False, True)),
        promoted("Short flood", 6, html=article_html(urls("s6"), sentences=2)),
        promoted("Dead flood", 7),
        promoted("Plain flood", 8, html="<p>" + "A flood came to the town again. " * 60 + "</p>"),
        promoted("List of floods", 9),
        promoted("Young flood", 10, times=("2024-03-02T10:00:00Z", "2024-03-05T10:00:00Z", "2024-03-06T10:00:00Z")),
    ]


def web() -> Web:
    cited = [url for number in (1, 2, 3, 4, 5, 8, 10) for url in urls(f"s{number}")[:3]]
    texts = {url: report(n) for n, url in enumerate(cited)}
    copy = " ".join(
        f"The gauge1 {part} clerks number {n} counted grey barrels beside the northern harbour wall."
        for part in ("lead", "course")
        for n in range(10)
    )
    return Web(texts | {"https://found.example/a": report(70), MIRROR: copy} | dict.fromkeys(MIRRORS, report(71)))


def search() -> FakeSearch:
    hits = ["https://found.example/a", MIRROR, *MIRRORS, "https://gone.example/z"]
    return FakeSearch({"Big flood": [Snippet(url, "Found", "shown") for url in hits]})


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


def build(folder: Path, wikimedia: FakeWikimedia, plan: WikiLivePlan = PLAN, site: Web | None = None) -> DataSet:
    return build_wiki_live(plan, Build(folder, fetch=site or web(), services=wikimedia.services))


def test_new_good_articles_are_built(tmp_path: Path) -> None:
    with FakeWikimedia(pages()) as wikimedia:
        built = build_wiki_live(PLAN, Build(tmp_path, search(), fetch=web(), services=wikimedia.services))
    assert built == read_wiki_live(tmp_path, strict=True)
    assert [topic.title for topic in built.topics] == ["Big flood", "High flood", "Young flood"]
    topic = built.topics[0]
    assert (topic.id, topic.human.url) == ("Big_flood", "https://en.wikipedia.org/wiki/Big_flood")
    assert topic.human.headings() == ("Course", "Rescue", "Aftermath")
    assert topic.human.lead.startswith("The gauge1 lead clerks number 0 counted grey barrels")
    assert "[" not in topic.human.text()
    assert len(topic.human.statements) == 30
    assert not any("lead" in statement for statement in topic.human.statements), "a lead repeats the body"
    assert [(document.url, document.origin) for document in topic.documents] == [
        *((url, "human") for url in urls("s1")[:3]),
        ("https://found.example/a", "search"),
    ]
    assert topic.documents[0].text == report(0)
    assert topic.system_articles == ()


def test_the_manifest_lists_revisions_copies_and_exclusions(tmp_path: Path) -> None:
    with FakeWikimedia(pages()) as wikimedia:
        build_wiki_live(PLAN, Build(tmp_path, search(), fetch=web(), services=wikimedia.services))
    held = manifest(tmp_path)
    assert (held["search"], held["plan"]["months"]) == ("fake", ["2024-03"])
    assert {one["title"]: one["reason"] for one in held["excluded"]} == {
        "Rejoined flood": "a Good Article before the month",
        "Delisted flood": "no Good Article at the month's end",
        "Short flood": "under 300 words",
        "Dead flood": "under 2 pages with text",
        "Plain flood": "no sections",
        "List of floods": "list",
    }
    entries = {entry["id"]: entry for entry in held["topics"]}
    assert entries["Big_flood"] | {"copies": [], "words": 0} == {
        "id": "Big_flood",
        "title": "Big flood",
        "url": "https://en.wikipedia.org/wiki/Big_flood",
        "page": 1,
        "revision": 1002,
        "month": "2024-03",
        "words": 0,
        "statements": 30,
        "statements_in_article": 30,
        "cited_pages": 3,
        "found_pages": 1,
        "copies": [],
    }
    assert [copy["url"] for copy in entries["Big_flood"]["copies"]] == [MIRROR]
    assert entries["Young_flood"]["revision"] == 10003, "the last of the month"


def test_months_are_read_to_their_last_second_in_parts(tmp_path: Path) -> None:
    months = ("2024-04", "2024-03", "2024-03")
    with FakeWikimedia(pages()) as wikimedia:
        built = build(tmp_path, wikimedia, replace(PLAN, months=months))
        assert wikimedia.asked["members"] == 6, "nine members of March, two at a time, and one of April"
        starts = {request.form["cmstart"] for request in wikimedia.requests if "cmstart" in request.form}
    assert [topic.title for topic in built.topics] == ["April flood", "Big flood", "High flood", "Young flood"]
    assert starts == {"2024-03-01T00:00:00Z", "2024-04-01T00:00:00Z"}


def test_only_cited_pages_without_a_search_engine(tmp_path: Path) -> None:
    html = article_html([*urls("s1"), *MIRRORS], seed="gauge1")
    site = web()
    with FakeWikimedia([promoted("Big flood", 1, html=html)]) as wikimedia:
        (topic,) = build(tmp_path, wikimedia, site=site).topics
    assert [document.url for document in topic.documents] == urls("s1")[:3]
    assert not set(MIRRORS) & set(site.fetched), "Wikipedia and its mirrors are no sources"
    assert manifest(tmp_path)["search"] == ""


def test_short_pages_are_left_out(tmp_path: Path) -> None:
    site = Web({url: report(n) for n, url in enumerate(urls("s1"))})
    site.texts[urls("s1")[0]] = "It is up. " * 17 + "x" * 329
    site.texts[urls("s1")[1]] = "It is up. " * 17 + "x" * 330
    with FakeWikimedia([promoted("Big flood", 1)]) as wikimedia:
        (topic,) = build(tmp_path, wikimedia, site=site).topics
    assert [document.url for document in topic.documents] == urls("s1")[1:]


def test_cited_addresses_of_this_network_are_not_fetched(tmp_path: Path) -> None:
    with ScriptedServer(Reply(body=report(1), headers={"Content-Type": "text/plain"})) as server:
        html = article_html([f"{server.url}/{name}" for name in "abc"])
        with (
            FakeWikimedia([promoted("Big flood", 1, html=html)]) as wikimedia,
            pytest.raises(DatasetError, match=r"no article qualifies \(1 × under 2 pages with text\)"),
        ):
            build_wiki_live(PLAN, Build(tmp_path, services=wikimedia.services))
        assert not server.requests


def test_a_page_that_vanishes_during_the_build_is_left_out(tmp_path: Path) -> None:
    def vanish(kind: str) -> None:
        if kind in {"query revisions", "parse 2002"}:
            wikimedia.pages[:] = [page for page in wikimedia.pages if page.number != gone]

    for gone in (1, 2):
        with FakeWikimedia(pages()) as wikimedia:
            wikimedia.before = vanish
            built = build(tmp_path / str(gone), wikimedia)
        assert len(built.topics) == 2
        reasons = {one["title"]: one["reason"] for one in manifest(tmp_path / str(gone))["excluded"]}
        assert "deleted" in reasons.values()


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel({"FindStatement": json.dumps({"verdict": "stated"})}) as server:
        yield server


def test_a_built_round_runs_as_an_experiment(tmp_path: Path, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_DATA", str(tmp_path))
    with FakeWikimedia(pages()) as wikimedia:
        build_wiki_live(PLAN, Build(tmp_path / "wiki_live", search(), fetch=web(), services=wikimedia.services))
    quick = {"lm": model.lm, "perspectives": 1, "turns": 1, "call_attempts": 1, "max_failures": 0}
    metrics = ("statement_coverage_lm", "heading_soft_recall", "citation_wikigenbench", "shape")
    config = read_config(ROOT / "experiments" / "wiki-live.toml").sized("round")
    config = config.with_overrides(topics=2, settings=quick).with_judges(judge_lm=model.lm)
    config = config.model_copy(update={"metrics": metrics})
    with Experiment(config, tmp_path / "out", LocalExecutor(), cache=ROOT / "cache") as experiment:
        results = experiment.run().results
    assert sorted((result.topic, result.method, result.failure) for result in results) == [
        (topic, method, "") for topic in ("Big_flood", "High_flood") for method in ("storm", "storm, unchecked")
    ]
    assert all(result.values["statement_coverage_lm"] is not None for result in results)


def test_the_command_builds_a_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "WebPages", web)
    monkeypatch.setattr(cli_datasets, "_engine", lambda values: search() if values["search"] == "fake" else None)
    options = ["--per-month", "1", "--statements", "7", "--min-words", "300", "--min-pages", "2", "--chance", "3"]
    with FakeWikimedia(pages()) as wikimedia:
        monkeypatch.setattr(building, "Wikimedia", lambda: wikimedia.services)
        for folder, more in [(tmp_path / "a", []), (tmp_path / "b", ["--search", "fake"])]:
            command = ["experiment", "data", "wiki-live", "2024-03", "2024-04", "--to", str(folder)]
            ended = CliRunner().invoke(app, [*command, *options, *more])
            assert (ended.exit_code, ended.stdout) == (0, f"2 topics in {folder}\n"), ended.output
            assert {len(topic.human.statements) for topic in read_wiki_live(folder).topics} == {7}
    assert (manifest(tmp_path / "a")["search"], manifest(tmp_path / "b")["search"]) == ("", "fake")
    assert manifest(tmp_path / "a")["plan"]["seed"] == 3
    ended = CliRunner().invoke(app, ["experiment", "data", "wiki-live", "soon", "--to", str(tmp_path / "c")])
    assert ended.exit_code != 0 and "'soon' is not a month" in ended.output
