"""An article as Markdown, one sentence per line; texts are escaped, so that their numbers are not read as citations."""

import re

from storm_pipeline.evidence.citations import (
    cited_pages,
    escape,
    number_references,
    paragraphs_to_markdown,
    section_blocks,
)
from storm_pipeline.output.render.links import NO_ADDRESS, host, is_shared_link, label, one_line, shared_address
from storm_pipeline.text.formatting import with_noun
from storm_pipeline.text.identity import PREPRINT, is_preprint
from storm_pipeline.text.languages import references_heading
from storm_pipeline.text.person_names import read_names
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Source

_URL_SPECIAL = re.compile(r"[\\()<>]|&(?=#?\w+;)")


def to_markdown(article: Article) -> str:
    """Render an article.

    Title, lead, sections from ``##`` down, markers (``[1][2]``) after a sentence's closing punctuation, the list of
    sources, and a line of counts. Local files are named without folders, with author and year if known.
    """
    numbers = number_references(article)
    title = f"# {escape(article.title, heading=True)}".rstrip()
    blocks = [title, *paragraphs_to_markdown(article.lead, numbers)]
    for section in article.sections:
        blocks.extend(section_blocks(section, 2, numbers))
    if article.references:
        blocks.append(f"## {references_heading(article.language)}")
        pages = cited_pages(article)
        lines = (_reference(n, r, pages.get(r.id, "")) for n, r in enumerate(article.references, 1))
        blocks.append("\n".join(lines))
    blocks.extend(["---", _counts(article), *([f"*{escape(article.note)}*"] if article.note else [])])
    return "\n\n".join(blocks) + "\n"


def _reference(number: int, source: Source, pages: str) -> str:
    name = escape(label(source))
    where = "".join(f", {fact}" for fact in (escape(pages), PREPRINT if is_preprint(source.url) else "") if fact)
    links = ", ".join(_link(escape(host(url)), url) for url in source.also if is_shared_link(url))
    also = f"; also at {links}" if links else ""
    if is_shared_link(source.url):
        return f"{number}. {_link(name, source.url)}{where}{also}"
    address = shared_address(source.url).replace(" — ", " - ")
    where = where if address.startswith(NO_ADDRESS) else f" — {escape(address)}{where}"
    return f"{number}. {name}{_origin(source)}{where}{also}"


def _link(text: str, url: str) -> str:
    address = _URL_SPECIAL.sub(r"\\\g<0>", one_line(url))
    return f"[{text}]({address})"


def _origin(source: Source) -> str:
    """Return authors and year of a source in brackets; empty if neither is known."""
    authors = next((snippet.author for snippet in source.snippets if snippet.author), "")
    years = (snippet.published[:4] for snippet in source.snippets if snippet.published)
    known = [name.natural for name in read_names(authors)] + [next(years, "")]
    text = escape(", ".join(filter(None, known)))
    return f" ({text})" if text else ""


def _counts(article: Article) -> str:
    sentences = [sentence for sentence in article.sentences() if tidy(sentence.text)]
    uncited = sum(not sentence.citations for sentence in sentences)
    cited = with_noun(len(article.references), "source")
    return f"*{with_noun(len(sentences), 'sentence')}, {uncited} without a citation; {cited} cited.*"
