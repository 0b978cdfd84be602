"""Which passages each section is written from (paper section 3.4), for writers that are shown passages.

Whatever an interview answer cites reaches at least one section, whatever its likeness to a heading. What a heading
retrieves beside that has to be about the topic. A section that has room is shown what another one tells, marked so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from storm_pipeline.context import RunContext
from storm_pipeline.references.evidence import Evidence, PassageEvidence
from storm_pipeline.references.facts import names_topic
from storm_pipeline.references.passages import Passage, passages, with_neighbours
from storm_pipeline.text import word_count
from storm_pipeline.types import Conversation, Outline, Sentence, Snippet
from storm_pipeline.writers.findings import Matrix, findings_by_section, fit_of_titles
from storm_pipeline.writers.small_sections import merge_small

_ON_TOPIC = 0.5
"""A snippet that no interview cites is about the topic if it names it, or if its cosine to it is at least this share of
the best one's."""
_OVERFLOW = 1.5
"""Times its words of evidence a section takes of what interviews cite, before the next-best section gets the rest."""
_ALSO_FITS = 0.25
"""How much less than the best one a snippet may fit a section to be shown there where there is room."""
_TOLD_ELSEWHERE = 12
"""Findings of other sections that a section is told of, since they rest on passages that it is shown."""
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
        conversations: the interviews; what they cite of pages that left the store since is passed over.
        before: what was allocated before more was found; every snippet of it that the store has is allocated again.
    """
    if not outline.sections:
        return Evidence(outline, ())
    kept = frozenset(snippet.id for source in ctx.store.sources() for snippet in source.snippets)
    told = [_citing(conversation, kept) for conversation in conversations]
    again = sorted(before.snippet_ids() & kept) if before else []
    shares = _shares(ctx, outline, told, again)
    merged = merge_small(ctx, outline, shares)
    if merged != outline:
        shares = _shares(ctx, merged, told, again)
    return Evidence(merged, tuple(shares))


def survey(ctx: RunContext, draft: Outline, conversations: Sequence[Conversation]) -> str:
    """What the sources hold for each heading of a draft, one line a heading: ``History: 9 findings; titles``."""
    if not draft.sections:
        return "\n".join(dict.fromkeys(source.title for source in ctx.store.sources() if source.title))
    return "\n".join(
        f"{own.heading.title}: {len(own.findings)} findings of the interviews; "
        + "; ".join(dict.fromkeys(passage.title for passage in own.passages[:_TITLES] if passage.title))
        for own in _shares(ctx, draft, conversations)
    )


def _citing(conversation: Conversation, kept: frozenset[str]) -> Conversation:
    """The conversation with citations of these snippets alone; sentences that cited others only are left out."""
    turns = []
    for turn in conversation.turns:
        left = (replace(s, citations=tuple(c for c in s.citations if c.snippet_id in kept)) for s in turn.answer)
        answer = tuple(s for s, own in zip(left, turn.answer, strict=True) if s.citations or not own.citations)
        turns.append(replace(turn, answer=answer))
    return replace(conversation, turns=tuple(turns))


def _shares(
    ctx: RunContext,
    outline: Outline,
    conversations: Sequence[Conversation],
    again: Sequence[str] = (),
) -> list[PassageEvidence]:
    found = _candidates(ctx, outline, conversations, again)
    homes = _homes(ctx, found)
    shown = [
        PassageEvidence(heading, _as_passages(ctx, found, _shown(ctx, found, homes, section)))
        for section, heading in enumerate(outline.sections)
    ]
    ids = [own.snippet_ids() for own in shown]
    told = findings_by_section(ctx, outline, conversations, ids)
    shares = []
    for section, own in enumerate(shown):
        elsewhere = [
            (finding, shown[other].heading.title)
            for other, findings in enumerate(told)
            for finding in findings
            if other != section and any(c.snippet_id in ids[section] for c in finding.citations)
        ]
        shares.append(replace(own, findings=tuple(told[section]), told_elsewhere=tuple(elsewhere[:_TOLD_ELSEWHERE])))
    return _with_lengths(ctx, found, shares)


def _with_lengths(ctx: RunContext, found: _Candidates, shares: Sequence[PassageEvidence]) -> list[PassageEvidence]:
    """A length for each section: a part alike for all, and the rest by what the interviews found for it."""
    held = sum(word_count(snippet.text) for snippet in found.snippets)
    wanted = min(ctx.settings.article_words * _LONGER, held * _TOLD)
    own = [sum(word_count(finding.text) for finding in share.findings) for share in shares]
    weights = [_ALIKE / len(shares) + (1 - _ALIKE) * words / max(1, sum(own)) for words in own]
    return [
        replace(share, target_words=max(_SHORTEST, min(round(wanted * weight), round(_TOLD * share.words))))
        for share, weight in zip(shares, weights, strict=True)
    ]


def _candidates(
    ctx: RunContext,
    outline: Outline,
    conversations: Sequence[Conversation],
    again: Sequence[str],
) -> _Candidates:
    findings: dict[str, list[Sentence]] = {}
    for sentence in (s for c in conversations for turn in c.turns for s in turn.answer):
        for citation in sentence.citations:
            findings.setdefault(citation.snippet_id, []).append(sentence)
    for snippet_id in again:
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
    return np.asarray(np.maximum.reduceat(fit_of_titles(ctx, outline, vectors), starts, axis=1))


def _homes(ctx: RunContext, found: _Candidates) -> list[int]:
    """For each snippet that an answer cites the section that has to be shown it: the one that it fits best.

    A section that has its fill of such snippets leaves the rest to the next-best one.
    """
    words = [0 for _ in found.ranks]
    homes = [0] * found.required
    for i in sorted(range(found.required), key=lambda i: -found.fit[:, i].max()):
        ranked = [int(section) for section in np.argsort(-found.fit[:, i], kind="stable")]
        homes[i] = next((s for s in ranked if words[s] < _OVERFLOW * ctx.settings.evidence_words), ranked[0])
        words[homes[i]] += word_count(found.snippets[i].text)
    return homes


def _shown(ctx: RunContext, found: _Candidates, homes: Sequence[int], section: int) -> list[int]:
    """What a section is shown, best first: what it has to be, what its headings retrieve, what else fits."""
    fit = found.fit[section]
    required = sorted((i for i, home in enumerate(homes) if home == section), key=lambda i: -fit[i])
    best = max(fit, default=0.0)
    others = [i for i in np.argsort(-fit, kind="stable") if fit[i] >= best - _ALSO_FITS]
    words = sum(word_count(found.snippets[i].text) for i in required)
    shown = dict.fromkeys(required)
    for i in (*found.ranks[section], *map(int, others)):
        if words >= ctx.settings.evidence_words:
            break
        if i not in shown:
            shown[i] = None
            words += word_count(found.snippets[i].text)
    return list(shown)


def _as_passages(ctx: RunContext, found: _Candidates, positions: Sequence[int]) -> tuple[Passage, ...]:
    """The snippets with what stands beside them on their pages, pages in the order of their best snippet."""
    pages: dict[str, list[Snippet]] = {}
    for i in positions:
        pages.setdefault(found.snippets[i].source_id, []).append(found.snippets[i])
    return passages(s for page, own in pages.items() for s in with_neighbours(own, ctx.store.source(page).snippets))


def _in_context(snippet: Snippet) -> str:
    return f"{snippet.title}: {snippet.text}" if snippet.title else snippet.text
