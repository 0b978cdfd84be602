"""Plans the sections from what there is: the statements of each aspect, of places, people and works, best ones first.

In the paper an outline is planned and then filled. A small model plans headings that nothing fills, so here the sources
make the sections.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from storm_pipeline.languages import stem_set
from storm_pipeline.references.facts import without_topic
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.retrieval.embedder import apart_from
from storm_pipeline.text.index_terms import without_function_words
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Heading
from storm_pipeline.writers.small.aspects import FOUNDS, Group, grouped, is_by_time
from storm_pipeline.writers.small.flow import flowing
from storm_pipeline.writers.small.kinds import KINDS
from storm_pipeline.writers.small.statements import Statement
from storm_pipeline.writers.small.subject import Subject

_BRACKETS = re.compile(r"\s*\([^()]*\)")
_FIRST, _LAND = "History", "Geography"
"""The section that comes first, and the aspect of places."""
_WHOLE = 0.4
"""Weight of a page's nearness to an aspect as it is, beside that without what all pages share with the subject."""
_BY_TITLE, _UNDATED = 0.3, 0.15
"""What an aspect's name in its title adds to a page's nearness to it; what a page without a year lacks as history."""
_MIXED = "Related subjects"
"""Heading of statements from several pages that no aspect and no model names."""
_TYPES, _FEW_TYPES, _MOST_OF_THEM = "Types", 3, 0.65
"""Heading of a section on kinds of what a common noun means; fewest pages on kinds, and least share of statements."""
_BODY = 640
"""Words that the sections may have together where each of them is full: a single one may be longer."""
_ENOUGH = 200
"""Words of all sections from which statements that fit none are left out, unless of a page about the subject."""


@dataclass(frozen=True)
class Planned:
    """A section: its heading, what stands in it, and whether the heading names all of that and time orders it."""

    heading: Heading
    statements: tuple[Statement, ...]
    is_named: bool
    is_by_time: bool


def sections_of(
    subject: Subject,
    aspects: Mapping[str, str],
    statements: Sequence[Statement],
    store: ReferenceStore,
    *,
    fewest: int,
    most: int,
    words: int,
) -> tuple[Planned, ...]:
    """The statements in sections, the least relevant of the largest ones left out: history, other aspects, kinds.

    Args:
        subject: of the article.
        aspects: heading → text that statements under it are near to.
        statements: to be grouped.
        store: embeds them.
        fewest: minimum statements of a section; none is returned if there are not even as many statements.
        most: maximum statements of a section where there are two or more.
        words: maximum words of such a section.
    """
    if len(statements) < fewest:
        return ()
    kinds = _by_kind(statements, fewest, most)
    land = kinds.pop(KINDS[0], []) if _LAND in aspects else []
    others = [one for one in statements if not any(one in own for own in kinds.values())]

    def planned(*, are_all: bool) -> tuple[Planned, ...]:
        matters = (
            _by_aspect(subject, aspects, others, store, land=land, fewest=fewest, are_all=are_all) if others else []
        )
        longer = max(1.0, _BODY / words / max(1, len(matters) + len(kinds)))
        room = (round(most * longer), round(words * longer))
        matters = [replace(own, statements=_best(own.statements, *room)) for own in matters]
        if _LAND in aspects:  # not under headings of the user's own
            matters = [_of_its_kind(own, kinds) for own in _with_types(subject, matters)]
        matters.sort(key=lambda own: (own.heading.title != _FIRST, -_relevance(own.statements, fewest)))
        named = (
            Planned(Heading(kind), _best(own, *room), is_named=True, is_by_time=kind != KINDS[0])
            for kind, own in kinds.items()
        )
        made = (
            replace(own, statements=flowing(own.statements, store, by_time=own.is_by_time))
            for own in (*matters, *named)
        )
        return tuple(own for own in made if len(own.statements) >= fewest)

    found = planned(are_all=False)
    is_enough = sum(word_count(one.fact.text) for own in found for one in own.statements) >= _ENOUGH
    return found if is_enough else planned(are_all=True)


def _by_kind(statements: Sequence[Statement], fewest: int, most: int) -> dict[str, list[Statement]]:
    """Statements about places, people and works, where they fill a section and leave enough for another, or none.

    People who would fill two sections are told under what they did.
    """
    found: dict[str, list[Statement]] = {}
    left = len(statements)
    for kind in KINDS:
        own = [one for one in statements if one.kind == kind]
        fills = fewest <= len(own) and (kind != KINDS[1] or len(own) < 2 * most)
        if fills and (left - len(own) >= fewest or left == len(own)):
            found[kind] = own
            left -= len(own)
    return found


def _by_aspect(
    subject: Subject,
    aspects: Mapping[str, str],
    statements: Sequence[Statement],
    store: ReferenceStore,
    *,
    land: Collection[Statement],
    fewest: int,
    are_all: bool,
) -> list[Planned]:
    """Statements whose passages are nearest to an aspect; one section, which the model names, if no aspect has enough.

    What the statements share, their nearness to the subject, does not count. Those about places are geography.
    Statements that fit no section are left out unless all are to be kept.
    """
    passages: dict[str, list[Statement]] = {}
    for one in statements:
        passages.setdefault(one.order[0], []).append(one)
    own = list(passages.values())
    texts = [one.fact.in_context for page in own for one in page]
    vectors = store.embed([subject.described, *aspects.values(), *texts])
    apart = apart_from(vectors[0], vectors[1:])
    number = len(aspects)
    near = apart[number:] @ apart[:number].T + _WHOLE * vectors[number + 1 :] @ vectors[1 : number + 1].T
    places = list(aspects).index(_LAND) if land else 0
    ends = np.cumsum([len(page) for page in own])
    of_pages = np.stack([near[end - len(page) : end].mean(axis=0) for page, end in zip(own, ends, strict=True)])
    of_pages[[page[0] in land for page in own], places] += 2  # nearer than any cosine
    of_pages += np.array([[_said_by_title(subject, page[0], one) for one in aspects] for page in own], dtype=np.float32)
    needed = [are_all or page[0].own or page[0].of_a_part for page in own]
    groups = grouped(of_pages, [len(page) for page in own], list(aspects), fewest, needed)
    return [
        _of_group(
            subject,
            group,
            tuple(one for i in group.pages for one in own[i]),
            is_given=aspects.get(group.heading) == group.heading,
        )
        for group in groups
    ] or [_whole_of(subject, statements, near, list(aspects))]


def _of_group(subject: Subject, group: Group, statements: tuple[Statement, ...], *, is_given: bool) -> Planned:
    """The section of a group, under a heading that the model finds if the aspect's names the topic."""
    names_topic = without_topic(subject.topic, group.heading) != group.heading
    is_topic = group.heading == subject.topic or (names_topic and not is_given)
    title = _provisional(subject, statements) if is_topic else _bare(subject, group.heading)
    is_named = group.is_named and not is_topic
    return Planned(Heading(title), statements, is_named, is_named and is_by_time(group.heading))


def _with_types(subject: Subject, sections: Sequence[Planned]) -> list[Planned]:
    """The sections, the only one that tells of kinds of what a common noun means under a heading that says so."""
    types = [own for own in sections if subject.is_noun and not own.is_by_time and _is_of_types(own)]
    if len(types) != 1:
        return list(sections)
    return [replace(own, heading=Heading(_TYPES), is_named=True) if own in types else own for own in sections]


def _of_its_kind(section: Planned, taken: Collection[str]) -> Planned:
    """The section's statements of the kind that most of them are of, under its heading, unless another has that."""
    for kind in KINDS:
        own = tuple(one for one in section.statements if one.kind == kind)
        if kind not in taken and len(own) >= _MOST_OF_THEM * len(section.statements):
            return replace(section, heading=Heading(kind), statements=own, is_named=True)
    return section


def _is_of_types(section: Planned) -> bool:
    parts = [one for one in section.statements if one.of_a_part]
    pages = {one.fact.citation.source_id for one in parts}
    return len(pages) >= _FEW_TYPES and len(parts) >= _MOST_OF_THEM * len(section.statements)


def _whole_of(
    subject: Subject, statements: Sequence[Statement], near: npt.NDArray[np.floating], headings: Sequence[str]
) -> Planned:
    """One section of all: under the aspect that they are near to as a whole and most of them singly, or the model's."""
    are_dated = 2 * sum(one.year is not None for one in statements) > len(statements)
    whole = near.mean(axis=0)
    best = int(np.argmax(whole))
    is_named = bool(whole[best] >= FOUNDS and 2 * np.sum(near.argmax(axis=1) == best) > len(near))
    heading = _bare(subject, headings[best]) if is_named else _provisional(subject, statements)
    return Planned(Heading(heading), tuple(statements), is_named, are_dated)


def _said_by_title(subject: Subject, one: Statement, heading: str) -> float:
    """What a page's title adds to its nearness to an aspect that it names; what a page without a year is no history."""
    if stem_set(heading) & stem_set(without_topic(subject.topic, one.fact.title)):
        return _BY_TITLE
    return -_UNDATED if heading == _FIRST and one.year is None else 0.0


def _best(statements: Sequence[Statement], most: int, words: int) -> tuple[Statement, ...]:
    """The most relevant statements that there is room for, in their order."""
    kept: list[Statement] = []
    for one in sorted(statements, key=lambda one: -one.worth):
        words -= word_count(one.fact.text)
        if len(kept) == most or words < 0:
            break
        kept.append(one)
    return tuple(one for one in statements if one in kept)


def _relevance(statements: Sequence[Statement], fewest: int) -> float:
    """Mean relevance of the best."""
    return float(np.mean(sorted((one.relevance for one in statements), reverse=True)[:fewest]))


def _provisional(subject: Subject, statements: Sequence[Statement]) -> str:
    """The titles of the pages, without the topic's words and brackets; for more than two, one that fits all."""
    ranked = sorted(statements, key=lambda one: (one.own, -one.relevance))
    titles = list(dict.fromkeys(_bare(subject, one.fact.title) for one in ranked))
    return " and ".join(titles) if len(titles) <= 2 else _MIXED


def _bare(subject: Subject, title: str) -> str:
    plain = _BRACKETS.sub("", title).strip() or title
    plain = without_function_words(without_topic(subject.topic, plain)) or plain
    return plain[:1].upper() + plain[1:]
