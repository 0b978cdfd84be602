"""Findings of the interviews: deduplicated, each assigned to one section, which gets the passages that they cite.

The outliner model places them, which reads the whole outline and the findings with their sources: sentence encoders
cannot decide well whether a review of a show belongs under "Reception" or "Runway show". Findings that it leaves out
are assigned by embedding.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import dspy
import numpy as np
import numpy.typing as npt

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.citations import cited_snippet_ids
from storm_pipeline.evidence.evidence import FindingNotes, PassageEvidence
from storm_pipeline.evidence.facts import without_topic
from storm_pipeline.evidence.passages import Passage, passages
from storm_pipeline.evidence.retrieval import Vector, Vectors
from storm_pipeline.evidence.retrieval.embedder import TINY, project_out
from storm_pipeline.method.context import RunContext
from storm_pipeline.text.quantities import missing
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Conversation, Outline, Sentence

Matrix = npt.NDArray[np.float64]
_MANY = 24  # minimum findings for removing their common direction from the comparison with headings
_SAME_FINDING = 0.92  # minimum cosine at which two sentences with the same numbers count as one finding
_BATCH = 120  # maximum findings per call, and near ones that the numbers of one are compared with
_SOURCES = 3  # maximum sources named beside a finding
_MOST_LEFT_OUT = 0.5
"""Maximum share of the findings that may be left out; a model that names more of them is not believed."""


def fit_of_titles(ctx: RunContext, outline: Outline, vectors: Vectors, shared: Vector | None = None) -> Matrix:
    """Compute sections × texts: mean of the cosines to the heading and to the section's nearest title.

    Half of the section's mean is subtracted, so that broad headings do not attract everything.

    Args:
        vectors: embeddings of the texts, one row per text.
        shared: direction in which neither titles nor texts are compared, a unit vector.
    """
    rows = []
    texts = vectors if shared is None else project_out(shared, vectors)
    for section in outline.sections:
        titles = ctx.store.embed([without_topic(ctx.brief, title) for title in section.titles()])
        cosine = (titles if shared is None else project_out(shared, titles)) @ texts.T
        rows.append((cosine[0] + cosine.max(axis=0)) / 2)
    fit = np.asarray(rows, dtype=np.float64)
    return np.asarray(fit - fit.mean(axis=1, keepdims=True) / 2)


def fit_of_findings(ctx: RunContext, outline: Outline, findings: Sequence[Sentence]) -> Matrix:
    """Compute sections × findings as :func:`fit_of_titles`, with the direction common to all findings projected out.

    Otherwise a heading that repeats the topic in other words attracts most findings. A few findings are compared as
    they are, since they have too little in common.
    """
    vectors = ctx.store.embed([finding.text for finding in findings])
    if len(findings) < _MANY:
        return fit_of_titles(ctx, outline, vectors)
    shared = vectors.mean(axis=0)
    return fit_of_titles(ctx, outline, vectors, shared / max(float(np.linalg.norm(shared)), TINY))


def distinct_findings(ctx: RunContext, conversations: Sequence[Conversation]) -> tuple[Sentence, ...]:
    """Return the distinct sentences of all interview answers; duplicates are merged with all their citations."""
    sentences = list(dict.fromkeys(s for c in conversations for turn in c.turns for s in turn.answer))
    if not sentences:
        return ()
    vectors, language = ctx.store.embed([sentence.text for sentence in sentences]), ctx.brief.language
    distinct: dict[int, Sentence] = {}
    for i, new in enumerate(sentences):
        near = (j for j in np.flatnonzero(vectors[:i] @ vectors[i] >= _SAME_FINDING).tolist() if j in distinct)
        same = next((j for j in islice(near, _BATCH) if _has_same_numbers(sentences[j].text, new.text, language)), None)
        if same is None:
            distinct[i] = new
        else:
            both = dict.fromkeys((*distinct[same].citations, *new.citations))
            distinct[same] = replace(distinct[same], citations=tuple(both))
    return tuple(distinct.values())


def map_to_first(ctx: RunContext, findings: Sequence[Sentence], groups: Iterable[Iterable[int]]) -> dict[str, str]:
    """Map the text of each repeated finding to the text of the first one of its group.

    A finding with a number that the first one lacks is not merged.

    ``groups``: numbers of findings, from 1; others are ignored.
    """
    language, same = ctx.brief.language, dict[int, int]()
    for group in groups:
        group_positions = [number - 1 for number in dict.fromkeys(group) if 0 < number <= len(findings)]
        for other in group_positions[1:]:
            kept = same.get(group_positions[0], group_positions[0])
            is_free = other != kept and other not in same and other not in same.values()
            if is_free and not missing(findings[other].text, [findings[kept].text], language=language):
                same[other] = kept
    return {findings[other].text: findings[kept].text for other, kept in same.items()}


def merge_findings(findings: Sequence[Sentence], same: Mapping[str, str]) -> tuple[Sentence, ...]:
    """Merge each repeated finding into the kept one, with all citations."""
    by_text = {finding.text: finding for finding in findings}
    for text, kept in same.items():
        if text in by_text and kept in by_text:
            both = dict.fromkeys((*by_text[kept].citations, *by_text.pop(text).citations))
            by_text[kept] = replace(by_text[kept], citations=tuple(both))
    return tuple(by_text.values())


def findings_by_section(
    ctx: RunContext, outline: Outline, findings: Sequence[Sentence], notes: FindingNotes
) -> list[list[Sentence]]:
    """Return each section's findings in the order of the notes, then those not in it, best fit first.

    Unplaced findings go to the section that they fit best, and one that contradicts another to the other's section. The
    section in which one is placed may have become a subsection.
    """
    sections: list[list[Sentence]] = [[] for _ in outline.sections]
    if not findings or not sections:
        return sections
    fit = fit_of_findings(ctx, outline, findings)
    section_of = {title: i for i, heading in reversed(list(enumerate(outline.sections))) for title in heading.titles()}
    where = {finding.text: int(fit[:, i].argmax()) for i, finding in enumerate(findings)}
    where |= {text: section_of[title] for text, title in notes.sections.items() if title in section_of}
    where |= {other: where[first] for first, other in notes.contradicting if first in where}
    for i in np.argsort(-fit.max(axis=0), kind="stable"):
        sections[where[findings[i].text]].append(findings[i])
    rank = {text: place for place, text in enumerate(notes.order)}
    return [sorted(section, key=lambda finding: rank.get(finding.text, len(rank))) for section in sections]


def least_fitting(ctx: RunContext, outline: Outline, findings: Sequence[Sentence], number: int) -> list[Sentence]:
    """Return the findings that match the headings worst, worst first."""
    if not findings or not outline.sections:
        return []
    fit = fit_of_findings(ctx, outline, findings).max(axis=0)
    return [findings[i] for i in np.argsort(fit, kind="stable")[:number]]


def _has_same_numbers(first: str, second: str, language: str) -> bool:
    return not missing(first, [second], language=language) and not missing(second, [first], language=language)


def with_excerpts(shares: Sequence[PassageEvidence], language: str) -> list[PassageEvidence]:
    """Return the sections' evidence, each passage whole in one section, in part or not at all in the others.

    A passage is whole in the section with most own findings that cite it (the first of several); other sections get
    only those of its snippets that their own findings cite. A section without own findings gets all passages whole:
    excerpts would make it repeat the other sections. ``language``: of the article.
    """
    has = [frozenset[str]().union(*(passage.snippet_ids for passage in share.passages)) for share in shares]
    cited = [[cited_snippet_ids([finding]) for finding in share.findings] for share in shares]

    def claim(section: int, passage: frozenset[str]) -> tuple[int, int]:
        return sum(not passage.isdisjoint(ids) for ids in cited[section]), -section

    def is_whole(section: int, passage: Passage) -> bool:
        text, ids = {snippet.id for snippet in passage.snippets}, passage.snippet_ids
        others = (claim(other, ids) for other in range(len(shares)) if other != section and text <= has[other])
        return not shares[section].findings or all(other < claim(section, ids) for other in others)

    excerpts = []
    for section, share in enumerate(shares):
        needed = frozenset[str]().union(*cited[section])
        parts = ((p,) if is_whole(section, p) else _needed_parts(p, needed, language) for p in share.passages)
        excerpts.append(_with_passages(share, tuple(part for of_passage in parts for part in of_passage)))
    return excerpts


def _needed_parts(passage: Passage, needed: frozenset[str], language: str) -> tuple[Passage, ...]:
    """Return a passage's needed snippets as passages, overlapping ones joined; the whole passage if a copy is cited."""
    cited = [snippet for snippet in passage.snippets if snippet.id in needed]
    if any(copy.id in needed for copy in passage.copies):
        return (passage,)
    return passages(cited, language=language) or ((passage,) if cited else ())


def _with_passages(share: PassageEvidence, kept: tuple[Passage, ...]) -> PassageEvidence:
    """Return the evidence with these passages, and only those findings of other sections that cite them."""
    ids = frozenset[str]().union(*(passage.snippet_ids for passage in kept))
    related = tuple(finding for finding in share.related if not ids.isdisjoint(cited_snippet_ids([finding])))
    return replace(share, passages=kept, related=related)


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
    about = {page: (tidy(snippet.title) or snippet.url, snippet.published) for page, snippet in cited.items()}
    labels = [f"page {pages[page]}" if page in pages else ", ".join(filter(None, about[page])) for page in cited]
    return f" ({'; '.join(labels[:_SOURCES])}{'; …' if labels[_SOURCES:] else ''})" if labels else ""
