"""Extracts, which consist of their sources' own sentences and ask no language model.

Not in the paper. Beside the topic's own page, pages on parts of it are told, under their titles or the
user's headings; the sentence encoder puts them in order.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from storm_pipeline.evidence.evidence import FEWEST_SENTENCES
from storm_pipeline.evidence.subject import Subject, keep_related, subject_of
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.article import as_article
from storm_pipeline.method.steps.outline import keep_outline
from storm_pipeline.method.steps.searching import nothing_found, search_all, search_with_topic, usable
from storm_pipeline.method.writers.section_loop import keep_section
from storm_pipeline.method.writers.sentences import (
    Candidate,
    by_heading,
    by_title,
    candidates,
    in_order,
    in_paragraphs,
    sentences_of,
)
from storm_pipeline.sources.search.registry import is_local, is_private_engine
from storm_pipeline.text.identity import is_wikipedia
from storm_pipeline.types import UNTITLED, Article, Body, Heading, Outline, Paragraph, Section, Snippet

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
        _search_for(ctx, subject, titles)
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
            f"no page of {ctx.search.name} is about {topic!r} or names it; name another engine with --search "
            "(`storm search engines` lists them)",
        )
    if sentences < _LITTLE:
        ctx.events.degraded(
            f"{ctx.search.name} says little about {topic!r} ({sentences} sentences name it): the article will be "
            "short; another engine (--search) may know more"
        )
    ctx.store.add(near)
    return subject


def _search_for(ctx: RunContext, subject: Subject, titles: Iterable[str]) -> None:
    """Search for each of the titles, and add the results to the store."""
    queries = dict.fromkeys(title if subject.is_named_in(title) else f"{subject.name} {title}" for title in titles)
    with ctx.events.in_stage("search"):
        ctx.store.add(usable(ctx, search_all(ctx, list(queries), depth=_HEADING_DEPTH)))


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
