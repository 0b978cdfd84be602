"""A new WikiGenBench built from local servers: Wikimedia's services, and sites that editors cite and searches find."""

import json
from pathlib import Path
from typing import Any

import pytest
from servers import Reply
from typer.testing import CliRunner
from wikimedia import FakeWikimedia, WikiPageStub, article_html

from storm_bench.commands import datasets as cli_datasets
from storm_bench.datasets import building
from storm_bench.datasets.building import Build
from storm_bench.datasets.closed_corpus import ClosedCorpus, topic_chunks
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_bench.datasets.wikigenbench_builder import WikiGenBenchPlan, build_wikigenbench
from storm_pipeline.errors import DatasetError, PageError
from storm_pipeline.interfaces.cli import app
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import Snippet

TITLES = ("Big flood", "Old flood", "Flood company", "Short flood", "Bare flood", "Dead flood", "List of floods")
PLAN = WikiGenBenchPlan(
    titles=TITLES, created_after="2023-12-31", min_words=300, max_words=700, min_links=3, max_links=9, search_results=4
)


def report(n: int) -> str:
    said = " ".join(f"Observer {n} wrote in line {i} that the gauge stood higher than before." for i in range(12))
    return f"Report {n}. {said}"


class Web:
    """Pages of invented sites; counts what was fetched."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.fetched: list[str] = []

    def __call__(self, url: str) -> Page:
        self.fetched.append(url)
        if url not in self.texts:
            raise PageError(f"{url} answered 404; the page cannot be had")
        return Page(url, f"Title of {url}", ((None, self.texts[url]),))


def urls(name: str, number: int = 5) -> list[str]:
    return [f"https://{name}.example/{n}" for n in range(1, number + 1)]


def pages() -> list[WikiPageStub]:
    return [
        WikiPageStub("Big flood", 1, article_html(urls("big"))),
        WikiPageStub("Old flood", 2, article_html(urls("old")), created="2020-01-01T00:00:00Z"),
        WikiPageStub("Flood company", 3, article_html(urls("firm")), is_event=False),
        WikiPageStub("Short flood", 4, article_html(urls("short"), sentences=2)),
        WikiPageStub("Bare flood", 5, article_html(urls("bare", 2))),
        WikiPageStub("Dead flood", 6, article_html(urls("dead"))),
        WikiPageStub("List of floods", 7, article_html(urls("list"))),
    ]


def web() -> Web:
    had = [*urls("big")[:4], *urls("dead")[:2], *urls("old")]
    copy = " ".join(
        f"The harbour {part} clerks number {n} counted grey barrels beside the northern harbour wall."
        for part in ("lead", "course")
        for n in range(10)
    )
    found = {"https://found.example/a": report(50), "https://mirror.example/x": copy}
    return Web({url: report(n) for n, url in enumerate(had)} | found)


def search() -> FakeSearch:
    hits = ["https://found.example/a", "https://mirror.example/x", "https://gone.example/z"]
    own = Snippet("https://en.wikipedia.org/wiki/Big_flood", "Big flood - Wikipedia", "A flood.")
    return FakeSearch({"Big flood": [own, *(Snippet(url, "Found", "shown") for url in hits)]})


def provenance(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


def test_topics_come_with_what_editors_cited_and_a_search_found(tmp_path: Path) -> None:
    with FakeWikimedia(pages()) as wikimedia:
        built = build_wikigenbench(PLAN, Build(tmp_path, search(), fetch=web(), services=wikimedia.services))
    assert built == read_wikigenbench(tmp_path, core_only=True)
    (topic,) = built.topics
    assert (topic.id, topic.title) == ("1", "Big flood")
    assert [(document.url, document.origin) for document in topic.documents] == [
        *((url, "human") for url in urls("big")[:4]),
        ("https://found.example/a", "search"),
    ]
    assert [document.text for document in topic.human.references] == [*map(report, range(4)), ""]
    assert topic.human.references[0].title == "Report 1"
    assert topic.human.headings() == ("Course", "Rescue", "Aftermath")
    assert topic.human.infobox == (("Date", "3 March 2024"), ("Deaths", "None (two injured)"))
    assert topic.human.lead.startswith("The harbour lead clerks number 0 counted")
    assert "Observer 50" in ClosedCorpus(topic_chunks(topic)).search("observer 50", 1)[0].text


def test_the_manifests_list_exclusions(tmp_path: Path) -> None:
    with FakeWikimedia(pages()) as wikimedia:
        build_wikigenbench(PLAN, Build(tmp_path, search(), fetch=web(), services=wikimedia.services))
    told = provenance(tmp_path)
    assert told["search"] == "fake"
    assert {one["title"]: one["reason"] for one in told["excluded"]} == {
        "Old flood": "older",
        "Flood company": "no event",
        "Short flood": "not of 300 to 700 words",
        "Bare flood": "not of 3 to 9 links",
        "Dead flood": "40% of its links or fewer were fetched",
        "List of floods": "list",
    }
    (entry,) = told["topics"]
    assert entry["revision"] == 1001
    assert [copy["url"] for copy in entry["copies"]] == [
        "https://en.wikipedia.org/wiki/Big_flood",
        "https://mirror.example/x",
    ]


def test_a_build_continues_after_a_failed_search(tmp_path: Path) -> None:
    failing = FakeSearch({}, failing={"Big flood"})
    site = web()
    with FakeWikimedia(pages()) as wikimedia:
        with pytest.raises(DatasetError, match="run the same build again to continue"):
            build_wikigenbench(PLAN, Build(tmp_path, failing, fetch=site, services=wikimedia.services))
        fetched = set(site.fetched)
        built = build_wikigenbench(PLAN, Build(tmp_path, search(), fetch=site, services=wikimedia.services))
    assert len(built.topics) == 1
    assert len(site.fetched) == len(set(site.fetched)) > len(fetched)


def test_events_are_asked_of_wikidata_once_for_many(tmp_path: Path) -> None:
    many = [WikiPageStub(f"Flood {n}", n, article_html(urls(f"s{n}")), is_event=n == 7) for n in range(1, 61)]
    plan = WikiGenBenchPlan(titles=tuple(page.title for page in many), min_words=300, min_links=3, search_results=0)
    site = Web({url: report(n) for n, url in enumerate(urls("s7"))})
    with FakeWikimedia(many) as wikimedia:
        built = build_wikigenbench(plan, Build(tmp_path, FakeSearch({}), fetch=site, services=wikimedia.services))
        assert wikimedia.asked["wikidata"] == 2
    assert [topic.title for topic in built.topics] == ["Flood 7"]


def test_empty_builds_are_reported(tmp_path: Path) -> None:
    with FakeWikimedia(pages()) as wikimedia:
        wikimedia.faults["wikidata"] = [Reply(body={"boolean": True})]
        with pytest.raises(DatasetError, match="Wikidata Query Service returned an unexpected response"):
            build_wikigenbench(PLAN, Build(tmp_path, search(), fetch=web(), services=wikimedia.services))
        plan = WikiGenBenchPlan(titles=("Flood company",))
        with pytest.raises(DatasetError, match=r"no article qualifies \(1 × no event\)"):
            build_wikigenbench(plan, Build(tmp_path, search(), fetch=web(), services=wikimedia.services))


def test_the_command_builds_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "WebPages", web)
    monkeypatch.setattr(cli_datasets, "_engine", lambda values: {"fake": search()}[values["search"]])
    long = article_html([*urls("big"), *urls("old")], sentences=25)
    command = ["experiment", "data", "wikigenbench", "2024-03", "--to", str(tmp_path), "--search", "fake"]
    with FakeWikimedia([WikiPageStub("Big flood", 1, long)], {"2024-03": [("Big flood", 9)]}) as wikimedia:
        monkeypatch.setattr(building, "Wikimedia", lambda: wikimedia.services)
        ended = CliRunner().invoke(app, [*command, "--chance", "3"])
    assert (ended.exit_code, ended.stdout) == (0, f"1 topics in {tmp_path}\n"), ended.output
    assert (provenance(tmp_path)["search"], provenance(tmp_path)["plan"]["seed"]) == ("fake", 3)
