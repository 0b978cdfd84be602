"""Which passages each section is written from (paper section 3.4), for writers that are shown passages.

Whatever an interview answer cites reaches at least one section, whatever its likeness to a heading. What a heading
retrieves beside that has to be about the topic. A section that has room is shown what another one tells, marked so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from storm_pipeline.context import RunContext
from storm_pipeline.references.evidence import Evidence, PassageEvidence
from storm_pipeline.references.facts import names_topic, without_topic
from storm_pipeline.references.passages import Passage, passages, with_neighbours
from storm_pipeline.text import word_count
from storm_pipeline.types import Conversation, Heading, Outline, Sentence, Snippet

Matrix = npt.NDArray[np.float64]
_ON_TOPIC = 0.5
"""A snippet that no interview cites is about the topic if it names it, or if its cosine to it is at least this share of
the best one's."""
_ALSO_FITS = 0.25
"""How much less than the best one a snippet may fit a section to be shown there where there is room."""
_SAME_FINDING = 0.92
"""Cosine from which on two answers say the same."""
_TITLES = 6
_ALIKE = 0.4
"""Share of the article's length that is given to all sections alike."""
_LONGER = 1.15
"""Times the wanted length that sections are asked for: writers stay below, and repetition goes."""
_TOLD = 0.7
"""Words of text that a word of evidence can give."""
_SHORTEST = 60
_RETRIEVED = 100
"""One snippet is retrieved with a section's headings for so many words of evidence."""
_TOO_LITTLE = 60
"""Words of passages below which a section is merged into its neighbour before anything is written."""


@dataclass(frozen=True)
class _Candidates:
    """Snippets that sections may be shown; those that interview answers cite come first.

    Attributes:
        snippets: each once.
        findings: for each the answer sentences that cite it.
        required: how many of them are cited.
        ranks: for each section the positions of what its headings retrieve, best first.
        fit: sections × snippets, likeness above the section's mean.
    """

    snippets: tuple[Snippet, ...]
    findings: tuple[tuple[Sentence, ...], ...]
    required: int
    ranks: tuple[tuple[int, ...], ...]
    fit: Matrix


def allocate(
    ctx: RunContext,
    outline: Outline,
    conversations: Sequence[Conversation],
    before: Evidence[PassageEvidence] | None = None,
) -> Evidence[PassageEvidence]:
    """Passages for every section, sections with next to nothing merged into their neighbours.

    Args:
        ctx: the run.
        outline: of the article.
        conversations: the interviews.
        before: what was allocated before more was found; every snippet of it is allocated again.
    """
    if not outline.sections:
        return Evidence(outline, ())
    shares = _shares(ctx, outline, conversations, before)
    merged = _merge_small(ctx, outline, shares)
    if merged != outline:
        shares = _shares(ctx, merged, conversations, before)
    return Evidence(merged, tuple(shares))


def survey(ctx: RunContext, draft: Outline, conversations: Sequence[Conversation]) -> str:
    """What the sources hold for each heading of a draft, one line a heading: ``History: 9 findings; titles``."""
    if not draft.sections:
        return "\n".join(dict.fromkeys(source.title for source in ctx.store.sources() if source.title))
    return "\n".join(
        f"{own.heading.title}: {len(own.own_findings)} findings of the interviews; "
        + "; ".join(dict.fromkeys(passage.title for passage in own.passages[:_TITLES] if passage.title))
        for own in _shares(ctx, draft, conversations, None)
    )


def _shares(
    ctx: RunContext,
    outline: Outline,
    conversations: Sequence[Conversation],
    before: Evidence[PassageEvidence] | None,
) -> list[PassageEvidence]:
    found = _candidates(ctx, outline, conversations, before)
    told = findings_by_section(ctx, outline, conversations)
    required = _required(found, told)
    shares = []
    for section, heading in enumerate(outline.sections):
        shown = _as_passages(ctx, found, required[section], _others(ctx, found, required[section], section))
        ids = {c.snippet_id for passage in shown for c in passage.citations()}
        rest = [f for own in told for f in own if f not in told[section]]
        also = [finding for finding in rest if any(c.snippet_id in ids for c in finding.citations)]
        shares.append(PassageEvidence(heading, shown, (*told[section], *also), len(told[section])))
    return _with_lengths(ctx, found, shares)


def _with_lengths(ctx: RunContext, found: _Candidates, shares: Sequence[PassageEvidence]) -> list[PassageEvidence]:
    """A length for each section: a part alike for all, and the rest by what the interviews found for it."""
    held = sum(word_count(snippet.text) for snippet in found.snippets)
    wanted = min(ctx.settings.article_words * _LONGER, held * _TOLD)
    own = [sum(word_count(finding.text) for finding in share.own_findings) for share in shares]
    weights = [_ALIKE / len(shares) + (1 - _ALIKE) * words / max(1, sum(own)) for words in own]
    return [
        replace(share, target_words=max(_SHORTEST, min(round(wanted * weight), round(_TOLD * share.words))))
        for share, weight in zip(shares, weights, strict=True)
    ]


def _candidates(
    ctx: RunContext,
    outline: Outline,
    conversations: Sequence[Conversation],
    before: Evidence[PassageEvidence] | None,
) -> _Candidates:
    findings: dict[str, list[Sentence]] = {}
    for sentence in (s for c in conversations for turn in c.turns for s in turn.answer):
        for citation in sentence.citations:
            findings.setdefault(citation.snippet_id, []).append(sentence)
    for snippet_id in sorted(before.snippet_ids()) if before else ():
        findings.setdefault(snippet_id, [])
    required = [ctx.store.snippet(snippet_id) for snippet_id in findings]
    needs = [[f"{outline.topic}: {title}" for title in section.titles()] for section in outline.sections]
    depth = max(ctx.settings.section_snippets, ctx.settings.evidence_words // _RETRIEVED)
    retrieved = [ctx.store.search_fused(need, depth) for need in needs]
    others = _on_topic(ctx, outline.topic, [s for own in retrieved for s in own if s.id not in findings])
    snippets = (*required, *others)
    position = {snippet.id: i for i, snippet in enumerate(snippets)}
    return _Candidates(
        snippets,
        tuple(tuple(findings.get(snippet.id, ())) for snippet in snippets),
        len(required),
        tuple(tuple(position[s.id] for s in own if s.id in position) for own in retrieved),
        _fit(ctx, outline, snippets, findings),
    )


def _on_topic(ctx: RunContext, topic: str, snippets: Sequence[Snippet]) -> list[Snippet]:
    distinct = list(dict.fromkeys(snippets))
    if not distinct:
        return []
    likeness = ctx.store.embed([_in_context(s) for s in distinct]) @ ctx.store.embed([topic])[0]
    least = _ON_TOPIC * likeness.max()
    return [
        snippet
        for snippet, own in zip(distinct, likeness, strict=True)
        if own >= least or names_topic(f"{snippet.title} {snippet.text}", topic)
    ]


def _fit(ctx: RunContext, outline: Outline, snippets: Sequence[Snippet], findings: dict[str, list[Sentence]]) -> Matrix:
    """How well each snippet, or what answers make of it, fits each section, above what the section is like anyway."""
    if not snippets:
        return np.zeros((len(outline.sections), 0))
    texts = [[_in_context(s), *(told.text for told in findings.get(s.id, ()))] for s in snippets]
    vectors = ctx.store.embed([text for own in texts for text in own])
    starts = np.cumsum([0, *map(len, texts[:-1])])
    return np.asarray(np.maximum.reduceat(_fit_of_titles(ctx, outline, vectors), starts, axis=1))


def _fit_of_titles(ctx: RunContext, outline: Outline, vectors: npt.NDArray[np.float32]) -> Matrix:
    """Sections × texts: cosine to the heading and its nearest subheading, less half of the section's mean."""
    rows = []
    for section in outline.sections:
        titles = ctx.store.embed([without_topic(outline.topic, title) for title in section.titles()])
        cosine = titles @ vectors.T
        rows.append((cosine[0] + cosine.max(axis=0)) / 2)
    fit = np.asarray(rows, dtype=np.float64)
    return np.asarray(fit - fit.mean(axis=1, keepdims=True) / 2)


def _required(found: _Candidates, told: Sequence[Sequence[Sentence]]) -> list[list[int]]:
    """For each section what it has to be shown: all that its own findings rest on.

    What no finding rests on, but was shown before, goes where it fits best.
    """
    position = {snippet.id: i for i, snippet in enumerate(found.snippets)}
    required = [dict.fromkeys(position[c.snippet_id] for finding in own for c in finding.citations) for own in told]
    placed = {i for own in required for i in own}
    for i in range(found.required):
        if i not in placed:
            required[int(found.fit[:, i].argmax())][i] = None
    return [sorted(own, key=found.fit[section].__getitem__, reverse=True) for section, own in enumerate(required)]


def _others(ctx: RunContext, found: _Candidates, required: Sequence[int], section: int) -> list[int]:
    """What else a section is shown as far as there is room: what its headings retrieve, then what fits it."""
    fit = found.fit[section]
    best = max(fit, default=0.0)
    fitting = (int(i) for i in np.argsort(-fit, kind="stable") if fit[i] >= best - _ALSO_FITS)
    words = sum(word_count(found.snippets[i].text) for i in required)
    others: dict[int, None] = {}
    for i in (*found.ranks[section], *fitting):
        if words >= ctx.settings.evidence_words:
            break
        if i not in required and i not in others:
            others[i] = None
            words += word_count(found.snippets[i].text)
    return list(others)


def _as_passages(
    ctx: RunContext, found: _Candidates, required: Sequence[int], others: Sequence[int]
) -> tuple[Passage, ...]:
    """The snippets, pages in the order of their best one; those that findings rest on with what stands beside them."""
    pages: dict[str, list[Snippet]] = {}
    for i in (*required, *others):
        pages.setdefault(found.snippets[i].source_id, []).append(found.snippets[i])
    cited = {found.snippets[i] for i in required}
    shown = []
    for page, own in pages.items():
        beside = with_neighbours([s for s in own if s in cited], ctx.store.source(page).snippets)
        shown += list(dict.fromkeys((*own, *beside)))
    return passages(shown)


def findings_by_section(
    ctx: RunContext, outline: Outline, conversations: Sequence[Conversation]
) -> list[list[Sentence]]:
    """The sentences of all interview answers, each under the section that it fits best, most fitting first.

    What several answers say is told once, with all citations.
    """
    told = list(dict.fromkeys(s for c in conversations for turn in c.turns for s in turn.answer))
    sections: list[list[Sentence]] = [[] for _ in outline.sections]
    if not told:
        return sections
    vectors = ctx.store.embed([sentence.text for sentence in told])
    alike = vectors @ vectors.T
    distinct: dict[int, Sentence] = {}
    for i, sentence in enumerate(told):
        same = next((j for j in distinct if alike[i, j] >= _SAME_FINDING), None)
        if same is None:
            distinct[i] = sentence
        else:
            both = dict.fromkeys((*distinct[same].citations, *sentence.citations))
            distinct[same] = replace(distinct[same], citations=tuple(both))
    fit = _fit_of_titles(ctx, outline, vectors)
    for i in sorted(distinct, key=lambda i: -fit[:, i].max()):
        sections[int(fit[:, i].argmax())].append(distinct[i])
    return sections


def _merge_small(ctx: RunContext, outline: Outline, shares: Sequence[PassageEvidence]) -> Outline:
    """The outline in which a heading over next to nothing is a subheading of the section before it, or behind it."""
    kept: list[Heading] = []
    waiting: list[Heading] = []
    for own in shares:
        if own.words < _TOO_LITTLE:
            waiting.append(own.heading)
            if not kept:
                continue
        else:
            kept.append(own.heading)
        for heading in waiting:
            _tell(ctx, heading, kept[-1])
        kept[-1] = _under(kept[-1], waiting)
        waiting = []
    return Outline(outline.topic, tuple(kept)) if kept else outline


def _under(heading: Heading, others: Sequence[Heading]) -> Heading:
    return Heading(heading.title, (*heading.children, *(Heading(other.title) for other in others)))


def _tell(ctx: RunContext, heading: Heading, other: Heading) -> None:
    ctx.events.degraded(
        f"section {heading.title!r} became a part of {other.title!r} before writing: hardly anything that was found "
        "bears on it"
    )


def _in_context(snippet: Snippet) -> str:
    return f"{snippet.title}: {snippet.text}" if snippet.title else snippet.text
