"""DeepScholar-Bench's measures by hand: which works are cited, and which support a sentence alone or around it."""

import pytest
from judge_doubles import ScriptedSupportJudge

from storm_bench.metrics.deepscholar import deepscholar
from storm_bench.types import Case, HumanArticle, Topic, TopicDocument
from storm_pipeline.text.identity import source_id
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source

PAGES = [
    Snippet("https://arxiv.org/pdf/2001.00001", "A Map", "Roads were mapped by riding along all of them twice."),
    Snippet("https://camels.example", "Paths of camels", "Camels remember the paths of all their earlier journeys."),
    Snippet("https://looms.example", "Looms", "Looms weave silk."),
]
MAPPED = "Roads were mapped by riding along all of them twice."
CAMELS = "Camels remember the paths of all their earlier journeys."
CITED = (
    TopicDocument("http://arxiv.org/abs/2001.00001v3", "Maps of Roads"),
    TopicDocument("http://arxiv.org/abs/2001.00002v1", "The Paths of Camels"),
    TopicDocument("http://arxiv.org/abs/2001.00003v1", "Salt in the Desert"),
    TopicDocument("https://doi.org/10.1/x", "Not on arXiv"),
)


def case(*sentences: tuple[str, tuple[int, ...]], about: str = "") -> Case:
    told = [
        Sentence(text, tuple(Citation(source_id(PAGES[i].url), PAGES[i].id) for i in own)) for text, own in sentences
    ]
    sources = tuple(Source(source_id(page.url), page.url, page.title, (page,)) for page in PAGES)
    article = Article("Topic", sections=(Section("Roads", (Paragraph(tuple(told)),)),), sources=sources)
    return Case(Topic("t", "Topic", HumanArticle("Topic", references=CITED), about=about), article)


def scored(one: Case, **options: int) -> dict[str, float | None]:
    (score,) = deepscholar(ScriptedSupportJudge(lambda passage, claim: claim in passage), **options).score([one])
    return {name.removesuffix("_deepscholar"): value for name, value in score.items()}


def test_works_are_known_by_number_and_by_title() -> None:
    found = scored(case((MAPPED, (0, 2)), (CAMELS, (1,))))
    assert found["reference_coverage"] == pytest.approx(2 / 3), "of the three on arXiv"
    assert found["references_cited"] == 3


def test_each_citation_counts_alone_and_an_uncited_sentence_for_nothing() -> None:
    assert scored(case((MAPPED, (0, 2)), (CAMELS, ())))["citation_precision"] == pytest.approx(0.25)


def test_a_claim_may_rest_on_the_sentence_before_or_after_it() -> None:
    told = (MAPPED, (0, 1)), (CAMELS, ())
    assert scored(case(*told))["claim_coverage"] == 1
    assert scored(case(*told), window=0)["claim_coverage"] == 0.5
    assert scored(case(told[0], ("This is a sentence without any citation, and it is long.", ()), ("x", ()), told[1]))[
        "claim_coverage"
    ] == pytest.approx(1 / 3)


def test_the_papers_own_abstract_supports_a_cited_claim() -> None:
    claim = "Camels remember the paths of all their earlier journeys."
    assert scored(case((claim, (2,))))["claim_coverage"] == 0
    assert scored(case((claim, (2,)), about=claim))["claim_coverage"] == 1
