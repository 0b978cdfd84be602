"""Reads exported files back with the libraries of their formats: every sentence with the addresses it cites.

A reader of a whole article gives rows in reading order, sentences without a citation included. A reader of a list of
references gives a row for each sentence that a reference names.
"""

import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pytest

from storm_pipeline.evidence.citations import number_references
from storm_pipeline.text.identity import PREPRINT
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article

Rows = list[tuple[str, tuple[str, ...]]]

_TEX = {
    r"\textbackslash{}": "\\",
    r"\textbraceleft{}": "{",
    r"\textbraceright{}": "}",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\textquotedbl{}": '"',
    r"\textasciigrave{}": "`",
    "{[}": "[",
    "{]}": "]",
    "{}": "",
    **{f"\\{char}": char for char in "$&#%_"},
}
_TEX_TOKEN = re.compile("|".join(map(re.escape, sorted(_TEX, key=len, reverse=True))))
_PAGES = rf"(?:, pp?\. [\w.-]+(?:(?:–|, )[\w.-]+)*)?(?:, {PREPRINT})?"
_MARKDOWN_LINK = re.compile(rf"(\d+)\. \[.*\]\(<?((?:[^\\()<>]|\\.)*)>?\){_PAGES}")
_MARKDOWN_UNLINKED = re.compile(rf"(\d+)\. .* — (.*?){_PAGES}")
_MARKDOWN_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKDOWN_STRUCTURE = ("#", "*", "---", "![")


def from_tex(text: str) -> str:
    """The text that TeX typesets; fails where anything in it is a command, a group or another special character."""
    assert not re.search(r"[\\{}$&#%_^~]", _TEX_TOKEN.sub("", text)), text
    assert not re.search(r"--|''|,,|``|<<|>>", text), text  # ligatures
    return _TEX_TOKEN.sub(lambda found: _TEX[found[0]], text)


def flat(pairs: Iterable[tuple[str, str]]) -> Rows:
    """Pairs of a sentence and an address as rows of one address."""
    return [(text, (address,)) for text, address in pairs]


def bibtex_entries(text: str) -> dict[str, dict[str, str]]:
    """Fields of entries by their keys, the names of authors joined."""
    pybtex = pytest.importorskip("pybtex.database", reason="reading BibTeX needs pybtex")
    entries = pybtex.parse_string(text, "bibtex").entries.items() if text else ()
    return {
        key: {"kind": entry.type, **dict(entry.fields), "authors": "; ".join(map(str, entry.persons.get("author", [])))}
        for key, entry in entries
    }


def bibtex_address(entry: dict[str, str]) -> str:
    """Where an entry's source stands."""
    return entry["url"] if "url" in entry else from_tex(entry.get("note", ""))


def read_bibtex(data: bytes) -> Rows:
    """Rows of ``bibtex``."""
    return flat(
        (from_tex(sentence), bibtex_address(entry))
        for entry in bibtex_entries(data.decode()).values()
        for sentence in entry.get("annote", "").split(r" \par ")
        if sentence
    )


def read_ris(data: bytes) -> Rows:
    """Rows of ``ris``."""
    rispy = pytest.importorskip("rispy", reason="reading RIS needs rispy")
    found = rispy.loads(data.decode()) if data else []
    return flat(
        (note, one["urls"][0].replace("%3B", ";") if "urls" in one else one.get("unknown_tag", {}).get("AV", [""])[0])
        for one in found
        for note in _quoted(*one.get("notes", [""]))
    )


def _quoted(note: str) -> list[str]:
    """The sentences that the one note of a record quotes."""
    found = re.fullmatch(r"Cited(?: pp?\. [^:]+)?: “(.*)”", note)
    return found[1].split("” “") if found else []


def read_csl(data: bytes) -> Rows:
    """Rows of ``csl``."""
    return flat(
        (sentence, item.get("URL") or item.get("archive_location", ""))
        for item in json.loads(data)
        for sentence in item.get("custom", {}).get("sentences", [])
    )


def read_wikitext(data: bytes) -> Rows:
    """Rows of ``wikitext``; fails where a text has become markup."""
    parser = pytest.importorskip("mwparserfromhell", reason="reading wikitext needs mwparserfromhell")
    addresses: dict[str, str] = {}
    lines: list[tuple[str, tuple[str, ...]]] = [("", ())]
    for node in parser.parse(data.decode()).nodes:
        kind = type(node).__name__
        text, cited = lines[-1]
        if kind == "Text":
            first, *more = str(node).split("\n")
            lines[-1] = (text + first, cited)
            lines.extend((line, ()) for line in more)
        elif kind == "HTMLEntity":
            lines[-1] = (text + node.normalize(), cited)
        elif kind == "Tag" and node.tag == "ref":
            name = str(node.get("name").value)
            if node.contents:
                (template,) = node.contents.nodes
                field = "url" if template.has("url") else "id"
                value = template.get(field).value if template.has(field) else ""
                addresses[name] = re.sub("%27|%5F|%7E", lambda found: unquote(found[0]), _literal(value))
                for parameter in template.params:
                    assert parameter.showkey
                    _literal(parameter.value)
            lines[-1] = (text, (*cited, addresses[name]))
        elif kind == "Tag" and node.tag == "b":  # the title, once, in the first sentence
            lines[-1] = (text + _literal(node.contents), cited)
        elif kind == "Heading":
            _literal(node.title)
        elif kind == "Template" and str(node.name) == "Rp":
            _literal(node.get(1).value)
        else:
            assert kind == "Comment" or str(node) == "{{Reflist}}", node
    return [(text, cited) for text, cited in lines if text]


def _literal(code: object) -> str:
    nodes = list(getattr(code, "nodes", []))
    assert {type(node).__name__ for node in nodes} <= {"Text", "HTMLEntity", "ExternalLink"}, code
    return "".join(node.normalize() if type(node).__name__ == "HTMLEntity" else str(node) for node in nodes).strip()


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_X = "{http://www.w3.org/1999/xhtml}"
_T = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_FRONT = {"Title", "Subtitle", "Author", "Date"}


@dataclass(frozen=True)
class Opened:
    """What stands in a document: its headings, paragraphs and references in order, without title page, and notes."""

    lines: list[str]
    notes: list[str]


def spaced(text: str) -> str:
    """A text whose white space is single spaces."""
    return " ".join(text.split())


def open_docx(data: bytes) -> Opened:
    """A Word document, by python-docx."""
    import docx
    from lxml import etree

    document = docx.Document(io.BytesIO(data))
    shown = [one for one in document.paragraphs if one.style and one.style.name not in _FRONT]
    part = next(rel.target_part for rel in document.part.rels.values() if rel.reltype.endswith("/footnotes"))
    notes = [one for one in etree.fromstring(part.blob) if one.get(f"{_W}type") is None]
    texts = ["".join(text.text or "" for text in note.iter(f"{_W}t")) for note in notes]
    return Opened([spaced(one.text) for one in shown], list(map(spaced, texts)))


def open_odt(data: bytes) -> Opened:
    """An OpenDocument text, by lxml."""
    from lxml import etree

    content = zipfile.ZipFile(io.BytesIO(data)).read("content.xml")
    body = next(etree.fromstring(content).iter("{urn:oasis:names:tc:opendocument:xmlns:office:1.0}text"))
    notes = []
    for note in list(body.iter(f"{_T}note")):
        notes.append(_odt_text(next(note.iter(f"{_T}note-body"))))
        before = note.getprevious()
        if before is None:
            note.getparent().text = (note.getparent().text or "") + (note.tail or "")
        else:
            before.tail = (before.tail or "") + (note.tail or "")
        note.getparent().remove(note)
    for contents in list(body.iter(f"{_T}table-of-content")):
        contents.getparent().remove(contents)
    own = [one for one in body.iter(f"{_T}h", f"{_T}p") if one.get(f"{_T}style-name") not in _FRONT]
    return Opened(list(map(_odt_text, own)), notes)


def _odt_text(element: Any) -> str:
    for space in element.iter(f"{_T}s", f"{_T}tab", f"{_T}line-break"):
        space.text = " "
    return spaced("".join(element.itertext()))


def open_epub(data: bytes) -> Opened:
    """A book, by zipfile and lxml."""
    from lxml import etree

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        names = sorted(name for name in archive.namelist() if re.fullmatch(r"EPUB/text/ch\d+\.xhtml", name))
        pages = [etree.fromstring(archive.read(name)) for name in names]
    tags = {f"{_X}p", *(f"{_X}h{level}" for level in range(1, 7))}
    lines, notes = [], []
    for page in pages:
        for element in page.iter():
            is_entry = element.get("class") == "csl-entry"
            in_note = any(one.get("role") in {"doc-footnote", "doc-endnotes"} for one in element.iterancestors())
            if element.tag in tags or is_entry:
                (notes if in_note else lines).append(spaced("".join(element.itertext())))
    return Opened(lines, notes)


def read_pdf(data: bytes) -> str:
    """The text of a PDF file without white space, ligatures parted."""
    import pypdf

    pages = pypdf.PdfReader(io.BytesIO(data)).pages
    return "".join(unicodedata.normalize("NFKC", "".join(page.extract_text().split())) for page in pages)


def runs_of(rows: Rows) -> Iterator[tuple[str, str]]:
    """A pair for each citation."""
    for text, addresses in rows:
        yield from ((text, address) for address in addresses)


def sentence_table(article: Article) -> Rows:
    """Every sentence's text, on one line, with the ids of the sources it cites, ascending by their numbers.

    Sentences without text are left out, as they are in rendered output.
    """
    numbers = number_references(article)
    return [
        (text, tuple(sorted({c.source_id for c in sentence.citations}, key=numbers.__getitem__)))
        for sentence in article.sentences()
        if (text := tidy(sentence.text))
    ]


def parse_markdown(markdown: str) -> Rows:
    """Parse rendered Markdown: every sentence's text with the addresses of the sources it cites.

    The inverse of :func:`storm_pipeline.output.render.markdown.to_markdown`, which writes one sentence per line; equals
    :func:`sentence_table` with addresses instead of ids.
    """
    urls: dict[str, str] = {}
    rows: list[tuple[str, list[str]]] = []
    for line in markdown.split("\n"):
        if not line.strip() or line.startswith(_MARKDOWN_STRUCTURE):
            continue
        entry = line.partition("; also at [")[0]
        if found := _MARKDOWN_LINK.fullmatch(entry) or _MARKDOWN_UNLINKED.fullmatch(entry):
            urls[found[1]] = _unescaped(found[2])
        else:
            sentence, numbers = _split_markers(line)
            rows.append((_unescaped(sentence), numbers))
    return [(text, tuple(urls[number] for number in numbers)) for text, numbers in rows]


def _split_markers(line: str) -> tuple[str, list[str]]:
    """A rendered sentence and the numbers of the markers at its end, in order; in linear time."""
    numbers: list[str] = []
    end = len(line)
    while line.endswith("]", 0, end):
        start = line.rfind("[", 0, end)
        if start < 0 or not line[start + 1 : end - 1].isdecimal():
            break
        numbers.append(line[start + 1 : end - 1])
        end = start
    return line[:end], numbers[::-1]


def _unescaped(text: str) -> str:
    return _MARKDOWN_ESCAPE.sub(r"\1", text)
