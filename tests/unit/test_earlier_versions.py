"""What earlier versions have stored is read: values without the fields that were added since."""

import dataclasses
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from strategies import articles

from storm_pipeline.errors import SearchError
from storm_pipeline.evidence.page_reading import CachedPages
from storm_pipeline.run.article_json import from_json, to_json
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.sources.search.edge import checked
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.result import SearchResult, decoded, encoded
from storm_pipeline.sources.search.search_cache import SearchCache
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.types import Article, Snippet

ADDED = ("publisher", "doi", "accessed")
OLD = Snippet("https://a.org", "Silk", "Silk was traded.", "2019", 3, "fake", "page", "Jane Doe", "Silk News", "en")


@given(articles())
def test_articles(article: Article) -> None:
    record = json.loads(to_json(article))
    del record["article"]["written"]
    for source in record["article"]["sources"]:
        for snippet in source["snippets"]:
            for name in ADDED:
                del snippet[name]
    found = from_json(json.dumps(record))
    assert found.written is None
    assert [source.id for source in found.references] == [source.id for source in article.references]


def test_searches_in_the_journal() -> None:
    record = json.loads(json.dumps(encoded(SearchResult((OLD,)))))
    for name in ADDED:
        del record["snippets"][0][name]
    assert decoded(record) == SearchResult((OLD,))


def test_remembered_searches(tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "search" / "searches.sqlite")
    cache.put(json.dumps([1, "fake", "silk", 3]), [["https://a.org", "Silk", "Silk was traded.", "2019", 3, "fake"]])
    replayed = SearchCache(tmp_path, "replay").remembering(checked(FakeSearch({})))
    (found,) = replayed.search("silk", 3).snippets
    assert found == Snippet("https://a.org", "Silk", "Silk was traded.", "2019", 3, "fake")
    for damaged in (
        [["https://a.org"]],
        [[*dataclasses.astuple(OLD), "more"]],
        [["u", "t", 7, None, None, ""]],
        ["text"],
    ):
        cache.put(json.dumps([1, "fake", "silk", 3]), damaged)
        with pytest.raises(SearchError, match="was not recorded"):
            replayed.search("silk", 3)


def test_remembered_pages(tmp_path: Path) -> None:
    page = Page("https://a.org", "Silk", ((None, "Silk was traded."),))
    record = dataclasses.asdict(page)
    for name in ADDED:
        del record[name]
    SqliteCache(tmp_path / "pages" / "pages.sqlite").put("https://a.org", record)
    assert CachedPages(pytest.fail, tmp_path, "replay")("https://a.org") == page


def test_what_is_remembered_keeps_the_day_of_access(tmp_path: Path) -> None:
    dated = dataclasses.replace(OLD, text="More.", accessed="2001-02-03")
    engine = checked(FakeSearch({"silk": [OLD, dated]}), is_remote=True)
    today = datetime.now(UTC).date().isoformat()
    for _ in range(2):
        found = SearchCache(tmp_path).remembering(engine).search("silk", 3).snippets
        assert found == (dataclasses.replace(OLD, accessed=today), dated)
