"""Qdrant: a server that speaks its REST interface."""

import dataclasses
import gzip
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import Reply, Request, ScriptedServer

from storm_pipeline.errors import MissingExtraError, SearchError, SettingsError
from storm_pipeline.evidence import run_search
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.retrying import Patience
from storm_pipeline.settings import Settings
from storm_pipeline.sources.engines.qdrant import QdrantSearch
from storm_pipeline.sources.search.base import Search
from storm_pipeline.sources.search.registry import open_search

EMBEDDER = HashingEmbedder(64)
KEY = "qdrant-secret-7f3c"
BRISK = Patience(connect=10, read=10, total=30, attempts=3, first_pause=0.001, longest_pause=0.02)
SLOW = Reply(body=b"{}", delay=20)
TEXTS = {
    "https://a.org/silk": "Silk was traded for horses.",
    "https://a.org/jade": "Jade came from Khotan.",
    "https://a.org/paper": "Paper was invented in Luoyang.",
}
MISSING = Reply(404, {"status": {"error": "Not found: Collection `notes` doesn't exist!"}, "time": 8.2e-06})


def info(vectors: Any = None) -> Reply:
    """What a server says of a collection."""
    params = {"vectors": vectors or {"size": 64, "distance": "Cosine"}, "shard_number": 1, "replication_factor": 1}
    return described(params)


def described(params: dict[str, Any]) -> Reply:
    hnsw = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000}
    optimizer = {
        "deleted_threshold": 0.2, "vacuum_min_vector_number": 1000, "default_segment_number": 0, "flush_interval_sec": 5
    }  # fmt: skip
    config = {"params": params, "hnsw_config": hnsw, "optimizer_config": optimizer}
    result = {"status": "green", "optimizer_status": "ok", "points_count": 3, "segments_count": 1, "config": config}
    return Reply(body={"result": result | {"payload_schema": {}}, "status": "ok", "time": 0.0001})


def points(*payloads: Any) -> Reply:
    """What a server answers a query with."""
    found = [{"id": n, "version": 3, "score": 0.9 - n / 10, "payload": payload} for n, payload in enumerate(payloads)]
    return Reply(body={"result": {"points": found}, "status": "ok", "time": 0.002})


def payload(url: str) -> dict[str, Any]:
    return {"url": url, "title": "T", "text": TEXTS[url], "published": "2020-01-02T03:04:05Z", "page": 7}


def on_server(address: str, patience: Patience = BRISK, **options: str) -> QdrantSearch:
    return QdrantSearch(address, "my notes", EMBEDDER, options, key=KEY, patience=patience, rate=1e6)


def ask(*script: Any, k: int = 2, **options: Any) -> tuple[Any, list[Request]]:
    """The snippets, or the error, and the requests that led to them."""
    with ScriptedServer(*script) as server:
        try:
            return on_server(server.url, **options).search("silk  road\n", k), server.requests
        except SearchError as error:
            assert KEY not in repr(error) + str(error) + repr(error.__cause__)
            return error, server.requests


def test_results_and_wire_format() -> None:
    found, (first, second) = ask(info(), points(payload("https://a.org/silk"), payload("https://a.org/jade")))
    assert [(s.url, s.title, s.text, s.published, s.page, s.engine) for s in found] == [
        (url, "T", TEXTS[url], "2020-01-02", 7, "qdrant") for url in ("https://a.org/silk", "https://a.org/jade")
    ]
    assert (first.method, first.path) == ("GET", "/collections/my%20notes")
    assert (second.method, second.path) == ("POST", "/collections/my%20notes/points/query")
    assert first.headers["api-key"] == second.headers["api-key"] == KEY
    vector = second.json["query"]["nearest"]
    assert vector == pytest.approx(EMBEDDER.embed(["silk road"])[0])
    assert {"limit": 6, "with_payload": True}.items() <= second.json.items()


def test_named_vectors() -> None:
    both = info({"dense": {"size": 64, "distance": "Dot"}, "title": {"size": 8, "distance": "Dot"}})
    _, requests = ask(both, points(), vector="dense")
    assert requests[1].json["using"] == "dense"
    _, requests = ask(info({"dense": {"size": 64, "distance": "Dot"}}), points())
    assert requests[1].json["using"] == "dense"
    with pytest.raises(SettingsError, match=r"dense of 64, title of 8; .*\?vector=NAME"):
        ask(both)
    with pytest.raises(SettingsError, match="unnamed of 64"):
        ask(info(), vector="x")
    with pytest.raises(SettingsError, match="vectors: none"):
        ask(described({"vectors": None, "sparse_vectors": {"words": {}}}))
    with pytest.raises(SettingsError, match=r"unnamed of 384; .* of 64 dimensions .* hashing-64"):
        ask(info({"size": 384, "distance": "Cosine"}))


FORMS: list[Any] = [
    *([], {}, {"result": None}, {"result": {"points": None}}, {"result": {"points": [5]}}, {"result": {"points": [{}]}})
]
FAILURES: list[tuple[Reply, str, int]] = [
    *((dataclasses.replace(MISSING, status=status), "the key in QDRANT_API_KEY", 1) for status in (400, 401, 403, 404)),
    *((Reply(body=body), "unknown format", 1) for body in FORMS),
    *((Reply(500), "answered 500", 3), (SLOW, "did not answer in time", 3)),
]
"""A reply, what the error says, and how many requests lead to it."""


@pytest.mark.parametrize("first", [[], [info()]], ids=["opening", "searching"])
@pytest.mark.parametrize(("reply", "said", "attempts"), FAILURES)
def test_failures_name_a_remedy_and_some_may_pass(first: list[Reply], reply: Reply, said: str, attempts: int) -> None:
    error, requests = ask(*first, reply, patience=dataclasses.replace(BRISK, read=0.1 if reply is SLOW else 10))
    assert isinstance(error, SearchError)
    assert said in str(error)
    assert reply.status == 200 or f"qdrant answered {reply.status}" in str(error)
    assert len(requests) == len(first) + attempts


def test_points_without_text_are_left_out_and_all_of_them_are_an_error() -> None:
    found, _ = ask(info(), points(None, {"text": " "}, {"text": 5}, payload("https://a.org/silk")))
    assert [s.url for s in found] == ["https://a.org/silk"]
    error, _ = ask(info(), points({"body": "x", "link": "y"}))
    assert "in the field 'text'" in str(error)
    assert "(fields present: body, link)" in str(error)


def test_other_payload_fields() -> None:
    langchain = {"page_content": "Silk.", "metadata": {"source": "notes/silk.pdf", "page": 3, "name": "On silk"}}
    names = {"text": "page_content", "url": "metadata.source", "page": "metadata.page", "title": "metadata.name"}
    found, _ = ask(info(), points(langchain, {"page_content": "Bare."}), **names)
    assert [(s.url, s.title, s.text, s.page) for s in found] == [
        ("notes/silk.pdf", "On silk", "Silk.", 3),
        ("qdrant:my notes/1", "", "Bare.", None),
    ]


def test_k_counts_addresses() -> None:
    many = [{"url": f"u:{n // 5}", "text": f"Text {n}."} for n in range(20)]
    found, requests = ask(info(), points(*many), k=2)
    assert requests[1].json["limit"] == 6
    assert [s.text for s in found] == ["Text 0.", "Text 1.", "Text 2.", "Text 5.", "Text 6.", "Text 7."]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["url", "text", "a"]), inner),
    max_leaves=6,
)


@settings(max_examples=30)
@given(st.lists(st.dictionaries(st.sampled_from(["url", "title", "text", "published", "page"]), JSON), max_size=4))
def test_any_payload_gives_sound_snippets_or_an_error(payloads: list[dict[str, Any]]) -> None:
    found, _ = ask(info(), points(*payloads))
    if isinstance(found, SearchError):
        assert payloads
        assert "has a text in the field" in str(found)
        return
    for snippet in found:
        assert snippet.url and snippet.text
        assert snippet.page is None or snippet.page >= 1


@pytest.fixture
def small_embedder(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Opens the hashing embedder whatever is asked for; the names that were."""
    asked: list[str] = []

    def opened(name: str, **_: object) -> HashingEmbedder:
        asked.append(name)
        return EMBEDDER

    monkeypatch.setattr(run_search, "open_embedder", opened)
    return asked


def test_specifications(small_embedder: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(spec: str) -> Search:
        return run_search.open_engine(Settings(search=spec)).search

    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    with ScriptedServer(info(), points({"body": "Silk."})) as server:
        found = opened(f"qdrant:{server.url}/#notes?text=body&embedder=mine").search("silk", 1).snippets
        assert [s.text for s in found] == ["Silk."]
        assert server.requests[0].path == "/collections/notes"
        assert server.requests[0].headers["api-key"] == KEY
    assert small_embedder == ["mine"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("qdrant", "needs a server and a collection"),
        ("qdrant:db", "needs a server and a collection"),
        ("qdrant:#notes", "needs a server and a collection"),
        ("qdrant:db#notes", "not the address of a server"),
        ("qdrant:http://a#notes?texts=x", r"has no option texts; it has: embedder, page"),
        ("qdrant:ftp://a#notes", "not the address of a server"),
    ],
)
def test_specifications_that_cannot_be(spec: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        open_search(spec)


def test_a_missing_extra_is_named(small_embedder: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(MissingExtraError, match=r"storm-pipeline\[qdrant\]"):
        run_search.open_engine(Settings(search="qdrant:http://127.0.0.1:9#notes"))


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}])
def test_an_answer_without_end_is_not_read_to_memory(monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]) -> None:
    monkeypatch.setattr(QdrantSearch, "max_bytes", 1_000_000)
    body = gzip.compress(b" " * 2_000_000) if headers else b" " * 2_000_000
    with ScriptedServer(Reply(body=body, headers=headers)) as server, pytest.raises(SearchError, match="be reached"):
        on_server(server.url)
