"""Findings of a check as JSON, as table rows, and as a page with remarks after the sentences."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from storm_pipeline.evidence.citations import number_references
from storm_pipeline.output.articles.pages import READING
from storm_pipeline.output.check.judging import CheckedArticle, CheckedSentence
from storm_pipeline.output.check.matching import Match
from storm_pipeline.output.check.reading import SourceNote
from storm_pipeline.output.render.html import to_html
from storm_pipeline.output.render.links import Remark, label
from storm_pipeline.text.formatting import shorten, with_noun
from storm_pipeline.text.words import encodable, tidy

SCHEMA = 2
COLUMNS = ("sentence", "verdict", "text", "why")
MATCH_COLUMNS = ("cited", "matched by", "document")
SOURCE_COLUMNS = ("source", "page", "Wikipedia's list", "archived copy")
_WORDS = {
    "partly": "supported in part",
    "not": "not supported",
    "contradicted": "contradicted",
    "unjudged": "left unread",
    "uncited": "no source cited",
    "unread": "source not read",
}
_FINE = frozenset({"supported", "on topic"})
NOTHING_READ = "nothing was read for support"
_LONGEST = 160  # characters of a sentence in a table


def rows(checked: CheckedArticle) -> list[tuple[str, ...]]:
    """Return the sentences that are neither supported nor on topic, in reading order, under :data:`COLUMNS`."""
    faults = (s for s in checked.sentences if s.status not in _FINE)
    return [(str(s.place + 1), s.status, shorten(tidy(s.sentence.text), _LONGEST), s.reason) for s in faults]


def summary(checked: CheckedArticle) -> str:
    """Return ``20 sentences: 12 supported, …``, with the judge's name, and what was not read."""
    counts = {name: number for name, number in checked.counts.items() if number}
    counts_text = ", ".join(f"{number} {_WORDS.get(name, name)}" for name, number in counts.items()) or "none"
    unread = f"; {with_noun(len(checked.unread), 'source')} could not be read" if checked.unread else ""
    read, references = sum(bool(m.by) for m in checked.matches), with_noun(len(checked.matches), "reference")
    matched = f"; {read} of {references} matched to documents" if checked.matches else ""
    judged = f", as {checked.judge} judges" if checked.read else f"; {NOTHING_READ}"
    held = sum(note.held for note in checked.notes.values())
    of_article = f"; the passages of {with_noun(held, 'source')} are the article's own" if held else ""
    return f"{with_noun(len(checked.sentences), 'sentence')}: {counts_text}{judged}{unread}{matched}{of_article}"


def left_out(checked: CheckedArticle) -> list[str]:
    """Return the parts of the article that were not read, such as tables, with the number of references in them."""
    return [problem.detail for problem in checked.article.report.problems if problem.stage == READING]


def to_record(checked: CheckedArticle) -> dict[str, Any]:
    """Return a check as JSON values; ``sentence`` counts from 1, ``spans`` are the deciding words."""
    return {
        "schema": SCHEMA,
        "title": checked.article.title,
        "summary": summary(checked),
        "judge": checked.judge,
        "read": checked.read,
        "support": checked.support,
        "counts": checked.counts,
        "sentences": list(_records(checked)),
        **({"left_out": parts} if (parts := left_out(checked)) else {}),
        **({"matches": list(map(asdict, checked.matches))} if checked.matches else {}),
        "sources": [
            {"number": n, "title": r.title, "url": r.url, "also": r.also, "unread": checked.unread.get(r.id)}
            | vars(checked.notes.get(r.id, SourceNote()))
            for n, r in enumerate(checked.article.references, 1)
        ],
    }


def match_rows(matches: Iterable[Match]) -> list[tuple[str, ...]]:
    """Return the references in order of citation with their documents, under :data:`MATCH_COLUMNS`."""
    return [(shorten(m.cited, _LONGEST), m.by or "nothing", " or ".join(m.documents)) for m in matches]


def source_rows(checked: CheckedArticle) -> list[tuple[str, ...]]:
    """Return the sources that are gone, read elsewhere, or rated down by Wikipedia, under :data:`SOURCE_COLUMNS`."""
    rows: list[tuple[str, ...]] = []
    for n, source in enumerate(checked.article.references, 1):
        note = checked.notes.get(source.id, SourceNote())
        elsewhere = note.cited and f"read at {source.url} instead of {note.cited}"
        page = "; ".join(filter(None, (note.gone and f"gone: {note.gone}", elsewhere)))
        rows += [(f"[{n}] {label(source)}", page, note.rated, note.archive)] if page or note.rated else []
    return rows


def to_json(checked: CheckedArticle) -> str:
    """Return the value of :func:`to_record` as JSON without lone surrogates."""
    return encodable(json.dumps(to_record(checked), indent=1))


def to_page(checked: CheckedArticle) -> str:
    """Return the article as a page with remarks after sentences, and cards with the deciding words."""
    faults = (sentence for sentence in checked.sentences if sentence.status not in _FINE)
    remarks = {s.place: Remark(s.status.replace(" ", "-"), _remark(s)) for s in faults}
    how = (
        f"{summary(checked)}. {'A verdict is a judge’s' if checked.read else 'Words and digits were compared'}; the "
        "words nearest to a sentence are marked in the passages behind its numbers. Look at them yourself."
    )
    how += f" Left out: {'; '.join(parts)}." if (parts := left_out(checked)) else ""
    if checked.matches:
        listed = (f"{cited} → {name or 'no document'} ({by})" for cited, by, name in match_rows(checked.matches))
        how += f" Matched by what both state: {'; '.join(listed)}."
    if pages := [f"{source}: {page}" for source, page, *_ in source_rows(checked) if page]:
        how += f" Not as cited: {'; '.join(pages)}."
    return to_html(checked.article, how, remarks)


def _remark(sentence: CheckedSentence) -> str:
    return ": ".join(filter(None, (_WORDS.get(sentence.status, sentence.status), sentence.reason)))


def _records(checked: CheckedArticle) -> Iterator[dict[str, Any]]:
    numbers = number_references(checked.article)
    texts = {snippet.id: snippet.text for source in checked.article.sources for snippet in source.snippets}
    for sentence in checked.sentences:
        yield {
            "sentence": sentence.place + 1,
            "heading": sentence.heading,
            "text": tidy(sentence.sentence.text),
            "verdict": sentence.status,
            "reason": sentence.reason,
            "sources": [
                {"number": numbers[c.source_id], "passage": texts.get(c.snippet_id, ""), "spans": c.spans}
                for c in sentence.sentence.citations
            ],
        }
