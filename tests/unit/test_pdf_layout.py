"""PDF files as people read them: columns, running heads, note marks, hyphens, titles, printed page numbers."""

import textwrap

import own_papers
import papers
import pytest

from storm_pipeline.sources.documents.document import FileText
from storm_pipeline.sources.documents.pdf import read_pdf
from storm_pipeline.sources.documents.pdf_layout import rejoin


def text(file: FileText) -> str:
    return " ".join(" ".join(page for _, page in file.pages).split())


@pytest.mark.parametrize("by_row", [False, True], ids=["column by column", "row by row"])
def test_columns_are_read_one_after_the_other(by_row: bool) -> None:
    read = text(read_pdf(own_papers.two_columns(by_row=by_row)))
    first, second = "No merchant of the Kontor was allowed to marry while he served there.", "The price was set by the"
    assert first in read
    assert "The price was set by the elders of the office, who kept a ledger of every debt." in read
    assert read.index(first) < read.index(second)


def test_head_furniture_and_notes_are_no_text_and_xmp_is_the_record() -> None:
    read = read_pdf(own_papers.two_columns())
    assert text(read).startswith(
        "The German Kontor was the largest of the four foreign offices of the Hanseatic League. It"
    )
    for outside in ("Helle", "University", "Journal", "doi.org", "234", "charter of 1343", "League.12", "Bryggen.13"):
        assert outside not in text(read), outside
    assert all(page.startswith("The German Kontor was") for _, page in read.pages), "the running head"
    record = read.record
    assert (record.authors, record.published, record.container, record.doi) == (
        *("Knut Helle; Anna B. Lunde", "2019-03-01", "Journal of Northern Trade", "10.1234/jnt.2019.12.233"),
    )
    assert (record.work.kind, record.work.volume, record.work.extent) == ("article", "12", "233-234")


def test_a_table_is_read_row_by_row() -> None:
    sheet = papers.Sheet()
    for row in range(12):
        sheet.put(72, 700 - 14 * row, f"Ship {row}", 10)
        sheet.put(330, 700 - 14 * row, f"{row * 7} lasts", 10)
    assert "Ship 3 21 lasts" in text(read_pdf(papers.file([sheet])))


def test_a_title_that_is_the_running_head_too_is_the_title() -> None:
    sheets = [papers.Sheet() for _ in range(3)]
    for number, sheet in enumerate(sheets):
        sheet.put(72, 800, "The Granary of Bergen", 20 if number == 0 else 9, "B")
        sheet.paragraph(72, 740, own_papers.MANUSCRIPT[number], size=11, step=15)
    read = read_pdf(papers.file(sheets))
    assert read.title == "The Granary of Bergen"
    assert "The Granary of Bergen" not in text(read)


def test_exponents_stay_and_note_marks_go() -> None:
    sheet = papers.Sheet()
    sheet.line(
        72, 700, "The island of 40 km^2^ was sold to the League.^17^ It was cold.^[12]^ Its heat was 10^6^ joules."
    )
    assert text(read_pdf(papers.file([sheet]))) == (
        "The island of 40 km² was sold to the League. It was cold. Its heat was 10⁶ joules."
    )


COMPOUNDS = "After twenty-five years, seven of the twenty-\nseven mer-\nchants left. Now twenty-\nchants."


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        *((f"the mer{hyphen}\nchants came", "the merchants came") for hyphen in "-\u2010\xad"),
        ("A well-known man, and a well-\nknown woman.", "A well-known man, and a well-known woman."),
        (COMPOUNDS, "After twenty-five years, seven of the twenty-seven merchants left. Now twentychants."),
        ("a" * 1_000_000, "a" * 1_000_000),  # to begin from each of its letters takes an hour
    ],
    ids=["hyphen", "Unicode's", "soft", "as elsewhere in the text", "as in others like it", "without end"],
)
def test_words_that_lines_cut_are_joined(text: str, joined: str) -> None:
    assert rejoin(text, text) == joined


@pytest.mark.parametrize("size", [12, 10])
def test_authors_side_by_side_are_not_in_the_columns_below(size: int) -> None:
    sheet = papers.Sheet()
    sheet.put(110, 755, "The German Kontor at Bergen", 18, "B")
    for x, lines in ((90, ("Knut Helle", "University of Bergen")), (350, ("Anna B. Lunde", "Institute of History"))):
        for row, line in enumerate((*lines, "Bergen, Norway", "history@uib.example")):
            sheet.put(x, 725 - 14 * row, line, size if row == 0 else 10)
    for x, text in ((72.0, own_papers.COLUMNS), (310.0, own_papers.SECOND)):
        for row, line in enumerate(textwrap.wrap(text.replace("^12^", "").replace("^13^", "") * 2, 48)):
            sheet.line(x, 640 - 12 * row, line)
    read = read_pdf(papers.file([sheet]))
    ((_, text),) = read.pages
    assert read.record.authors == "Knut Helle; Anna B. Lunde"
    assert text.startswith("The German Kontor was the largest")
    assert not any(words in text for words in ("Institute", "Norway", "uib.example", "University"))


def test_the_running_head_of_an_empty_page_is_no_text() -> None:
    sheets = [papers.Sheet() for _ in range(3)]
    for sheet, head in zip(sheets, ("Chapter One", "Towns of the North", "Chapter Two"), strict=True):
        sheet.put(72, 800, head, 9, "I")
    for sheet, text in zip((sheets[0], sheets[2]), own_papers.MANUSCRIPT, strict=False):
        sheet.paragraph(72, 740, text, size=11, step=15, width=84)
    assert [number for number, _ in read_pdf(papers.file(sheets)).pages] == [1, 3]


def test_a_sentence_over_a_page_break_stands_on_the_page_where_it_begins() -> None:
    first, second = papers.Sheet(), papers.Sheet()
    first.paragraph(72, 700, "The first sentence ends here. The second sentence of the page goes on")
    second.paragraph(72, 700, "over the break of the page. A third one follows it there.")
    pages = [" ".join(page.split()) for _, page in read_pdf(papers.file([first, second])).pages]
    assert pages == [
        "The first sentence ends here. The second sentence of the page goes on over the break of the page.",
        "A third one follows it there.",
    ]


def labelled() -> bytes:
    """A file that says how its pages are numbered."""
    sheets = [papers.Sheet(), papers.Sheet()]
    for sheet in sheets:
        sheet.paragraph(72, 700, "The ships came in spring, and left before the ice closed the harbour.")
    return papers.file(sheets, first_label=41)


@pytest.mark.parametrize(
    ("data", "labels"),
    [
        (own_papers.chapter(), {1: "117", 2: "118", 3: "119"}),  # by the running heads
        (own_papers.two_columns(), {1: "233", 2: "234"}),  # by the metadata
        (labelled(), {1: "41", 2: "42"}),  # by the file
        (own_papers.manuscript(), {}),  # as the file counts
    ],
    ids=["heads", "metadata", "file", "same"],
)
def test_pages_are_labelled_as_printed(data: bytes, labels: dict[int, str]) -> None:
    assert read_pdf(data).labels == labels


def test_the_date_of_a_scan_is_not_that_of_the_work() -> None:
    assert read_pdf(own_papers.chapter()).record.published == ""


@pytest.mark.parametrize(
    "title", ["microsoft Word - x.doc", "Microsoft PowerPoint - talk", "paper_final.tex", "untitled", "PII: S0001", "1"]
)
def test_titles_that_programs_give_are_refused(title: str) -> None:
    sheet = papers.Sheet()
    sheet.put(72, 740, "Grain and Hunger in Bergen", 20, "B")
    sheet.paragraph(72, 680, own_papers.MANUSCRIPT[0], size=11)
    assert read_pdf(papers.file([sheet], info={"Title": title})).title == "Grain and Hunger in Bergen"
