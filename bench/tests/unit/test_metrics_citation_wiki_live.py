"""Citation support as in Wiki Live Challenge: cases worked out by hand, for published statements and for sentences."""

from collections.abc import Mapping
from dataclasses import replace

from cases import generated
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_doubles import ScriptedSupportJudge

from storm_bench.metrics.statements import citation_wiki_live
from storm_bench.types import Case, CitedStatement, HumanArticle, SystemArticle, Topic, TopicDocument
from storm_pipeline.text.identity import source_id
from storm_pipeline.types import Article, Citation, Paragraph, Report, Sentence, Snippet, Source

PRESS, GUIDE, LOST = "https://press.example/orrin", "https://guide.example/orrin", "https://lost.example"
HERONS = " ".join(f"In year {year} the herons nested again on the shore of the old lake." for year in range(30))
DOCUMENTS = (
    TopicDocument(
        PRESS, "The dam", f"{HERONS} The dam was begun in 1929. {HERONS} It cost 12 million crowns. {HERONS}"
    ),
    TopicDocument(GUIDE, "", HERONS),
    TopicDocument("", "A book", HERONS),
)
NONE_HELD = {"support": None, "pair_support": None}


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


def test_dropped_citations_are_pairs_without_a_page() -> None:
    case = sentences(STATED[0], report=Report(unavailable_citations=2))
    assert scored(case) == {"support": 1, "pair_support": 1 / 2, "pairs": 4, "pages_held": 2 / 4}


def test_a_page_supports_by_its_title_and_passage_together() -> None:
    judge = ScriptedSupportJudge(lambda passage, _: float(passage.startswith("The dam\n")))
    found = citation_wiki_live(judge).score([published(STATED[0])])[0]
    assert found["citation_pair_support_wiki_live"] == 1 / 2


def test_undefined_values() -> None:
    assert scored(published(CitedStatement("Orrin is a lake."))) == {**NONE_HELD, "pairs": 0, "pages_held": None}
    assert scored(published(*STATED, documents=())) == {**NONE_HELD, "pairs": 6, "pages_held": 0}
    assert scored(sentences()) == {**NONE_HELD, "pairs": 0, "pages_held": None}


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
