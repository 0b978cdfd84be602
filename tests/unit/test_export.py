"""Exports: every format keeps every citation, and no text breaks out of it."""

from dataclasses import replace

import export_readers as readers
import pytest
from articles import cites, citing, page_of
from export_readers import Rows, sentence_table
from hypothesis import example as example_of
from hypothesis import given, settings
from strategies import articles

from storm_pipeline.errors import DatasetError, SettingsError
from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.output.export import wikitext
from storm_pipeline.output.export.formats import FORMATS, export, export_format
from storm_pipeline.output.export.manuscript import manuscript
from storm_pipeline.text.person_names import Name, person_names, read_names
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source, Usage, UsageRow

LISTS = {"bibtex": readers.read_bibtex, "ris": readers.read_ris, "csl": readers.read_csl}
"""Formats of references, and what reads them."""


def example() -> Article:
    paper = Snippet("https://doi.org/10.1000/182", "Corals & heat", "Corals bleach at 30 °C.", doi="10.1000/182")
    paper = replace(paper, published="2019-05", author="Doe, Jane; van Gogh, Vincent", site="Marine Letters")
    paper = replace(paper, publisher="Sea Press", accessed="2026-11-22")
    page = Snippet(
        "https://www.example.org/a_(b)?c=1&d=2", "Reefs", "Reefs are old.", author="Reef Staff", language="en"
    )
    memo = Snippet("corpus:memo.pdf", "A memo", "It was warm.", page=3)
    more = Snippet("corpus:memo.pdf", "A memo", "It stayed warm.", page=7)
    lead = cites("Corals [1] bleach at 30 °C & die.", paper, page)
    return Article(
        "Coral #1",
        (Paragraph((lead, Sentence("Nobody says so."))),),
        (Section("Heat_waves", (Paragraph((cites("* It was {warm}.", memo, more, paper),)),), (Section("1 | 2"),)),),
        (page_of(page), page_of(paper), page_of(memo, more)),
        usage=Usage((UsageRow("sections", "writer", "small--model", 1),)),
        written="2026-11-22",
    )


def expected(article: Article) -> Rows:
    """What each sentence cites."""
    whole = with_sentences(article, lambda own: own if tidy(own.text) else replace(own, citations=()))
    references = zip(whole.references, manuscript(article).references, strict=True)
    address = {source.id: one.link or one.address for source, one in references}
    return [(text, tuple(address[i] for i in ids)) for raw, ids in sentence_table(whole) if (text := tidy(raw))]


@settings(max_examples=40)
@given(article=articles())
def test_wikitext_keeps_every_sentence_with_its_sources(article: Article) -> None:
    assert readers.read_wikitext(export(article, "wikitext")) == expected(article)


@pytest.mark.parametrize("name", LISTS)
@settings(max_examples=40)
@given(article=articles())
@example_of(article=citing(Snippet("", "*a* _b_ `c` ~~d~~", "It is.", accessed="2026-11-22")))
def test_a_list_of_references_keeps_every_citation(name: str, article: Article) -> None:
    assert sorted(readers.runs_of(LISTS[name](export(article, name)))) == sorted(readers.runs_of(expected(article)))


def test_a_sentence_that_formats_would_repeat_too_often_is_refused() -> None:
    snippets = [Snippet(f"https://a.org/{i}", "", "x") for i in range(501)]
    with pytest.raises(DatasetError, match="of which a check or a page may have 50,000,000"):
        export(Article("A", (Paragraph((cites("x" * 100_000, *snippets),)),), (), tuple(map(page_of, snippets))), "ris")


def test_formats_are_chosen_by_name() -> None:
    assert export_format(" RIS ").name == "ris"
    with pytest.raises(SettingsError, match=r"no export format is called 'doc'; choose from: .*wikitext"):
        export_format("doc")
    assert len({known.suffix for known in FORMATS.values()}) == len(FORMATS)


def test_wikitext() -> None:
    assert export(example(), "wikitext").decode() == (
        "<!-- Written by a program (small- -model) on 22 November 2026 from the sources below: "
        "2 of its 3 sentences rest on 3 sources. -->\n"
        "\n"
        'Corals &#91;1&#93; bleach at 30 °C &#38; die.<ref name="doe2019">{{cite journal |last1=Doe |first1=Jane '
        "|last2=van Gogh |first2=Vincent |title=Corals &#38; heat |journal=Marine Letters "
        "|url=https://doi.org/10.1000/182 |publisher=Sea Press |date=May 2019 |doi=10.1000/182 "
        "|access-date=22 November 2026}}"
        '</ref><ref name="reef-staff">{{cite web |author1=Reef Staff |title=Reefs '
        "|website=example.org |url=https://www.example.org/a_(b)?c=1&d=2 |access-date=22 November 2026}}</ref>\n"
        "Nobody says so.\n"
        "\n"
        "== Heat_waves ==\n"
        "\n"
        '&#42; It was &#123;warm&#125;.<ref name="doe2019" /><ref name="a-memo">{{citation |title=A memo '
        "|id=corpus:memo.pdf}}</ref>{{Rp|3, 7}}\n"
        "\n"
        "=== 1 &#124; 2 ===\n"
        "\n"
        "== References ==\n"
        "{{Reflist}}\n"
    )


def test_an_address_in_wikitext_holds_no_markup() -> None:
    page = Source("s1", "https://example.org/~~~~/__NOTOC__/''x''?a=~b_c", "Page", (Snippet("u", "t", "text"),))
    cited = Sentence("Silk is old.", (Citation("s1", page.snippets[0].id),))
    written = wikitext.write(manuscript(Article("Silk", (Paragraph((cited,)),), (), (page,)))).decode()
    (address,) = [field for field in written.split(" |") if field.startswith("url=")]
    assert address.startswith("url=https://example.org/%7E%7E%7E%7E/%5F%5FNOTOC%5F%5F/%27%27x%27%27?a=~b_c}}")


def test_bibtex() -> None:
    entries = readers.bibtex_entries(export(example(), "bibtex").decode())
    assert entries["reef-staff"]["authors"] == "{Reef Staff}"
    assert "pages" not in entries["a-memo"], "those are the pages of the whole work"
    assert entries["a-memo"]["citedpages"] == "3, 7"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, ()),
        ("Jane Doe", (Name("Doe", "Jane"),)),
        ("Doe, Jane; Roe, R. M.", (Name("Doe", "Jane"), Name("Roe", "R. M."))),
        ("Vincent van Gogh", (Name("van Gogh", "Vincent"),)),
        ("World Health Organization", (Name("World Health Organization"),)),
        ("陳大文", (Name("陳大文"),)),
        ("jane doe", (Name("jane doe"),)),
        ("By J.-P. O'Neil-Smith;;", (Name("O'Neil-Smith", "J.-P."),)),
        ("Al" + "." * 100 + "! Roe", (Name("Al" + "." * 100 + "! Roe"),)),
    ],
)
def test_names(text: str | None, names: tuple[Name, ...]) -> None:
    assert read_names(text) == names


def test_notes_without_end_are_not_of_a_name() -> None:
    assert person_names("1 " * 500_000 + "Jane Doe") == ("Jane Doe",)
