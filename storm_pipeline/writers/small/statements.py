"""Statements about the subject: sentences of the sources that may stand in the article, understandable alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from storm_pipeline.files import table_beside
from storm_pipeline.identity import normalised_text
from storm_pipeline.quantities import first_year
from storm_pipeline.references.facts import Fact, facts_of
from storm_pipeline.references.relevance import bare_name
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.types import Snippet
from storm_pipeline.writers.small.abbreviations import explained_in, written_out
from storm_pipeline.writers.small.kinds import KINDS, kind_of, only_defines, tells
from storm_pipeline.writers.small.mentions import opens_about, opens_with, tells_of
from storm_pipeline.writers.small.self_contained import stands_alone
from storm_pipeline.writers.small.shortening import shortened, taken_out
from storm_pipeline.writers.small.standing import is_of_nobody, lacks_subject, leans, names_a_thing_before, with_subject
from storm_pipeline.writers.small.subject import Subject

_PATTERNS = table_beside(__file__)
_OF_A_PART, _OF_A_KIND = 0.4, 0.5
"""Minimum cosine of a page to the subject's definition, if its title has the subject's name and more words: Renaissance
art passes, Sun Tzu does not; higher for a common noun, which is part of other things' names: an oil painting."""
_ON_TOPIC, _COMMON_NOUN, _NAMESAKE = 0.3, 0.36, 0.52
"""Minimum cosine of a sentence, with its page's title, to the subject's definition; higher for a common noun, which has
other senses, and for what has namesakes: a kingdom of animals."""
_BY_NEARNESS = (1.7, 4.7, 1.4, 1.15, 1.45, -0.95)
_OF_A_NAME, _OF_A_NOUN = -1.05, -2.3
"""The log-odds that readers call a sentence of another page on the topic: weights of the cosines of that page's opening
and of the sentence to the subject's definition, of the share of its sentences that name the subject, of being its first
sentence, of a title that has the subject's name, and of how late the sentence names it; and what is added, for a name
and for a common noun. Learned from 1,021 sentences (experiments/labels/embedded-statements.csv)."""
_LEAST = 1.8  # the least log-odds of a sentence that is told: six of seven
_YEAR = re.compile("".join(_PATTERNS["year"]))
_COPULA = re.compile(r" (?:is|are|was|were) ")
_KIND_WORDS = 12  # words after the verb of a page's opening that say what kind of thing its subject is
_CUT = re.compile("".join(_PATTERNS["cut"]))
"""A species' short name or a date was cut, a formula or a line break lost: a manifold is an -dimensional space."""
_TELLING = 0.5
"""What a year, a number, a superlative or a cause adds to the worth of a sentence."""
_THE_SAME = 0.88  # minimum cosine at which two sentences count as the same statement


@dataclass(frozen=True)
class Statement:
    """A sentence that speaks of the subject."""

    fact: Fact  # the sentence as the article may have it, with its page's title and its citation
    own: bool  # whether it is from a page about the subject alone
    of_a_part: bool  # whether it is from a page about a part of the subject, as Renaissance art is of the Renaissance
    leans: bool  # whether it makes sense only after the sentence before it
    relevance: float  # cosine to the subject's definition, in [-1, 1]
    order: tuple[str, int]  # its place on its page: snippet, sentence
    opens: bool  # whether it opens with the subject: The Renaissance …, During the Renaissance, …
    kind: str  # of what its page is about, if that is not the subject or a part of it: see :func:`kind_of`
    year: int | None = None  # the first one on its page; None if there is none
    defines: bool = False  # whether it only says what another page is about: Oil painting is a method of …
    nearness: float = 0.0  # the log-odds that readers call it on the topic, of a sentence of another page

    @property
    def worth(self) -> float:
        """How surely it is on the topic, more where it tells something."""
        return self.nearness + _TELLING * tells(self.fact.text)


def year_of(text: str) -> int | None:
    """The first year in a text, also one that only its form shows: the 1845 annexation."""
    found = first_year(text)
    bare = _YEAR.search(text) if found is None else None
    return int(bare[1]) if bare else found


def statements_about(subject: Subject, snippets: Iterable[Snippet], store: ReferenceStore) -> tuple[Statement, ...]:
    """The statements about the subject, without repetitions, in the order of the snippets.

    A sentence counts if its page is about the subject or a part of it, or if it names the subject in full. It must make
    sense alone; one that opens with a pronoun gets the page's title in its place where that is what it means. Of the
    subject's own pages, sentences that lean on the one before them are kept too, if that one is.
    """
    found = [(snippet, facts) for snippet in snippets if (facts := facts_of(snippet))]
    parts = _about_a_part(subject, [snippet for snippet, _ in found], store)
    candidates = [
        Statement(
            fact,
            own=own,
            of_a_part=snippet.id in parts,
            leans=leans(fact.text),
            relevance=0.0,
            order=(snippet.id, number),
            opens=opens_about(subject, fact.text),
            kind="" if own or snippet.id in parts else kind_of(snippet.text),
            year=year_of(snippet.text),
            defines=number == 0 and not own and kind_of(snippet.text) != KINDS[1] and only_defines(fact.text),
        )
        for snippet, facts in found
        for own in [snippet.source_id in subject.own]
        if own or snippet.id in parts or not _has_other_sense(subject, snippet)
        for number, fact in _usable(subject, facts, whole=own or snippet.id in parts, own=own)
    ]
    relevant = _near(subject, _relevant(subject, candidates, store), {one.id: facts for one, facts in found}, store)
    return _distinct(relevant, store)


def _about_a_part(subject: Subject, snippets: Sequence[Snippet], store: ReferenceStore) -> frozenset[str]:
    """Ids of the snippets whose page is about a part of the subject, as Renaissance art is of the Renaissance."""
    named = [one for one in snippets if subject.is_part_of(one.title) and not kind_of(one.text)]
    named = [one for one in named if not subject.is_noun or _is_a_kind(subject, one)]
    least = _OF_A_KIND if subject.is_noun else _OF_A_PART
    if not named:
        return frozenset()
    vectors = store.embed([subject.described, *(f"{snippet.title}: {snippet.text}" for snippet in named)])
    cosines = vectors[1:] @ vectors[0]
    return frozenset(snippet.id for snippet, cosine in zip(named, cosines, strict=True) if cosine >= least)


def _has_other_sense(subject: Subject, page: Snippet) -> bool:
    """Whether a page is of the same name as the subject's own, or its title has a common noun that it is no kind of."""
    bare = bare_name(page.title)
    if subject.has_namesake_in(page.text) or (
        subject.is_noun and kind_of(page.text) == KINDS[0] and not _is_a_kind(subject, page)
    ):
        return True  # Moscow covers an area
    if bare.casefold() == bare_name(subject.topic).casefold() or bare.partition(", ")[0] in subject.names[1:]:
        return True  # the genre of thrillers, for the album Thriller; Frederick II, Holy Roman Emperor, for another one
    if subject.is_part_of(page.title):
        return subject.is_noun and not _is_a_kind(subject, page)
    called = _COPULA.split(facts_of(page)[0].text)[0]
    return subject.has_namesakes and subject.named_in(called)  # an airplane, also plane, for the tool


def _is_a_kind(subject: Subject, page: Snippet) -> bool:
    """Whether what a common noun's name is in is a kind of it, as its page says: kinetic energy is a form of energy.

    What begins with the noun (a film festival) or ends in "of" it (the history of film) need not be one; but language
    death is no death, and a cult of personality no cult.
    """
    title = page.title.casefold()
    noun = subject.names[0]
    if re.search(rf"(?<=\w ){noun[0].upper()}{re.escape(noun[1:])} of ", page.text):
        return False  # a name: the House of Romanov
    if title.startswith(f"{noun} ") and not title.startswith(f"{noun} of "):
        opening = re.sub(re.escape(page.title), "it", facts_of(page)[0].text, flags=re.I)
        return not subject.has_namesakes and subject.named_in(opening)  # ice cream is no ice
    if re.search(rf" of (?:\w+ )?{re.escape(noun)}s?$", title):
        return True
    opening = facts_of(page)[0].text
    verb = _COPULA.search(opening)
    return verb is not None and subject.named_in(" ".join(opening[verb.end() :].split()[:_KIND_WORDS]))


def _usable(subject: Subject, facts: Sequence[Fact], *, whole: bool, own: bool) -> Iterable[tuple[int, Fact]]:
    """The sentences of a snippet that speak of the subject and make sense, with their numbers.

    Args:
        whole: whether each of them speaks of the subject.
        own: whether the page is the subject's own.
    """
    named = any(subject.named_in(fact.text) for fact in facts)
    before, kept = "", False
    abbreviations = {} if own else explained_in(facts[0].title, (fact.text for fact in facts))
    for number, fact in enumerate(facts):
        following = facts[number + 1].text if own and number + 1 < len(facts) else ""
        text = fact.text if own else with_subject(fact.text, fact.title, before, facts[0].text)
        text = shortened(written_out(text, abbreviations), following)
        text = text if own else taken_out(text)
        before = fact.text
        speaks = whole or tells_of(subject, fact.title, text) or (named and subject.surname_in(text))
        lacks = lacks_subject(text, fact.title) or (
            not whole and names_a_thing_before(text, fact.title, subject.named_in)
        )
        lacks = lacks or not (own or (opens_with(subject, fact.title, text) and not is_of_nobody(text)))
        makes_sense = stands_alone(text, own=own) and not lacks and not _CUT.search(text)
        kept = speaks and makes_sense and (not leans(text) or (own and (kept or number == 0)))
        if kept:
            yield number, Fact(text, fact.title, fact.citation)


def _near(
    subject: Subject, statements: Sequence[Statement], facts: Mapping[str, Sequence[Fact]], store: ReferenceStore
) -> list[Statement]:
    """The statements with how surely they are on the topic, those of other pages that are too unsure left out.

    None is left out for a subject that has no page of its own. ``facts``: of each snippet.
    """
    pages = list(dict.fromkeys(one.order[0] for one in statements))
    vectors = store.embed([subject.described, *(facts[page][0].in_context for page in pages)])
    opening = dict(zip(pages, vectors[1:] @ vectors[0], strict=True))
    share = {page: sum(subject.named_in(fact.text) for fact in facts[page]) / len(facts[page]) for page in pages}

    def nearness(one: Statement) -> float:
        page, number = one.order
        in_title = subject.is_part_of(one.fact.title)
        said = (opening[page], one.relevance, share[page], number == 0, in_title, _lateness(subject, one))
        return float(np.dot(_BY_NEARNESS, said)) + (_OF_A_NOUN if subject.is_noun else _OF_A_NAME)

    known = [replace(one, nearness=nearness(one)) for one in statements]
    return [one for one in known if one.own or not subject.text or one.nearness >= _LEAST]


def _lateness(subject: Subject, one: Statement) -> float:
    """How late a sentence names the subject, in [0, 1]: 0.0 if it opens with it, or its page is of a part of it."""
    first = next(subject.mentions(one.fact.text), None)
    return 0.0 if one.of_a_part else first.start() / len(one.fact.text) if first else 1.0


def _relevant(subject: Subject, candidates: Sequence[Statement], store: ReferenceStore) -> list[Statement]:
    if not candidates:
        return []
    least = _COMMON_NOUN if subject.is_noun else _ON_TOPIC
    least = _NAMESAKE if subject.has_namesakes else least
    vectors = store.embed([subject.described, *(one.fact.in_context for one in candidates)])
    cosines = vectors[1:] @ vectors[0]
    return [
        replace(one, relevance=float(cosine))
        for one, cosine in zip(candidates, cosines, strict=True)
        if one.own or not subject.definition or cosine >= least  # a bare topic tells no senses apart
    ]


def _distinct(statements: Sequence[Statement], store: ReferenceStore) -> tuple[Statement, ...]:
    """Without statements that say the same as an earlier one; the subject's own pages come first."""
    ranked = sorted(range(len(statements)), key=lambda i: not statements[i].own)
    texts = {normalised_text(statements[i].fact.text): i for i in reversed(ranked)}
    ranked = [i for i in ranked if texts[normalised_text(statements[i].fact.text)] == i]
    if not ranked:
        return ()
    vectors = store.embed([statements[i].fact.text for i in ranked])
    same = np.tril(vectors @ vectors.T, -1) >= _THE_SAME
    kept: list[int] = []
    for row in range(len(ranked)):
        if not any(same[row, other] for other in kept):
            kept.append(row)
    return tuple(statements[i] for i in sorted(ranked[row] for row in kept))
