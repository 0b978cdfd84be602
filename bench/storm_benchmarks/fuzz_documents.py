"""Whole documents of 1 kB to 5 MB in each format, as a stranger may write them: none is over its budget of time.

Each is read as a run reads it, in the process for foreign files, beside a good one, which must be read all the same.
"""

import json
import random
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from storm_benchmarks.fuzz_files import MEMORY
from storm_pipeline.errors import DatasetError, PageError
from storm_pipeline.output.articles import AvailablePages, read_article
from storm_pipeline.sources.documents.document import Document, Unreadable
from storm_pipeline.sources.documents.isolated import PAGE_SECONDS
from storm_pipeline.sources.documents.reader import read_documents
from storm_pipeline.sources.pages.extract import extract_isolated
from storm_pipeline.sources.pages.fetch import FetchedPage

_SHORTEST, _LONGEST = 1_000, 5_000_000  # bytes
_UNPACKED = 10  # how many times longer than its file what a zip archive holds may be
_PAGES = (1, 1, 10, 300)
_OWN = 2.0  # seconds of processor time of the process that has a file read
_GRACE = 10.0  # seconds beyond four times the budget, within which a process ends and another one starts
_PIECES = {
    "text": "Silk was traded. ¦A. B. ¦[1]¦[¦((¦**¦| a ¦\n- ¦\n# ¦1999 ¦\n> ¦`¦\n\n",
    "wiki": "{{a|¦[[a|¦<ref>¦<ref name=a/>¦{|¦\n|-\n|¦'''¦<div>¦}}¦]]¦\n== A ==\n¦a ",
    "bib": "@book{a, title={A}}¦@string{s = s # s}¦file={¦{¦}¦a¦ and ¦\\'{e}¦\"¦%¦\n¦,",
    "html": "<p>Silk was traded.</p>¦<div>¦<table><tr><td>¦<a href='#a'>1</a>¦<sup>¦<li>¦&a;¦<!--",
    "word": "<w:p/>¦<w:p><w:r><w:t>A</w:t></w:r></w:p>¦<w:tbl><w:tr><w:tc/></w:tr></w:tbl>¦<w:sdt/>¦<w:ins/>",
    "pdf": "(a) Tj ¦1 0 0 1 9 9 Tm ¦BT ¦ET ¦q ¦[(a) 9 (b)] TJ ¦/F 9 Tf ¦0 0 m 9 9 l S ¦/X Do ",
}
ENDS = ("read", "refused", "ended by time", "ended by memory")
OUTCOMES: Counter[tuple[str, str]] = Counter()
"""Name of a file and end → how many readings ended so."""


def whole_document(_: str, __: object, chance: random.Random) -> None:
    """A document of one format, read in its budget or named as not read; the good file beside it is read.

    Raises AssertionError: it took longer than it may, or the good file was not read.
    """
    case = chance.randrange(2**32)
    name, data = document_of(case)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
        file = Path(place) / name
        file.write_bytes(data)
        (Path(place) / "good.txt").write_text("Silk was traded.", encoding="utf-8")
        pages = PAGE_SECONDS * max(_PAGES) if name == "a.pdf" else 0.0
        most = 4 * (5 + len(data) / 1e6 + pages) + _GRACE
        for read in (_article, _page, _folder):  # the folder last: its good file is read by what is left of the process
            start, own = time.monotonic(), time.process_time()
            for said in read(file):
                end = 2 if " s to read" in said else 3 if "MB of memory" in said else 1
                OUTCOMES[name, ENDS[end if said else 0]] += 1
            took, own = time.monotonic() - start, time.process_time() - own
            assert took < most, f"{name} (case {case}), {read.__name__}: {took:.0f} s of at most {most:.0f}"
            assert own < _OWN, f"{name} (case {case}), {read.__name__}: {own:.1f} s outside of the process that reads"


def document_of(case: int) -> tuple[str, bytes]:
    """Return the name and the bytes of a file."""
    chance = random.Random(case)
    name = chance.choice(list(_FORMATS))
    data = bytearray(_FORMATS[name](chance)[:_LONGEST])
    for _place in range(chance.choice((0, 0, 3, 30))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return name, bytes(data)


def _article(file: Path) -> Iterator[str]:
    """Return the message on a file that is not read; empty for one that is."""
    if file.suffix in {".md", ".json", ".wiki", ".docx", ".html"}:
        try:
            read_article(file, "Silk", AvailablePages())
            yield ""
        except DatasetError as error:
            yield str(error)


def _page(file: Path) -> Iterator[str]:
    if file.suffix in {".html", ".pdf"}:
        try:
            extract_isolated(FetchedPage("https://a.org", "https://a.org", "text/html", file.read_bytes()))
            yield ""
        except PageError as error:
            yield str(error)


def _folder(file: Path) -> Iterator[str]:
    found = list(read_documents(file.parent))
    good = [one for one in found if isinstance(one, Document) and one.url.endswith("good.txt")]
    assert len(good) == 1, f"beside {file.name} the good file was not read: {found}"
    problems = [one.reason for one in found if isinstance(one, Unreadable)]
    yield next((p for p in problems if " to read" in p), problems[0] if problems and len(found) == 2 else "")


def _repeated(kind: str, chance: random.Random, longest: int = _LONGEST) -> str:
    """Return a few pieces, each repeated, one after the other or alternating, to a length of any magnitude."""
    length = int(_SHORTEST * (longest / _SHORTEST) ** chance.random())
    few = chance.choices(_PIECES[kind].split("¦"), k=chance.randint(1, 4))
    runs = ["".join(few)] if chance.random() < 0.5 else few
    return "".join((run * (length // len(runs) // len(run) + 1))[: length // len(runs)] for run in runs)


def _zipped(members: dict[str, str]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out.getvalue()


def _docx(chance: random.Random) -> bytes:
    import docx

    plain = BytesIO()
    docx.Document().save(plain)
    old = zipfile.ZipFile(plain)
    body = _repeated("word", chance, _UNPACKED * _LONGEST)
    body = body[: body.rfind("<w:")] if chance.random() < 0.9 else body
    members = {name: old.read(name).decode("utf-8", "replace") for name in old.namelist()}
    members["word/document.xml"] = members["word/document.xml"].replace("<w:body>", f"<w:body>{body}", 1)
    return _zipped(members)


def _epub(chance: random.Random) -> bytes:
    page = f"<html><body>{_repeated('html', chance, _UNPACKED * _LONGEST)}</body></html>"
    container = '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>'
    items = '<item id="a" href="a.xhtml"/>', '<itemref idref="a"/>' * chance.choice((1, 1, 100))
    package = f"<package><metadata/><manifest>{items[0]}</manifest><spine>{items[1]}</spine></package>"
    return _zipped({"META-INF/container.xml": container, "a.opf": package, "a.xhtml": page})


def _pdf(chance: random.Random) -> bytes:
    import pypdf
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    def named(**names: Any) -> DictionaryObject:
        return DictionaryObject({NameObject(f"/{key}"): value for key, value in names.items()})

    font = named(Type=NameObject("/Font"), Subtype=NameObject("/Type1"), BaseFont=NameObject("/Helvetica"))
    writer = pypdf.PdfWriter()
    stream = DecodedStreamObject()
    stream.set_data(b"BT /F 9 Tf " + _repeated("pdf", chance).encode())
    for _page in range(chance.choice(_PAGES)):
        page = writer.add_blank_page(600, 800)
        page.update(named(Contents=writer._add_object(stream), Resources=named(Font=named(F=font))))
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def _json(chance: random.Random) -> bytes:
    text = _repeated(chance.choice(("text", "wiki", "html")), chance)
    record = {"url": "https://a.org", "title": text[:99], "text": text, "type": "book", "markdown": text}
    return json.dumps(chance.choice((record, [record] * 3, {"markdown": text}, text))).encode()


def _of(kind: str) -> Callable[[random.Random], bytes]:
    return lambda chance: _repeated(kind, chance).encode()


def _formats() -> Iterator[tuple[str, Callable[[random.Random], bytes]]]:
    yield from ((f"a{suffix}", _of("text")) for suffix in (".txt", ".md", ".jsonl", ".ris"))
    yield from (("a.wiki", _of("wiki")), ("a.bib", _of("bib")), ("a.html", _of("html")))
    yield "b.bib", lambda chance: f"@book{{a, title={{{_repeated('bib', chance)}}}}}".encode()
    yield "b.html", lambda chance: f"<html><body><p>{escape(_repeated('text', chance))}</body></html>".encode()
    yield from (("a.json", _json), ("a.docx", _docx), ("a.epub", _epub), ("a.pdf", _pdf))


_FORMATS = dict(_formats())
