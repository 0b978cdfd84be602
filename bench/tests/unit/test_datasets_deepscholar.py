"""DeepScholar-Bench as published: papers, what they cite, nuggets, and what is damaged."""

from pathlib import Path

import pytest
from deepscholar_files import CITATIONS, NUGGETS, PAPERS, write_deepscholar
from hypothesis import given
from hypothesis import strategies as st

from storm_bench.datasets.closed_corpus import ClosedCorpus, pooled_chunks
from storm_bench.datasets.deepscholar import read_deepscholar, sections_of_latex
from storm_pipeline.errors import DatasetError


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


@pytest.mark.parametrize("name", ["../../victim", "/tmp/victim", "..", "a/b"])
def test_a_paper_whose_id_leads_elsewhere_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(NUGGETS, name, NUGGETS[PAPERS[0]["arxiv_id"]])
    folder = write_deepscholar(tmp_path / "d", papers=[*PAPERS, {**PAPERS[0], "arxiv_id": name}])
    data = read_deepscholar(folder)
    assert len(data.topics) == 2 and f"the id {name!r}" in data.problems[0]
