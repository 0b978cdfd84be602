"""What single engines of the web do beyond what all do."""

import pytest
from engine_cases import ask
from engine_cases_web import WEB
from servers import Reply, Request

from storm_pipeline.errors import SettingsError
from storm_pipeline.search.engines.searxng import SearxngSearch
from storm_pipeline.search.engines.you import YouSearch


def test_you_gives_every_passage_and_news_after_pages() -> None:
    web = {
        "url": "https://a.org",
        "title": "A",
        "snippets": ["x", "x", " y "],
        "page_age": "2025-06-25T11:41:00",
    }
    news = {"url": "https://n.org", "title": "N", "description": "told", "page_age": "yesterday"}
    found, _ = ask(WEB["you"], Reply(body={"results": {"web": [web], "news": [news]}}))
    assert [(s.text, s.published) for s in found] == [
        ("x", "2025-06-25"),
        ("y", "2025-06-25"),
        ("told", None),
    ]


def test_searxng_pages_on_and_meets_no_page_twice() -> None:
    def script(request: Request) -> Reply:
        page = int(request.query["pageno"])
        results = [{"url": f"https://a.org/{n}", "title": "t", "content": "c"} for n in (1, page, page * 10)]
        results += [{"url": f"https://e.org/{page}", "title": "empty", "content": ""}]
        return Reply(body={"results": results})

    found, requests = ask(WEB["searxng"], script, k=50)
    assert [s.url[14:] for s in found] == ["1", "10", "2", "20", "3", "30"]
    assert len(requests) == 3


def test_searxng_says_when_all_its_engines_are_silent() -> None:
    error, _ = ask(WEB["searxng"], Reply(body={"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}))
    assert "google: CAPTCHA" in str(error)


@pytest.mark.parametrize("key", ["two\nlines", "clé", "a\x00b"])
def test_a_key_that_cannot_be_one_is_refused_unseen(key: str) -> None:
    with pytest.raises(SettingsError, match="copy it again") as caught:
        YouSearch(key)
    assert key not in str(caught.value)


def test_missing_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("YDC_API_KEY", raising=False)
    monkeypatch.delenv("SEARXNG_URL", raising=False)
    with pytest.raises(SettingsError, match="YDC_API_KEY"):
        YouSearch()
    with pytest.raises(SettingsError, match="SEARXNG_URL"):
        SearxngSearch()
    with pytest.raises(SettingsError, match="is not one"):
        SearxngSearch("localhost:8080")
