"""Which passages each section is written from (paper section 3.4), for writers that are shown passages.

Whatever an interview answer cites reaches at least one section, whatever its likeness to a heading. What a heading
retrieves beside that has to be about the topic. Sections may be shown the same passages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from storm_pipeline.languages import count_words
from storm_pipeline.references.evidence import Evidence, PassageEvidence
from storm_pipeline.references.facts import names_topic
from storm_pipeline.references.introductions import introducing
from storm_pipeline.references.passages import Passage, passages, with_neighbours
from storm_pipeline.retrieval.embedder import Vectors
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Conversation, Outline, Sentence, Snippet
from storm_pipeline.writers.findings import (
    Matrix,
    distinct_findings,
    findings_by_section,
    fit_of_titles,
    least_fitting,
)
from storm_pipeline.writers.placement import place_findings
from storm_pipeline.writers.small_sections import merge_small

_ON_TOPIC = 0.5
"""A snippet that no interview cites is about the topic if it names it, or if its cosine to it is at least this share of
the best one's."""
_ALSO_FITS = 0.15
"""How much less than the best one a snippet may fit a section to be shown there where there is room."""
_TITLE = np.float32(0.4)
"""How much the title of its page counts beside a snippet, which seldom names what it is about."""
_TITLES = 6
_STRAYS = 8
"""Findings shown to the maker of the outline because no heading seems to cover them."""
_ALIKE = 0.6
"""Share of the article's length that is given to all sections alike."""
_LONGER = 1.15
"""Times the wanted length that sections are asked for: writers stay below, and repetition goes."""
_TOLD = 0.7
"""Words of text that a word of evidence can give."""
_SHORTEST = 60
_RETRIEVED = 100
"""One snippet is retrieved with a section's headings for so many words of evidence."""


@dataclass(frozen=True)
class _Learnt:
    """What there is to share among sections.

    Attributes:
        conversations: the interviews.
        findings: what their answers say, each once.
        placed: text of a finding → title of the section that it was given.
        again: ids of further snippets that have to be shown.
    """

    conversations: Sequence[Conversation]
    findings: Sequence[Sentence]
    placed: Mapping[str, str] = field(default_factory=dict)
    again: Sequence[str] = ()


@dataclass(frozen=True)
class _Candidates:
    """Snippets that sections may be shown; those that interview answers cite come first.

    Attributes:
        snippets: each once.
        required: how many of them are cited.
        ranks: for each section the positions of what its headings retrieve, best first.
        fit: sections × snippets, likeness above the section's mean.
    """

    snippets: tuple[Snippet, ...]
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
    findings = distinct_findings(ctx, told)
    placed = {f.text: own.heading.title for own in before.sections for f in own.own_findings} if before else {}
    placed |= place_findings(ctx, outline, [finding for finding in findings if finding.text not in placed])
    learnt = _Learnt(told, findings, placed, again)
    shares = _shares(ctx, outline, learnt)
    merged = merge_small(ctx, outline, shares)
    if merged != outline:
        shares = _shares(ctx, merged, learnt)
    return Evidence(merged, tuple(shares))


def survey(ctx: RunContext, draft: Outline, conversations: Sequence[Conversation]) -> str:
    """What the sources hold for each heading of a draft, one line a heading: ``History: 9 findings; titles``.

    A last line has the findings that are least like any heading.
    """
    if not draft.sections:
        return "\n".join(dict.fromkeys(source.title for source in ctx.store.sources() if source.title))
    findings = distinct_findings(ctx, conversations)
    lines = [
        f"{own.heading.title}: {len(own.own_findings)} findings of the interviews; "
        + "; ".join(dict.fromkeys(passage.title for passage in own.passages[:_TITLES] if passage.title))
        for own in _shares(ctx, draft, _Learnt(conversations, findings))
    ]
    strays = least_fitting(ctx, draft, findings, _STRAYS)
    return "\n".join([*lines, *(["Least like any heading: " + " ".join(s.text for s in strays)] if strays else [])])


def _citing(conversation: Conversation, kept: frozenset[str]) -> Conversation:
    """The conversation with citations of these snippets alone; sentences that cited others only are left out."""
    turns = []
    for turn in conversation.turns:
        left = (replace(s, citations=tuple(c for c in s.citations if c.snippet_id in kept)) for s in turn.answer)
        answer = tuple(s for s, own in zip(left, turn.answer, strict=True) if s.citations or not own.citations)
        turns.append(replace(turn, answer=answer))
    return replace(conversation, turns=tuple(turns))


def _shares(ctx: RunContext, outline: Outline, learnt: _Learnt) -> list[PassageEvidence]:
    found = _candidates(ctx, outline, learnt.conversations, learnt.again)
    told = findings_by_section(ctx, outline, learnt.findings, learnt.placed)
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
    held = sum(count_words(snippet.text) for snippet in found.snippets)
    wanted = min(ctx.settings.article_words * _LONGER, held * _TOLD)
    own = [sum(count_words(finding.text) for finding in share.own_findings) for share in shares]
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
        len(required),
        tuple(tuple(position[s.id] for s in own if s.id in position) for own in retrieved),
        _fit(ctx, outline, snippets, findings),
    )


def _on_topic(ctx: RunContext, topic: str, snippets: Sequence[Snippet]) -> list[Snippet]:
    distinct = list(dict.fromkeys(snippets))
    if not distinct:
        return []
    likeness = _in_context(ctx, distinct) @ ctx.store.embed([topic])[0]
    least = _ON_TOPIC * likeness.max()
    return [
        snippet
        for snippet, own in zip(distinct, likeness, strict=True)
        if own >= least or names_topic(f"{snippet.title} {snippet.text}", topic, ctx.settings.article_language)
    ]


def _fit(ctx: RunContext, outline: Outline, snippets: Sequence[Snippet], findings: dict[str, list[Sentence]]) -> Matrix:
    """How well each snippet, or what answers make of it, fits each section, above what the section is like anyway."""
    if not snippets:
        return np.zeros((len(outline.sections), 0))
    told = [(i, sentence.text) for i, snippet in enumerate(snippets) for sentence in findings.get(snippet.id, ())]
    vectors = [_in_context(ctx, snippets), ctx.store.embed([text for _, text in told])]
    both = fit_of_titles(ctx, outline, np.concatenate(vectors))
    fit, fit_of_findings = np.split(both, [len(snippets)], axis=1)
    for (i, _), own in zip(told, fit_of_findings.T, strict=True):
        fit[:, i] = np.maximum(fit[:, i], own)
    return fit


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
    words = sum(count_words(found.snippets[i].text) for i in required)
    others: dict[int, None] = {}
    for i in (*found.ranks[section], *fitting):
        if words >= ctx.settings.evidence_words:
            break
        if i not in required and i not in others:
            others[i] = None
            words += count_words(found.snippets[i].text)
    return list(others)


def _as_passages(
    ctx: RunContext, found: _Candidates, required: Sequence[int], others: Sequence[int]
) -> tuple[Passage, ...]:
    """The snippets, pages in the order of their best one; those that findings rest on with what stands beside them.

    What introduces the people whom they name is added.
    """
    pages: dict[str, list[Snippet]] = {}
    for i in (*required, *others):
        pages.setdefault(found.snippets[i].source_id, []).append(found.snippets[i])
    cited = {found.snippets[i] for i in required}
    shown = []
    for page, own in pages.items():
        known = ctx.store.source(page).snippets
        beside = with_neighbours([s for s in own if s in cited], known)
        near = tuple(dict.fromkeys((*own, *beside)))
        shown += [*near, *introducing(near, known)]
    return passages(shown)


def _in_context(ctx: RunContext, snippets: Sequence[Snippet]) -> Vectors:
    """Unit vectors of snippets, drawn to that of their page's title; the store has most of both by now."""
    vectors = ctx.store.embed([s.text for s in snippets]) + _TITLE * ctx.store.embed([s.title for s in snippets])
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
