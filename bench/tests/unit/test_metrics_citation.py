"""Both families of citation metrics: cases worked out by hand, and properties over any article."""

import itertools
import zlib

import pytest
from articles import section, sentence, source
from hypothesis import given
from hypothesis import strategies as st
from judge_doubles import ScriptedSupportJudge
from scored_articles import case

from storm_bench.cited_sentences import cited_sentences
from storm_bench.judges.base import Pair
from storm_bench.metrics.citations import citation_alce, citation_wikigenbench
from storm_bench.types import Case
from storm_pipeline.evidence.judges.base import CachingJudge
from storm_pipeline.types import Paragraph, Sentence, Source

A, B, C = source("a", "alpha"), source("b", "beta"), source("c", "gamma")


def needs(passage: str, claim: str) -> bool:
    """A claim is a list of the words that a passage must hold."""
    return all(word in passage for word in claim.rstrip(".").split())


def scores(judged: Case, **options: int | None) -> dict[str, float | None]:
    found = dict(citation_alce(ScriptedSupportJudge(needs), **options).score([judged])[0])  # type: ignore[arg-type]
    return found | dict(citation_wikigenbench(ScriptedSupportJudge(needs)).score([judged])[0])


def test_a_case_by_hand() -> None:
    judged = case(
        section(
            "One",
            sentence("alpha.", A),  # alone: supported
            sentence("alpha beta.", A, B),  # only together
            sentence("alpha alpha alpha.", A, B),  # b is not needed
            sentence("delta.", A, C),  # not at all
            sentence("beta.", C),  # not at all
            sentence("gamma beta beta."),  # no citation
        ),
        sources=(A, B, C),
    )
    found = scores(judged)
    # ALCE: 3 of 6 sentences; of 8 citations count: 1, both of the second, one of the third
    assert found["citation_recall_alce"] == 3 / 6
    assert found["citation_precision_alce"] == 4 / 8
    # WikiGenBench: the first and the third; shares 1, 0, 1/2, 0, 0, 0; words 1 + 3 of 1 + 2 + 3 + 1 + 1 + 3
    assert found["citation_recall_wikigenbench"] == 2 / 6
    assert found["citation_precision_wikigenbench"] == 1.5 / 6
    assert found["citation_rate_wikigenbench"] == 4 / 11


def test_without_citation_and_without_sentence() -> None:
    uncited = scores(case(section("One", "alpha."), sources=(A,)))
    empty, from_memory = scores(case(section("One"), sources=(A,))), scores(case(section("One", "alpha.")))
    assert uncited["citation_recall_alce"] == 0.0
    assert uncited["citation_precision_alce"] is None
    assert uncited["citation_precision_wikigenbench"] == 0.0
    assert uncited["citation_rate_wikigenbench"] == 0.0
    assert set(empty.values()) == {None}
    assert set(from_memory.values()) == {None}  # who retrieves nothing does not cite badly: it does not cite


def test_each_cited_chunk_is_one_passage() -> None:
    page = source("page", "alpha", "beta")
    judged = case(section("One", sentence("alpha beta.", page, A, page), "…"), sources=(page, A))
    assert [s.passages for s in cited_sentences(judged.article)] == [("page\nalpha", "page\nbeta", "a\nalpha")]


def test_equal_pairs_are_judged_once_and_in_few_batches() -> None:
    judge = ScriptedSupportJudge(needs)
    shared = CachingJudge(judge)
    own = case(section("One", *[sentence("alpha beta.", A, B, C)] * 9), sources=(A, B, C))
    citation_alce(shared).score([own, own])
    assert len(judge.batches) == 3
    citation_wikigenbench(shared).score([own, own])
    asked = [pair for batch in judge.batches for pair in batch]
    assert len(asked) == len(set(asked)) == 7
    assert judge.batches[0] == (Pair("a\nalpha\nb\nbeta\nc\ngamma", "alpha beta."),)


_POOL = tuple(source(name, name * 2) for name in "uvwxyz")
_cited = st.builds(
    lambda n, own: sentence(f"Claim {n} of this article.", *own),
    st.integers(0, 20),
    st.lists(st.sampled_from(_POOL), max_size=4, unique=True),
)
_cases = st.lists(_cited, max_size=8).map(lambda own: case(section("S", *own), sources=_POOL))


def whim(passage: str, claim: str) -> bool:
    """Any verdict, but the same for the same pair."""
    return zlib.crc32(f"{passage}|{claim}".encode()) % 5 < 2


def straightforward(judged: Case) -> tuple[float, float]:
    """ALCE as its definition reads, sentence by sentence, without thrift."""
    recall, counting, cited = [], 0, 0
    for s in judged.article.sentences():
        passages = [f"{name.title}\n{name.snippets[0].text}" for name in cited_pages(s)]
        cited += len(passages)
        entailed = bool(passages) and whim("\n".join(passages), s.text)
        recall.append(entailed)
        for i, passage in enumerate(passages):
            rest = passages[:i] + passages[i + 1 :]
            irrelevant = not whim(passage, s.text) and bool(rest) and whim("\n".join(rest), s.text)
            counting += entailed and not irrelevant
    return sum(recall) / len(recall), counting / cited if cited else -1


def cited_pages(s: Sentence) -> list[Source]:
    return [next(own for own in _POOL if own.id == citation.source_id) for citation in s.citations]


@given(_cases)
def test_alce_agrees_with_its_definition(judged: Case) -> None:
    found = citation_alce(ScriptedSupportJudge(whim)).score([judged])[0]
    if not list(judged.article.sentences()):
        assert set(found.values()) == {None}
        return
    recall, precision = straightforward(judged)
    assert found["citation_recall_alce"] == pytest.approx(recall)
    assert found["citation_precision_alce"] == (pytest.approx(precision) if precision >= 0 else None)


@given(st.lists(_cases, max_size=3))
def test_in_range_precision_below_recall_and_alone_or_together_the_same(several: list[Case]) -> None:
    for metric in (citation_alce(ScriptedSupportJudge(whim)), citation_wikigenbench(ScriptedSupportJudge(whim))):
        together = metric.score(several)
        assert together == list(itertools.chain.from_iterable(metric.score([own]) for own in several))
        for found in together:
            assert set(found) == {measure.name for measure in metric.measures}
            assert all(value is None or 0 <= value <= 1 for value in found.values())
            precision = found.get("citation_precision_wikigenbench")
            assert precision is None or precision <= found["citation_recall_wikigenbench"] + 1e-9  # type: ignore[operator]


def test_sentences_without_words_are_ignored() -> None:
    judged = case(section("S", "…", "alpha."), lead=(Sentence("—"),), sources=(A,))
    assert [s.text for s in cited_sentences(judged.article)] == ["alpha."]
    assert Paragraph((Sentence("—"),)) in judged.article.lead
