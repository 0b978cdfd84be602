"""Findings of a check, as JSON, as rows of a table, and as a page with remarks behind the sentences."""

import json
from collections.abc import Iterator
from typing import Any

from storm_pipeline.evidence.citations import number_references
from storm_pipeline.output.check.judging import Checked, CheckedSentence
from storm_pipeline.output.render.html import to_html
from storm_pipeline.output.render.links import Remark
from storm_pipeline.text.formatting import counted, shortened
from storm_pipeline.text.words import encodable, tidy

SCHEMA = 1
COLUMNS = ("sentence", "verdict", "chance", "text", "why")
_WORDS = {
    "partly": "supported in part",
    "not": "not supported",
    "contradicted": "contradicted",
    "uncited": "no source cited",
    "unread": "source not read",
}
_LONGEST = 160  # characters of a sentence in a table


def rows(checked: Checked) -> list[tuple[str, ...]]:
    """Return the sentences that are not supported, in reading order, under :data:`COLUMNS`."""
    found: list[tuple[str, ...]] = []
    for own in checked.sentences:
        if own.status != "supported":
            short = shortened(tidy(own.sentence.text), _LONGEST)
            found.append((str(own.place + 1), own.status, _chance(own), short, own.reason))
    return found


def summary(checked: Checked) -> str:
    """Return ``20 sentences: 12 supported, …``, with the judge's name and how many sources could not be read."""
    counts = {name: number for name, number in checked.counts.items() if number}
    said = ", ".join(f"{number} {_WORDS.get(name, name)}" for name, number in counts.items()) or "none"
    unread = f"; {counted(len(checked.unread), 'source')} could not be read" if checked.unread else ""
    return f"{counted(len(checked.sentences), 'sentence')}: {said}, as {checked.judge} judges{unread}"


def to_record(checked: Checked) -> dict[str, Any]:
    """Return all of it as JSON values; ``sentence`` counts from 1, ``spans`` are the words that decided."""
    return {
        "schema": SCHEMA,
        "title": checked.article.title,
        "judge": checked.judge,
        "threshold": checked.threshold,
        "support": checked.support,
        "counts": checked.counts,
        "sentences": list(_records(checked)),
        "sources": [
            {"number": n, "title": own.title, "url": own.url, "also": own.also, "unread": checked.unread.get(own.id)}
            for n, own in enumerate(checked.article.references, 1)
        ],
    }


def to_json(checked: Checked) -> str:
    """Return the value of :func:`to_record` as JSON that can be written in UTF-8."""
    return encodable(json.dumps(to_record(checked), ensure_ascii=False, indent=1))


def to_page(checked: Checked) -> str:
    """Return the article as a page with remarks behind what is not supported, and cards with the words that decided."""
    remarks = {own.place: Remark(own.status, _said(own)) for own in checked.sentences if own.status != "supported"}
    how = (
        f"{summary(checked)}. A verdict is a judge's, with the chance that it gives to all of a sentence following "
        "from the passages behind its numbers; the words nearest to it are marked there. Look at them yourself."
    )
    return to_html(checked.article, how, remarks)


def _chance(own: CheckedSentence) -> str:
    return "" if own.probability is None else f"{own.probability:.2f}"


def _said(own: CheckedSentence) -> str:
    chance = f" ({_chance(own)})" if _chance(own) else ""
    return f"{_WORDS[own.status]}{chance}{f': {own.reason}' if own.reason else ''}"


def _records(checked: Checked) -> Iterator[dict[str, Any]]:
    numbers = number_references(checked.article)
    texts = {own.id: own.text for source in checked.article.sources for own in source.snippets}
    for own in checked.sentences:
        yield {
            "sentence": own.place + 1,
            "heading": own.heading,
            "text": tidy(own.sentence.text),
            "verdict": own.status,
            "probability": own.probability,
            "reason": own.reason,
            "sources": [
                {"number": numbers[one.source_id], "passage": texts.get(one.snippet_id, ""), "spans": one.spans}
                for one in own.sentence.citations
            ],
        }
