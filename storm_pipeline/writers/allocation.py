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
from storm_pipeline.references.passages import Passage, passages
from storm_pipeline.text import word_count
from storm_pipeline.types import Conversation, Heading, Outline, Sentence, Snippet

Matrix = npt.NDArray[np.float64]
_ON_TOPIC = 0.5
"""A snippet that no interview cites is about the topic if it names it, or if its cosine to it is at least this share of
the best one's."""
_OVERFLOW = 1.5
"""Times its words of evidence a section takes of what interviews cite, before the next-best section gets the rest."""
_ALSO_FITS = 0.08
"""How much less than in its own section a snippet may fit in another one to be shown there too."""
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
    """What the sources hold for each heading of a draft, one line a heading: ``History: 900 words; titles``."""
    if not draft.sections:
        return "\n".join(dict.fromkeys(source.title for source in ctx.store.sources() if source.title))
    shares = _shares(ctx, draft, conversations, None)
    return "\n".join(
        f"{own.heading.title}: {own.words} words; {'; '.join(dict.fromkeys(p.title for p in own.passages if p.title))}"
        for own in shares
    )


def _shares(
    ctx: RunContext,
    outline: Outline,
    conversations: Sequence[Conversation],
    before: Evidence[PassageEvidence] | None,
) -> list[PassageEvidence]:
    found = _candidates(ctx, outline, conversations, before)
    own = _primary(ctx, found)
    shown = [_with_room(ctx, found, own, section) for section in range(len(outline.sections))]
    home = {i: section for section, positions in enumerate(own) for i in positions}
    shares = [_evidence(outline, section, found, positions, home) for section, positions in enumerate(shown)]
    return _with_lengths(ctx, shares)


def _with_lengths(ctx: RunContext, shares: Sequence[PassageEvidence]) -> list[PassageEvidence]:
    """A length for each section: its share of the article's by its evidence, and no more than that can fill."""
    own = [_own_words(share) for share in shares]
    total = max(1, sum(own))
    wanted = ctx.settings.article_words * _LONGER
    lengths = [min(round(wanted * words / total), round(_TOLD * words)) for words in own]
    return [replace(s, target_words=max(_SHORTEST, n)) for s, n in zip(shares, lengths, strict=True)]


def _own_words(share: PassageEvidence) -> int:
    """Words of the passages that no other section tells."""
    elsewhere = {passage for passage, _ in share.told_elsewhere}
    return sum(passage.words for passage in share.passages if passage.id not in elsewhere)


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
    rows = []
    for section in outline.sections:
        titles = ctx.store.embed([without_topic(outline.topic, title) for title in section.titles()])
        cosine = titles @ vectors.T
        rows.append(np.maximum.reduceat((cosine[0] + cosine.max(axis=0)) / 2, starts))
    fit = np.asarray(rows, dtype=np.float64)
    return np.asarray(fit - fit.mean(axis=1, keepdims=True) / 2)


def _primary(ctx: RunContext, found: _Candidates) -> list[list[int]]:
    """Each section's own snippets: what is cited goes where it fits best and there is room, then what was retrieved."""
    sections = range(len(found.ranks))
    own: list[list[int]] = [[] for _ in sections]
    words = [0 for _ in sections]
    limit = ctx.settings.evidence_words

    def give(i: int, section: int) -> None:
        own[section].append(i)
        words[section] += word_count(found.snippets[i].text)

    for i in sorted(range(found.required), key=lambda i: -found.fit[:, i].max()):
        ranked = np.argsort(-found.fit[:, i], kind="stable")
        give(i, next((int(s) for s in ranked if words[s] < _OVERFLOW * limit), int(ranked[0])))
    best = found.fit.argmax(axis=0) if found.snippets else ()
    for section in sections:
        for i in found.ranks[section]:
            if i >= found.required and best[i] == section and words[section] < limit:
                give(i, section)
    return own


def _with_room(ctx: RunContext, found: _Candidates, own: Sequence[Sequence[int]], section: int) -> list[int]:
    """A section's own snippets, and as far as there is room those of others that its headings retrieve too."""
    shown = list(own[section])
    words = sum(word_count(found.snippets[i].text) for i in shown)
    for i in found.ranks[section]:
        fits = found.fit[section, i] >= found.fit[:, i].max() - _ALSO_FITS
        if words >= ctx.settings.evidence_words / 2:
            break
        if i not in shown and fits:
            shown.append(i)
            words += word_count(found.snippets[i].text)
    return shown


def _evidence(
    outline: Outline, section: int, found: _Candidates, positions: Sequence[int], home: dict[int, int]
) -> PassageEvidence:
    """Pages in the order of their best snippet, each page's text in one piece where it is."""
    ranked = sorted(positions, key=lambda i: (home.get(i) != section, -found.fit[section, i]))
    pages: dict[str, list[int]] = {}
    for i in ranked:
        pages.setdefault(found.snippets[i].source_id, []).append(i)
    shown = passages(found.snippets[i] for page in pages.values() for i in page)
    at = {found.snippets[i].id: home.get(i, section) for i in positions}
    findings = dict.fromkeys(f for i in ranked if home.get(i) == section for f in found.findings[i])
    elsewhere = tuple(
        (passage.id, outline.sections[homes[0]].title)
        for passage in shown
        if (homes := _homes(passage, at)) and section not in homes
    )
    return PassageEvidence(outline.sections[section], shown, tuple(findings), elsewhere)


def _homes(passage: Passage, at: dict[str, int]) -> list[int]:
    return [at[c.snippet_id] for c in passage.citations() if c.snippet_id in at]


def _merge_small(ctx: RunContext, outline: Outline, shares: Sequence[PassageEvidence]) -> Outline:
    """The outline in which a heading over next to nothing is a subheading of the section before it, or behind it."""
    kept: list[Heading] = []
    waiting: list[Heading] = []
    for own in shares:
        if _own_words(own) < _TOO_LITTLE:
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
