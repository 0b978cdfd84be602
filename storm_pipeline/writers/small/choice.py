"""Which statements an article tells: those of its lead, the best of all, and the nearest to a need."""

import re
from collections import Counter
from collections.abc import Sequence

from storm_pipeline.languages import stem_set
from storm_pipeline.references.facts import recall
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.words import word_count, words
from storm_pipeline.writers.small.kinds import KINDS, kind_word
from storm_pipeline.writers.small.statements import Statement, year_of
from storm_pipeline.writers.small.subject import Subject

FEWEST = 4
"""Minimum statements of a section."""
_LEAD_SENTENCES, _LEAD_WORDS = 8, 140
"""Length of a lead: at most this many sentences, none after this many words; and no fewer than a section left over."""
_NOW = 9999  # year of a sentence that has none
_PER_FORM, _SAME_FORM = 3, 0.7
"""Maximum statements of one form, such as "… is a country in …", and the share of words in common that makes one."""
_PER_SOURCE, _PER_OTHER = 3, 2
"""Maximum statements from one page about the subject or a part of it, and from any other, where there are many pages:
an article should not be another page's text."""
_TOLD, _TOLD_WITH_NUMBERS, _LONG = 0.6, 0.5, 9
"""Share of a statement's words in a sentence of the lead with which that has told it, less if it has numbers and the
lead has the same, and words from which it may."""


def for_lead(subject: Subject, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """The opening of the subject's own page; else its definition, or what is earliest, and what is nearest to it."""
    own = [one for one in statements if one.own]
    ranked = sorted(
        (one for one in statements if not one.leans and subject.named_in(one.fact.text)),
        key=lambda one: (one.fact.text != subject.definition, -one.relevance),
    )
    first = own[0].order[0] if own else ""
    if not subject.definition:
        ranked.sort(key=lambda one: year_of(one.fact.text) or _NOW)
        ranked[1:] = sorted(ranked[1:], key=lambda one: -one.relevance)
    opening = [one for one in own if one.order[0] == first] or ranked[:2]
    length, number = 0, 0
    while number < min(len(opening), _LEAD_SENTENCES) and length < _LEAD_WORDS:
        length += word_count(opening[number].fact.text)
        number += 1
    return tuple(opening if len(opening) - number < FEWEST else opening[:number])


def beyond(lead: Sequence[Statement], statements: Sequence[Statement]) -> list[Statement]:
    """The statements that say more than a sentence of the lead does."""
    told = [_words_and_numbers(one.fact.text) for one in lead]

    def is_new(one: Statement) -> bool:
        stems, numbers = _words_and_numbers(one.fact.text)
        least = _TOLD_WITH_NUMBERS if numbers else _TOLD
        return len(stems) < _LONG or not any(recall(stems, own) >= least and numbers <= had for own, had in told)

    return [one for one in statements if is_new(one)]


def _words_and_numbers(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The stems of a text's words, and its numbers as they are written."""
    return stem_set(text), frozenset(re.findall(r"\d[\d.,]*", text))


def best_statements(statements: Sequence[Statement], most: int) -> list[Statement]:
    """The most relevant statements, in their order: a few, or an equal share, from one page, and a few of one form."""
    drawn: Counter[str] = Counter()
    forms: list[tuple[str, frozenset[str]]] = []
    equal = max(1, most // max(1, len({one.fact.citation.source_id for one in statements})))
    kept: set[Statement] = set()
    for one in sorted(statements, key=lambda one: -one.worth):
        page, form = one.fact.citation.source_id, _form(one)
        share = max(equal, _PER_SOURCE if one.own or one.of_a_part else _PER_OTHER)
        same = sum(other != page and len(form & known) >= _SAME_FORM * len(form | known) for other, known in forms)
        if len(kept) < most and drawn[page] < share and same < _PER_FORM:
            drawn[page] += 1
            forms.append((page, form))
            kept.add(one)
    return [one for one in statements if one in kept]


def _form(one: Statement) -> frozenset[str]:
    """What a statement says its page is, of a place; of all others its words without names, numbers and title."""
    if one.kind == KINDS[0] and (found := kind_word(one.fact.text)):
        return frozenset({found})
    said = re.sub(r"\b(?:[A-Z]|\d)[\w'’.-]*", " ", one.fact.text[:1].lower() + one.fact.text[1:])
    title = set(words(one.fact.title.casefold()))
    return frozenset(word for word in words(said.casefold()) if word not in title)


def nearest_statements(
    ctx: RunContext, statements: Sequence[Statement], need: str, limit: int
) -> tuple[Statement, ...]:
    """The statements nearest to a need by cosine, in their order."""
    if not statements:
        return ()
    vectors = ctx.store.embed([need, *(one.fact.in_context for one in statements)])
    cosines = vectors[1:] @ vectors[0]
    best = sorted(range(len(statements)), key=lambda i: (-cosines[i], i))[:limit]
    chosen = {statements[i].order for i in best}
    return tuple(statements[i] for i in sorted(best) if not statements[i].leans or _before(statements[i]) in chosen)


def _before(one: Statement) -> tuple[str, int]:
    """The place of the sentence before it."""
    snippet, number = one.order
    return snippet, number - 1
