"""Readers of labelled claims and of recorded runs, on small files made here and on the real ones."""

import json
from pathlib import Path

import pytest

from storm_bench.articles.folder import read_imported
from storm_bench.cited_sentences import cited_sentences
from storm_bench.datasets.expertqa import read_expertqa
from storm_bench.datasets.storm_runs import find_storm_run, read_storm_run
from storm_bench.metrics.texts import generated_headings
from storm_bench.types import HumanArticle, Topic
from storm_pipeline.errors import DatasetError
from storm_pipeline.output.check import read_for_check

TEXT = "the dam was built to supply the capital with electricity in 1931"


def claim(text: str, support: str | None, *evidence: str) -> dict[str, object]:
    return {"claim_string": text, "support": support, "evidence": list(evidence)}


def written(folder: Path, *claims: dict[str, object]) -> Path:
    row = {"question": "What is the dam?", "answers": {"a": {"claims": list(claims)}}}
    (folder / "rand_val.jsonl").write_text(json.dumps(row) + "\n\n", encoding="utf-8")
    return folder


def test_labelled_claims(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        claim("The **dam** is old [1][2].", "Complete", f"[1] https://a.org/x\n\n{TEXT}", f"https://b.org {TEXT} too"),
        claim("It is new.", "Partial", f"[1] https://a.org/x\n\n{TEXT}", "[2] https://a.org/only-an-address"),
        claim("It is tall.", "Incomplete", "[1] https://a.org/x\n\nToo short."),
        claim("It is big.", "Missing"),
        claim("It is wide.", None, f"[1] https://a.org/x\n\n{TEXT}"),
        claim("[1]", "Complete", f"[1] https://a.org/x\n\n{TEXT}"),
        claim("It is red.", "Complete", ""),
    )
    first, second = read_expertqa(folder)
    assert (first.claim, first.supported) == ("The dam is old.", True)
    assert [passage.text for passage in first.passages] == [TEXT, f"{TEXT} too"]
    assert [passage.url for passage in first.passages] == ["https://a.org/x", "https://b.org"]
    assert (second.supported, len(second.passages), second.question) == (False, 1, "What is the dam?")


def test_files_that_are_no_labelled_claims(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        read_expertqa(tmp_path)
    with pytest.raises(DatasetError, match="holds no labelled claim"):
        read_expertqa(written(tmp_path))
    for wrong in ("{", "[]", '{"question": "x", "answers": {"a": {"claims": [{}]}}}'):
        (tmp_path / "rand_val.jsonl").write_text(wrong, encoding="utf-8")
        with pytest.raises(DatasetError, match="is not ExpertQA"):
            read_expertqa(tmp_path)


GENERATED = """# History

The dam is old[2]. It was built in 1931 [2][1].
It is high.

## Families

Many moved[3-4][0][9].

# History

They came back.[1].
"""
POLISHED = """# summary

The dam is old and high.[1]. Many moved [2][7].

# History

The dam is old[1]. It was built in 1931 [1][2].
It is high.

## Families

Many moved[3-4][0][9].

# History

They came back.[2].
"""


def page(name: str, *snippets: str, description: str = "") -> dict[str, object]:
    return {"url": f"https://{name}.org", "title": name, "snippets": list(snippets), "description": description}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose numbers are not in the order of its file."""
    folder = tmp_path / "Lake_Orrin"
    folder.mkdir()
    pages = {
        "https://b.org": page("b", "old", "old", " and high "),
        "https://a.org": page("a", "built"),
        "https://c.org": page("c", description="moved"),
        "https://d.org": page("d", "again"),
    }
    numbers = {"https://b.org": 2, "https://a.org": 1, "https://c.org": 3, "https://d.org": 4}
    (folder / "url_to_info.json").write_text(json.dumps({"url_to_info": pages, "url_to_unified_index": numbers}))
    (folder / "storm_gen_article.txt").write_text(GENERATED, encoding="utf-8")
    (folder / "storm_polished_article.txt").write_text(POLISHED, encoding="utf-8")
    return folder


def test_a_run_of_a_stranger_leads_to_no_file_elsewhere(run: Path, tmp_path: Path) -> None:
    for name in ("storm_gen_article.txt", "url_to_info.json"):
        (run / name).rename(tmp_path / name)
        (run / name).symlink_to(tmp_path / name)
    (run / "storm_polished_article.txt").unlink()
    with pytest.raises(DatasetError, match="is a link out of the folder"):
        read_for_check(run)


def test_a_recorded_run(run: Path) -> None:
    found = read_storm_run(run)
    article = found.article
    assert (found.topic.id, found.topic.title, article.title) == ("Lake_Orrin", "Lake Orrin", "Lake Orrin")
    assert [(section.heading, len(section.subsections)) for section in article.sections] == [
        ("History", 1),
        ("History", 0),
    ]
    assert article.lead == ()
    assert [(s.text, s.passages) for s in cited_sentences(article)] == [
        ("The dam is old.", ("b\nold\nand high",)),
        ("It was built in 1931.", ("b\nold\nand high", "a\nbuilt")),
        ("It is high.", ()),
        ("Many moved.", ("c\nmoved", "d\nagain")),
        ("They came back.", ("a\nbuilt",)),
    ]
    assert article.report.invented_citations == 2
    assert [source.title for source in article.references] == ["b", "a", "c", "d"]


@pytest.mark.parametrize("name", ["refine_outline.txt", "storm_gen_outline.txt"])
@pytest.mark.parametrize("polished", [False, True])
def test_headings_are_those_of_the_recorded_outline(run: Path, name: str, polished: bool) -> None:
    (run / name).write_text("# History\n## Families\n### Mills\n\n# Unwritten\n", encoding="utf-8")
    article = read_storm_run(run, polished=polished).article
    assert generated_headings(article) == ("History", "Families", "Mills", "Unwritten")


def test_polished_numbers_are_read_off_the_text_before(run: Path) -> None:
    polished, before = read_storm_run(run, polished=True).article, read_storm_run(run).article
    assert polished.sections == before.sections
    assert [(s.text, [source[0] for source in s.passages]) for s in cited_sentences(polished)][:2] == [
        ("The dam is old and high.", ["b"]),
        ("Many moved.", ["a"]),
    ]
    assert polished.report.invented_citations == 3  # [7] stands nowhere in the body


def test_polished_numbers_where_polishing_changed_the_body(run: Path) -> None:
    changed = POLISHED.replace("It is high.", "It is tall[5].").replace("It was built in 1931 [1][2].\n", "\n")
    (run / "storm_polished_article.txt").write_text(changed, encoding="utf-8")
    article = read_storm_run(run, polished=True).article
    assert [(s.text, [source[0] for source in s.passages]) for s in cited_sentences(article)] == [
        ("The dam is old and high.", ["b"]),
        ("Many moved.", ["a"]),
        ("The dam is old.", ["b"]),
        ("It is tall.", []),
        ("Many moved.", ["c", "d"]),
        ("They came back.", ["a"]),
    ]


def test_a_run_named_by_its_title(run: Path) -> None:
    topic = Topic("70388147", "Lake Orrin", HumanArticle("Lake Orrin"))
    (run / "storm_polished_article.txt").rename(run / "storm_gen_article_polished.txt")
    assert find_storm_run(run.parent, topic) == run
    polished = read_storm_run(run, polished=True, title=topic.title).article
    assert read_imported(run.parent, topic) == polished
    (run / "storm_gen_article_polished.txt").unlink()
    assert read_imported(run.parent, topic) == read_storm_run(run).article
    (run.parent / "Lake_Orrin.md").write_text("A lake.", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"several articles on 'Lake Orrin', Lake_Orrin\.md and Lake_Orrin"):
        read_imported(run.parent, topic)
    (run.parent / "70388147").mkdir()
    with pytest.raises(DatasetError, match="several runs on 'Lake Orrin', 70388147 and Lake_Orrin: remove"):
        find_storm_run(run.parent, topic)
    with pytest.raises(DatasetError, match="no run on 'Lake Orrin': a run is a folder 70388147 or Lake_Orrin with"):
        find_storm_run(run, topic)


def test_runs_that_cannot_be_read(run: Path, tmp_path: Path) -> None:
    (run / "storm_polished_article.txt").write_text("# History\n\nIt is another article[1].", encoding="utf-8")
    with pytest.raises(DatasetError, match="another body"):
        read_storm_run(run, polished=True)
    twice = POLISHED.replace("It was built in 1931 [1][2].", "It was built in 1931 [1][1].")
    (run / "storm_polished_article.txt").write_text(twice, encoding="utf-8")
    with pytest.raises(DatasetError, match=r"another body .*: \[1\] was both \[2\] and \[1\]"):
        read_storm_run(run, polished=True)
    (run / "storm_polished_article.txt").unlink()
    with pytest.raises(DatasetError, match="cannot be read"):
        read_storm_run(run, polished=True)
    for text in ('{"url_to_info": {}, "url_to_unified_index": {"u": 1}}', "[" * 100_000):
        (run / "url_to_info.json").write_text(text)
        with pytest.raises(DatasetError, match="format of a STORM run"):
            read_storm_run(run)


@pytest.mark.data
def test_the_real_claims(data_dir: Path) -> None:
    claims = read_expertqa(data_dir / "expertqa")
    assert len(claims) > 700
    assert 0.7 < sum(own.supported for own in claims) / len(claims) < 0.75


@pytest.mark.data
def test_the_real_runs(data_dir: Path) -> None:
    runs = sorted(path.parent for path in (data_dir / "storm_runs").glob("*/url_to_info.json"))
    before, polished = ([read_storm_run(run, polished=own) for run in runs] for own in (False, True))
    assert len(before) == len(polished) == 4
    for a, b in zip(before, polished, strict=True):
        assert [s.text for s in b.article.sentences()][-1] == [s.text for s in a.article.sentences()][-1]
        assert b.article.sections == a.article.sections
        assert a.article.report.invented_citations == 0
        assert len(a.article.references) == len(a.article.sources)
