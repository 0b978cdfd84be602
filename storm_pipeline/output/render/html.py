"""An article as one self-contained HTML page, which works offline and without JavaScript.

jinja2 escapes every text, and a Content-Security-Policy names style and script by hash: no injected script could run.
"""

import base64
import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from itertools import count, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from storm_pipeline.evidence.citations import cited_pages, number_references
from storm_pipeline.output.render.links import (
    Link,
    Mark,
    Remark,
    cited_words,
    label,
    link_of,
    require_presentable,
)
from storm_pipeline.text.formatting import clock, day, dollars
from storm_pipeline.text.identity import PREPRINT, is_preprint
from storm_pipeline.text.languages import references_heading
from storm_pipeline.text.person_names import tidy_names
from storm_pipeline.text.words import tidy, without_controls
from storm_pipeline.types import Article, Paragraph, Sentence, Source, Spans, Turn, Usage, UsageRow

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_STAGES = (
    "draft outline", "related topics", "perspectives", "conversations", "reading", "outline", "points", "look-ups",
    "sections", "polish", "lead",
)  # fmt: skip
"""Stages in the order of the method; others follow, sorted by name."""
_SANDBOX = "allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads"
_STYLE = "width: 100%; height: 40rem; border: 1px solid #ccc; border-radius: 8px; background: #fff"


def to_html(article: Article, checked: str = "", remarks: Mapping[int, Remark] | None = None) -> str:
    """Render an article: contents, text with a card per citation, sources with their sentences, and how it was made.

    Args:
        checked: statement on the check of the article, shown instead of the statement on its making.
        remarks: place of a sentence among all sentences in reading order, from 0 → its remark.

    Raises DatasetError: the sentences cite more than fits into a page.
    """
    return _template().render(page_values(article, checked, remarks))


def page_values(article: Article, checked: str = "", remarks: Mapping[int, Remark] | None = None) -> dict[str, Any]:
    """Return the values of the template ``article.html``; arguments and errors as for :func:`to_html`."""
    require_presentable(article, {s.id: s.text for source in article.sources for s in source.snippets})
    answers = tuple(sentence for talk in article.conversations for turn in talk.turns for sentence in turn.answer)
    require_presentable(replace(article, lead=(Paragraph(answers),), sections=()), {})  # whose sources are named, too
    sentences = [sentence for sentence in article.sentences() if tidy(sentence.text)]
    return {
        "article": article,
        "page": _Page(article, remarks or {}),
        "references_heading": references_heading(article.language),
        "sentences": len(sentences),
        "uncited": sum(not sentence.citations for sentence in sentences),
        "models": ", ".join(filter(None, dict.fromkeys(tidy(row.model) for row in article.usage.rows))),
        "checked": tidy(checked),
        "costs": cost_rows(article.usage),
        "total": _cost_row("", "", article.usage, article.usage.seconds),
    }


def to_notebook(article: Article) -> str:
    """Return the page of :func:`to_html` in a sandboxed frame, isolated from the notebook's style and script."""
    title, page = escape(article.title), escape(to_html(article))
    return f'<iframe title="{title}" srcdoc="{page}" sandbox="{_SANDBOX}" style="{_STYLE}"></iframe>'


class _Page:
    """The template's access to an article; it records where each source is cited."""

    def __init__(self, article: Article, remarks: Mapping[int, Remark]) -> None:
        self._remarks = map(remarks.get, count())
        self._numbers = number_references(article)
        # id of a source → the source, and snippet id → its place
        self._sources = {page.id: (page, {s.id: n for n, s in enumerate(page.snippets)}) for page in article.sources}
        self._pages = cited_pages(article)
        # number of a source → the sentences that cite it, each with its marker
        self.uses: dict[int, list[tuple[str, Mark]]] = {number: [] for number in self._numbers.values()}

    def sentences(self, paragraph: Paragraph) -> list[tuple[str, tuple[Mark, ...], Remark | None]]:
        """Return the non-empty sentences, each with its markers and its remark; call once per paragraph."""
        shown = []
        for sentence, remark in zip(paragraph.sentences, self._remarks, strict=False):
            if text := tidy(sentence.text):
                marks = tuple(self._marks(sentence))
                for mark in marks:
                    self.uses[mark.number].append((text, mark))
                shown.append((text, marks, remark))
        return shown

    def _marks(self, sentence: Sentence) -> Iterator[Mark]:
        cited: dict[str, dict[str, Spans]] = {}
        for citation in sentence.citations:
            cited.setdefault(citation.source_id, {})[citation.snippet_id] = citation.spans
        for number, source_id in sorted((self._numbers[source_id], source_id) for source_id in cited):
            anchor = f"cite-{number}-{len(self.uses[number]) + 1}"
            yield Mark(number, anchor, *cited_words(*self._sources[source_id], cited[source_id]))

    def about(self, source: Source) -> tuple[str, ...]:
        """Return author, publisher, site, date and cited pages of a source."""

        def first(name: str) -> str:
            return next((text for snippet in source.snippets if (text := tidy(getattr(snippet, name) or ""))), "")

        accessed = f"accessed {first('accessed')}" if first("accessed") else ""
        kind, pages = PREPRINT if is_preprint(source.url) else "", self._pages.get(source.id, "")
        author = tidy_names(first("author"))
        parts = (author, first("site"), kind, first("publisher"), pages, first("published"), accessed)
        return tuple(part for part in dict.fromkeys(parts) if part not in {"", label(source)})

    def links(self, turn: Turn) -> list[Link]:
        """Return links to the sources that an answer cites."""
        ids = dict.fromkeys(c.source_id for sentence in turn.answer for c in sentence.citations)
        return [link_of(self._sources[i][0]) for i in ids if i in self._sources]


def duration(seconds: float) -> str:
    """Return a duration as text: ``48 s``, ``4 min 12 s``, ``1 h 03 min``."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


class CostRow(NamedTuple):
    """Formatted numbers, with ≈ if some are estimated; ``time`` sums over calls, which may overlap."""

    stage: str
    role: str
    calls: str
    fresh: str
    cached: str
    written: str
    time: str
    cost: str  # may be ``unknown``


def cost_rows(usage: Usage) -> tuple[CostRow, ...]:
    """Return one row per stage and role, summed over models, in the order of the stages."""

    def place(row: UsageRow) -> tuple[int, str, str]:
        known = _STAGES.index(row.stage) if row.stage in _STAGES else len(_STAGES)
        return known, row.stage, row.role

    groups = groupby(sorted(usage.rows, key=place), key=lambda row: (row.stage, row.role))
    sums = ((names, Usage(tuple(rows))) for names, rows in groups)
    return tuple(_cost_row(*names, g, sum(row.seconds for row in g.rows)) for names, g in sums)


def _cost_row(stage: str, role: str, usage: Usage, seconds: float) -> CostRow:
    about = "≈" if usage.estimated else ""
    fresh = max(0, usage.tokens_in - usage.tokens_cached)
    return CostRow(
        tidy(stage),
        tidy(role),
        f"{usage.calls:,}",
        f"{about}{fresh:,}",
        f"{usage.tokens_cached:,}",
        f"{about}{usage.tokens_out:,}",
        clock(seconds),
        dollars(usage.cost),
    )


def page_environment(*packages: str) -> "Environment":
    """Return a jinja2 environment for ``article.html`` and the ``templates`` of further packages, which come first.

    It escapes every text and leaves control characters out.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "storm_pipeline.output.render")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: without_controls(value) if type(value) is str else value,
    )
    environment.filters |= {"duration": duration, "day": day, "dollars": dollars, "tidy": tidy}
    environment.filters |= {"link": link_of, "as_source": lambda url: Source("", url, ""), "csp_hash": _csp_hash}
    return environment


def _csp_hash(text: str) -> str:
    """Return a style's or script's source expression for a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@functools.cache
def _template() -> "Template":
    return page_environment().get_template("article.html")
