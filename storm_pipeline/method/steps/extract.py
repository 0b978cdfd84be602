"""Extracts, which consist of their sources' own sentences and ask no language model.

Not in the paper. Beside the topic's own page, pages on parts of it are told, under their titles or the
user's headings; the sentence encoder puts them in order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, takewhile
from math import ceil

import numpy as np

from storm_pipeline.evidence.citations import without_notes
from storm_pipeline.evidence.evidence import FEWEST_SENTENCES
from storm_pipeline.evidence.facts import Fact, facts_of
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.evidence.subject import Subject, keep_related, subject_of
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.article import as_article
from storm_pipeline.method.steps.outline import keep_outline
from storm_pipeline.method.steps.searching import nothing_found, search_all, search_with_topic, usable
from storm_pipeline.method.writers.writing import keep_section
from storm_pipeline.sources.search.registry import is_local, is_private_engine
from storm_pipeline.text.identity import is_wikipedia
from storm_pipeline.text.languages import stem_set
from storm_pipeline.text.words import word_count
from storm_pipeline.types import UNTITLED, Article, Body, Heading, Outline, Paragraph, Section, Sentence, Snippet

SHORTEST = 5
"""Minimum words of a usable sentence; a shorter text is mostly a heading."""
_PARAGRAPH = 3  # minimum sentences of a paragraph, if possible
_NOTE = (
    "An extract, made without a language model: its sentences are its sources', unchanged, chosen by the titles "
    "of their pages and by a sentence encoder. A language model writes in its own words."
)
_ALONE = " Nothing else that was found is on a part of the topic, so there are no sections."
_LICENCE = " Text from Wikipedia is available under CC BY-SA 4.0."
_DEPTH, _LOCAL_DEPTH = 8, 20  # depth of the search for the topic, and with a local engine
_HEADING_DEPTH = 2  # depth of the search for a heading
_LITTLE = 8  # minimum sentences that name the topic, below which a note warns of a short extract
_SECTIONS = 5  # maximum sentences of an extract's sections, as a multiple of ``section_facts``


@dataclass(frozen=True)
class Candidate:
    """A sentence of a source that an article may use."""

    fact: Fact
    place: tuple[int, int]  # numbers of its snippet and of the sentence
    opening: Fact  # the first usable sentence of its page if that is one passage, else the sentence itself
    nearness: float  # cosine to the topic, in [-1, 1]


def sentences_of(snippet: Snippet) -> list[Fact]:
    """Return the sentences of a snippet, in order, without headings in Markdown and its page's title."""
    return [fact for fact in facts_of(snippet) if not fact.text.startswith("#") and fact.text.rstrip(".") != fact.title]


def candidates(
    store: ReferenceStore, subject: Subject, snippets: Sequence[Snippet], headings: Sequence[str] = ()
) -> tuple[Candidate, ...]:
    """Return the usable sentences of related pages, nearest first, the subject's own page left out.

    Each text occurs once. A sentence of a page that was found as one passage has that passage's first sentence as its
    opening; its nearness to the topic is the mean of both, since the subject of a page counts for more than the
    sentence alone.

    ``headings``: the user's, which pages may be about, too.
    """
    rows: dict[str, tuple[Fact, tuple[int, int], Fact]] = {}
    pages = Counter(snippet.source_id for snippet in snippets)
    page = [snippet.text for snippet in snippets if snippet.source_id in subject.page_ids]
    heading_stems, page_stems = (
        stem_set(" ".join(texts), subject.language) for texts in (headings, [*headings, *page])
    )
    related = keep_related(subject, snippets, store)
    others = [snippet for snippet in related if snippet.source_id not in subject.page_ids]
    for number, snippet in enumerate(others):
        usable = _on_topic(subject, snippet, heading_stems, page_stems)
        for i, fact in enumerate(usable):
            rows.setdefault(fact.text, (fact, (number, i), usable[0] if pages[snippet.source_id] == 1 else fact))
    if not rows:
        return ()
    texts, openings = zip(*((fact.in_context, opening.in_context) for fact, _, opening in rows.values()), strict=True)
    vectors = store.embed([subject.with_definition, *texts, *openings])
    near = (vectors[1:] @ vectors[0]).reshape(2, -1).mean(axis=0)
    usable_sentences = (Candidate(*row, float(cosine)) for row, cosine in zip(rows.values(), near, strict=True))
    return tuple(sorted(usable_sentences, key=lambda candidate: -candidate.nearness))


def _on_topic(subject: Subject, snippet: Snippet, heading_stems: Set[str], page_stems: Set[str]) -> list[Fact]:
    """Return the sentences of a passage that are on the subject.

    All sentences of the user's documents. If the subject has no page of its own: the sentences that name it, or
    whose page's title does. If it has one: the first sentences, as long as they name it, of pages on a part of it. The
    title of such a page has its name and other words, all of them on its own page (``page_stems``); or, without the
    name, only words of the user's headings (``heading_stems``).
    """
    facts = [fact for fact in sentences_of(snippet) if word_count(fact.text) >= SHORTEST]
    if is_private_engine(snippet.engine):
        return facts
    if not subject.page_ids:
        return [fact for fact in facts if subject.is_named_in(fact.in_context)]
    part = stem_set(snippet.title, subject.language) - stem_set(subject.topic, subject.language)
    is_part = part and part <= (page_stems if subject.is_named_separately(snippet.title) else heading_stems)
    if not is_part or not subject.is_meant_in(snippet.text):
        return []
    return list(takewhile(lambda fact: subject.is_named_separately(fact.text, fact.title), facts))


def by_title(subject: Subject, usable: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    """Map each page's title to its candidates, nearest page first; several single sentences form one first group.

    Pages with the same title are merged; a page without a title gets the topic as its title.
    """
    pages: dict[str, list[Candidate]] = {}
    for candidate in usable:
        title = candidate.fact.title or subject.topic
        known = next((other for other in pages if other.casefold() == title.casefold()), title)
        pages.setdefault(known, []).append(candidate)
    single = [title for title, of_page in pages.items() if len(in_order(of_page)) < FEWEST_SENTENCES]
    if len(single) < FEWEST_SENTENCES:
        return pages
    return {UNTITLED: [candidate for title in single for candidate in pages.pop(title)], **pages}


def by_heading(
    store: ReferenceStore, subject: Subject, headings: Sequence[Heading], usable: Sequence[Candidate]
) -> dict[str, list[Candidate]]:
    """Map the title of each heading to its candidates, in order: passages go to their nearest heading.

    The nearest heading has the highest cosine above its mean, so that none attracts everything near the topic.
    """
    shares: dict[str, list[Candidate]] = {heading.title: [] for heading in headings}
    if not usable:
        return shares
    titles = [f"{subject.topic}: {'; '.join(heading.titles())}" for heading in headings]
    vectors = store.embed([*titles, *(candidate.fact.in_context for candidate in usable)])
    nearness = vectors[len(titles) :] @ vectors[: len(titles)].T  # candidates × headings
    above = nearness - nearness.mean(axis=0)
    passages = np.array([candidate.place[0] for candidate in usable])
    best = [above[passages == number].mean(axis=0).argmax() for number in passages]
    for candidate, nearest in zip(usable, best, strict=True):
        shares[headings[nearest].title].append(candidate)
    return shares


def in_order(chosen: Iterable[Candidate]) -> list[Fact]:
    """Return the sentences, the nearest passage first, each after its page's opening, which introduces it."""
    passages: dict[int, list[Candidate]] = {}
    for candidate in chosen:
        passages.setdefault(candidate.place[0], []).append(candidate)
    ordered = sorted(passages.values(), key=lambda group: -max(c.nearness for c in group))
    candidates_in_order = (c for group in ordered for c in sorted(group, key=lambda c: c.place))
    return list({fact.text: fact for c in candidates_in_order for fact in (c.opening, c.fact)}.values())


def in_paragraphs(facts: Iterable[Fact]) -> tuple[Paragraph, ...]:
    """Return the facts as cited sentences, in paragraphs that end where the page changes and are not too short."""
    paragraphs: list[list[Sentence]] = []
    for _, page in groupby(facts, key=lambda fact: fact.citation.source_id):
        sentences = [Sentence(without_notes(fact.text), (fact.citation,)) for fact in page]
        if paragraphs and len(paragraphs[-1]) < _PARAGRAPH:
            paragraphs[-1] += sentences
        else:
            paragraphs.append(sentences)
    if len(paragraphs) > 1 and len(paragraphs[-1]) < _PARAGRAPH:
        last = paragraphs.pop()
        paragraphs[-1] += last
    return tuple(Paragraph(tuple(paragraph)) for paragraph in paragraphs)


def extract(ctx: RunContext) -> Article:
    """Return the extract on a topic: the topic's own page as its lead, and sections from pages on parts of it.

    Sections are the user's, each searched for, or pages under their titles. If the topic has no page of its own, the
    sentences nearest to it are quoted.
    Raises NothingFoundError: no result names the topic.
    """
    subject = _look_up(ctx)
    headings = ctx.user_pieces.outline.sections if ctx.user_pieces.outline else ()
    titles = [title for heading in headings for title in heading.titles()]
    if titles:
        queries = dict.fromkeys(title if subject.is_named_in(title) else f"{subject.name} {title}" for title in titles)
        with ctx.events.in_stage("search"):
            ctx.store.add(usable(ctx, search_all(ctx, list(queries), depth=_HEADING_DEPTH)))
    with ctx.events.in_stage("evidence"):
        snippets = tuple(snippet for source in ctx.store.sources() for snippet in source.snippets)
        usable_sentences = candidates(ctx.store, subject, snippets, titles)
        facts = [
            fact for snippet in snippets if snippet.source_id in subject.page_ids for fact in sentences_of(snippet)
        ]
        lead = {fact.text: fact for fact in facts or in_order(usable_sentences[: ctx.settings.section_facts])}
        rest = [candidate for candidate in usable_sentences if candidate.fact.text not in lead]
        used = rest[
            : min(len(rest) if subject.page_ids else ceil(len(rest) / 2), ctx.settings.section_facts * _SECTIONS)
        ]
        shares = by_heading(ctx.store, subject, headings, used) if headings else by_title(subject, used)
    sections = _sections(ctx, shares, lead, FEWEST_SENTENCES if headings else 1)
    headings = headings or tuple(Heading(section.heading) for section in sections)
    outline = keep_outline(ctx, Outline(ctx.brief.topic, headings))
    body = Body(in_paragraphs(lead.values()), sections)
    note = _note(snippets)
    return as_article(ctx, body, outline, note=note if sections else note + _ALONE)


def extract_answer(ctx: RunContext) -> Article:
    """Return the sentences that are nearest to a question, in the order in which their passages were found.

    Raises NothingFoundError: nothing is found.
    """
    results = search_with_topic(ctx, depth=ctx.settings.queries)
    paragraphs = nearest_sentences(ctx, ctx.brief.topic, results)
    body = Body((), (Section(UNTITLED, paragraphs),) if paragraphs else ())
    return as_article(ctx, body, note=_note(results))


def nearest_sentences(ctx: RunContext, question: str, results: Iterable[Snippet]) -> tuple[Paragraph, ...]:
    """Return the sentences that are nearest to a question, in the order of their passages."""
    facts = list({fact.text: fact for snippet in results for fact in sentences_of(snippet)}.values())
    vectors = ctx.store.embed([question, *(fact.in_context for fact in facts)])
    near = vectors[1:] @ vectors[0]
    best = sorted(range(len(facts)), key=lambda i: (-near[i], i))[: ctx.settings.answer_facts]
    return in_paragraphs(facts[i] for i in sorted(best))


def _look_up(ctx: RunContext) -> Subject:
    """Search for the topic, add the related results to the store, and return their subject.

    Few sentences that name it are recorded as a degradation, except in the user's documents. Raises NothingFoundError:
    none names it.
    """
    topic, depth = ctx.brief.topic, _LOCAL_DEPTH if is_local(ctx.search.name) else _DEPTH
    with ctx.events.in_stage("search"):
        results = usable(ctx, search_all(ctx, [topic], depth=depth))
    subject = subject_of(topic, results)
    near = keep_related(subject, results, ctx.store)
    on_topic = {snippet.source_id for snippet in near if is_private_engine(ctx.search.name)} | subject.page_ids
    sentences = sum(s.source_id in on_topic or subject.is_named_in(fact.text) for s in near for fact in sentences_of(s))
    if not sentences:
        raise nothing_found(
            ctx,
            f"no page of {ctx.search.name} is about {topic!r} or names it; choose another engine (--search)",
        )
    if sentences < _LITTLE:
        ctx.events.degraded(
            f"{ctx.search.name} says little about {topic!r} ({sentences} sentences name it): the article will be "
            "short; another engine (--search) may know more"
        )
    ctx.store.add(near)
    return subject


def _sections(
    ctx: RunContext, shares: Mapping[str, Sequence[Candidate]], before: Iterable[str], fewest: int
) -> tuple[Section, ...]:
    """Return a section for each heading with enough facts; no text is used twice."""
    used = set(before)
    sections = []
    with ctx.events.in_stage("sections", total=len(shares)):
        for number, (title, chosen) in enumerate(shares.items(), 1):
            facts = [fact for fact in in_order(chosen) if fact.text not in used]
            if len(facts) >= fewest:
                used.update(fact.text for fact in facts)
                sections.append(keep_section(ctx, number, Section(title, in_paragraphs(facts))))
            else:
                ctx.events.degraded(f"section {title!r} left out: the sources say too little about it")
            ctx.events.advance(title)
    return tuple(sections)


def _note(snippets: Iterable[Snippet]) -> str:
    """Return the note for readers: how the text was made, and the licence of text from Wikipedia."""
    return _NOTE + (_LICENCE if any(is_wikipedia(snippet.url) for snippet in snippets) else "")
