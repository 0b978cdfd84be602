"""Any article checked against its sources, fetched or beside it however they are cited, and looked at again."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import books
import own_papers
import pytest
from articles import article, cites, section, sentence, source
from hypothesis import given, settings
from lxml import html as lxml_html
from strategies import articles
from year_judge import YearJudge

from storm_pipeline.errors import DatasetError, PageError
from storm_pipeline.evidence.judges.base import Question, Verdict
from storm_pipeline.evidence.judges.screen import ScreenJudge
from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.evidence.judges.support import support_of
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.output.articles.pages import AvailablePages, NumberedArticle, Reference
from storm_pipeline.output.check import CheckedArticle, check_article, read_for_check
from storm_pipeline.output.check.matching import Library, with_cited_works
from storm_pipeline.output.check.reading import Read, SourceNote
from storm_pipeline.output.check.refreshing import RefreshedArticle, refresh
from storm_pipeline.output.check.report import match_rows, rows, source_rows, summary, to_page, to_record
from storm_pipeline.output.export.formats import export
from storm_pipeline.run.article_json import from_json
from storm_pipeline.sources.documents.document import Document
from storm_pipeline.sources.engines.corpus import CorpusSearch
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.text.plain import web_address
from storm_pipeline.text.words import has_word
from storm_pipeline.types import Article, Citation, Sentence, Snippet, Source

ORRIN = "https://example.org/orrin"
DAM = "Lake Orrin lies in the hills. The dam was finished in 1926 by two hundred workers. Trout live in the lake."
WRITTEN = f"""# Lake Orrin

Lake Orrin lies in the hills.[^1] The dam was finished in 1999.[^1] Nothing is cited here. It is deep.[^2]

[^1]: [Orrin]({ORRIN})
[^2]: Smith, A book, 1999.
"""


def check(path: Path, sources: Path | None = None, fetch: Callable[[str], Page] | None = None) -> CheckedArticle:
    read = read_for_check(path, sources, fetch)
    return check_article(read.article, YearJudge(), read.unread)


def page(url: str) -> Page:
    if url != ORRIN:
        raise PageError(f"{url} answered 404; the page cannot be fetched")
    return Page(url, "Orrin", ((None, DAM),))


def verdicts(checked: CheckedArticle) -> list[str]:
    return [own.status for own in checked.sentences]


def test_sources_are_fetched_and_those_that_cannot_be_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WRITTEN.replace("Smith, A book, 1999.", "https://example.org/gone"))
    checked = check(tmp_path / "a.md", fetch=page)
    assert verdicts(checked) == ["supported", "not", "uncited", "unread"]
    (why,) = checked.unread.values()
    assert "answered 404" in why
    assert "1 source could not be read" in summary(checked)
    remarks = [own.text for own in lxml_html.fromstring(to_page(checked)).xpath("//small")]
    assert remarks == ["not supported: 1999 not found", "no source cited", "source not read"]
    offline = check(tmp_path / "a.md")
    assert verdicts(offline) == ["unread", "unread", "uncited", "unread"]
    assert offline.support is None


def test_a_judge_sees_the_three_passages_of_a_page_that_are_nearest(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# Mill\n\nA mill of 1803 is on the river.[1]\n\n## References\n\n1. https://m.org/\n"
    )
    text = "\n\n".join(f"{'The weather of that day was fair. ' * 20} Mill {number}, river." for number in range(40))
    read = read_for_check(tmp_path / "a.md", None, lambda url: Page(url, "Mill", ((None, text),)))
    assert [len(source.snippets) for source in read.article.sources] == [3]


def test_an_article_that_cites_too_much_is_not_refreshed() -> None:
    long = article(section("Dam", *[sentence("It is. " * 200_000, LAKE)] * 40), sources=(LAKE,))
    with pytest.raises(DatasetError, match="may have 50,000,000"):
        refresh(Read(long, {}), YearJudge(), lambda _: pytest.fail("a page was fetched"))


def test_a_refresh_compares_a_sentence_once_and_no_more_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    ranked, passages = list[str](), AvailablePages.passages
    monkeypatch.setattr(AvailablePages, "passages", lambda *given: (ranked.append(given[1]), passages(*given))[1])
    snippets = tuple(replace(LAKE.snippets[0], text=f"Part {number}.") for number in range(50))
    orrin = replace(LAKE, snippets=snippets)
    once = article(lead=(cites("The dam is of 1926.", *snippets),), sources=(orrin,))
    assert len(refreshed(once, orrin=DAM).changes) == 50
    assert ranked == ["The dam is of 1926."]
    long = article(lead=tuple(cites(f"In {n}{'.' * 1_200_000}", snippets[n]) for n in range(40)), sources=(orrin,))
    with pytest.raises(DatasetError, match="may have 50,000,000"):
        refreshed(long, orrin="\n\n".join(f"It was {n}. {'Trout live in it. ' * 35}" for n in range(3)))
    assert len(ranked) < 20


def test_a_refresh_looks_for_no_more_passages_than_long_pages_allow() -> None:
    snippets = tuple(replace(LAKE.snippets[0], text=f"Part {number}.") for number in range(5000))
    passages = cites("The dam is of 1926.", *snippets)
    spans = replace(passages.citations[0], spans=((0, 1),) * 5000)
    for cited in (passages, replace(passages, citations=(spans,))):
        long = article(lead=(cited,), sources=(replace(LAKE, snippets=snippets),))
        with pytest.raises(DatasetError, match=r"may have 2,500,000,000: take parts"):
            refreshed(long, orrin="ab " * 1_600_000)


def test_the_screen_looks_for_better_passages_as_far_as_may_be_compared() -> None:
    class Recorder(ScreenJudge):
        def judge(self, questions: Sequence[Question]) -> list[Verdict]:
            asked.append([len(question.passages) for question in questions])
            return super().judge(questions)

    asked: list[list[int]] = []
    orrin = source("orrin", *DAM.split(". "))
    lead = cites("It lies.", orrin.snippets[0]), cites("It was.", orrin.snippets[1])
    written = article(lead=lead, sources=(orrin,))
    for most in (10_000, 200):
        check_article(written, Recorder(HashingEmbedder()), most=most)
    assert asked == [[3, 3], [3, 1]]


def test_sentences_beyond_what_a_check_reads_are_left_unread() -> None:
    one, other = source("orrin", DAM), source("falk", DAM * 3)
    written = article(
        lead=(cites("It is.", other.snippets[0]), cites("It was.", one.snippets[0])), sources=(one, other)
    )
    for judge in (YearJudge(), ScreenJudge(HashingEmbedder())):
        checked = check_article(written, judge, most_read=300)
        assert ["a check reads 300 characters" in one.reason for one in checked.sentences] == [True, False]
        assert [one.status == "unjudged" for one in checked.sentences] == [True, False]
        assert "1 left unread" in summary(checked)


def test_citations_in_long_sentences_are_found_at_once_or_refused(tmp_path: Path) -> None:
    def read(text: str, entry: str = "Castner, Ida. 1987. Ships.", most: int = 500_000_000) -> str:
        listed = NumberedArticle(article(lead=(sentence(text),)), {1: Reference("", "", entry=entry)})
        return next(with_cited_works(listed, Library((), tmp_path, most=most)).article.sentences()).text

    years, to = " 1990" * 199_999, " to (1987)" * 49_999
    assert (read(f"A{years}", "Ships"), read(f"Castner{years}")) == (f"A{years}", f"Castner{years}")
    assert (read("A", f"Castner{years}"), read(f"Castner (1987) went{to}")) == ("A", f"Castner went{to}")
    for text in ("1987 " * 100, "Castner" + " (1987" * 100):
        with pytest.raises(DatasetError, match="too many or too long references"):
            read(text, most=10_000)


def test_the_works_of_a_note_are_looked_for_once(tmp_path: Path) -> None:
    note = Reference("", "", entry="a; " * 9)
    assert Library((), tmp_path, most=0).works_of(note) == [note]  # without documents nothing is compared
    library = Library((Document("u:1", "Ships", ((None, "t"),)),), tmp_path, most=20_000)
    assert [library.works_of(note) for _ in range(9)] == [[note]] * 9
    with pytest.raises(DatasetError, match="too many or too long references"):
        library.works_of(replace(note, entry="a; " * 30))


def test_a_folder_with_several_articles_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WRITTEN)
    (tmp_path / "b.md").write_text(WRITTEN)
    with pytest.raises(DatasetError, match=r"several files .*a\.md, b\.md"):
        read_for_check(tmp_path)
    with pytest.raises(DatasetError, match="no article"):
        read_for_check(tmp_path / "nowhere")


@given(articles())
@settings(max_examples=40)
def test_every_sentence_with_words_has_one_verdict(own: Article) -> None:
    checked = check_article(own, YearJudge())
    texts = [one.text for one in own.sentences()]
    assert [one.sentence.text for one in checked.sentences] == [text for text in texts if has_word(text)]
    assert [one.text for one in checked.article.sentences()] == texts
    assert sum(checked.counts.values()) == len(checked.sentences)
    uncited = [one for one in own.sentences() if has_word(one.text) and not one.citations]
    assert checked.counts["uncited"] == len(uncited)
    assert len(rows(checked)) == len(checked.sentences) - checked.counts["supported"]
    assert json.loads(json.dumps(to_record(checked)))["counts"] == checked.counts


@given(articles())
@settings(max_examples=40)
def test_a_check_of_our_own_article_finds_what_its_run_reported(own: Article) -> None:
    reported, checked = support_of(own, YearJudge()), check_article(from_json(own.to_json()), YearJudge())
    assert reported.sentences == len(checked.sentences)
    assert reported.recall == (checked.counts["supported"] / reported.sentences if reported.sentences else None)
    assert dict(reported.errors).get("no citation", 0) == checked.counts["uncited"]


def page_of(name: str, text: str, origin: str = "page") -> Source:
    snippet = Snippet(f"https://example.org/{name}", name, text, origin=origin)
    return Source(snippet.source_id, snippet.url, name, (snippet,))


def refreshed(own: Article, **now: str) -> RefreshedArticle:
    def fetch(url: str) -> Page:
        name = url.rpartition("/")[2]
        if name not in now:
            raise PageError(f"{url} answered 404; the page cannot be fetched")
        return Page(url, name, ((None, now[name]),))

    return refresh(Read(own, {}), YearJudge(), fetch)


LAKE, FALK = page_of("orrin", DAM), page_of("falk", "Dag Falk was a lawyer in 1931. He wrote letters.")
DATED = with_spans(
    article(
        section("Dam", sentence("The dam is of 1926.", LAKE), sentence("Trout live in it.", LAKE)),
        lead=(sentence("Falk was a lawyer.", FALK),),
        sources=(LAKE, FALK),
    )
)
ALL = {"orrin": DAM, "falk": FALK.snippets[0].text}


@given(articles())
@settings(max_examples=40)
def test_an_article_whose_sources_did_not_change_is_byte_identical(drawn: Article) -> None:
    own = with_spans(drawn)
    texts = {source.id: "\n\n".join(snippet.text for snippet in source.snippets) for source in own.sources}
    pages = {source.url: texts[source.id] for source in own.sources}
    found = refresh(Read(own, {}), YearJudge(), lambda url: Page(url, "", ((None, pages[url]),)))
    assert {change.kind for change in found.changes} <= {"unread"}
    assert all(not web_address(change.source) for change in found.changes)
    assert found.checked.article.to_json() == own.to_json()
    assert found.failing == frozenset()


def test_a_passage_that_changed_may_support_its_sentence_still() -> None:
    still = refreshed(DATED, orrin=f"It was in 1926 that the dam was ready. {DAM[95:]}", falk=ALL["falk"])
    assert still.failing == frozenset()
    assert {one.kind for one in still.changes} == {"changed"}


def test_a_screen_reads_no_passage_that_its_page_has_lost() -> None:
    other = Source(LAKE.id, LAKE.url, "", (LAKE.snippets[0], Snippet(LAKE.url, "", "Orrin: the dam is of 1926.")))
    read = Read(replace(DATED, sources=(other, FALK)), {})
    now = refresh(
        read, ScreenJudge(HashingEmbedder()), lambda url: Page(url, "", ((None, DAM.replace("1926", "1927")),))
    )
    assert "The dam is of 1926." in {one.sentence.text for one in now.checked.failing({"digits not found"})}


def test_a_word_of_a_passage_is_no_sign_of_its_sentence() -> None:
    place = DAM.index("dam")
    cited = Citation(LAKE.id, LAKE.snippets[0].id, ((place, place + 3),))
    own = article(section("Dam", Sentence("The dam is of 1926.", (cited,))), sources=(LAKE,))
    assert [change.kind for change in refreshed(own, orrin="A dam.").changes] == ["changed"]


def foreign(tmp_path: Path, before: dict[str, str], now: dict[str, str]) -> RefreshedArticle:
    """A Markdown article read with former pages, and refreshed with current ones; other pages answer 404."""

    def pages(texts: dict[str, str], url: str) -> Page:
        if url not in texts:
            raise PageError(f"{url} answered 404", is_gone=True)
        return Page(url, "", ((None, texts[url]),))

    (tmp_path / "article.md").write_text(MARKDOWN)
    read = read_for_check(tmp_path / "article.md", None, partial(pages, before))
    return refresh(read, YearJudge(), partial(pages, now))


MARKDOWN = """The dam is of 1926.[^1] Falk was a lawyer in 1931.[^2] Ships came in 1702.[^3] A mill is of 1803.[^4]

[^1]: [Orrin](https://example.org/orrin)
[^2]: Falk, https://example.org/falk, archived at https://web.archive.org/web/2019/https://example.org/falk.
[^3]: [Ships](https://www.dailymail.co.uk/ships)
[^4]: mill.txt
"""
URLS = {name: f"https://example.org/{name}" for name in ("orrin", "falk")}
ARCHIVED, SHIPS = f"https://web.archive.org/web/2019/{URLS['falk']}", "https://www.dailymail.co.uk/ships"


def test_an_article_without_passages_is_compared_with_the_pages_read_before(tmp_path: Path) -> None:
    (tmp_path / "mill.txt").write_text("A mill of 1803 is on the river.")
    before = {URLS["orrin"]: DAM, ARCHIVED: ALL["falk"]}
    now = {URLS["orrin"]: DAM.replace("1926", "1927"), SHIPS: "Ships came in 1702."}
    found = foreign(tmp_path, before, now)
    kinds = {change.text: change.kind for change in found.changes}
    dam, ships = "The dam is of 1926.", "Ships came in 1702."
    assert kinds == {dam: "changed", "Falk was a lawyer in 1931.": "unread", ships: "new"}
    judged = {sentence.sentence.text: sentence.status for sentence in found.checked.sentences}
    assert judged == {dam: "not", ships: "supported"}
    still = foreign(tmp_path, before, before | {SHIPS: "None."})
    assert {change.text for change in still.changes} == {ships}
    assert still.failing == {2}


def test_sources_that_are_gone_archived_or_rated_down_are_named(tmp_path: Path) -> None:
    found = foreign(tmp_path, {}, {URLS["orrin"]: DAM, ARCHIVED: ALL["falk"]})
    notes = {s.url: found.checked.notes[s.id] for s in found.checked.article.references}
    assert (notes[ARCHIVED].archive, notes[ARCHIVED].cited) == (ARCHIVED, URLS["falk"])
    assert "404" in notes[ARCHIVED].gone and "404" in notes[SHIPS].gone
    assert "deprecated" in notes[SHIPS].rated and not notes[ARCHIVED].rated
    assert [name for name, note in notes.items() if note == SourceNote()] == [URLS["orrin"], "reference:mill.txt"]
    assert [own.status for own in found.checked.sentences] == ["supported", "supported"], "by the archived copy"
    rows = {row[0].partition("]")[2].strip(): row[1:] for row in source_rows(found.checked)}
    assert all(cells[0].startswith("gone: ") for cells in rows.values())
    assert sorted(bool(cells[2]) for cells in rows.values()) == [False, True]
    record = {source["url"]: source for source in to_record(found.checked)["sources"]}
    assert (record[ARCHIVED]["archive"], record[URLS["orrin"]]["gone"]) == (ARCHIVED, "")


def test_back_matter_that_cites_is_judged(tmp_path: Path) -> None:
    parts = "## See also\n\n### Books\n\nTrout live in 1999.[^1]\n\n## Further reading\n\nA book.\n"
    (tmp_path / "a.md").write_text(f"Trout live in 1926.[^1]\n\n{parts}\n[^1]: {ORRIN}\n")
    assert verdicts(check(tmp_path / "a.md", fetch=page)) == ["supported", "not"]


def test_words_of_another_site_are_named_by_its_address(tmp_path: Path) -> None:
    bad, gone = "https://evil.test/https://who.int/gone", "https://who.int/gone"

    def fetch(url: str) -> Page:
        if url == gone:
            raise PageError("it answered 404", is_gone=True)
        return Page(bad, "", ((None, DAM),))

    for entry in ("https://who.int/out", f"{gone} {bad}"):
        (tmp_path / "a.md").write_text(f"The dam is of 1926.[^1]\n\n[^1]: WHO, {entry}\n")
        read = read_for_check(tmp_path / "a.md", None, fetch)
        known = check_article(read.article, YearJudge()), refresh(read, YearJudge(), fetch).checked
        for checked in (replace(known[0], notes=read.notes), known[1]):
            assert [(one.title, one.url) for one in checked.article.references] == [("", bad)]
            assert f"read at {bad} instead of {entry.split()[0]}" in source_rows(checked)[0][1]
            assert "evil.test instead of https://who.int" in to_page(checked).replace(bad, "evil.test")
    found = refresh(Read(replace(DATED, sources=(replace(LAKE, also=(gone,)), FALK)), {}), YearJudge(), fetch)
    assert [(one.url, one.also) for one in found.checked.article.references] == [(bad, ())]


@pytest.mark.parametrize("suffix", ["html", "json"])
def test_passages_that_only_the_article_has_are_said_to_be_its_own(tmp_path: Path, suffix: str) -> None:
    made = article(section("Dam", sentence("The dam is of 1926.", LAKE)), sources=(LAKE,), title="Dam")
    file = tmp_path / f"article.{suffix}"
    file.write_text(made.to_html() if suffix == "html" else made.to_json(), "utf-8")
    read = read_for_check(file, None, lambda _: pytest.fail("a page was fetched"))
    checked = replace(check_article(read.article, YearJudge()), notes=read.notes)
    assert "the passages of 1 source are the article's own" in summary(checked)
    again = refresh(read, YearJudge(), page)
    (tmp_path / "lake.jsonl").write_text(json.dumps({"url": ORRIN, "title": "Orrin", "text": DAM}))
    (tmp_path / "a.md").write_text(f"The dam is of 1926.[^1]\n\n[^1]: {ORRIN}\n")
    beside = replace(checked, notes=read_for_check(tmp_path / "a.md").notes)
    assert not any("article's own" in summary(found) for found in (again.checked, beside))


WIKITEXT = "Falk was a lawyer.<ref>{{cite web |title=Falk |url=%s |archive-url=%s}}</ref>\n"
HTML = (
    '<article><p>Falk was a lawyer.<sup><a href="#n">[1]</a></sup></p><ol><li id="n"><a href="%s">Falk</a>. '
    'Archived from <a href="%s">the original</a>.</li></ol></article>'
)


@pytest.mark.parametrize(
    ("name", "text"), [("a.wiki", WIKITEXT % (URLS["falk"], ARCHIVED)), ("a.html", HTML % (ARCHIVED, URLS["falk"]))]
)
def test_the_archived_copies_of_wikipedias_citations_are_known(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    read = read_for_check(tmp_path / name)
    (source,) = read.article.sources
    assert (source.url, read.notes[source.id].archive) == (URLS["falk"], ARCHIVED)


def test_words_of_a_search_engine_and_missing_words_are_not_compared() -> None:
    engine = page_of("orrin", DAM, origin="snippet")
    own = article(section("Dam", sentence("The dam is of 1926.", engine)), sources=(engine,))
    missing = replace(own, sources=(replace(engine, snippets=()),))
    for cited in (own, missing):
        found = refreshed(cited, orrin="Something else.")
        assert (found.changes, found.uncompared) == ((), 1)
    moved = refresh(Read(own, {}), YearJudge(), lambda _: Page("https://sold.test/", "", ((None, "Buy casks."),)))
    assert [(change.kind, change.reason) for change in moved.changes] == [("changed", "read at https://sold.test/")]
    assert [source.url for source in moved.checked.article.references] == ["https://sold.test/"]


GRAIN = "The granary of Bergen was filled by an order of the council from 1621. In 1740 the granary was empty."
DEBT = "The debts of the fishermen were written down in a book. The courts of Bergen confirmed the rule in 1580."
WHARF = "# The Wharf of Bryggen\n\nThe wharf of Bergen burned in 1702. Its houses stood gable to gable."
MINUTES = (
    "<html><head><title>Minutes of the Council</title></head><body><p>The council of Bergen bought rye in Amsterdam at "
    "four times the price of the year before. The order was given on a Monday.</p></body></html>"
)
BIBLIOGRAPHY = r"""
@article{sund2021, title = {Grain and Hunger in Bergen}, author = {Sund, Maria}, year = 2021,
  journal = {Northern History}, file = {granary.docx:/home/me/granary.docx:application/docx}}
@incollection{nedkvitne2008, title = {Fish and Debt: Credit in the North}, author = {Nedkvitne, Arnved},
  booktitle = {Towns of the North}, editor = {Falck, Ida}, year = 2008, file = {Text:files/debt.txt:text/plain}}
@book{ersland1999, title = {The Wharf of Bryggen}, author = {Ersland, Geir Atle}, publisher = {Alma}, year = 1999}
@misc{council1740, title = {Minutes of the Council}, url = {https://archive.example.org/council}, year = 1740}
"""
FILES = ("kontor.pdf", "granary.docx", "debt.txt", "wharf.md", "council.html")
SENTENCES = (
    *("The Kontor was founded about 1360.", "The granary was filled from 1621."),
    *("The courts confirmed the rule in 1580.", "The wharf burned in 1702.", "Rye was bought in Amsterdam."),
)
CHICAGO = (
    "Knut Helle and Anna B. Lunde, “The German Kontor at Bergen,” *Journal of Northern Trade* 12 (2019): 233.",
    "Maria Sund, “Grain and Hunger in Bergen,” *Northern History* (2021), 4.",
    "Arnved Nedkvitne, “Fish and Debt,” in *Towns of the North*, ed. Ida Falck (Turnhout: Brepols, 2008), 118.",
    "Geir Atle Ersland, *The Wharf of Bryggen* (Bergen: Alma, 1999), 12–13.",
    "Minutes of the Council, 1740, fol. 3.",
)
SHORT = (
    *("Helle and Lunde, “German Kontor,” 234.", "Sund 2021, p. 4.", "Nedkvitne, “Fish and Debt,” 118."),
    *("Ersland 1999, 12.", "“Minutes of the Council.”"),
)
ADDRESSED = (
    *("https://doi.org/10.1234/JNT.2019.12.233", "[Grain](granary.docx)", "Nedkvitne (./debt.txt), p. 118"),
    *("[Ersland](file:///home/another/papers/wharf.md)", "[Minutes](https://archive.example.org/council)"),
)
NAMED = tuple(f"{name}, p. 2" for name in FILES)
WAYS = {"Chicago": CHICAGO, "short": SHORT, "addresses": ADDRESSED, "file names": NAMED}


def historians_folder(folder: Path) -> Path:
    """Five documents, their bibliography, and one more document that nothing cites."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kontor.pdf").write_bytes(own_papers.two_columns())
    (folder / "granary.docx").write_bytes(books.word(books.paragraph(books.run(GRAIN))))
    (folder / "debt.txt").write_text(DEBT)
    (folder / "wharf.md").write_text(WHARF)
    (folder / "council.html").write_text(MINUTES)
    (folder / "recipes.txt").write_text("Soak the stockfish for a week.")
    (folder / "library.bib").write_text(BIBLIOGRAPHY, "utf-8")
    return folder


def markdown(notes: tuple[str, ...]) -> str:
    text = " ".join(f"{one}[^{n}]" for n, one in enumerate(SENTENCES, 1))
    listed = "\n".join(f"[^{n}]: {note}" for n, note in enumerate(notes, 1))
    return f"# Bergen\n\n{text}\n\n{listed}\n"


def matched(read: Read) -> list[str]:
    """The document of each reference, in order; empty where none or several fit."""
    return [match.documents[0] if match.by else "" for match in read.matches]


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_citing_finds_the_documents_beside_the_article(tmp_path: Path, way: str) -> None:
    folder = historians_folder(tmp_path)
    (folder / "article.md").write_text(markdown(WAYS[way]))
    for path in (folder / "article.md", folder):
        read = read_for_check(path)
        assert matched(read) == list(FILES), match_rows(read.matches)
        assert not read.unread
    checked = replace(check_article(read.article, YearJudge(), read.unread), matches=read.matches)
    assert checked.counts["supported"] == 5
    assert "5 of 5 references matched to documents" in summary(checked)
    assert [match["by"] for match in to_record(checked)["matches"]] == [match.by for match in read.matches]
    assert "→ kontor.pdf (" in to_page(checked)


def test_a_year_in_a_short_title_is_not_that_of_the_work(tmp_path: Path) -> None:
    (tmp_path / "Meyer - 1992 - The Crisis of 1847.txt").write_text("The Crisis of 1847\n\nGrain prices doubled.")
    notes = ("Meyer, “Crisis of 1847,” 4.", "Meyer, “Crisis of 1848,” 4.")
    (tmp_path / "article.md").write_text(markdown(notes))
    found = matched(read_for_check(tmp_path / "article.md"))
    assert found == ["Meyer - 1992 - The Crisis of 1847.txt", ""]


@pytest.mark.parametrize("form", ["md", "docx", "wiki", "html"])
def test_our_own_exports_find_their_sources_again(tmp_path: Path, form: str) -> None:
    folder = historians_folder(tmp_path)
    corpus = CorpusSearch(folder, passages=1)
    snippets: dict[str, list[Snippet]] = {}
    for snippet in (snippet for one in SENTENCES for snippet in corpus.search(one, 9)):
        snippets.setdefault(snippet.source_id, []).append(snippet)
    sources = tuple(Source(name, own[0].url, own[0].title, tuple(own)) for name, own in snippets.items())
    sentences = (cites(f"{one.title} says so.", one.snippets[0]) for one in sources)
    own = article(section("Trade", *sentences), sources=sources, title="Bergen")
    rendered = {"md": own.to_markdown, "html": own.to_html}
    made = rendered[form]().encode() if form in rendered else export(own, {"wiki": "wikitext"}.get(form, form))
    (folder / f"bergen.{form}").write_bytes(made)
    read = read_for_check(folder / f"bergen.{form}")
    assert len(read.article.sources) == len(sources) >= 5
    assert not read.unread, match_rows(read.matches)


LIST = """## References

Ersland, Geir Atle. 1999. *The Wharf of Bryggen*. Bergen: Alma.

Helle, Knut, and Anna B. Lunde. 2019. “The German Kontor at Bergen.” *Journal of Northern Trade* 12.

Nedkvitne, Arnved (2008): “Fish and Debt”, in Ida Falck (ed.), *Towns of the North*.

Sund, Maria. 2021. “Grain and Hunger in Bergen.” *Northern History*.
"""
BY_YEAR = (
    "The Kontor was founded about 1360 (Helle and Lunde 2019, 233; Ersland 1999, 12). Sund (2021, 4) says that the "
    "granary was filled from 1621. Nedkvitne’s (2008) courts confirmed the rule in 1580. The wharf burned in 1702 "
    "(Ersland 1999, 12–13). Nobody burned in 1703. Castner (1987) knew the wharf (of Bergen).\n"
)
CASTNER = "@book{castner, title={Ships}, author={Castner, Ida}, year=1987}"


@pytest.mark.parametrize("form", ["list", "bibliography", "docx"])
def test_citations_by_author_and_year(tmp_path: Path, form: str) -> None:
    folder = historians_folder(tmp_path)
    (folder / "ships.bib").write_text(CASTNER)
    text = f"# Bergen\n\n{BY_YEAR}\n{'' if form == 'bibliography' else LIST}"
    if form == "docx":
        pypandoc = pytest.importorskip("pypandoc")
        pypandoc.convert_text(text, "docx", "md", outputfile=str(folder / "article.docx"))
    else:
        (folder / "article.md").write_text(text)
    read = read_for_check(folder)
    urls = {source.id: Path(source.url).name for source in read.article.sources}
    cited = {s.text: sorted({urls[c.source_id] for c in s.citations}) for s in read.article.sentences() if s.text}
    assert cited == {
        "The Kontor was founded about 1360.": ["kontor.pdf", "wharf.md"],
        "Sund says that the granary was filled from 1621.": ["granary.docx"],
        "Nedkvitne’s courts confirmed the rule in 1580.": ["debt.txt"],
        "The wharf burned in 1702.": ["wharf.md"],
        "Nobody burned in 1703.": [],
        "Castner knew the wharf (of Bergen).": ["reference:Castner 1987"],
    }
    assert [match.by for match in read.matches if match.cited == "Castner 1987"] == [""]
    assert len(read.unread) == 1


def test_works_of_one_author_and_year_are_told_apart_by_the_list(tmp_path: Path) -> None:
    entries = [f"@book{{f{n}, title={{{n} of Bergen}}, author={{Falk, Dag}}, year=1931}}" for n in ("Dams", "Mills")]
    (tmp_path / "library.bib").write_text("\n".join(entries))
    (tmp_path / "Dams of Bergen.txt").write_text("The dam is old.")
    (tmp_path / "Mills of Bergen.txt").write_text("The mill is old.")
    text = "The mill is old (Falk 1931b). The dam is old (Falk 1931a). Both are (Falk 1931).\n"
    listed = "- Falk, Dag. 1931a. *Dams of Bergen*.\n- Falk, Dag. 1931b. *Mills of Bergen*.\n"
    (tmp_path / "article.md").write_text(f"{text}\n## Works cited\n\n{listed}")
    found = [match.documents for match in read_for_check(tmp_path / "article.md").matches]
    assert found == [("Mills of Bergen.txt",), ("Dams of Bergen.txt",), ("Dams of Bergen.txt", "Mills of Bergen.txt")]


@pytest.mark.parametrize(
    "text",
    [
        *("In 1999 Ersland went to Bergen.", "Ersland died in 1999."),
        *("Ersland saw 1999 ships.[^1]", "The wharf burned in 1999 (Sund 2020)."),
    ],
)
def test_names_and_years_that_cite_nothing(tmp_path: Path, text: str) -> None:
    folder = historians_folder(tmp_path)
    (folder / "article.md").write_text(f"{text}\n\n[^1]: recipes.txt\n\n{LIST}")
    read = read_for_check(folder / "article.md")
    assert {match.documents for match in read.matches} <= {("recipes.txt",)}
    assert next(read.article.sentences()).text == text.removesuffix("[^1]")


def test_short_notes_of_markdown_name_the_works_of_earlier_ones(tmp_path: Path) -> None:
    folder = historians_folder(tmp_path)
    notes = (*CHICAGO[:2], "Ibid., 5.", f"{CHICAGO[2].rstrip('.')}; {CHICAGO[3]}", "Helle and Lunde, “German Kontor.”")
    (folder / "article.md").write_text(markdown(notes))
    read = read_for_check(folder / "article.md")
    urls = {source.id: Path(source.url).name for source in read.article.sources}
    cited = [sorted({urls[c.source_id] for c in s.citations}) for s in read.article.sentences()]
    assert cited == [["kontor.pdf"], ["granary.docx"], ["granary.docx"], ["debt.txt", "wharf.md"], ["kontor.pdf"]]
    assert not read.unread
    web = ("Ida Roe, “Rye,” https://example.org/rye.", "Ibid.", "Dag Falk, *Dams*.", "Roe, “Rye,” 3; Falk, *Dams*, 4.")
    (folder / "web.md").write_text(markdown((*web, "Ibid., 5.")))
    sources = [s.url for s in read_for_check(folder / "web.md").article.sources]
    assert sorted(sources) == ["https://example.org/rye", "reference:Dag Falk, Dams"]


def test_the_bibliography_beside_the_article_is_that_of_the_pages_too(tmp_path: Path) -> None:
    papers = historians_folder(tmp_path / "papers")
    (papers / "library.bib").rename(tmp_path / "library.bib")
    (tmp_path / "article.md").write_text(markdown(SHORT))
    read = read_for_check(tmp_path / "article.md", papers)
    assert [Path(name).name for name in matched(read)] == list(FILES), match_rows(read.matches)


def test_two_documents_that_fit_equally_are_both_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("The wharf burned in 1702.")
    (tmp_path / "two.txt").write_text("The wharf burned in 1703.")
    entries = [
        f"@book{{{n}, title={{The Wharf}}, author={{Ersland, G.}}, year=1999, file={{F:{n}.txt:text}}}}"
        for n in ("one", "two")
    ]
    (tmp_path / "library.bib").write_text("\n".join(entries))
    (tmp_path / "article.md").write_text("The wharf burned in 1702.[^1]\n\n[^1]: Ersland, *The Wharf*, 1999.\n")
    read = read_for_check(tmp_path / "article.md")
    (match,) = read.matches
    assert (match.documents, match.by) == (("one.txt", "two.txt"), "")
    assert list(read.unread.values()) == ["several documents fit it: one.txt, two.txt"]
    assert match_rows(read.matches)[0][1:] == ("nothing", "one.txt or two.txt")


@pytest.mark.parametrize("note", ["Helle", "Helle!" + 600 * " and so on"])
def test_thousands_of_documents_that_fit_are_compared_or_refused(tmp_path: Path, note: str) -> None:
    lines = (json.dumps({"url": f"u:{n}", "title": "Helle", "text": "t"}) + "\n" for n in range(20_000))
    (tmp_path / "many.jsonl").write_text("".join(lines))
    (tmp_path / "article.md").write_text(f"The wharf burned in 1702.[^1]\n\n[^1]: {note}\n")
    if note == "Helle":
        (match,) = read_for_check(tmp_path).matches
        assert (len(match.documents), match.by) == (20_000, "")
    else:
        with pytest.raises(DatasetError, match="too long references for 20,000 documents"):
            read_for_check(tmp_path)


@pytest.mark.parametrize(
    "note",
    [
        "Knut Helle, *Bergen bys historie* (Bergen, 2019), 5.",  # another work of the author
        "A Book about the Wharf of Bryggen Museum, 2015.",
        "https://doi.org/10.1234/other (“The German Kontor at Bergen”)",
        "[Minutes of the Council](https://elsewhere.example.org/minutes)",
        *("https://elsewhere.example.org/council.html", "[secret](../secret.txt)", "secret.txt", "the recipes"),
    ],
)
def test_another_work_is_not_taken_for_a_document(tmp_path: Path, note: str) -> None:
    folder = historians_folder(tmp_path / "folder")
    (tmp_path / "secret.txt").write_text("The key is under the mat.")
    (folder / "linked.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "article.md").write_text(markdown((note,)))
    read = read_for_check(folder / "article.md")
    assert [match.documents for match in read.matches] == [()]
    assert "under the mat" not in read.article.to_json()


def test_folders_below_are_read_only_where_the_folder_is_named(tmp_path: Path) -> None:
    historians_folder(tmp_path / "papers")
    (tmp_path / "article.md").write_text(markdown(("papers/kontor.pdf", "[x](papers/granary.docx)")))
    assert matched(read_for_check(tmp_path)) == ["papers/kontor.pdf", "papers/granary.docx"]
    assert read_for_check(tmp_path / "article.md").matches == ()
