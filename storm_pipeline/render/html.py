"""An article as one self-contained HTML page, which works offline and without JavaScript.

Every text is autoescaped by jinja2, addresses become links only if
:func:`storm_pipeline.render.links.is_shared_link` allows, and a Content-Security-Policy names the page's style and
script by hash, so that no injected script could run.
"""

import functools
from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING

from storm_pipeline.identity import PREPRINT, is_preprint
from storm_pipeline.languages import references_heading
from storm_pipeline.references.citations import cited_pages, number_references
from storm_pipeline.render.costs import cost_rows, cost_total
from storm_pipeline.render.links import label
from storm_pipeline.render.marks import Link, Mark, Remark, also_links, cited_words, link_of
from storm_pipeline.render.page import page_environment
from storm_pipeline.text.formatting import day, dollars
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Paragraph, Sentence, Source, Spans, Turn

if TYPE_CHECKING:
    from jinja2 import Template


def to_html(article: Article, checked: str = "", remarks: Mapping[int, Remark] | None = None) -> str:
    """Render an article as a page.

    Table of contents, text with a card per citation (the cited passage, its source; of more than three in a sentence,
    all but two share one mark), the cited sources with the sentences that rest on each, and how the article was made.
    In a passage the words are marked that carry the sentence (``citation.spans``).

    Args:
        checked: how the article was checked; said in place of how it was made, if given.
        remarks: place of a sentence among all sentences in reading order, from 0 → what stands behind it.
    """
    sentences = [sentence for sentence in article.sentences() if tidy(sentence.text)]
    return _template().render(
        article=article,
        page=_Page(article, remarks or {}),
        references_heading=references_heading(article.language),
        sentences=len(sentences),
        uncited=sum(not sentence.citations for sentence in sentences),
        models=", ".join(filter(None, dict.fromkeys(tidy(row.model) for row in article.usage.rows))),
        checked=tidy(checked),
        costs=cost_rows(article.usage),
        total=cost_total(article.usage),
    )


class _Page:
    """What the template asks of an article. It records where each source is used, in the order of asking."""

    def __init__(self, article: Article, remarks: Mapping[int, Remark]) -> None:
        self._remarks = map(remarks.get, count())
        self._numbers = number_references(article)
        self._sources = {source.id: source for source in article.sources}
        self._pages = cited_pages(article)
        # number of a source → the sentences that rest on it, each with its marker
        self.uses: dict[int, list[tuple[str, Mark]]] = {number: [] for number in self._numbers.values()}

    def sentences(self, paragraph: Paragraph) -> list[tuple[str, tuple[Mark, ...], Remark | None]]:
        """The sentences that have a text, each with its markers and what stands behind it; ask once."""
        found = []
        for sentence, remark in zip(paragraph.sentences, self._remarks, strict=False):
            if text := tidy(sentence.text):
                marks = tuple(self._marks(sentence))
                for mark in marks:
                    self.uses[mark.number].append((text, mark))
                found.append((text, marks, remark))
        return found

    def _marks(self, sentence: Sentence) -> Iterator[Mark]:
        cited: dict[str, dict[str, Spans]] = {}
        for citation in sentence.citations:
            cited.setdefault(citation.source_id, {})[citation.snippet_id] = citation.spans
        for source_id in sorted(cited, key=self._numbers.__getitem__):
            number = self._numbers[source_id]
            anchor = f"cite-{number}-{len(self.uses[number]) + 1}"
            yield Mark(number, anchor, *cited_words(self._sources[source_id], cited[source_id]))

    def about(self, source: Source) -> tuple[str, ...]:
        """Who wrote and published a source, where and when, as far as its snippets say; and the pages cited."""

        def first(name: str) -> str:
            return next((text for snippet in source.snippets if (text := tidy(getattr(snippet, name) or ""))), "")

        accessed = f"accessed {first('accessed')}" if first("accessed") else ""
        kind, pages = PREPRINT if is_preprint(source.url) else "", self._pages.get(source.id, "")
        parts = (first("author"), first("site"), kind, first("publisher"), pages, first("published"), accessed)
        return tuple(part for part in dict.fromkeys(parts) if part not in {"", label(source)})

    def links(self, turn: Turn) -> list[Link]:
        """The sources that an answer cites."""
        ids = dict.fromkeys(c.source_id for sentence in turn.answer for c in sentence.citations)
        return [link_of(self._sources[i]) for i in ids if i in self._sources]


def duration(seconds: float) -> str:
    """A duration as text: ``48 s``, ``4 min 12 s``, ``1 h 03 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60:02} min"


@functools.cache
def _template() -> "Template":
    environment = page_environment("storm_pipeline.render")
    environment.filters |= {
        "duration": duration,
        "day": day,
        "dollars": dollars,
        "link": link_of,
        "also": also_links,
        "tidy": tidy,
    }
    return environment.get_template("article.html")
