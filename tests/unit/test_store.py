"""The reference store: what is kept, what is found, from however many threads."""

import dataclasses
import threading
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.errors import StoreError
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import CachingEmbedder, HashingEmbedder
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.text.identity import canonical_url, normalised_text
from storm_pipeline.types import Snippet

WORDS = ["silk", "road", "trade", "camel", "desert", "China", "Rome", "粟特", "\ud800", " ", "\n", "the", "[1]", "SILK"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join) | st.text(min_size=1, max_size=20)
urls = st.sampled_from(["https://a.org/x", "http://www.a.org/x/", "https://b.org/y?utm_source=z", "corpus:notes/1.md"])
snippets = st.builds(Snippet, url=urls, title=st.sampled_from(["", "Silk Road"]), text=texts)
several = st.lists(snippets, max_size=12)
QUERIES = ["trade on the silk road", "Rome", "", "粟特 \ud800"]


def numbered(n: int, page: str = "https://a.org") -> list[Snippet]:
    """Distinct snippets, three to a page, that share words."""
    return [Snippet(f"{page}/{i // 3}", "", f"{WORDS[i % 7]} {WORDS[i % 5]} number {i}") for i in range(n)]


class SlowEmbedder(HashingEmbedder):
    """Counts its calls and can be held up."""

    def __init__(self, *, is_held: bool = True) -> None:
        super().__init__()
        self.calls: list[int] = []
        self.texts: list[str] = []
        self.may_go = threading.Event()
        if not is_held:
            self.may_go.set()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.may_go.wait(10)
        self.calls.append(len(texts))
        self.texts += texts
        return super().embed(texts)


def empty_fields(snippet: Snippet) -> int:
    return sum(not value for value in dataclasses.astuple(snippet))


@settings(max_examples=30)
@given(several, several, st.integers(0, 20))
def test_snippets_are_kept_once_in_the_form_that_tells_most_listed_by_source_and_found(
    first: list[Snippet], second: list[Snippet], k: int
) -> None:
    everything = first + second
    with ReferenceStore(HashingEmbedder(8)) as store:
        new = store.add(first) + store.add(second)
        assert [s.id for s in new] == list(dict.fromkeys(s.id for s in everything))
        assert len(store) == len(new)
        for snippet in everything:
            kept = store.snippet(snippet.id)
            forms = [form for form in everything if form.id == snippet.id]
            assert kept in forms
            assert empty_fields(kept) == min(map(empty_fields, forms))
        assert store.add(everything) == ()
        sources, results = store.sources(), [*store.search(QUERIES, k), store.search_fused(QUERIES, k)]
    assert sorted(s.id for source in sources for s in source.snippets) == sorted({s.id for s in everything})
    assert list(sources) == sorted(sources, key=lambda source: (-len(source.snippets), source.url))
    for source in sources:
        assert source == store.source(source.id)
        assert all(s is store.snippet(s.id) for s in source.snippets)
        assert {canonical_url(s.url) for s in source.snippets} == {canonical_url(source.url)}
        titles = Counter(s.title for s in source.snippets if s.title)
        assert titles[source.title] == max(titles.values(), default=0)
    for result in [] if store.editions().groups else results:  # of two editions, short passages of one are left out
        texts = {normalised_text(s.text) for s in result}
        assert len(result) == len(texts) == min(k, len({normalised_text(s.text) for s in everything}))
        assert all(s is store.snippet(s.id) for s in result)


def test_passages_of_a_source_come_in_the_order_of_its_pages() -> None:
    found = [Snippet("https://a.org/paper.pdf", "", f"said on page {n}", page=n) for n in (12, 3, 7)]
    with ReferenceStore(HashingEmbedder()) as store:
        store.keep(found)
        assert [s.page for s in store.sources()[0].snippets] == [3, 7, 12]


WAYS = st.sampled_from(["add", "keep", "hold"])


@settings(max_examples=25)
@given(st.lists(st.tuples(snippets, WAYS), max_size=12), st.randoms(use_true_random=False), st.integers(1, 5))
def test_nothing_depends_on_the_order_of_arrival(arrivals: list[tuple[Snippet, str]], random: Random, k: int) -> None:
    shuffled = list(arrivals)
    random.shuffle(shuffled)
    assert all_that_is_told(arrivals, k) == all_that_is_told(shuffled, k)


@settings(max_examples=60)
@given(st.lists(st.tuples(several, WAYS, st.none() | urls), max_size=8), st.integers(1, 5))
def test_a_store_that_grew_between_searches_is_as_one_made_at_once(
    steps: list[tuple[list[Snippet], str, str | None]], k: int
) -> None:
    queries = [*QUERIES, *sorted({snippet.text for found, _, _ in steps for snippet in found})]
    with ReferenceStore(LiteralEmbedder(8)) as grown, ReferenceStore(LiteralEmbedder(8)) as other:
        for found, way, gone in steps:
            getattr(grown, way)(found)
            assert len(grown.search(QUERIES, k)) == len(QUERIES)
            grown.remove({Snippet(gone, "", "x").source_id} if gone else ())
        at_removal = [n for n, (_, _, gone) in enumerate(steps) if gone]
        for n, (found, way, _) in enumerate(steps):
            removed = {Snippet(str(steps[m][2]), "", "x").source_id for m in at_removal if m >= n}
            getattr(other, way)([snippet for snippet in found if snippet.source_id not in removed])
        assert grown.search(queries, k) == other.search(queries, k)
        assert grown.search_fused(queries, k) == other.search_fused(queries, k)
        assert (grown.sources(), len(grown)) == (other.sources(), len(other))


class LiteralEmbedder(HashingEmbedder):
    """Tells texts apart by every character, as a tokenizer that knows case does."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return super().embed([" ".join(str(ord(char)) for char in text) for text in texts])


def all_that_is_told(arrivals: list[tuple[Snippet, str]], k: int) -> list[object]:
    """What a store says to which each snippet was added, kept or held, in turn."""
    queries = [*QUERIES, *sorted({snippet.text for snippet, _ in arrivals})]
    with ReferenceStore(LiteralEmbedder(8)) as store:
        for snippet, way in arrivals:
            getattr(store, way)([snippet])
        return [store.sources(), store.search(queries, k), store.search_fused(queries, k)]


def test_a_text_of_several_pages_is_cited_from_each_embedded_once_and_found_on_one() -> None:
    embedder = SlowEmbedder(is_held=False)
    text = "Inns stood a day's march apart."
    copies = [Snippet(f"https://{host}.org/inns", "", text) for host in "abc"]
    more = Snippet("https://c.org/inns", "", "Camels rested in the courtyard.")
    with ReferenceStore(embedder) as store:
        store.keep([*copies, more])
        assert [store.snippet(s.id).url for s in copies] == [s.url for s in copies]
        assert store.search(["inns"], 5) == [(copies[2],)]  # of the page that tells more
        store.add(copies[:2])
        assert store.search(["inns"], 5)[0][0] == min(copies[:2], key=lambda s: s.id)
    assert embedder.texts.count(text) == 1


def test_prepared_texts_are_embedded_in_the_background_and_once() -> None:
    embedder = SlowEmbedder()
    with ReferenceStore(embedder) as store:
        store.prepare(["silk", "camel", "silk"])  # returns though the embedder is held up
        embedder.may_go.set()
        store.add(numbered(1))
        store.search(["road"], 1)  # waits for what came before it
        store.embed(["camel", "silk"])
        assert Counter(embedder.texts)["silk"] == Counter(embedder.texts)["camel"] == 1
    with pytest.raises(StoreError):
        store.prepare(["silk"])


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


class FaultyEmbedder(HashingEmbedder):
    """Fails, gives a vector too few, or does as it should."""

    fault: Literal["fails", "too few", ""] = "fails"

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.fault == "fails":
            raise RuntimeError("no memory left")
        return super().embed(texts)[bool(self.fault) :]


def test_a_faulty_embedder_surfaces_in_search_and_nothing_is_lost() -> None:
    embedder = FaultyEmbedder()
    with ReferenceStore(embedder) as store:
        store.warm_up()
        assert store.search(["silk"], 1) == [()]  # its failure waits for a need
        store.add(numbered(3))
        for _ in range(2):
            with pytest.raises(StoreError, match=r"hashing-128.*no memory left") as caught:
                store.search(["silk"], 3)
            assert isinstance(caught.value.__cause__, RuntimeError)
        embedder.fault = "too few"
        with pytest.raises(StoreError, match=r"\(2, 128\) where \(3, 128\)"):
            store.search_fused(["silk"], 3)
        embedder.fault = ""
        assert len(store.search(["silk"], 5)[0]) == 3


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


@settings(max_examples=30)
@given(st.lists(st.lists(texts, max_size=6), max_size=6), st.integers(1, 4))
def test_remembered_vectors_are_the_embedders_own(batches: list[list[str]], size: int) -> None:
    embedder = HashingEmbedder(8)
    cached = CachingEmbedder(embedder, size)
    for batch in batches:
        assert np.array_equal(cached.embed(batch), embedder.embed(batch))


def test_what_whole_pages_hold_is_found_and_is_no_source_until_it_is_kept() -> None:
    page = [Snippet("https://a.org", "Silk", f"On day {n} they sold tea.", heading="Trade", place=n) for n in range(9)]
    with ReferenceStore(HashingEmbedder()) as store:
        store.keep(page[:1])
        assert store.hold(page) == tuple(page[1:])
        assert [source.snippets for source in store.sources()] == [(page[0],)]
        assert set(store.source(page[0].source_id).snippets) == set(page)
        (found,) = store.search(["who sold on day 7"], 3)
        assert found[0] == page[7]
        assert [source.snippets for source in store.editions().sources()] == [(page[0],)]
        store.add(found[:1])
        assert {one for source in store.sources() for one in source.snippets} == {page[0], page[7]}
        assert {one for source in store.editions().sources() for one in source.snippets} == {page[0], page[7]}
        store.remove([page[0].source_id])
        assert store.search(["who sold on day 7"], 3) == [()]


def test_of_too_many_passages_the_ends_of_long_pages_are_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.evidence.store.MOST_FOUND", 4)
    pages = [Snippet(f"https://{name}.org", "", f"Silk of {name} {n}.", place=n) for name in "ab" for n in range(5)]
    with ReferenceStore(HashingEmbedder()) as store:
        store.hold(pages)
        assert {one.place for one in store.search(["silk"], 10)[0]} == {0, 1}
