# ruff: noqa: E501  (texts are data)
"""Five PDF files of a historian's folder: two columns, a manuscript, a scan, a chapter of a book, a broken file."""

from pathlib import Path

import papers

HEAD = "The German Kontor"
COLUMNS = (
    "The German Kontor was the largest of the four foreign offices of the Hanseatic League.^12^ It was founded in "
    "Bergen about 1360 by merchants from L\u00fcbeck. The merchants traded stockfish for grain, and lived in wooden "
    "houses on the wharf of Bryggen.^13^ No merchant of the Kontor was allowed to marry while he served there. The houses burned "
    "in 1702, and were built anew in the same form. "
)
SECOND = (
    "Stockfish was dried in the north and was sold to the merchants in spring. The price was set by the elders of the "
    "office, who kept a ledger of every debt. In the year 1754 the last German house was sold to a Norwegian. The "
    "office itself was closed in that year, and its archive went to L\u00fcbeck. "
)
CHAPTER = [
    "Stockfish was the first commodity of Bergen that was traded over the whole of northern Europe. The wharf was "
    "described by a visitor of 1521 as a town within the town. Its houses stood gable to gable, and each had a yard.",
    "The debts of the fishermen were written down in a book, and passed from father to son. A fisherman was free to "
    "sell elsewhere only when his debt was paid.^4^ The courts of the town confirmed this rule in 1580.",
    "The fire of 1702 destroyed the wharf from end to end. It was built anew within four years, upon the same plots and "
    "with the same narrow passages between the houses.",
]
MANUSCRIPT = [
    "The grain trade of Bergen depended on the harvests of the Baltic. When rye was dear in Danzig, the fishermen of the "
    "north went hungry in the same winter. The city council kept a granary from 1621.",
    "The granary was filled by an order of the council, which obliged each ship to leave a tenth of its rye. The order "
    "was repeated nine times, which shows how little it was obeyed.",
    "In 1740 the granary was empty when the harvest failed. The council bought rye in Amsterdam at four times the price "
    "of the year before.",
]


def two_columns(*, by_row: bool = False) -> bytes:
    """A LaTeX-like paper whose title spans two columns; ``by_row`` draws line beside line, as some programs do."""
    import textwrap

    sheets = []
    for number in range(2):
        sheet = papers.Sheet()
        top = 760.0
        if number == 0:
            sheet.put(180, 790, "Journal of Northern Trade 12 (2019) 233-234", 8)
            sheet.put(110, 755, "The German Kontor at Bergen", 18, "B")
            sheet.put(220, 730, "Knut Helle and Anna B. Lunde", 12)
            sheet.put(200, 714, "University of Bergen, Department of History", 9)
            sheet.put(90, 690, "https://doi.org/10.1234/jnt.2019.12.233", 8)
            top = 660.0
        else:
            sheet.put(72, 800, f"{HEAD}", 8)
            sheet.put(515, 800, "234", 8)
        left, right = textwrap.wrap(COLUMNS * 3, 48), textwrap.wrap(SECOND * 3, 48)
        left[-2:] = ["On the wharf, the mer\u2010", "chants of the Kontor were unmarried men."]
        places = [(72.0, left), (310.0, right)]
        if by_row:
            for row in range(max(len(left), len(right))):
                for x, lines in places:
                    if row < len(lines):
                        sheet.line(x, top - 12 * row, lines[row])
        else:
            for x, lines in places:
                for row, line in enumerate(lines):
                    sheet.line(x, top - 12 * row, line)
        sheet.put(72, 110, "12", 5, rise=3)
        sheet.put(78, 110, "See the charter of 1343, fol. 3.", 8)
        sheet.put(72, 100, "13", 5, rise=3)
        sheet.put(78, 100, "Compare the ledger of 1590.", 8)
        sheets.append(sheet)
    xmp = (
        "<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>The German Kontor at Bergen</rdf:li></rdf:Alt></dc:title>"
        "<dc:creator><rdf:Seq><rdf:li>Knut Helle</rdf:li><rdf:li>Anna B. Lunde</rdf:li></rdf:Seq></dc:creator>"
        "<prism:publicationName>Journal of Northern Trade</prism:publicationName><prism:volume>12</prism:volume>"
        "<prism:startingPage>233</prism:startingPage><prism:endingPage>234</prism:endingPage>"
        "<prism:aggregationType>journal</prism:aggregationType><prism:coverDate>2019-03-01</prism:coverDate>"
        "<prism:doi>10.1234/JNT.2019.12.233</prism:doi>"
    )
    return papers.file(sheets, xmp=xmp, info={"Producer": "pdfTeX-1.40.25", "Creator": "LaTeX with hyperref"})


def manuscript() -> bytes:
    """A Word manuscript with a running head and page numbers, whose properties tell nothing."""
    sheets = []
    for number, text in enumerate(MANUSCRIPT, 1):
        sheet = papers.Sheet()
        sheet.put(72, 800, "Grain and hunger in Bergen - draft, not for circulation", 9, "I")
        sheet.put(280, 40, f"Page {number} of 3", 9)
        top = 740.0
        if number == 1:
            sheet.put(72, 740, "Grain and Hunger in Bergen", 20, "B")
            sheet.put(72, 712, "Maria Sund", 11)
            top = 680
        sheet.paragraph(72, top, text, size=11, step=15, width=84)
        sheets.append(sheet)
    info = {
        "Title": "microsoft Word - grain_v7 FINAL.doc",
        "Author": "Microsoft Office User",
        "Creator": "Word",
        "CreationDate": "D:20210304120000Z",
    }
    return papers.file(sheets, info=info)


def chapter() -> bytes:
    """A chapter of a book: its pages are numbered as in the book, in the head."""
    sheets = []
    for number, text in enumerate(CHAPTER):
        sheet = papers.Sheet()
        if number == 0:
            sheet.put(72, 740, "5", 14)
            sheet.put(72, 710, "Fish and Debt", 20, "B")
            sheet.paragraph(72, 660, text, size=11, step=15, width=84)
            sheet.put(290, 40, "117", 9)
        else:
            even = number % 2 == 1
            sheet.put(72, 800, "118 Towns of the North" if even else "Fish and Debt", 9)
            if not even:
                sheet.put(500, 800, str(117 + number), 9)
            sheet.paragraph(72, 760, text, size=11, step=15, width=84)
        sheets.append(sheet)
    return papers.file(sheets, info={"Producer": "ABBYY FineReader", "CreationDate": "D:20120101000000Z"})


BIBLIOGRAPHY = r"""
@incollection{nedkvitne2008,
  title = {Fish and Debt},
  author = {Nedkvitne, Arnved and van der Berg, J{\"o}rg},
  booktitle = {Towns of the North},
  editor = {Falck, Ida},
  publisher = {Brepols},
  address = {Turnhout},
  date = {2008},
  pages = {117--140},
  file = {Full Text PDF:/home/me/Zotero/storage/AB12CD/chapter scan.pdf:application/pdf},
}
@book{ersland1999, title = {A Book not in the Folder}, author = {Ersland, Geir Atle}, year = 1999}
"""


def write_folder(folder: Path) -> Path:
    """The folder of papers with a bibliography of some of them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kontor.pdf").write_bytes(two_columns())
    (folder / "Sund 2021 Grain and Hunger in Bergen.pdf").write_bytes(manuscript())
    (folder / "minutes 1740.pdf").write_bytes(papers.scan())
    (folder / "chapter scan.pdf").write_bytes(chapter())
    (folder / "broken.pdf").write_bytes(chapter()[:200])
    (folder / "library.bib").write_text(BIBLIOGRAPHY, "utf-8")
    return folder
