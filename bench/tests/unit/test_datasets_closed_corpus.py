"""Rankers, closed corpora and leakage protection, over invented documents."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_bench.datasets.closed_corpus import ClosedCorpus, article_chunks, topic_chunks
from storm_bench.datasets.dataset import shuffled
from storm_bench.datasets.leakage import copies, without_copies
from storm_bench.datasets.rankers import Bm25Ranker, DenseRanker, RandomRanker, Ranker, TfIdfRanker
from storm_bench.types import HumanArticle, HumanSection, Topic, TopicDocument
from storm_pipeline.errors import DatasetError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.sources.search.base import SearchEngine
from storm_pipeline.types import Snippet

RANKERS: list[Callable[[], Ranker]] = [
    lambda: RandomRanker(3),
    Bm25Ranker,
    TfIdfRanker,
    lambda: DenseRanker(HashingEmbedder()),
]
TEXTS = ["silk came by camel over the pass", "a harbour of grey ships", "jade and silk and salt", "the king slept"]
CHUNKS = tuple(Snippet(f"https://a{n}.example/", f"Page {n}", text) for n, text in enumerate(TEXTS))


@pytest.mark.parametrize("make", RANKERS)
@settings(max_examples=40)
@given(query=st.text(max_size=40), k=st.integers(-1, 20), texts=st.lists(st.text("abc .", min_size=1), max_size=6))
def test_every_ranker_orders_the_chunks_and_nothing_else(
    make: Callable[[], Ranker], query: str, k: int, texts: list[str]
) -> None:
    chunks = [Snippet(f"https://b{n}.example/", "", text) for n, text in enumerate(texts)]
    ranker = make()
    whole = ranker.rank(query, chunks, len(chunks))
    assert sorted(chunk.url for chunk in whole) == sorted(chunk.url for chunk in chunks)
    assert ranker.rank(query, chunks, k) == whole[: max(0, k)]
    assert make().rank(query, chunks, len(chunks)) == whole


@pytest.mark.parametrize("make", RANKERS[1:3])
def test_chunks_that_share_the_query_come_first(make: Callable[[], Ranker]) -> None:
    first, second, *_ = make().rank("silk over the camel pass", CHUNKS, 4)
    assert (first.text, second.text) == (TEXTS[0], TEXTS[2])


def test_random_depends_on_seed_and_query_and_not_on_order() -> None:
    orders = {RandomRanker(seed).rank("silk", CHUNKS, 4) for seed in range(30)}
    assert len(orders) > 10
    assert RandomRanker(1).rank("silk", CHUNKS, 4) == RandomRanker(1).rank("silk", CHUNKS[::-1], 4)


SENTENCE = "Witness {0} saw{0} on day {1} how{0} the water stood{0} above the step{0} of the old hall{0} by noon."


def said(who: int, sentences: int = 8) -> str:
    return " ".join(SENTENCE.format(who, day) for day in range(sentences))


ARTICLE = HumanArticle(
    "Big flood",
    "https://en.wikipedia.org/wiki/Big_flood",
    "The flood came in spring and left the lower town under mud for eleven days, say the annals of the guild.",
    (HumanSection("Course", said(99, 12)),),
)
TOPIC = Topic(
    "1",
    "Big flood",
    ARTICLE,
    (
        TopicDocument("https://a.example/1", "Cited", said(1), "human"),
        TopicDocument("https://b.example/1", "Found", said(2), "search"),
    ),
)


def test_a_topics_corpus_is_a_search_engine() -> None:
    engine = ClosedCorpus(topic_chunks(TOPIC))
    assert isinstance(engine, SearchEngine)
    hits = engine.search("witness 2", 1)
    assert {hit.url for hit in hits} == {"https://b.example/1"}
    assert {hit.url for hit in engine.search("witness 2", 5)} == {"https://a.example/1", "https://b.example/1"}
    assert engine.search("witness", 0) == engine.search("  ", 3) == ()


def test_k_counts_documents_and_passages_are_bounded() -> None:
    long = replace(TOPIC, documents=(TopicDocument("https://a.example/1", "Long", said(1, 60)), TOPIC.documents[1]))
    chunks = topic_chunks(long, words=40)
    assert len(chunks) > 20
    assert len(ClosedCorpus(chunks, TfIdfRanker(), passages=2).search("witness 1", 1)) == 2


@given(st.sampled_from("abc"), st.integers(0, 5), st.sets(st.integers(0, 99)), st.sets(st.integers(0, 99)))
def test_a_larger_draw_holds_the_smaller(name: str, seed: int, some: set[int], more: set[int]) -> None:
    whole = shuffled(some | more, seed, lambda number: f"{name}{number}")
    assert [number for number in whole if number in some] == shuffled(
        sorted(some), seed, lambda number: f"{name}{number}"
    )


@given(st.integers(1, 300))
def test_chunks_hold_what_was_asked_at_most(words: int) -> None:
    flat = TopicDocument("https://a.example/1", "Flat", said(1, 30).lower().replace(".", ""))
    chunks = topic_chunks(replace(TOPIC, documents=(flat,)), words=words)
    assert all(len(chunk.text.split()) <= words for chunk in chunks)
    assert {word for chunk in chunks for word in chunk.text.split()} == set(flat.text.split())


def test_the_papers_golden_documents_are_the_article_itself() -> None:
    chunks = article_chunks(TOPIC, words=60)
    assert {chunk.url for chunk in chunks} == {ARTICLE.url}
    assert "annals of the guild" in chunks[0].text
    with pytest.raises(DatasetError, match="has no URL"):
        article_chunks(replace(TOPIC, human=replace(ARTICLE, url="")))


def test_a_corpus_without_documents_is_refused() -> None:
    with pytest.raises(DatasetError, match="needs documents"):
        ClosedCorpus(topic_chunks(replace(TOPIC, documents=())))


EXCERPT = ARTICLE.lead + " " + said(99, 3)
QUOTING = said(99, 1)
LEAKS = [
    (TopicDocument("https://en.m.wikipedia.org/wiki/Big_flood", "", said(5), "search"), True),
    (TopicDocument("https://everything.explained.today/Big_flood/", "Big flood explained", said(5), "human"), True),
    (TopicDocument("https://copy.example/x", "News", "Read this first. " + ARTICLE.text().upper(), "search"), True),
    (TopicDocument("https://copy.example/x", "News", ARTICLE.text().lower().replace(".", ""), "human"), True),
    (TopicDocument("https://copy.example/lead", "Concept", EXCERPT, "search"), True),
    (TopicDocument("https://source.example/law", "The law that the article quotes", QUOTING, "human"), False),
    (TopicDocument("https://news.example/a", "Report", said(5, 40) + " " + QUOTING, "search"), False),
    (TopicDocument("https://news.example/b", "Big flood | News", said(5), "search"), False),
]


@pytest.mark.parametrize(("document", "leaks"), LEAKS)
def test_copies_are_left_out_and_sources_are_not(document: TopicDocument, leaks: bool) -> None:
    topic = replace(TOPIC, documents=(*TOPIC.documents, document))
    assert [copy.document for copy in copies(topic)] == ([document] if leaks else [])
    assert without_copies(topic).documents == (TOPIC.documents if leaks else topic.documents)
    assert any(chunk.url == document.url for chunk in topic_chunks(topic)) != leaks
    assert all(copy.reason for copy in copies(topic))
