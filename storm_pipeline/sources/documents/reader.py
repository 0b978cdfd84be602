"""Reads the user's documents in their formats, adds metadata of bibliographies beside them, and caches the texts.

Files are read in the process for foreign files; text, HTML, Markdown and JSON lines here, others by their modules.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from storm_pipeline.run.events import adapter_of
from storm_pipeline.sources.documents.bibliography import BIBLIOGRAPHIES, Bibliography, Entry, read_bibliography
from storm_pipeline.sources.documents.decoding import declared_charsets, decode, decode_lines, is_mojibake, mend
from storm_pipeline.sources.documents.document import (
    Document,
    FileText,
    Record,
    Unreadable,
    record_of_name,
    usable_title,
)
from storm_pipeline.sources.documents.docx import read_docx
from storm_pipeline.sources.documents.epub import read_epub
from storm_pipeline.sources.documents.formats import DOCX, EPUB, HTML, OLD_OFFICE, PDF, ZIP, format_of
from storm_pipeline.sources.documents.isolated import NotReadError, reading, size_of
from storm_pipeline.sources.documents.markup import blocks, parse_html, parse_page
from storm_pipeline.sources.documents.pdf import SCAN, read_pdf
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.text.files import walk
from storm_pipeline.text.formatting import with_noun
from storm_pipeline.text.identity import LONGEST_ADDRESS
from storm_pipeline.text.plain import page_number, plain_text, stated_date, web_address
from storm_pipeline.types import Work

Item = Document | Entry | Unreadable
"""A part of a file."""
_MAX_REPORTS = 50
READABLE = ".txt, .md, .html, .htm, .pdf, .docx, .epub, .jsonl"  # extensions of documents, for messages
_MAX_BYTES = 200_000_000
_MAX_LINES = 300_000  # of a file of JSON lines
# Formulas and addresses, which are kept; superscripts and subscripts in Pandoc's syntax; marks of notes.
_MARK = re.compile(
    r"(?P<kept>\$\$.{1,1000}?\$\$|\$(?=\S)[^$\n]{1,300}(?<=\S)\$(?!\d)|https?://\S+)"
    r"|\^(?P<sup>[^\s^\[\]]{0,20}[^\W_][^\s^\[\]]{0,20})\^|(?<=[^\s~])~(?P<sub>[^\s~]{1,20})~(?!~)"
    r"|\[\^[^\]\s]{1,99}\](?::[ \t]*)?"
)


def _json_lines(name: str, data: bytes) -> Iterator[Document | Unreadable]:
    """Yield the documents of a file, and reports on invalid lines, up to a limit."""
    bad = 0
    for number, line in enumerate(decode_lines(data), start=1):
        if not line.strip():
            continue
        if isinstance(record := _from_json(line), Document):
            yield record
        elif (bad := bad + 1) <= _MAX_REPORTS:
            yield Unreadable(f"{name}, line {number} {record}; it was skipped.")
    if bad > _MAX_REPORTS:
        yield Unreadable(f"{name} has {bad - _MAX_REPORTS} more invalid lines, which were skipped.")


def _from_json(line: str) -> Document | str:
    """Return the document on a line, or the problem with the line."""
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError):
        return "is not JSON"
    if not isinstance(record, dict):
        return "is not an object with url, title and text"
    url, title, published = (plain_text(record.get(name)) for name in ("url", "title", "published"))
    text = record.get("text")
    if not 0 < len(url) <= LONGEST_ADDRESS:
        return f"has no url of at most {LONGEST_ADDRESS:,} characters"
    if not plain_text(text):
        return "has no text"
    published = published or stated_date(str(text), title) or ""
    return Document(url, title, ((page_number(record.get("page")), str(text)),), published or None)


def read_html(data: bytes) -> FileText:
    """Return a page's main content by trafilatura, or all its text if trafilatura finds none."""
    import trafilatura

    tree = parse_page(decode(data, declared_charsets(data)))
    if tree is None:
        return FileText()
    page = trafilatura.bare_extraction(
        tree, with_metadata=True, include_comments=False, date_extraction_params={"extensive_search": False}
    )
    text = mend((page.text if page else "") or trafilatura.html2txt(tree))
    if is_mojibake(text):
        return _UNDECODED
    if not page:
        return FileText(pages=((None, text),))
    stated = {"title": page.title, "authors": page.author, "published": page.date, "container": page.sitename}
    known: dict[str, Any] = {name: value or "" for name, value in stated.items()}
    record = Record(**known, work=Work(kind="page", url=web_address(page.url)))
    return FileText(record.title, ((None, text),), page.date, record=record)


def read_text(data: bytes) -> FileText:
    """Return a plain text, unchanged."""
    text = mend(decode(data))
    return _UNDECODED if is_mojibake(text) else FileText(pages=((None, text),))


def read_markdown(data: bytes) -> FileText:
    """Return the text of Markdown; an initial level-1 heading is its title."""
    text = mend(decode(data))
    if is_mojibake(text):
        return _UNDECODED
    parts = list(blocks(_markdown_tree(text))) if text.strip() else []
    title = next((heading for level, heading in parts[:1] if level == 1), "")
    return FileText(title, ((None, "\n\n".join(block for _, block in parts)),))


def _markdown_tree(text: str) -> Any:
    """Parse a Markdown text as HTML, with elements for superscripts and subscripts and with list marks as text."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"breaks": True}).enable(["table", "strikethrough"])
    parser.disable(["reference", "list", "code", "text_join"])
    tokens = parser.parse(text)
    for token in (child for block in tokens for child in block.children or ()):
        if token.type == "text":
            token.type, token.content = "html_inline", _MARK.sub(_element, html.escape(token.content, quote=False))
        elif token.type == "text_special":  # an escaped character
            token.type = "text"
    return parse_html(parser.renderer.render(tokens, parser.options, {}).encode("utf-8", "replace"))


def _element(match: re.Match[str]) -> str:
    name = match.lastgroup
    return match[0] if name == "kept" else f"<{name}>{match[name]}</{name}>" if name else ""


_UNDECODED = FileText(problems=("is in no character set that can be told; save it as UTF-8",))
READERS: dict[str, Callable[[bytes], FileText]] = {
    ".txt": read_text,
    ".md": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".epub": read_epub,
}
"""Extension → reader; files with other extensions are read as JSON lines."""
_OF_FORMAT = {PDF: read_pdf, DOCX: read_docx, EPUB: read_epub, HTML: read_html}


def read_file(path: str, name: str) -> Iterator[Item]:
    """Yield the documents or entries of a file, and reports on it or its lines. ``name``: the user's name for it."""
    file = Path(path)
    try:
        problem = "is not a regular file; it was skipped"  # e.g. a pipe, or a broken link
        if file.is_file():
            with file.open("rb") as opened:
                data = opened.read(_MAX_BYTES + 1)
            problem = f"is larger than {_MAX_BYTES:,} bytes; split it" if len(data) > _MAX_BYTES else ""
    except (OSError, ValueError):  # ValueError: an invalid file name
        problem = "cannot be read; check its permissions"
    if problem:
        yield Unreadable(f"{name} {problem}.", name)
        return
    suffix, form = file.suffix.lower(), format_of(data)
    by_suffix = suffix in {".docx", ".epub"} and form in {ZIP, OLD_OFFICE}  # their readers give better messages
    read = READERS.get(suffix) if by_suffix else _OF_FORMAT.get(form, READERS.get(suffix))
    problems: list[str] = []
    if form and form not in _OF_FORMAT and not by_suffix:
        yield Unreadable(f"{name} is {form}, whatever its name says; convert it to one of {READABLE}.", name)
    elif read:
        yield from _documents(name, file, read(data))
    elif (entries := read_bibliography(file.name, data, problems)) is not None:
        yield from entries
        yield from (Unreadable(f"{name}: {problem}.") for problem in problems)
    elif suffix in BIBLIOGRAPHIES and suffix != ".json":
        yield Unreadable(f"{name} cannot be read as a bibliography; export it again.")
    elif (lines := data.count(b"\n")) > _MAX_LINES:
        yield Unreadable(f"{name} has {lines:,} lines, of which a file may have {_MAX_LINES:,}; split it.", name)
    else:
        yield from _json_lines(name, data)


def _documents(name: str, file: Path, text: FileText) -> Iterator[Document | Unreadable]:
    pages = tuple((number, content) for number, content in text.pages if plain_text(content))
    if pages:
        title = usable_title(text.title)
        record = text.record.of("metadata").completed(Record(title).of("text"))
        record = record.completed(record_of_name(file.stem.removesuffix(".ocr"), record.title).of("file name"))
        stated = Record(published=text.published or stated_date(pages[0][1], title) or "").of("text")
        record = record.completed(replace(stated, origins=(*stated.origins, ("title", "file name"))))
        title = record.title or plain_text(file.stem)
        yield Document(file.resolve().as_uri(), title, pages, record.published or None, record, text.labels)
    elif not text.problems:
        yield Unreadable(f"{name} contains no text; leave it out.", name)
    yield from (Unreadable(f"{name} {problem}.", name, problem == SCAN) for problem in text.problems)


_VERSION = 12  # incremented when files are read otherwise than before


class KeptDocuments:
    """Cache of documents by file, size and modification time."""

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(folder / "documents.sqlite")

    def read(self, file: Path, read: Callable[[Path], list[Item]]) -> list[Item]:
        """Return the content of a file from the cache, else from ``read``, and cache it; a failure for a day."""
        if not (key := _state(file)):
            return read(file)
        failed = f"{key} not read"
        items: list[Item] | None = _decode(list[Item], self._cache.get(key) or self._cache.get(failed, max_age_days=1))
        if items is None:
            try:
                items = read(file)
            except NotReadError as error:  # after as much work as a file may make
                key, items = failed, [_failure_of(file, error)]
            self._cache.put(key, adapter_of(list[Item]).dump_python(items))
        return items

    def record(self, doi: str) -> Record | None:
        """Return Crossref's cached record of a DOI; None if missing or old."""
        record: Record | None = _decode(Record, self._cache.get(f"{_VERSION} {doi}", max_age_days=180))
        return record

    def keep_record(self, doi: str, record: Record) -> None:
        """Cache Crossref's record of a DOI."""
        self._cache.put(f"{_VERSION} {doi}", adapter_of(Record).dump_python(record))


def _decode(kind: Any, value: Any) -> Any:
    with suppress(ValueError):
        return adapter_of(kind).validate_python(value)
    return None


FORMATS = frozenset({*READERS, ".jsonl", ".ndjson", ".json", *BIBLIOGRAPHIES})
"""Extensions of readable files: documents and bibliographies."""


def read_documents(
    path: Path, *, kept: KeptDocuments | None = None, deep: bool = True, known: Iterable[Entry] = ()
) -> Iterator[Document | Unreadable]:
    """Yield the documents of all parts of a file or a folder; see :func:`parts_of`."""
    return (item for part in parts_of(path, kept=kept, deep=deep, known=known) for item in part.read())


@dataclass(frozen=True)
class Part:
    """A file of a corpus, or a report on files that are not read."""

    name: str  # path of the file; empty for a report
    state: str  # changes with the file, and with the bibliographies that complete its documents; empty if unknown
    read: Callable[[], Iterable[Document | Unreadable]]


def parts_of(
    path: Path, *, kept: KeptDocuments | None = None, deep: bool = True, known: Iterable[Entry] = ()
) -> Iterator[Part]:
    """Yield a file or, recursively and sorted by name, those of a folder; bibliographies complete their documents.

    These are the bibliographies of the folder, and the entries ``known``.

    Skips hidden files and folders, lock files of word processors (``~$…``), non-regular files, and links to files
    outside the folder; does not follow links to folders, to avoid loops.

    ``path``: an existing file or folder. A file with an unknown extension is read as JSON lines. ``kept``: the cache;
    None to read every file. ``deep``: whether to read folders in the folder.
    """
    if not path.is_dir():
        yield _part(path, partial(_read, path, kept), Bibliography(known))
        return
    problems: list[Unreadable] = []
    files = dict.fromkeys(_files(path, problems, deep=deep))
    bibliographies = {file: _read(file, kept) for file in files if _is_bibliography(file, path)}
    entries = (item for items in bibliographies.values() for item in items if isinstance(item, Entry))
    bibliography = Bibliography([*entries, *known])
    states = (_state(file) for file, items in bibliographies.items() if any(isinstance(item, Entry) for item in items))
    works = blake2b(" ".join(states).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    others: Counter[str] = Counter()
    for file in files:
        suffix = file.suffix.lower()
        if suffix == ".pdf" and file.with_suffix(".ocr.pdf") in files:  # the searchable copy of a scan
            continue
        if suffix not in FORMATS:
            others[suffix or "no extension"] += 1
        elif stays_below(file, path):
            items = partial(bibliographies.__getitem__, file) if file in bibliographies else partial(_read, file, kept)
            yield _part(file, items, bibliography, works)
        else:
            problems.append(
                Unreadable(
                    f"{_printable(file)} is a link to a file outside the folder, or to a hidden one; it was skipped: "
                    "copy that file into the folder if it belongs there."
                )
            )
    if others:
        kinds = ", ".join(sorted(others))
        report = f"{others.total()} files of other types ({kinds}) were skipped; supported are {READABLE}."
        problems.append(Unreadable(report))
    yield Part("", "", lambda: problems)


def _part(file: Path, items: Callable[[], list[Item]], bibliography: Bibliography, works: str = "") -> Part:
    state = _state(file)
    return Part(_printable(file), state and f"{state} {works}", lambda: _completed(items(), bibliography))


def _state(file: Path) -> str:
    """Return what changes when a file does: its path without links, size and time; empty if it cannot be told."""
    with suppress(OSError, ValueError, RuntimeError):  # a broken or circular link
        stat = file.stat()
        return f"{_VERSION} {file.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    return ""


def read_entries(folder: Path, *, deep: bool) -> list[Entry]:
    """Return the entries of a folder's bibliographies."""
    files = (file for file in _files(folder, [], deep=deep) if _is_bibliography(file, folder))
    return [item for file in files for item in _read(file) if isinstance(item, Entry)]


def _files(path: Path, problems: list[Unreadable], *, deep: bool) -> Iterator[Path]:
    def report_error(error: OSError) -> None:
        problems.append(Unreadable(f"{error.filename} cannot be opened; check its permissions."))

    for folder, folders, files in walk(path, onerror=report_error):
        folders[:] = sorted(name for name in folders if deep and not name.startswith("."))
        yield from sorted(Path(folder, name) for name in files if not name.startswith((".", "~$")))


def _is_bibliography(file: Path, folder: Path) -> bool:
    """Return whether a file may be a bibliography by its name; ``.json`` may also be documents."""
    return file.suffix.lower() in BIBLIOGRAPHIES and stays_below(file, folder)


def _completed(items: Iterable[Item], bibliography: Bibliography) -> Iterator[Document | Unreadable]:
    for item in items:
        if not isinstance(item, Entry):
            yield bibliography.completed(item) if isinstance(item, Document) else item


def stays_below(file: Path, folder: Path) -> bool:
    """Return whether a file, after resolving links, is in a folder and not hidden there."""
    with suppress(OSError, ValueError, RuntimeError):  # RuntimeError: circular links
        return not any(part.startswith(".") for part in file.resolve().relative_to(folder.resolve()).parts)
    return False


def _printable(file: Path) -> str:
    """Return the path as text; file names may contain undecodable bytes."""
    return str(file).encode("utf-8", "backslashreplace").decode()  # a name of its own for each


def _read(file: Path, kept: KeptDocuments | None = None) -> list[Item]:
    """Return the content of a file, from the cache if it has it, else read in the process for foreign files."""
    try:
        return kept.read(file, _read_there) if kept else _read_there(file)
    except NotReadError as error:
        return [_failure_of(file, error)]


def _failure_of(file: Path, error: NotReadError) -> Unreadable:
    return Unreadable(f"{_printable(file)} {error}; it was skipped: save it anew, or split it.", _printable(file))


def _read_there(file: Path) -> list[Item]:
    is_pdf = file.suffix.lower() == ".pdf"
    return reading.read(read_file, str(file.absolute()), _printable(file), size=size_of(file), is_pdf=is_pdf)


@dataclass(frozen=True)
class Inventory:
    """The contents of a file or folder."""

    documents: tuple[Document, ...]  # readable ones
    scans: tuple[Path, ...]  # files without text, which need text recognition
    broken: int  # number of other unreadable files
    problems: tuple[str, ...]  # reasons, one sentence each

    @property
    def summary(self) -> str:
        """``3 readable, 1 scan, 1 broken; author and year known of 2``."""
        known = sum(bool(document.record.authors and document.record.published) for document in self.documents)
        scans = f", {with_noun(len(self.scans), 'scan')}" if self.scans else ""
        broken = f", {self.broken} broken" if self.broken else ""
        return f"{len(self.documents)} readable{scans}{broken}; author and year known of {known}"


def take_inventory(path: Path, cache: Path) -> Inventory:
    """Read a file or folder and count its content. ``cache``: folder of the cache."""
    items = list(read_documents(path.expanduser(), kept=KeptDocuments(cache)))
    documents = tuple(item for item in items if isinstance(item, Document))
    refused = [item for item in items if isinstance(item, Unreadable)]
    read = {document.url for document in documents}
    lost = {i.file for i in refused if i.file and not i.is_scan and Path(i.file).resolve().as_uri() not in read}
    scans = tuple(Path(item.file) for item in refused if item.is_scan)
    return Inventory(documents, scans, len(lost), tuple(item.reason for item in refused))
