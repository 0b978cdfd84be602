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
from typing import Any
from urllib.parse import unquote

import pytest

from storm_pipeline.export.entries import Line
from storm_pipeline.identity import PREPRINT
from storm_pipeline.references.citations import number_references
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


def text_of(entry: Line) -> str:
    """A line of a reference list without its marks."""
    return "".join(run.text for run in entry)


def flat(pairs: Iterable[tuple[str, str]]) -> Rows:
    """Pairs of a sentence and an address as rows of one address."""
    return [(text, (address,)) for text, address in pairs]


def bibtex_entries(text: str) -> dict[str, dict[str, str]]:
    """Fields of entries by their keys, the names of authors joined."""
    pybtex = pytest.importorskip("pybtex.database", reason="reading BibTeX needs pybtex")
    entries = pybtex.parse_string(text, "bibtex").entries.items() if text else ()
    return {
        key: {
            "kind": entry.type,
            **dict(entry.fields),
            "authors": "; ".join(map(str, entry.persons.get("author", []))),
        }
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


def read_latex(data: bytes) -> Rows:
    """Rows of ``latex``: the document by its lines, its references by pybtex."""
    text = data.decode()
    found = re.match(
        r"\\begin\{filecontents\*\}\[overwrite\]\{\\jobname\.bib\}\n(.*?)\\end\{filecontents\*\}", text, re.S
    )
    entries = bibtex_entries(found[1]) if found else {}
    assert text.count(r"\end{filecontents*}") == bool(found)
    after = text.partition("\\maketitle\n")[2]
    body = re.split(r"\n\\renewcommand\{\\refname\}|\n\\end\{document\}", after)[0]
    rows = []
    for line in body.split("\n"):
        if heading := re.fullmatch(r"\\(?:sub)*(?:section|paragraph)\{(.*)\}", line):
            from_tex(heading[1])
        elif line:
            cited = re.fullmatch(r"(.*?)(?:~((?:\\cite(?:\[pp?\.[^\]]+\])?\{[a-z0-9,-]+\})+))?", line)
            assert cited
            keys = [key for keys in re.findall(r"\{([^}]+)\}", cited[2] or "") for key in keys.split(",")]
            rows.append((from_tex(cited[1]), tuple(bibtex_address(entries[key]) for key in keys)))
    return rows


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


_NOTE_LINK = re.compile(r" \[\[#\^ref-(\d+)\|[⁰¹²³⁴⁵⁶⁷⁸⁹]+\]\]")
_NOTE_REFERENCE = re.compile(r"(\d+)\. (.*) \^ref-(\d+)")


def read_obsidian(data: bytes) -> Rows:
    """Rows of ``obsidian``; the addresses are the property ``sources``."""
    yaml = pytest.importorskip("yaml", reason="reading YAML needs PyYAML")
    _, front, body = data.decode().split("---\n", 2)
    sources = yaml.safe_load(front)["sources"]
    body, _, listed = body.partition("\n# References\n")
    numbers = [found for line in listed.split("\n") if (found := _NOTE_REFERENCE.fullmatch(line))]
    assert [(found[1], found[3]) for found in numbers] == [(str(n),) * 2 for n in range(1, len(sources) + 1)]
    rows = []
    for line in body.split("\n"):
        if line and not re.match(r"#{1,6} |> \[!info\] ", line):
            text = from_obsidian(_NOTE_LINK.sub("", line))
            rows.append((text, tuple(sources[int(number) - 1] for number in _NOTE_LINK.findall(line))))
    return rows


def from_obsidian(text: str) -> str:
    """The text that is shown; fails where a character of it acts."""
    assert not re.search(r"[`*_\[\]<>|~$#^]|==|%%|^(?:[-+=:]|\d+[.)])", re.sub(r"\\.", "x", text)), text
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_X = "{http://www.w3.org/1999/xhtml}"


def _written(element: Any) -> str:
    return "".join(text.text or "" for text in element.iter(f"{_W}t"))


def read_docx(data: bytes) -> Rows:
    """Rows of ``docx``, each with the texts of its endnotes; cross-references lead to the note of their bookmark."""
    import docx
    from lxml import etree

    document = docx.Document(io.BytesIO(data))
    part = next(rel.target_part for rel in document.part.rels.values() if rel.reltype.endswith("/endnotes"))
    notes = {
        note.get(f"{_W}id"): _written(note)[1:] for note in etree.fromstring(part.blob) if note.get(f"{_W}type") is None
    }
    rows: Rows = []
    bookmarks: dict[str, str] = {}
    for paragraph in document.paragraphs:
        if paragraph.style.name != "Normal":
            continue
        marked = ""
        for element in paragraph._p:
            if element.tag == f"{_W}bookmarkStart":
                marked = element.get(f"{_W}name")
                continue
            cited = ""
            if (reference := element.find(f"{_W}endnoteReference")) is not None:
                cited = bookmarks[marked] = reference.get(f"{_W}id")
            elif (instruction := element.find(f"{_W}instrText")) is not None:
                cited = bookmarks[instruction.text.split()[1]]
            elif element.find(f"{_W}rPr/{_W}rStyle") is None and (text := _written(element).strip()):
                rows.append((text, ()))
            if cited:
                rows[-1] = (rows[-1][0], (*rows[-1][1], notes[cited]))
    assert list(notes) == [str(number) for number in range(1, len(notes) + 1)]
    return rows


def read_epub(data: bytes) -> Rows:
    """Rows of ``epub``, each with the texts of its notes."""
    from lxml import etree

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        pages = {name: etree.fromstring(archive.read(name)) for name in archive.namelist() if name != "mimetype"}
    page = pages["book/article.xhtml"]
    notes = {item.get("id"): "".join(item.itertext()) for item in page.iter(f"{_X}li")}
    rows: Rows = []
    for paragraph in page.find(f"{_X}body").findall(f"{_X}p"):
        for element in paragraph:
            assert len(element) == 0
            if element.get("class") == "sentence":
                rows.append((element.text or "", ()))
            else:
                rows[-1] = (rows[-1][0], (*rows[-1][1], notes[element.get("href")[1:]]))
    return rows


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

    The inverse of :func:`storm_pipeline.render.markdown.to_markdown`, which writes one sentence per line; equals
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
