"""Citation recall and precision of ALCE, WikiGenBench and Wiki Live, by hand and by their definitions."""

import itertools
import zlib
from collections.abc import Mapping
from dataclasses import replace

import pytest
from articles import section, sentence, source
from cases import generated
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_doubles import ScriptedSupportJudge
from scored_articles import case

from storm_bench.judges.base import CachingJudge, Pair
from storm_bench.metrics.citations import citation_alce, citation_wikigenbench
from storm_bench.metrics.statements import citation_wiki_live
from storm_bench.types import Case, CitedStatement, HumanArticle, SystemArticle, Topic, TopicDocument
from storm_pipeline.text.identity import source_id
from storm_pipeline.types import Article, Citation, Paragraph, Report, Sentence, Snippet, Source

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


PRESS, GUIDE, LOST = "https://press.example/orrin", "https://guide.example/orrin", "https://lost.example"

HERONS = " ".join(f"In year {year} the herons nested again on the shore of the old lake." for year in range(30))

DOCUMENTS = (
    TopicDocument(
        PRESS, "The dam", f"{HERONS} The dam was begun in 1929. {HERONS} It cost 12 million crowns. {HERONS}"
    ),
    TopicDocument(GUIDE, "", HERONS),
    TopicDocument("", "A book", HERONS),
)


def said_in(passage: str, claim: str) -> float:
    return float(claim in passage)


def scored(case: Case) -> Mapping[str, float | None]:
    found = citation_wiki_live(ScriptedSupportJudge(said_in)).score([case])[0]
    return {name.removeprefix("citation_").removesuffix("_wiki_live"): value for name, value in found.items()}


def published(*statements: CitedStatement, documents: tuple[TopicDocument, ...] = DOCUMENTS) -> Case:
    written = SystemArticle("alpha", "Text.", statements)
    return Case(Topic("orrin", "Orrin", HumanArticle("Orrin"), documents, (written,)), generated(lead="Text."), "alpha")


def sentences(*given: CitedStatement, report: Report | None = None) -> Case:
    """An article whose sentences cite one passage of each page; the passages say nothing."""
    snippets = {url: Snippet(url, "", "Nothing.") for one in given for url in one.urls}
    text = tuple(
        Sentence(one.text, tuple(Citation(snippets[url].source_id, snippets[url].id) for url in one.urls))
        for one in given
    )
    sources = tuple(Source(source_id(url), url, "", (own,)) for url, own in snippets.items())
    article = Article("Orrin", (Paragraph(text),), sources=sources, report=report or Report())
    return Case(Topic("orrin", "Orrin", HumanArticle("Orrin"), DOCUMENTS), article)


STATED = (
    CitedStatement("The dam was begun in 1929.", (PRESS, GUIDE)),  # the press says so, the guide does not
    CitedStatement("It cost 12 million crowns.", (PRESS, LOST, f"{PRESS}#cost")),  # one page by two addresses
    CitedStatement("The herons are blue.", (GUIDE,)),  # the page does not say so
    CitedStatement("Quartz glitters.", (LOST,)),  # no page
    CitedStatement("Nobody knows why."),  # no citation
)

BY_HAND = {"support": 2 / 3, "pair_support": 2 / 4, "pairs": 6, "pages_held": 4 / 6}


def test_published_statements_by_hand() -> None:
    assert scored(published(*STATED)) == BY_HAND


def test_several_citations_of_one_page_are_one_pair() -> None:
    pages = [Snippet(PRESS, "", text) for text in ("One.", "Two.")]
    cited = tuple(Citation(own.source_id, own.id) for own in pages)
    article = Article(
        "Orrin",
        (Paragraph((Sentence("The dam was begun in 1929.", cited),)),),
        sources=(Source(pages[0].source_id, PRESS, "", tuple(pages)),),
    )
    assert scored(replace(sentences(), article=article))["pairs"] == 1


def test_a_page_supports_by_its_title_and_passage_together() -> None:
    judge = ScriptedSupportJudge(lambda passage, _: float(passage.startswith("The dam\n")))
    found = citation_wiki_live(judge).score([published(STATED[0])])[0]
    assert found["citation_pair_support_wiki_live"] == 1 / 2


def test_only_the_named_systems_own_article_has_published_statements() -> None:
    case = published(*STATED)
    assert scored(replace(case, system=""))["pairs"] == 0
    assert scored(replace(case, system="beta"))["pairs"] == 0


ANY = st.lists(
    st.builds(
        CitedStatement,
        st.sampled_from([own.text for own in STATED]),
        st.lists(st.sampled_from([PRESS, GUIDE, LOST]), unique=True).map(tuple),
    ),
    max_size=6,
)


@settings(max_examples=40)
@given(ANY)
def test_statements_and_sentences_with_equal_citations_score_equally(stated: list[CitedStatement]) -> None:
    found = scored(published(*stated))
    assert found == scored(sentences(*stated))
    assert found["pairs"] == sum(len(one.urls) for one in stated)
    assert (found["pair_support"] is None) == (found["support"] is None)
    assert bool(found["pair_support"]) == bool(found["support"])
