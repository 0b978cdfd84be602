"""An article as Markdown, one sentence per line; texts are escaped, so that no number in them is read as a citation."""

import re
from collections.abc import Iterator

from storm_pipeline.evidence.citations import cited_pages, marker, number_references
from storm_pipeline.output.render.links import host, is_shared_link, label, one_line, shared_address
from storm_pipeline.text.formatting import counted
from storm_pipeline.text.identity import PREPRINT, is_preprint
from storm_pipeline.text.languages import references_heading
from storm_pipeline.text.person_names import read_names
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Paragraph, Section, Source

_SPECIAL = re.compile(r"[\\`*_\[\]<|~$]|&(?=#?\w+;)")
_LINE_START = re.compile(r"^[#+\-=>:]|(?<=^\d)[.)]|^\d{2,}[.)]")
_URL_SPECIAL = re.compile(r"[\\()<>]|&(?=#?\w+;)")


def to_markdown(article: Article) -> str:
    """Render an article.

    Title, lead, sections from ``##`` down, markers (``[1][2]``) after a sentence's closing punctuation, the list of
    sources, and a line of counts. Files of the user's are named without folders, with author and year if known.
    """
    numbers = number_references(article)
    title = f"# {escape(article.title, heading=True)}".rstrip()
    blocks = [title, *_paragraphs(article.lead, numbers)]
    for section in article.sections:
        blocks.extend(_section(section, 2, numbers))
    if article.references:
        blocks.append(f"## {references_heading(article.language)}")
        pages = cited_pages(article)
        lines = (_reference(n, one, pages.get(one.id, "")) for n, one in enumerate(article.references, 1))
        blocks.append("\n".join(lines))
    blocks.extend(["---", _counts(article), *([f"*{escape(article.note)}*"] if article.note else [])])
    return "\n\n".join(blocks) + "\n"


def section_to_markdown(section: Section) -> str:
    """A section by itself, from its heading (``##``) down; without markers, since numbers belong to a whole article."""
    return "\n\n".join(_section(section, 2, {})) + "\n"


def escape(text: str, *, heading: bool = False) -> str:
    """The text on one line, escaped so that Markdown shows it literally, also at the start or end of a heading."""
    escaped = _LINE_START.sub(_escaped_mark, _SPECIAL.sub(r"\\\g<0>", tidy(text)))
    return re.sub(r"#+$", lambda found: "\\#" * len(found[0]), escaped) if heading else escaped


def _escaped_mark(found: re.Match[str]) -> str:
    """Return a mark that would begin a block of Markdown, with a backslash before its last character."""
    return f"{found[0][:-1]}\\{found[0][-1]}"


def _section(section: Section, level: int, numbers: dict[str, int]) -> Iterator[str]:
    yield f"{'#' * min(level, 6)} {escape(section.heading, heading=True)}".rstrip()
    yield from _paragraphs(section.paragraphs, numbers)
    for subsection in section.subsections:
        yield from _section(subsection, level + 1, numbers)


def _paragraphs(paragraphs: tuple[Paragraph, ...], numbers: dict[str, int]) -> Iterator[str]:
    """Yield one block per paragraph; sentences without text are skipped."""
    for paragraph in paragraphs:
        lines = [
            f"{text}{marker(s, numbers) if numbers else ''}" for s in paragraph.sentences if (text := escape(s.text))
        ]
        if lines:
            yield "\n".join(lines)


def _reference(number: int, source: Source, pages: str) -> str:
    name = escape(label(source))
    where = "".join(f", {fact}" for fact in (pages, PREPRINT if is_preprint(source.url) else "") if fact)
    links = ", ".join(_link(escape(host(url)), url) for url in source.also if is_shared_link(url))
    also = f"; also at {links}" if links else ""
    if is_shared_link(source.url):
        return f"{number}. {_link(name, source.url)}{where}{also}"
    address = shared_address(source.url).replace(" — ", " - ")
    return f"{number}. {name}{_origin(source)} — {escape(address)}{where}{also}"


def _link(text: str, url: str) -> str:
    address = _URL_SPECIAL.sub(r"\\\g<0>", one_line(url))
    return f"[{text}]({address})"


def _origin(source: Source) -> str:
    """Return authors and year of a source in brackets; empty if neither is known."""
    authors = next((one.author for one in source.snippets if one.author), "")
    years = (one.published[:4] for one in source.snippets if one.published)
    known = [name.natural for name in read_names(authors)] + [next(years, "")]
    text = escape(", ".join(filter(None, known)))
    return f" ({text})" if text else ""


def _counts(article: Article) -> str:
    sentences = [sentence for sentence in article.sentences() if tidy(sentence.text)]
    uncited = sum(not sentence.citations for sentence in sentences)
    cited = counted(len(article.references), "source")
    return f"*{counted(len(sentences), 'sentence')}, {uncited} without a citation; {cited} cited.*"
