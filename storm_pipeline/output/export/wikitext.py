"""Wikitext: a page for MediaWiki with citation templates in named references, and sources that Wikipedia rejects."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storm_pipeline.evidence.citations import page_span
from storm_pipeline.output.export.manuscript import KINDS, Cite, HeadingBlock, Manuscript, Reference
from storm_pipeline.output.render.links import host, label
from storm_pipeline.sources.reliable.catalogue import Rating
from storm_pipeline.sources.reliable.filtering import SourcePolicy
from storm_pipeline.sources.reliable.ground_truth import repeats_wikipedia
from storm_pipeline.text.formatting import day
from storm_pipeline.text.languages import references_heading
from storm_pipeline.text.person_names import Name
from storm_pipeline.types import Article, Source

_SPECIAL = str.maketrans({char: f"&#{ord(char)};" for char in "&<>[]{}|="})
_TOGETHER = ("''", "~~", "__")  # italics, a signature, a switch of the page
_SCHEME = re.compile(r"\b(bitcoin|geo|magnet|mailto|news|sips?|sms|tel|urn|xmpp):(?=\S)", re.I)
_MAGIC_LINKS = ("RFC", "PMID", "ISBN")
_PUBLISHED = frozenset({"article", "chapter", "book", "paper", "thesis", "report"})
_CONTAINERS = {"journal": "journal", "proceedings": "book-title"}


def write(manuscript: Manuscript) -> bytes:
    """Return the page: one sentence per line, followed by its references, which MediaWiki lists at the end."""
    return ("\n".join(_lines(manuscript)) + "\n").encode()


def _lines(manuscript: Manuscript) -> Iterator[str]:
    yield f"<!-- {_in_comment(f'{manuscript.provenance} {manuscript.note}'.strip())} -->"
    defined: set[int] = set()
    is_first = True
    for block in manuscript.blocks:
        yield ""
        if isinstance(block, HeadingBlock):
            marks = "=" * min(block.level + 1, 6)
            yield f"{marks} {escape(block.text)} {marks}"
            is_first = False
            continue
        for sentence in block.sentences:
            marks = "".join(_ref(manuscript, cite, defined) for cite in sentence.cites)
            yield (_bold(sentence.text, manuscript.title) if is_first else escape(sentence.text)) + marks
            is_first = False
    if manuscript.references:
        yield f"\n== {escape(references_heading(manuscript.language))} ==\n{{{{Reflist}}}}"


def _bold(sentence: str, title: str) -> str:
    """Return the escaped sentence with the article's title in bold, unless an apostrophe or letter is next to it."""
    start = sentence.lower().find(title.lower())
    end = start + len(title)
    beside = f"{sentence[:start][-1:]}{sentence[end : end + 1]}{title[:1]}{title[-1:]}" if start >= 0 else "'"
    if "'" in beside or any(map(str.isalnum, beside[:-2])) or len(sentence) != len(sentence.lower()):
        return escape(sentence)
    before, after = escape(sentence[:start]), escape(f"x{sentence[end:]}")[1:]
    return f"{before}'''{escape(sentence[start:end])}'''{after}"


def escape(text: str) -> str:
    """Escape a text on one line for MediaWiki, also in a template's parameter and at the start of a line."""
    text = text.translate(_SPECIAL).replace("://", ":&#47;/")
    for pair in _TOGETHER:
        text = text.replace(pair, f"&#{ord(pair[0])};" * 2)
    for name in _MAGIC_LINKS:
        text = text.replace(f"{name} ", f"{name}&#32;")
    text = _SCHEME.sub(r"\1&#58;", text)
    return f"&#{ord(text[0])};{text[1:]}" if text[:1] in set("*#:;!+-") else text


def _ref(manuscript: Manuscript, cite: Cite, defined: set[int]) -> str:
    reference = manuscript.references[cite.number - 1]
    pages = f"{{{{Rp|{escape(page_span(cite.pages))}}}}}" if cite.pages else ""
    if cite.number in defined:
        return f'<ref name="{reference.key}" />{pages}'
    defined.add(cite.number)
    fields = "".join(f" |{name}={value}" for name, value in _fields(reference, manuscript.written) if value)
    also = ", ".join(f"[{_url(url)} {escape(host(url))}]" for url in reference.also)
    template = f"{{{{{KINDS['wikitext'][reference.kind]}{fields}}}}}" + (f" Also at {also}." if also else "")
    return f'<ref name="{reference.key}">{template}</ref>{pages}'


def _fields(reference: Reference, written: str) -> Iterator[tuple[str, str]]:
    work = reference.work
    yield from _people("", reference.authors)
    if reference.kind == "chapter" and reference.site:
        yield "chapter", escape(reference.title)
        yield "title", escape(reference.site)
    else:
        yield "title", escape(reference.title)
        place = host(reference.link) if reference.kind == "page" else ""
        yield _CONTAINERS.get(reference.kind, "website"), escape(reference.site or place)
    yield from _people("editor", reference.editors)
    yield "url", _url(reference.link)
    yield "volume", escape(work.volume)
    yield "issue", escape(work.issue)
    yield "edition", escape(work.edition)
    yield "publisher", escape(reference.publisher)
    yield "location", escape(work.place)
    yield "date", day(reference.published) if reference.published else ""
    yield ("pages" if "-" in work.extent else "page"), escape(work.extent.replace("-", "–"))
    yield "isbn", escape(work.isbn)
    yield "doi", escape(reference.doi)
    yield "id", escape(reference.address)
    yield "language", "" if reference.language.startswith("en") else escape(reference.language)
    accessed = reference.accessed or written
    yield "access-date", day(accessed) if accessed and reference.link else ""


def _url(link: str) -> str:
    return link.replace("'", "%27").replace("~~", "%7E%7E").replace("__", "%5F%5F")


def _people(role: str, names: Sequence[Name]) -> Iterator[tuple[str, str]]:
    for number, name in enumerate(names, 1):
        last, first = (f"{role}{number}-{part}" if role else f"{part}{number}" for part in ("last", "first"))
        yield last if name.given else f"{role or 'author'}{number}", escape(name.family)
        yield first, escape(name.given)


def _in_comment(text: str) -> str:
    while "--" in text:
        text = text.replace("--", "- -")
    return text.replace(">", "&gt;").rstrip("-")


@dataclass(frozen=True)
class Objection:
    """A source that editors of Wikipedia would remove."""

    number: int  # of the reference
    source: str  # its name
    reason: str  # the reason, in a few words
    is_wikipedia: bool = False  # whether it is Wikipedia or a copy of it


def objections(article: Article) -> tuple[Objection, ...]:
    """Return an objection to each cited source that Wikipedia rejects: itself, low-rated and unpublished sources."""
    policy = SourcePolicy("standard")
    rejected = []
    for number, source in enumerate(article.references, 1):
        is_wikipedia = repeats_wikipedia(source.url)
        if reason := "is Wikipedia or a copy of it" if is_wikipedia else _reason(source, policy):
            rejected.append(Objection(number, label(source), reason, is_wikipedia))
    return tuple(rejected)


def _reason(source: Source, policy: SourcePolicy) -> str:
    verdict = policy.judge(source.url)
    if verdict.status is Rating.OWN:
        is_published = any(s.work and s.work.stated_by and s.work.kind in _PUBLISHED for s in source.snippets)
        return "" if is_published else "is a document of your own that is not known to be published"
    if verdict.status is Rating.PREPRINT:
        return "is a preprint, which is self-published"
    return "" if verdict.allowed else verdict.reason
