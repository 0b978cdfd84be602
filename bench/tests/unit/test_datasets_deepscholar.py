"""DeepScholar-Bench: its papers as topics, and its coverage and precision by hand."""

from pathlib import Path

import pytest
from deepscholar_files import CITATIONS, NUGGETS, PAPERS, write_deepscholar
from hypothesis import given
from hypothesis import strategies as st
from judge_doubles import ScriptedSupportJudge

from storm_bench.datasets.closed_corpus import ClosedCorpus, pooled_chunks
from storm_bench.datasets.deepscholar import read_deepscholar, sections_of_latex
from storm_bench.metrics.deepscholar import deepscholar
from storm_bench.types import Case, HumanArticle, Topic, TopicDocument
from storm_pipeline.errors import DatasetError
from storm_pipeline.text.identity import source_id
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source


@pytest.mark.parametrize("packed", [False, True])
def test_both_layouts_are_read(tmp_path: Path, packed: bool) -> None:
    data = read_deepscholar(write_deepscholar(tmp_path / "d", packed=packed))
    silk, caravans = data.topics
    assert (silk.id, caravans.title, caravans.about) == ("2505.00001v2", "Routing of Caravans", "We route caravans.")
    assert caravans.human.url == "https://arxiv.org/abs/2506.00002v1"
    assert [(s.heading, s.text) for s in caravans.human.sections] == [("Roads & maps", "Roads were mapped twice.")]
    assert (caravans.human.lead, silk.human.lead) == ("Before all.", "Looms weave 10% faster.")
    assert caravans.human.statements == ("Roads have been mapped twice", "Camels remember paths"), "vital ones first"
    assert [work.title for work in caravans.human.references] == [
        "Maps of Roads",
        "Paths of Camels",
        "A Book Without Text",
    ]
    assert [work.url for work in caravans.documents] == [
        "http://arxiv.org/abs/2001.00001v3",
        "https://doi.org/10.1000/camels",
    ]
    assert caravans.documents[1].text.startswith("Camels follow paths")


def test_the_corpus_is_what_all_papers_cite(tmp_path: Path) -> None:
    data = read_deepscholar(write_deepscholar(tmp_path / "d"))
    found = ClosedCorpus(pooled_chunks(data.topics)).search("a loom that weaves silk", 5)
    assert found[0].title == "Looms that Learn"


def test_a_paper_without_nuggets_is_skipped_and_named(tmp_path: Path) -> None:
    folder = write_deepscholar(tmp_path / "d", papers=[*PAPERS, {**PAPERS[0], "arxiv_id": "2507.00003v1"}])
    data = read_deepscholar(folder)
    assert (len(data.topics), data.problems) == (2, ("skipped: 2507.00003v1 has no related work, or no nuggets",))


def test_what_is_no_such_folder_says_where_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no papers_with_related_works\.csv.*fetch deepscholar"):
        read_deepscholar(tmp_path)
    (write_deepscholar(tmp_path / "d") / "dataset" / "recovered_citations.csv").unlink()
    with pytest.raises(DatasetError, match=r"no citations\.csv"):
        read_deepscholar(tmp_path / "d")


@pytest.mark.parametrize("what", ["cut", "column", "nuggets"])
def test_damaged_files_are_named(tmp_path: Path, what: str) -> None:
    rows = [{name: value for name, value in row.items() if name != "cited_paper_title"} for row in CITATIONS]
    folder = write_deepscholar(tmp_path / "d", packed=True, **({"citations": rows} if what == "column" else {}))
    name = {"cut": "papers_with_related_works.csv.gz", "column": "recovered_citations.csv.gz", "nuggets": "nuggets"}[
        what
    ]
    if what == "cut":
        (folder / name).write_bytes((folder / name).read_bytes()[:60])
    if what == "nuggets":
        (folder / "nuggets" / "2505.00001v2.json").write_text('{"qid": "x"}')
    with pytest.raises(DatasetError, match=f"{name}.* is damaged"):
        read_deepscholar(folder)


@given(st.text(st.sampled_from("\\{}%~$ a\n"), max_size=80), st.text(max_size=80))
def test_any_latex_is_read_in_the_end(marks: str, text: str) -> None:
    lead, sections = sections_of_latex(f"{marks}{text}\\subsection{{A}}{marks}")
    assert "\\cite" not in lead
    assert all(section.heading for section in sections)


@pytest.mark.parametrize("name", ["../../victim", "/tmp/victim", "..", "a/b", "", ".hidden", "a" * 251])
def test_a_paper_whose_id_leads_elsewhere_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(NUGGETS, name, NUGGETS[PAPERS[0]["arxiv_id"]])
    folder = write_deepscholar(tmp_path / "d", papers=[*PAPERS, {**PAPERS[0], "arxiv_id": name}])
    data = read_deepscholar(folder)
    assert len(data.topics) == 2 and f"the id {name!r}" in data.problems[0]


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
