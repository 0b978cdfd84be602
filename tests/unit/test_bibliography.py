"""What is known of own documents as works: bibliographies, DOIs, metadata, and file names as the last resort."""

import io
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import books
import own_papers
import papers
import pytest
from articles import cites, page_of
from commands import run_storm
from hypothesis import given
from hypothesis import strategies as st
from servers import Reply, ScriptedServer
from work import calls_of

from storm_pipeline.errors import StoppedError
from storm_pipeline.output.export.formats import export
from storm_pipeline.output.export.wikitext import objections
from storm_pipeline.sources.documents.bibliography import Bibliography, Entry, read_bibliography
from storm_pipeline.sources.documents.document import Document, Record, Unreadable, record_of_name
from storm_pipeline.sources.documents.docx import read_docx
from storm_pipeline.sources.documents.epub import read_epub
from storm_pipeline.sources.documents.pdf import read_pdf
from storm_pipeline.sources.documents.reader import read_documents
from storm_pipeline.sources.engines.corpus import CorpusSearch
from storm_pipeline.sources.search.own_records import with_crossref
from storm_pipeline.text.person_names import Name, read_names
from storm_pipeline.types import Article, Paragraph, Section, Snippet

RIS = """TY  - CHAP
AU  - Nedkvitne, Arnved
A2  - Falck, Ida
TI  - Fish and Debt
T2  - Towns of the North
PY  - 2008
PB  - Brepols
CY  - Turnhout
SP  - 117
EP  - 140
L1  - files/12/chapter scan.pdf
ID  - nedkvitne2008
ER  -
"""
CSL = """[{"id": "nedkvitne2008", "type": "chapter", "title": "Fish and Debt", "issued": {"date-parts": [[2008]]},
  "author": [{"family": "Nedkvitne", "given": "Arnved"}], "editor": [{"family": "Falck", "given": "Ida"}],
  "container-title": "Towns of the North", "publisher": "Brepols", "publisher-place": "Turnhout", "page": "117–140"}]"""


def read(folder: Path) -> dict[str, Document]:
    documents = (one for one in read_documents(folder) if isinstance(one, Document))
    return {one.url.rpartition("/")[2]: one for one in documents}


def article(folder: Path) -> Article:
    """An article with a sentence for every passage of a corpus."""
    found = CorpusSearch(folder, passages=9).search("Bergen stockfish debt grain granary wharf fishermen", 9)
    groups: dict[str, list[Snippet]] = {}
    for snippet in found:
        groups.setdefault(snippet.source_id, []).append(snippet)
    sources = tuple(page_of(*own) for own in groups.values())
    sentences = tuple(cites(f"Fact {n}.", snippet) for n, snippet in enumerate(found, 1))
    return Article("Bergen", sections=(Section("Trade", (Paragraph(sentences),)),), sources=sources)


@pytest.mark.parametrize(
    ("name", "content"),
    [("library.bib", own_papers.BIBLIOGRAPHY), ("library.ris", RIS), ("library.json", CSL)],
)
def test_a_bibliography_tells_of_the_file_that_it_names(tmp_path: Path, name: str, content: str) -> None:
    own_papers.write_folder(tmp_path)
    (tmp_path / "library.bib").unlink()
    (tmp_path / name).write_text(content, "utf-8")
    record = read(tmp_path)["chapter%20scan.pdf"].record
    assert record.authors.startswith("Nedkvitne, Arnved")
    assert (record.title, record.published, record.container) == ("Fish and Debt", "2008", "Towns of the North")
    assert (record.publisher, record.work.kind, record.work.extent) == ("Brepols", "chapter", "117-140")
    assert (record.work.editors, record.work.place) == ("Falck, Ida", "Turnhout")
    objected = {objection.source for objection in objections(article(tmp_path))}
    assert "The German Kontor at Bergen" in objected, "a file's own word is not enough"
    assert "Fish and Debt" not in objected


@pytest.mark.parametrize(
    ("url", "record"),
    [
        ("file:///x/scan0001.pdf", Record("Whatever", doi="10.1234/a")),
        ("file:///x/doe2001.pdf", Record()),
        ("file:///x/Long%20enough%20a%20title.pdf", Record()),
        ("file:///x/a.pdf", Record("Long Enough: a Title")),
        ("file:///x/doe%202001%20copy.pdf", Record()),
    ],
)
def test_an_entry_is_found(url: str, record: Record) -> None:
    text = "@article{doe2001, title={Long Enough: A Title}, author={Doe, Jane}, year={2001}, doi={10.1234/A}}"
    entries = read_bibliography("x.bib", text.encode())
    assert entries is not None
    document = Document(url, record.title, ((1, "x"),), None, record)
    assert Bibliography(entries).completed(document).record.authors == "Doe, Jane"


@given(
    titles=st.lists(st.text("abA1 ", min_size=8, max_size=14), min_size=1, max_size=4),
    around=st.tuples(st.text("ab1 _", max_size=20), st.text("ab1 _", max_size=20)),
)
def test_a_title_anywhere_in_a_files_name_is_found(titles: list[str], around: tuple[str, str]) -> None:
    def bare(text: str) -> str:
        return "".join(filter(str.isalnum, text.casefold()))

    records = [Record(title, authors="Doe, Jane") for title in titles]
    file = titles[0].join(around)
    met = {record for record in records if len(bare(record.title)) >= 8 and bare(record.title) in bare(file)}
    found = Bibliography([Entry("", (), record) for record in records]).entry_of(
        Document(f"file:///x/{file}.pdf", "No such", ((1, "x"),))
    )
    assert (found and {found.record}) == (met if len(met) == 1 else None)


@pytest.mark.parametrize("name", ["x.bib", "x.ris", "x.json"])
@given(text=st.text(alphabet='@{}[]",=abTYER -\n', max_size=80))
def test_any_text_is_a_bibliography_or_none(name: str, text: str) -> None:
    found = read_bibliography(name, text.encode())
    assert found is None or all(one.record.title == one.record.title.strip() for one in found)


INHERITING = r"""
@proceedings{hansa, title={Hanse Days}, subtitle={Acts}, editor={Falck, Ida}, date={1999-05}, publisher={Brill}}
@inproceedings{roe, title={On Rye}, author={Roe, A}, crossref={Hansa}, year=2001, url={https://a.example/rye_1?b=2},
  urldate={2020-01-02}, doi={10.1234/rye}}
@xdata{house, publisher={Brepols}, location={Turnhout}}
@mvbook{history, title={History of Bergen}, author={Helle, Knut}, xdata={house}}
@book{first, title={Until 1536}, crossref={history}, volume={1}, year=1994}
@inbook{part, title={The Wharf}, crossref={first}}
@inbook{classic, title={The Wharf}, author={Sund, M}, crossref={shelf}}
@book{shelf, title={Shelf}, booktitle={The Shelf}, editor={Doe, Jane}, year=1980, file={shelf.pdf}}
"""


def test_entries_inherit_from_their_parents() -> None:
    entries = {entry.key: entry for entry in read_bibliography("x.bib", INHERITING.encode()) or ()}
    records = {key: entry.record for key, entry in entries.items()}
    roe, first, part, classic = (records[key] for key in ("roe", "first", "part", "classic"))
    assert (roe.title, roe.container, roe.work.editors, roe.publisher) == (
        *("On Rye", "Hanse Days: Acts", "Falck, Ida", "Brill"),
    )
    assert (roe.published, roe.doi, roe.accessed) == ("2001", "10.1234/rye", "2020-01-02")
    assert roe.work.url == "https://a.example/rye_1?b=2"
    assert (first.title, first.container, first.authors) == ("Until 1536", "History of Bergen", "Helle, Knut")
    assert (first.publisher, first.work.place, first.work.kind) == ("Brepols", "Turnhout", "book")
    assert (part.title, part.container, part.authors) == ("The Wharf", "Until 1536", "Helle, Knut")
    assert (part.publisher, part.published) == ("Brepols", "1994")
    assert (classic.container, classic.work.editors, classic.published) == ("The Shelf", "Doe, Jane", "1980")
    assert "house" not in entries and entries["classic"].files == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.bib", '@book{a, title={T}, author={{Deutsche Bank} and von der H{\\"o}vel, Anna and Plato}}'),
        (
            "x.json",
            '[{"type": "book", "title": "T", "author": [{"literal": "Deutsche Bank"}, '
            '{"non-dropping-particle": "von der", "family": "Hövel", "given": "Anna"}, {"family": "Plato"}]}]',
        ),
        ("x.ris", "TY  - BOOK\nTI  - T\nAU  - Deutsche Bank,\nAU  - von der Hövel, Anna\nAU  - Plato\nER  - \n"),
    ],
)
def test_institutions_and_particles_are_kept(name: str, text: str) -> None:
    (entry,) = read_bibliography(name, text.encode()) or ()
    assert read_names(entry.record.authors) == (Name("Deutsche Bank"), Name("von der Hövel", "Anna"), Name("Plato"))


def test_an_institution_is_shown_without_the_mark_of_one(tmp_path: Path) -> None:
    (tmp_path / "rye.txt").write_text("Rye was sold on the wharf of Bergen for stockfish.")
    (tmp_path / "library.bib").write_text("@book{rye, title={Rye}, author={{Deutsche Bank} and Doe, Jane}, year=2001}")
    written = article(tmp_path)
    shown = run_storm("documents", str(tmp_path)).output
    for text in (shown, written.to_html()):
        assert "Deutsche Bank; Doe, Jane" in text
    assert "author = {{Deutsche Bank} and Doe, Jane}" in export(written, "bibtex").decode()


def test_a_list_of_files_without_end_is_read_once() -> None:
    files = ":".join(["a.pdf", "b" * 100_000, "Silk:c/d.docx", "e.exe"])
    (entry,) = read_bibliography("l.bib", f"@book{{a, title={{A}}, file={{{files}}}}}".encode()) or ()
    assert entry.files == ("a.pdf", "d.docx")


def test_duplicate_keys_and_broken_entries_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Silk was traded for horses in the mountains.")
    (tmp_path / "library.bib").write_text(
        "@book{twice, title={First}}\n@book{twice, title={Second}}\n@book{lost, title={A}, crossref={nowhere}}\n"
        "@book{broken title={B}}\n@book{good, title={Silk and Horses}, file={a.txt}}\n"
    )
    found = list(read_documents(tmp_path))
    reasons = " ".join(item.reason for item in found if isinstance(item, Unreadable))
    assert all(word in reasons for word in ("library.bib", "twice", "nowhere", "broken"))
    assert [item.title for item in found if isinstance(item, Document)] == ["Silk and Horses"]


@pytest.mark.parametrize(
    ("name", "authors", "year", "title"),
    [
        ("Helle 1994 Bergen bys historie.pdf", "Helle", "1994", "Bergen bys historie"),
        ("Helle - 1994 - Bergen bys historie.pdf", "Helle", "1994", "Bergen bys historie"),
        ("Helle and Lunde - 2019 - The Kontor.pdf", "Helle; Lunde", "2019", "The Kontor"),
        ("Helle_1994_Bergen_bys_historie.pdf", "Helle", "1994", "Bergen bys historie"),
        ("annual report 2019 final.pdf", "", "", ""),
        ("Meyer - 1992 - The Crisis of 1847.pdf", "Meyer", "1992", "The Crisis of 1847"),
        ("The Crisis of 1847 in Hamburg.pdf", "", "", ""),
        ("1847 Crisis - Meyer 1992.pdf", "", "", ""),
    ],
)
def test_a_file_name_is_the_last_resort(name: str, authors: str, year: str, title: str) -> None:
    record = record_of_name(name)
    assert (record.authors, record.published, record.title) == (authors, year, title)


def crisis(folder: Path, name: str, below: str = "", *, title: str = "The Crisis of 1847", **made: Any) -> Document:
    """A paper whose title has a year, with a line below the title, as it is read from a folder."""
    sheet = papers.Sheet()
    sheet.put(72, 740, title, 20, "B")
    sheet.put(72, 712, "Karl Meyer", 11)
    sheet.put(72, 696, below, 9)
    sheet.paragraph(72, 650, own_papers.MANUSCRIPT[0], size=11)
    info = {"CreationDate": "D:20210304120000Z", "Creator": "Word"}
    (folder / name).write_bytes(papers.file([sheet], info=info, **made))
    return next(iter(read(folder).values()))


PUBLISHED = "<prism:publicationName>Past</prism:publicationName><prism:coverDate>1993-02-01</prism:coverDate>"
DATED = "<dc:date><rdf:Seq><rdf:li>2021-03-04</rdf:li></rdf:Seq></dc:date>"


@pytest.mark.parametrize(
    ("name", "below", "xmp", "year", "origin"),
    [
        ("scan.pdf", "", "", "", None),
        ("scan.pdf", "", DATED, "", None),
        ("scan.pdf", "Past 12 (1992)", DATED, "1992", "text"),
        ("scan.pdf", "The Crisis of 1847, in: Past 12 (1992)", "", "1992", "text"),
        ("The Crisis of 1847 in Hamburg.pdf", "", "", "", None),
        ("Crisis 1847 Hamburg.pdf", "", "", "", None),
        ("Meyer - 1992 - Crisis.pdf", "printed 1999", DATED, "1992", "file name"),
        ("Meyer - 1992 - Crisis.pdf", "printed 1999", PUBLISHED, "1993-02-01", "metadata"),
    ],
)
def test_the_year_is_not_taken_from_a_title(
    tmp_path: Path, name: str, below: str, xmp: str, year: str, origin: str | None
) -> None:
    record = crisis(tmp_path, name, below, xmp=xmp).record
    assert (record.published, dict(record.origins).get("published")) == (year, origin)


def test_the_year_of_a_bibliography_counts_before_that_of_a_doi(tmp_path: Path) -> None:
    (tmp_path / "library.bib").write_text("@misc{crisis, title={The Crisis of 1847}, year=1990, doi={10.1234/a}}")
    document = crisis(tmp_path, "Meyer - 1992 - Crisis.pdf", "Past 12 (1992)")
    with ScriptedServer(Reply(body=CROSSREF)) as server:
        (found,), _ = with_crossref([document], base_url=f"{server.url}/works")
    origins = dict(found.record.origins)
    assert (found.title, found.published, found.record.authors) == ("The Crisis of 1847", "1990", "Helle, Knut")
    assert not found.record.work.kind, "its title is not that of the DOI"
    assert (origins["published"], origins["authors"]) == ("bibliography", "DOI record")
    shown = run_storm("documents", str(tmp_path)).output
    assert "1990" in shown
    assert "bibliography, authors: text" in shown


def test_word_files_and_books_tell_their_authors() -> None:
    word = books.word(
        books.paragraph(books.run("On Grain"), style="Title"), books.paragraph(books.run("Rye was dear."))
    )
    properties = (
        '<?xml version="1.0"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
        'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Maria Sund</dc:creator>'
        "</cp:coreProperties>"
    )
    file = read_docx(books.changed(word, {"docProps/core.xml": properties}))
    assert (file.record.title, file.record.authors) == ("On Grain", "Maria Sund")
    assert [text for _, text in file.pages] == ["Rye was dear."], "the title is no text"
    book = books.epub("<p>Rye.</p>", title="Rye")
    creator = "<dc:creator>Sund, Maria</dc:creator><dc:publisher>Press</dc:publisher>"
    creator += "<dc:identifier>urn:isbn:9780306406157</dc:identifier></metadata>"
    name = "OEBPS/content.opf"
    package = zipfile.ZipFile(io.BytesIO(book)).read(name).decode().replace("</metadata>", creator)
    record = read_epub(books.changed(book, {name: package})).record
    assert (record.authors, record.publisher, record.published) == ("Sund, Maria", "Press", "2001-02-03")
    assert (record.work.kind, record.work.isbn) == ("book", "9780306406157")


CROSSREF = """{"status": "ok", "message": {"type": "journal-article", "title": ["The <i>Kontor</i>"],
  "author": [{"given": "Knut", "family": "Helle"}], "container-title": ["Journal of Northern Trade"],
  "issued": {"date-parts": [[2019, 3]]}, "page": "233-250", "volume": "12"}}"""
UNKNOWN = Document("file:///a.pdf", "a", ((1, "x"),), None, Record("a", doi="10.1234/a"))


def test_a_missing_parent_is_named_once_however_many_inherit_through_it() -> None:
    chapters = "".join(f"@incollection{{c{i}, title={{Part {i}}}, crossref={{book}}}}\n" for i in range(3))
    problems: list[str] = []
    read_bibliography("x.bib", f"{chapters}@book{{book, title={{All}}, crossref={{series}}}}".encode(), problems)
    assert problems == ["book refers to series, which is missing"]


def test_a_doi_that_crossref_lacks_is_no_problem_and_another_error_is() -> None:
    with ScriptedServer(Reply(status=404)) as server:
        assert with_crossref([UNKNOWN], base_url=f"{server.url}/works")[1] == ""
    with ScriptedServer(Reply(status=403, body={"message": "404 requests a day are the limit"})) as server:
        assert "could not be asked" in with_crossref([UNKNOWN], base_url=f"{server.url}/works")[1]


def with_doi(doi: str) -> Document:
    return replace(UNKNOWN, record=replace(UNKNOWN.record, doi=doi))


def test_a_doi_leads_to_no_other_page_of_crossref() -> None:
    with ScriptedServer(Reply(body=CROSSREF)) as server:
        with_crossref(
            [with_doi("10.1000/../../members?x=1#"), with_doi("10.1/a?b#c%2e")], base_url=f"{server.url}/works"
        )
        assert [(one.path, one.query) for one in server.requests] == [("/works/10.1%2Fa%3Fb%23c%252e", {})]


def test_requests_to_crossref_are_limited_and_can_be_stopped() -> None:
    documents = [with_doi(f"10.1234/{number}") for number in range(5)]
    with ScriptedServer(Reply(status=404)) as server:
        _, problem = with_crossref(documents, base_url=f"{server.url}/works", most=2)
        assert len(server.requests) == 2
        assert "asked about 2 at most" in problem
        assert with_crossref(documents[:2], base_url=f"{server.url}/works", most=2)[1] == ""

        def check() -> None:
            if len(server.requests) == 5:
                raise StoppedError("stopped")

        with pytest.raises(StoppedError):
            with_crossref(documents, base_url=f"{server.url}/works", check=check)


def test_looking_up_a_name_takes_a_bounded_number_of_steps() -> None:
    words = [first + second for first in "abcdefghij" for second in "abcdef"]
    titles = [Entry(f"k{length}", (), Record("a" * length)) for length in range(8, 2000)]
    families = [Entry(word, (), Record("t", word, str(year))) for word in words for year in range(1000, 1100)]
    for entries, name in ((titles, "a" * 250), (families, " ".join(words[:40]) + "".join(map(str, range(1000, 1100))))):
        document = replace(UNKNOWN, url=f"file:///{name}", record=Record("t"))
        assert calls_of(partial(Bibliography(entries).entry_of, document))["call"] < 5000


def test_without_a_network_one_request_is_tried_and_said() -> None:
    with ScriptedServer(Reply(status=503)) as server:
        found, problem = with_crossref([UNKNOWN, UNKNOWN], base_url=f"{server.url}/works")
        assert len(server.requests) == 1
    assert found == [UNKNOWN, UNKNOWN]
    assert "Crossref could not be asked" in problem


def test_a_complete_record_is_not_asked_about() -> None:
    with ScriptedServer(Reply(body=CROSSREF)) as server:
        known = Document("u", "t", ((1, "x"),), "2019", Record("t", "A B", "2019", "J", doi="10.1234/a"))
        with_crossref([known], base_url=f"{server.url}/works")
        assert not server.requests


@pytest.mark.parametrize("line", ["doi:10.5555/GRAIN.7.", "DOI10.5555/GRAIN.7.", "No. 110.1234/b, 10.5555/GRAIN.7"])
def test_a_doi_on_the_first_page_is_found(line: str) -> None:
    sheet = papers.Sheet()
    sheet.put(72, 740, "Grain and Hunger", 20, "B")
    sheet.put(72, 700, line, 8)
    sheet.paragraph(72, 660, own_papers.MANUSCRIPT[0], size=11)
    assert read_pdf(papers.file([sheet])).record.doi == "10.5555/grain.7"
