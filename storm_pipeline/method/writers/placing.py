"""Places findings in sections: the outliner model reads the whole outline and the findings, with their sources.

Sentence encoders cannot decide well whether a review of a show belongs under "Reception" or "Runway show".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import dspy
import numpy as np

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.evidence import FindingNotes
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.findings import map_to_first
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Outline, Sentence, Snippet

_BATCH = 120  # maximum findings per call
_SOURCES = 3  # maximum sources named beside a finding
_MOST_LEFT_OUT = 0.5
"""Maximum share of the findings that may be left out; a model that names more of them is not believed."""


def place_findings(
    ctx: RunContext, outline: Outline, findings: Sequence[Sentence], notes: FindingNotes
) -> FindingNotes:
    """Return the notes with the outliner's placement, in batches of at most 120 findings; each sees those before it.

    If the model fails, which is recorded, findings stay unplaced from there on. If a finding is placed several times,
    the first place counts. With a single section, the model is not called.
    """
    if not findings or len(outline.sections) < 2:
        return notes
    places: dict[int, int] = {}
    groups: list[list[int]] = []
    try:
        for batch in np.array_split(np.arange(1, len(findings) + 1), -(-len(findings) // _BATCH)):
            reply = _ask(ctx, outline, findings, places, batch.tolist())
            for place in reply.places:
                if 0 <= place.section <= len(outline.sections):
                    for number in place.findings:
                        if 0 < number <= batch[-1]:
                            places.setdefault(number, place.section)
            groups += reply.same
    except ModelError as error:
        ctx.events.degraded(f"findings were placed in sections by likeness alone: {error}")
    titles = {findings[n - 1].text: outline.sections[section - 1].title for n, section in places.items() if section}
    left_out = accept_left_out((findings[n - 1].text for n, section in places.items() if not section), findings)
    noted = notes.after_merge(map_to_first(ctx, findings, groups))
    return replace(noted, sections=titles, left_out=(*notes.left_out, *left_out))


def accept_left_out(left_out: Iterable[str], findings: Sequence[Sentence]) -> tuple[str, ...]:
    """Return the findings that a model leaves out; empty if they are more than half of all."""
    texts = tuple(dict.fromkeys(left_out))
    return texts if len(texts) <= _MOST_LEFT_OUT * len(findings) else ()


def _ask(
    ctx: RunContext, outline: Outline, findings: Sequence[Sentence], places: Mapping[int, int], batch: Sequence[int]
) -> dspy.Prediction:
    placed = [
        f"{number}. {' '.join(f'[{n}] {findings[n - 1].text}' for n in sorted(places) if places[n] == number)}"
        for number in range(1, len(outline.sections) + 1)
    ]
    return ctx.ask(
        "outliner",
        ctx.programs.place,
        topic=ctx.brief.topic,
        outline=numbered_sections(outline),
        placed="\n".join(placed) if places else "",
        findings=with_sources(ctx, findings, batch),
    )


def numbered_sections(outline: Outline) -> str:
    """Return the sections as ``2. History (Floods; Repairs)`` lines, subheadings in brackets."""
    below = ["; ".join(title for title in heading.titles() if title != heading.title) for heading in outline.sections]
    titles = (f"{h.title} ({names})" if names else h.title for h, names in zip(outline.sections, below, strict=True))
    return "\n".join(f"{number}. {title}" for number, title in enumerate(titles, 1))


def with_sources(
    ctx: RunContext, findings: Sequence[Sentence], numbers: Sequence[int], pages: Mapping[str, int] | None = None
) -> str:
    """Return the findings of these numbers as ``[3] sentence (title, date; title)`` lines, with three sources at most.

    ``pages``: ids of the pages that the prompt lists → their numbers, which then replace their titles.
    """
    return "\n".join(f"[{n}] {findings[n - 1].text}{_sources(ctx, findings[n - 1], pages or {})}" for n in numbers)


def _sources(ctx: RunContext, finding: Sentence, pages: Mapping[str, int]) -> str:
    cited = {c.source_id: ctx.store.snippet(c.snippet_id) for c in finding.citations}
    labels = [f"page {pages[page]}" if page in pages else _title_and_date(snippet) for page, snippet in cited.items()]
    return f" ({'; '.join(labels[:_SOURCES])}{'; …' if labels[_SOURCES:] else ''})" if labels else ""


def _title_and_date(snippet: Snippet) -> str:
    return ", ".join(filter(None, (tidy(snippet.title) or snippet.url, snippet.published)))
