"""Imported articles: their text, and which passage of which page each sentence cites."""

from dataclasses import replace

import pytest
from articles import citing
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from imported_cases import DAM, LAKE, by_sentence, cited_articles, cites_all, headings, passages, read_markdown, rows

from storm_pipeline.output.articles import AvailablePages, Reference
from storm_pipeline.output.articles.markdown import markdown_article
from storm_pipeline.output.render.markdown import to_markdown
from storm_pipeline.types import Article, Snippet

BODY = """# Lake Orrin

Lake Orrin is a reservoir.{a}

## History

The dam was begun in 1929.{b} It cost 12 million crowns{ab}.
"""
CITED = [
    ("Lake Orrin is a reservoir.", [LAKE]),
    ("The dam was begun in 1929.", [DAM]),
    ("It cost 12 million crowns.", [LAKE, DAM]),
]
NUMBERS = {"a": "[1]", "b": "[2]", "ab": "[1][2]"}
NOTES = {"a": "[^a]", "b": "[^b]", "ab": "[^a][^b]"}
FORMS: dict[str, tuple[dict[str, str], str]] = {
    "ordered links": (NUMBERS, f"## References\n\n1. [The lake]({LAKE})\n2. [The dam](<{DAM}>)\n"),
    "ordered by Markdown": (NUMBERS, f"## References\n1. [The lake]({LAKE})\n1. [The dam]({DAM})\n"),
    "ordered addresses": (NUMBERS, f"## Sources\n1) The lake. {LAKE}.\n2) “The dam”, {DAM}\n"),
    "bracketed": (NUMBERS, f"### Works cited\n- [1] The lake, {LAKE}\n- [2] {DAM} The dam\n"),
    "bracketed without a heading": (NUMBERS, f"[1] The lake: {LAKE}\n\n[2] The dam: <{DAM}>"),
    "on two lines": (NUMBERS, f"**Sources:**\n[1] The lake\n    {LAKE}\n[2] The dam\n{DAM}\n"),
    "bullets": (NUMBERS, f"Sources:\n- [The lake]({LAKE})\n- [The dam]({DAM})\n"),
    "definitions": (NUMBERS, f'[1]: {LAKE} "The lake"\n[2]: <{DAM}>\n  (The dam)\n'),
    "a list": ({**NUMBERS, "ab": "[1, 2]"}, f"## References\n[1] {LAKE}\n[2] {DAM}"),
    "a range": ({**NUMBERS, "ab": "[1–2]"}, f"## Notes\n[1] {LAKE}\n[2] {DAM}"),
    "escaped": ({"a": r"\[1\]", "b": r" \[2\]", "ab": r"\[1\]\[2\]"}, f"## References\n\\[1\\] {LAKE}\n\\[2\\] {DAM}"),
    "in another language": (NUMBERS, f"## Einzelnachweise\n\n1. [The lake]({LAKE})\n2. [The dam]({DAM})\n"),
    "footnotes": (NOTES, f"[^a]: The lake, {LAKE}\n[^b]: The dam\n    {DAM}\n"),
    "numbered footnotes": (
        {"a": "[^1]", "b": "[^2]", "ab": "[^1] [^2]"},
        f"[^1]: [The lake]({LAKE})\n[^2]: [The dam]({DAM})\n",
    ),
    "linked numbers": ({"a": f"[[1]]({LAKE})", "b": f"[2]({DAM})", "ab": rf"[\[1\]]({LAKE})[\[2\]]({DAM})"}, ""),
    "linked numbers with a list": (
        {"a": "[[1]](#ref-1)", "b": f"[[7]]({DAM})", "ab": f"[1](#ref-1)[[7]]({DAM})"},
        f"## References\n1. [The lake]({LAKE})\n2. [The dam]({DAM})",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_citations_and_lists(name: str) -> None:
    marks, references = FORMS[name]
    article = read_markdown(f"{BODY.format(**marks)}\n{references}")
    assert rows(article) == CITED
    assert [section.heading for section in article.sections] == ["History"]
    assert (article.report.invented_citations, article.report.unavailable_citations) == (0, 0)


def test_a_citation_has_the_best_passage_of_its_page() -> None:
    marks, references = FORMS["ordered links"]
    *_, cost = passages(read_markdown(f"{BODY.format(**marks)}\n{references}"))
    assert len(cost) == 2
    assert cost[1].startswith("The dam\n")
    assert "12 million crowns" in cost[1] and "1929" not in cost[1]


def test_what_leads_to_no_page_is_dropped_and_counted() -> None:
    text = (
        "A lake.[1][3] It is deep.[2][9][0]\n\n## References\n"
        f"1. [The lake]({LAKE})\n2. [Gone](https://gone.example)\n3. A book, 1931, p. 4"
    )
    article = read_markdown(text)
    assert rows(article) == [("A lake.", [LAKE]), ("It is deep.", [])]
    assert article.report.unavailable_citations == 2, "a page that is not held, and a book"
    assert article.report.invented_citations == 2
    assert [source.url for source in article.sources] == [LAKE]


def test_a_number_in_the_text_is_no_entry() -> None:
    steps = "## Steps\n1. Dig [it](https://x.example).\n2. Fill it.[1]"
    text = f"{steps}\n\n## References\n[1] {LAKE}\n\n## Later\nIt stayed."
    article = read_markdown(text)
    assert rows(article) == [("Dig it.", []), ("Fill it.", [LAKE]), ("It stayed.", [])]


def test_german_ordinals_end_no_sentence() -> None:
    article = read_markdown("Der Damm wurde am 22. Juli 1931 geschlossen. Er ist aus Stein und steht noch heute.")
    assert len(list(article.sentences())) == 2
    assert article.language == "de"


def test_metadata_in_yaml_are_no_sentences() -> None:
    article = read_markdown("---\ntitle: Orrin\nauthors:\n  - A. Doe\n---\n\n# Orrin\n\nA lake.\n\n---\n\nIt is: deep.")
    assert [sentence.text for sentence in article.sentences()] == ["A lake.", "It is: deep."]
    assert [sentence.text for sentence in read_markdown("---\nA lake.\n---\nDeep.").sentences()] == ["A lake.", "Deep."]


def test_lines_of_a_paragraph_belong_together() -> None:
    article = read_markdown("One is so.\nTwo goes\non here.\n\nThree.\n- Four.\n- Five.")
    assert [[s.text for s in one.sentences] for one in article.lead] == [
        ["One is so.", "Two goes on here."],
        ["Three."],
        ["Four."],
        ["Five."],
    ]


@given(article=cited_articles())
def test_an_exported_article_comes_back_from_markdown(article: Article) -> None:
    # where nothing cites, escaped numbers count as citations: some programs escape all of theirs
    assume(
        any(own.citations for own in article.sentences()) or "[" not in "".join(own.text for own in article.sentences())
    )
    found = read_markdown(to_markdown(article))
    assert by_sentence(found) == by_sentence(article)
    assert headings(found.sections) == headings(article.sections)
    assert [len(one.sentences) for one in found.lead] == [len(one.sentences) for one in article.lead]
    assert (found.report.invented_citations, found.report.unavailable_citations) == (0, 0)


@pytest.mark.parametrize("note", ["", "A small model planned this article."])
def test_a_single_source_without_a_link_comes_back_with_its_citation(note: str) -> None:
    memo = Snippet("corpus:memo.txt", "A memo", "The lake was filled in 1926.")
    article = replace(citing(memo, text=memo.text, title="Lake"), note=note)
    pages = AvailablePages([Reference(memo.url, memo.title, memo.text)])
    found = pages.cite(markdown_article("Lake", to_markdown(article)))
    assert [len(one.citations) for one in found.sentences()] == [1]
    assert (found.report.invented_citations, found.report.unavailable_citations) == (0, 0)


PIECES = st.sampled_from(
    [
        *("[1]", "[^1]", "[1]: ", "[^1]: ", "[[2]](", f"({LAKE})", DAM, "\n", "\n\n", "    ", "## References", "# A"),
        *(
            *("1. ", "- ", "[", "]", "(", ")", "\\", "\\[1\\]", "<", "**", " — ", "word.", "A sentence.", '"', "|"),
            "\ufdd0",
        ),
        *("\ufdd0", "[99999]", "[0]", "[1-9]"),
    ]
)
anything = st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join)


@settings(max_examples=2 * settings().max_examples)
@given(text=anything)
def test_whatever_the_file_holds_cites_all(text: str) -> None:
    article = read_markdown(text)
    assert cites_all(article)
    assert all(sentence.text.strip() for sentence in article.sentences())
