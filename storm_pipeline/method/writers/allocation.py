"""Selects the passages that each section is written from (paper section 3.4), for writers that work from passages.

Every snippet that a finding cites reaches at least one section, however dissimilar it is to the headings, unless the
finding is left out. The pages of other retrieved snippets must be related to the topic. Sections may share passages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from storm_pipeline.evidence.cleaning import has_sentences
from storm_pipeline.evidence.editions import keep_citations
from storm_pipeline.evidence.evidence import NO_NOTES, Evidence, FindingNotes, PassageEvidence, words_of_sections
from storm_pipeline.evidence.passages import Passage, passages, with_neighbours
from storm_pipeline.evidence.subject import keep_relevant
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.findings import (
    Matrix,
    distinct_findings,
    findings_by_section,
    fit_of_titles,
    least_fitting,
    merge_findings,
    place_findings,
    with_excerpts,
)
from storm_pipeline.method.writers.writing import merge_small
from storm_pipeline.run.concurrency import Tasks
from storm_pipeline.text.languages import count_words
from storm_pipeline.types import Conversation, Outline, Sentence, Snippet

_ALSO_FITS = 0.15  # largest gap to the best-fitting snippet at which a snippet may fill a section's spare room
_TITLE = np.float32(0.4)  # weight of the page title relative to the snippet, which seldom names its own subject
_TITLES = 6
_STRAYS = 8  # maximum number of findings shown to the outliner because no heading seems to cover them
_EQUAL_SHARE = 0.2  # share of the article's length that is split equally among the sections
_FILLED = 0.5  # share of a section's room that snippets fill which no finding cites
_ENOUGH = 300  # words of the snippets cited by a section's findings from which it needs few others
_FIRST = 4
"""Number of first results of a section's headings that it is shown even if they fit another section better."""
_SNIPPETS = 16  # minimum snippets retrieved for a section
_WORDS_PER_SNIPPET = 100  # words of evidence per snippet that is retrieved for a section


@dataclass(frozen=True)
class _Candidates:
    """Candidate snippets for the sections, the ones cited by interview answers first."""

    snippets: tuple[Snippet, ...]  # without duplicates
    cited: int  # number of leading snippets that answers cite
    off_topic: int  # number of retrieved snippets whose pages are not related to the topic
    # for each section, positions of the snippets that its headings retrieve, best first
    ranks: tuple[tuple[int, ...], ...]
    fit: Matrix  # sections × snippets, similarity less half of the section's mean


def allocate(
    ctx: RunContext, outline: Outline, conversations: Sequence[Conversation], notes: FindingNotes = NO_NOTES
) -> Evidence:
    """Allocate passages to every section; sections with hardly any are merged into their neighbours.

    Citations of removed pages are ignored. ``notes``: of the conversations' findings; without placements, the outliner
    is asked.
    """
    if not outline.sections:
        return Evidence(outline, ())
    kept = frozenset(snippet.id for source in ctx.store.sources() for snippet in source.snippets)
    available = [
        talk.with_answers(lambda s: keep_citations(s, lambda c: c.snippet_id in kept)) for talk in conversations
    ]
    merged = merge_findings(distinct_findings(ctx, available), notes.same)
    findings = [finding for finding in merged if finding.text not in notes.left_out]
    looked_up = bool(notes.sections)  # the model that placed the findings also asked for missing points
    with Tasks(1) as tasks:  # while the model places the findings
        candidates = tasks.start(_candidates, ctx, outline, available)
        notes = notes if looked_up else place_findings(ctx, outline, findings, notes)
    used = [f for f in merge_findings(findings, notes.same) if f.text not in notes.left_out]
    unplaced = sum(finding.text not in notes.sections for finding in used)
    ctx.events.count(off_topic=candidates.result().off_topic, left_out=len(set(notes.left_out)), unplaced=unplaced)
    shares = _shares(ctx, outline, used, notes, candidates.result(), looked_up=looked_up)
    fewer = merge_small(ctx, outline, shares)
    if fewer != outline:
        shares = _shares(ctx, fewer, used, notes, _candidates(ctx, fewer, available), looked_up=looked_up)
    shares = _with_lengths(ctx, with_excerpts(shares, ctx.brief.language))
    ctx.store.keep(s for share in shares for passage in share.passages for s in passage.snippets)  # may be cited
    return Evidence(fewer, tuple(shares))


def survey(ctx: RunContext, draft: Outline, conversations: Sequence[Conversation]) -> str:
    """Summarise the sources for each heading of a draft, one line each: ``History: 9 findings; titles``.

    The last line lists the findings that match the headings worst.
    """
    if not draft.sections:
        return "\n".join(dict.fromkeys(source.title for source in ctx.store.sources() if source.title))
    findings = distinct_findings(ctx, conversations)
    lines = [
        f"{share.heading.title}: {len(share.findings)} findings of the interviews; "
        + "; ".join(dict.fromkeys(passage.title for passage in share.passages[:_TITLES] if passage.title))
        for share in _shares(ctx, draft, findings, NO_NOTES, _candidates(ctx, draft, conversations))
    ]
    strays = least_fitting(ctx, draft, findings, _STRAYS)
    return "\n".join([*lines, *(["Least like any heading: " + " ".join(s.text for s in strays)] if strays else [])])


def _shares(
    ctx: RunContext,
    outline: Outline,
    distinct: Sequence[Sentence],
    notes: FindingNotes,
    candidates: _Candidates,
    *,
    looked_up: bool = False,
) -> list[PassageEvidence]:
    findings = findings_by_section(ctx, outline, distinct, notes)
    required = _must_show(candidates, findings)
    others = [_fill_candidates(ctx, candidates, required, i, looked_up=looked_up) for i in range(len(required))]
    every = [_as_passages(ctx, candidates, positions, more) for positions, more in zip(required, others, strict=True)]
    shares: list[PassageEvidence] = []
    for heading, shown, assigned in zip(outline.sections, every, findings, strict=True):
        ids = frozenset[str]().union(*(passage.snippet_ids for passage in shown))
        near = (f for in_section in findings for f in in_section if any(c.snippet_id in ids for c in f.citations))
        related = tuple(finding for finding in near if finding not in assigned)
        shares.append(PassageEvidence(heading, shown, tuple(assigned), related, notes=notes))
    return shares


def _with_lengths(ctx: RunContext, shares: Sequence[PassageEvidence]) -> list[PassageEvidence]:
    """Set target lengths: by the shares in the notes where every section has one.

    Else an equal part for each section, and the rest in proportion to their findings; without findings, as in
    baselines, every section has the same part, as far as its passages support that.
    """
    lengths = [sum(count_words(finding.text) for finding in share.findings) or 1 for share in shares]
    equal = [_EQUAL_SHARE / len(shares) + (1 - _EQUAL_SHARE) * words / sum(lengths) for words in lengths]
    chosen = [sum(share.notes.shares.get(title, 0) for title in share.heading.titles()) for share in shares]
    parts = chosen if all(chosen) else equal
    words = words_of_sections(ctx.brief.length, parts, [share.words for share in shares])
    return [replace(share, target_words=number) for share, number in zip(shares, words, strict=True)]


def _candidates(ctx: RunContext, outline: Outline, conversations: Sequence[Conversation]) -> _Candidates:
    """Return the snippets that the answers cite, and those that headings retrieve."""
    findings: dict[str, list[Sentence]] = {}
    for sentence in (s for c in conversations for turn in c.turns for s in turn.answer):
        for citation in sentence.citations:
            findings.setdefault(citation.snippet_id, []).append(sentence)
    required = [ctx.store.snippet(snippet_id) for snippet_id in findings]
    needs = [[f"{ctx.brief.topic}: {title}" for title in section.titles()] for section in outline.sections]
    depth = max(_SNIPPETS, ctx.settings.evidence_words // _WORDS_PER_SNIPPET)
    retrieved = [ctx.store.search_fused(need, depth) for need in needs]
    distinct = dict.fromkeys(s for ranked in retrieved for s in ranked if s.id not in findings)
    relevant = keep_relevant(ctx.brief, distinct, ctx.store.embed)
    others = relevant or tuple(distinct)  # without related pages, only similarity to the headings counts
    snippets = (*required, *others)
    position = {snippet.id: i for i, snippet in enumerate(snippets)}
    return _Candidates(
        snippets,
        len(required),
        len(distinct) - len(others),
        tuple(tuple(position[s.id] for s in ranked if s.id in position) for ranked in retrieved),
        _fit(ctx, outline, snippets, findings),
    )


def _fit(ctx: RunContext, outline: Outline, snippets: Sequence[Snippet], findings: dict[str, list[Sentence]]) -> Matrix:
    """Return how well each snippet, or its best finding, fits each section (see :func:`fit_of_titles`)."""
    if not snippets:
        return np.zeros((len(outline.sections), 0))
    texts = [(i, sentence.text) for i, snippet in enumerate(snippets) for sentence in findings.get(snippet.id, ())]
    vectors = ctx.store.embed([s.text for s in snippets]) + _TITLE * ctx.store.embed([s.title for s in snippets])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    both = fit_of_titles(ctx, outline, np.concatenate([vectors, ctx.store.embed([text for _, text in texts])]))
    fit, fit_of_findings = np.split(both, [len(snippets)], axis=1)
    for (i, _), column in zip(texts, fit_of_findings.T, strict=True):
        fit[:, i] = np.maximum(fit[:, i], column)
    return fit


def _must_show(candidates: _Candidates, findings: Sequence[Sequence[Sentence]]) -> list[list[int]]:
    """Return the positions of the snippets that each section has to show, which its own findings cite."""
    position = {snippet.id: i for i, snippet in enumerate(candidates.snippets)}
    required = [dict.fromkeys(position[c.snippet_id] for finding in few for c in finding.citations) for few in findings]
    return [sorted(positions, key=candidates.fit[s].__getitem__, reverse=True) for s, positions in enumerate(required)]


def _fill_candidates(
    ctx: RunContext, candidates: _Candidates, required: Sequence[Sequence[int]], section: int, *, looked_up: bool
) -> list[int]:
    """Return snippets for a section's remaining room: those that its headings retrieve, then those that fit it best.

    If interviews found enough for the section, only half of the room is filled, with snippets that no other section has
    to show; unless they are the first that its headings retrieve, they also fit no other section better. Menus and
    lists are shown only if they are among these first. If missing points were looked up, a section with enough gets
    no others.
    """
    fit = candidates.fit[section]
    best = max(fit, default=0.0)
    fitting = (int(i) for i in np.argsort(-fit, kind="stable") if fit[i] >= best - _ALSO_FITS)
    words = sum(count_words(candidates.snippets[i].text) for i in required[section])
    is_found = words >= _ENOUGH
    if is_found and looked_up:
        return []
    room = ctx.settings.evidence_words * (_FILLED if is_found else 1)
    required_anywhere = {i for positions in required for i in positions}
    taken = {
        *(required_anywhere if is_found else ()),
        *(i for i in range(candidates.cited) if i not in required_anywhere),
    }
    first = set(candidates.ranks[section][:_FIRST])
    others: dict[int, None] = {}
    retrieved = sorted(candidates.ranks[section], key=lambda i: not has_sentences(candidates.snippets[i].text))
    for i in (*retrieved, *fitting):
        if words >= room:
            break
        elsewhere = is_found and i not in first and int(candidates.fit[:, i].argmax()) != section
        is_prose = has_sentences(candidates.snippets[i].text)
        if i not in taken and not elsewhere and i not in others and (i in first or is_prose):
            others[i] = None
            words += count_words(candidates.snippets[i].text)
    return list(others)


def _as_passages(
    ctx: RunContext, candidates: _Candidates, required: Sequence[int], others: Sequence[int]
) -> tuple[Passage, ...]:
    """Make passages, pages ordered by their best snippet; required snippets get neighbours where there is room."""
    pages: dict[str, list[Snippet]] = {}
    for i in (*required, *others):
        pages.setdefault(candidates.snippets[i].source_id, []).append(candidates.snippets[i])
    cited = {candidates.snippets[i] for i in required}
    room = ctx.settings.evidence_words - sum(count_words(s.text) for of_page in pages.values() for s in of_page)
    shown: dict[Snippet, None] = {}
    for page, of_page in pages.items():
        shown |= dict.fromkeys(of_page)
        near = [s for s in ctx.store.source(page).snippets if s.place is not None or has_sentences(s.text)]
        for beside in with_neighbours([s for s in of_page if s in cited], near):
            words = count_words(beside.text)
            if beside not in shown and words <= room:
                shown[beside] = None
                room -= words
    return passages(shown, language=ctx.brief.language)
