"""Statements of real articles that a page supports: which are taken, and with what passage."""

from pathlib import Path

from wiki_live_files import FILLER, topic_file, write_wiki_live

from storm_benchmarks.real_statements import supported_statements

PRESS, OTHER = "https://press.example/orrin", "https://other.example/orrin"
SAID = "Two thousand men of the Orrin Company built the dam near Selby, and it was finished in 1936."
TRUE = "The dam near Selby was built by two thousand men of the Orrin Company."
WRONG = "The dam near Selby was finished in 1947 by men of the Orrin Company."


def written(folder: Path, *facts: tuple[str, str], article: str = "Of it nothing is known.") -> Path:
    said = [{"fact": fact, "ref_idx": "1", "url": [url]} for fact, url in facts]
    pages = [{"url": PRESS, "title": "Press", "text": f"{SAID} {FILLER}"}, {"url": OTHER, "title": "", "text": FILLER}]
    systems = {"alpha": {"article": "A dam.", "statements": said}}
    own = topic_file("Orrin Dam", article=f"# Orrin Dam\n\n{article}\n", pages=pages, systems=systems)
    return write_wiki_live(folder, Orrin_Dam=own)


def test_a_statement_is_taken_with_the_passage_of_its_page_that_says_it(tmp_path: Path) -> None:
    (found,) = supported_statements(written(tmp_path, (TRUE, PRESS)))
    assert found.sentence == TRUE
    assert SAID in found.source


def test_of_a_human_article_any_page_counts(tmp_path: Path) -> None:
    (found,) = supported_statements(written(tmp_path, article=TRUE))
    assert found.sentence == TRUE


def test_copies_missing_figures_and_other_pages_do_not_count(tmp_path: Path) -> None:
    assert supported_statements(written(tmp_path, (SAID, PRESS), (WRONG, PRESS), (TRUE, OTHER))) == []
