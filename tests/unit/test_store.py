"""The reference store: what is kept, what is found, from however many threads."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.errors import StoreError
from storm_pipeline.identity import canonical_url, normalised_text
from storm_pipeline.references.embedder import CachingEmbedder, HashingEmbedder, Vectors
from storm_pipeline.references.ranking import fused
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.types import Snippet

WORDS = ["silk", "road", "trade", "camel", "desert", "China", "Rome", "粟特", "\ud800", " ", "\n", "the", "[1]"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join) | st.text(min_size=1, max_size=20)
urls = st.sampled_from(["https://a.org/x", "http://www.a.org/x/", "https://b.org/y?utm_source=z", "corpus:notes/1.md"])
snippets = st.builds(Snippet, url=urls, title=st.sampled_from(["", "Silk Road"]), text=texts)
several = st.lists(snippets, max_size=12)
distinct = st.lists(snippets, max_size=12, unique_by=lambda s: normalised_text(s.text))
QUERIES = ["trade on the silk road", "Rome", "", "粟特 \ud800"]


def numbered(n: int, page: str = "https://a.org") -> list[Snippet]:
    """Distinct snippets, three to a page, that share words."""
    return [Snippet(f"{page}/{i // 3}", "", f"{WORDS[i % 7]} {WORDS[i % 5]} number {i}") for i in range(n)]


class SlowEmbedder(HashingEmbedder):
    """Counts its calls and can be held up."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[int] = []
        self.texts: list[str] = []
        self.may_go = threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.may_go.wait(10)
        self.calls.append(len(texts))
        self.texts += texts
        return super().embed(texts)


@settings(max_examples=30, deadline=None)
@given(several, several)
def test_a_text_is_kept_once_and_the_first_stays(first: list[Snippet], second: list[Snippet]) -> None:
    with ReferenceStore(HashingEmbedder()) as store:
        new = store.add(first) + store.add(second)
        everything = first + second
        kept = {normalised_text(s.text): s for s in reversed(everything)}
        assert list(new) == list({normalised_text(s.text): kept[normalised_text(s.text)] for s in everything}.values())
        assert len(store) == len(new)
        for snippet in everything:
            assert store.resolve(snippet) is store.resolve(store.resolve(snippet))
            assert store.resolve(snippet) is kept[normalised_text(snippet.text)]
        assert all(store.snippet(s.id) is s for s in new)
        assert store.add(everything) == ()


@settings(max_examples=30, deadline=None)
@given(several)
def test_sources_hold_every_kept_snippet_in_order_of_finding(found: list[Snippet]) -> None:
    with ReferenceStore(HashingEmbedder()) as store:
        new = store.add(found)
        sources = store.sources()
    assert [s.id for s in sources] == list(dict.fromkeys(s.source_id for s in new))
    assert {s.id for source in sources for s in source.snippets} == {s.id for s in new}
    for source in sources:
        assert source == store.source(source.id)
        assert source.snippets == tuple(s for s in new if s.source_id == source.id)
        assert len({canonical_url(s.url) for s in source.snippets}) == 1


@settings(max_examples=25, deadline=None)
@given(distinct, st.randoms(use_true_random=False), st.integers(1, 5))
def test_results_do_not_depend_on_the_order_of_adding(found: list[Snippet], random: Random, k: int) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    with ReferenceStore(HashingEmbedder(8)) as store, ReferenceStore(HashingEmbedder(8)) as other:
        store.add(found)
        for snippet in shuffled:
            other.add([snippet])
        assert store.search(QUERIES, k) == other.search(QUERIES, k)
        assert store.search_fused(QUERIES, k) == other.search_fused(QUERIES, k)


@settings(max_examples=25, deadline=None)
@given(distinct, st.integers(0, 20))
def test_a_search_gives_up_to_k_distinct_kept_snippets(found: list[Snippet], k: int) -> None:
    with ReferenceStore(HashingEmbedder(8)) as store:
        store.add(found)
        results = [*store.search(QUERIES, k), store.search_fused(QUERIES, k)]
    for result in results:
        assert len(result) == min(k, len(found))
        assert len({s.id for s in result}) == len(result)
        assert set(result) <= set(found)


def test_the_best_snippet_comes_first() -> None:
    with ReferenceStore(HashingEmbedder()) as store:
        store.add(numbered(50))
        wanted = Snippet("https://b.org", "Caravanserai", "Inns stood a day's march apart along the route.")
        store.add([wanted])
        assert store.search(["inns along the route", "caravanserai"], 3)[0][0] is wanted
        assert store.search_fused(["caravanserai", "a day's march apart"], 3)[0] is wanted


def test_an_empty_store_finds_nothing() -> None:
    with ReferenceStore(HashingEmbedder()) as store:
        assert store.search(["a", "b"], 3) == [(), ()]
        assert store.search([], 3) == []
        assert store.search_fused(["a"], 3) == ()
        assert store.search_fused([], 3) == ()
        assert store.sources() == ()


def test_what_is_unknown_is_refused_by_name() -> None:
    with ReferenceStore(HashingEmbedder()) as store:
        with pytest.raises(StoreError, match="t123"):
            store.snippet("t123")
        with pytest.raises(StoreError, match="s123"):
            store.source("s123")
        with pytest.raises(StoreError, match=r"https://a\.org/0"):
            store.resolve(numbered(1)[0])


def test_adding_returns_at_once_and_waiting_snippets_are_embedded_together() -> None:
    embedder = SlowEmbedder()
    with ReferenceStore(embedder) as store:
        start = time.monotonic()
        for snippet in numbered(100):
            store.add([snippet])
        assert time.monotonic() - start < 1
        assert embedder.calls == []
        embedder.may_go.set()
        assert len(store.search(["silk"], 5)[0]) == 5
        # The first call may have begun before the rest arrived; the last is the query.
        assert sum(embedder.calls) == 101
        assert len(embedder.calls) <= 3


def test_a_search_sees_everything_added_before_it_from_any_thread() -> None:
    found = numbered(120)
    with ReferenceStore(HashingEmbedder()) as store, ReferenceStore(HashingEmbedder()) as sequential:
        sequential.add(found)
        missed: list[Snippet] = []

        def work(part: list[Snippet]) -> None:
            for snippet in part:
                store.add([snippet])
                if snippet not in store.search([snippet.text], 200)[0]:
                    missed.append(snippet)

        threads = [threading.Thread(target=work, args=(found[i::8],)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert missed == []
        queries = [s.text for s in found[:20]]
        assert store.search(queries, 7) == sequential.search(queries, 7)


class FailingEmbedder(HashingEmbedder):
    """Fails as long as it is told to."""

    broken = True

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.broken:
            raise RuntimeError("no memory left")
        return super().embed(texts)


def test_a_failing_embedder_surfaces_in_search_and_nothing_is_lost() -> None:
    embedder = FailingEmbedder()
    with ReferenceStore(embedder) as store:
        store.add(numbered(3))
        for _ in range(2):
            with pytest.raises(StoreError, match=r"hashing-128.*no memory left") as caught:
                store.search(["silk"], 3)
            assert isinstance(caught.value.__cause__, RuntimeError)
        embedder.broken = False
        assert len(store.search(["silk"], 5)[0]) == 3


class WrongShapeEmbedder(HashingEmbedder):
    """Gives a vector too few."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return super().embed(texts)[1:]


def test_vectors_of_another_shape_are_refused() -> None:
    with ReferenceStore(WrongShapeEmbedder()) as store:
        store.add(numbered(3))
        with pytest.raises(StoreError, match=r"\(2, 128\) where \(3, 128\)"):
            store.search_fused(["silk"], 3)


def test_closing_ends_the_thread_and_refuses_more() -> None:
    before = threading.active_count()
    store = ReferenceStore(HashingEmbedder())
    store.add(numbered(3))
    assert len(store.search(["silk"], 5)[0]) == 3
    store.close()
    store.close()
    assert threading.active_count() == before
    assert len(store) == 3
    assert len(store.search(["silk"], 5)[0]) == 3
    with pytest.raises(StoreError, match="closed"):
        store.add(numbered(1))
    with pytest.raises(StoreError, match="closed"):
        store.warm_up()


def test_closing_does_not_wait_for_what_is_not_begun() -> None:
    embedder = SlowEmbedder()
    store = ReferenceStore(embedder)
    store.add(numbered(2000))
    embedder.may_go.set()
    store.close()
    assert sum(embedder.calls) <= 2000
    if sum(embedder.calls) < 2000:
        with pytest.raises(StoreError, match="closed"):
            store.search(["silk"], 3)


def test_warming_up_loads_the_embedder_and_its_failure_waits_for_a_need() -> None:
    embedder = FailingEmbedder()
    with ReferenceStore(embedder) as store:
        store.warm_up()
        assert store.search(["silk"], 1) == [()]
        embedder.broken = False
        store.add(numbered(1))
        assert len(store.search(["silk"], 1)[0]) == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(texts, max_size=6), max_size=6), st.integers(1, 4))
def test_remembered_vectors_are_the_embedders_own(batches: list[list[str]], size: int) -> None:
    embedder = HashingEmbedder(8)
    cached = CachingEmbedder(embedder, size)
    for batch in batches:
        assert np.array_equal(cached.embed(batch), embedder.embed(batch))


def test_a_remembered_text_is_not_embedded_again() -> None:
    embedder = SlowEmbedder()
    embedder.may_go.set()
    with ReferenceStore(embedder) as store:
        store.embed(["silk", "road", "silk"])
        store.embed(["road", "camel"])
    assert embedder.calls == [2, 1]


@given(texts)
def test_hashed_vectors_have_length_one(text: str) -> None:
    assert np.linalg.norm(HashingEmbedder(16).embed([text])) == pytest.approx(1, abs=1e-5)


rankings = st.lists(st.lists(st.integers(0, 9), unique=True), max_size=5)


@given(rankings)
def test_fusion_ranks_every_entry_once(given: list[list[int]]) -> None:
    result = fused(given)
    assert sorted(result) == sorted({entry for ranking in given for entry in ranking})
    if len(given) == 1:
        assert result == given[0]
    if len(given) == 2:  # the sum of two numbers does not depend on their order
        assert result == fused(given[::-1])


def test_fusion_prefers_what_several_rankings_agree_on() -> None:
    assert fused([[1, 2, 3], [4, 2, 5]]) == [2, 1, 4, 3, 5]


def test_what_is_kept_is_found_by_its_words_and_never_embedded(tmp_path: Path) -> None:
    embedder = SlowEmbedder()
    embedder.may_go.set()
    kept, added = (
        Snippet("https://a.org", "", text) for text in ("a caravanserai by a river", "camels in the courtyard")
    )
    with ReferenceStore(embedder) as store:
        assert store.keep([kept, kept]) == (kept,)
        assert store.add([added]) == (added,)
        assert set(store.search(["caravanserai courtyard"], 5)[0]) == {kept, added}
        assert kept.text not in embedder.texts
        store.save(tmp_path)
        expected = store.search(["caravanserai", "camels"], 2)
    with ReferenceStore.load(tmp_path, embedder) as loaded:
        assert loaded.search(["caravanserai", "camels"], 2) == expected
        assert kept.text not in embedder.texts
        assert loaded.add([kept]) == ()
        loaded.search(["camels"], 1)
        assert kept.text in embedder.texts
        assert loaded.count_sources() == len(loaded.sources())
