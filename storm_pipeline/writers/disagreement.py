"""Numbers and dates that differ: found by code, told to whoever can settle them, recorded.

Passages of independent sources may differ on one thing, which the writer is told; sentences of an article too, which
the copy editor settles.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from storm_pipeline.languages import detect, split_sentences, stem_set
from storm_pipeline.quantities import differing, differing_dates, missing, quantities, without_quantities
from storm_pipeline.references.facts import recall
from storm_pipeline.references.grounding import Claim, Judged, numbers_shown
from storm_pipeline.references.introductions import names_within
from storm_pipeline.references.menus import is_prose
from storm_pipeline.references.passages import Passage, are_copies
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Article, Disagreement, Sentence, Side

_MOST = 4
"""Maximum number of things on which the writer of a text is told that its passages differ."""
_TOLD = "Passages that differ; if it is on one thing, tell what each says and who says it:"
_SHARED = 0.4
"""Minimum share of the shorter sentence's words, without topic and numbers, that both have."""
_FEWEST = 3
"""Minimum number of such words."""
_SAME_EVENT = 0.6
"""Minimum share of each sentence's words that the other has, where they may give one event two dates."""
_ONE_FORM = 0.8
"""Minimum share of each sentence's words that the other has, where each has another one: rows of a series."""
_FIGURES = 3  # from which on sentences of sources that have less than half in common are rows of statistics
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_SERIES = 3  # sentences of an article with which another one of a series counts the same
_MOST_PAIRS = 12
"""Maximum number of pairs that an editor is shown, those that share most first."""


@dataclass(frozen=True)
class Differing:
    """The things on which the passages of a prompt differ, each with its sides and their passages' positions."""

    things: tuple[tuple[tuple[Side, tuple[int, ...]], ...], ...] = ()

    @classmethod
    def among(cls, shown: Sequence[Passage], topic: str, language: str) -> "Differing":
        """Find them: numbers that count the same, and dates, in sentences of several sources that speak of one thing.

        Rows of a series, and sentences that have no name in common, speak of different things.
        ``language``: ISO 639-1 code of the article; passages in others are compared by what words they share.
        """
        told = [(i, text) for i, own in enumerate(shown) for text in split_sentences(own.text, detect(own.text))]
        told = [(i, text) for i, text in told if quantities(text, language)]
        things: list[dict[frozenset[object], dict[int, str]]] = []  # value → number of a sentence → how it spells it
        sources = [shown[i].source_id for i, _ in told]
        pairs = contradictions([Sentence(text) for _, text in told], topic, language, sources=sources)
        for one, other, says, otherwise in pairs:
            thing = next((own for own in things if any({one, other} & side.keys() for side in own.values())), None)
            if thing is None:
                things.append(thing := {})
            for number, value in ((one, says), (other, otherwise)):
                thing.setdefault(quantities(value, language), {})[number] = value
        sided = (tuple(_side(shown, told, own) for own in thing.values()) for thing in things)
        return cls(tuple(islice((sides for sides in sided if not _is_list(sides)), _MOST)))

    def lines(self) -> str:
        """A line for each thing, with the numbers of the passages, under a line that says what it is; or nothing."""
        lines = (
            "- " + "; ".join(f"{numbers_shown(places)} “{side.says}”" for side, places in thing)
            for thing in self.things
        )
        return "\n".join([_TOLD, *lines]) if self.things else ""

    def remarked(self, claims: Sequence[Claim], judged: Sequence[Judged], language: str) -> list[Judged]:
        """The verdicts, with a problem at the first sentence that tells one side of a thing whose others nothing tells.

        The sentence is supported: it stays as it is if its writer has nothing better.
        """
        found = list(judged)
        for thing in self.things:
            telling = [[i for i, one in enumerate(claims) if _tells(one.text, side, language)] for side, _ in thing]
            own = [
                i for (_, places), by in zip(thing, telling, strict=True) for i in by if {*places} & {*claims[i].cited}
            ]
            untold = [one for one, by in zip(thing, telling, strict=True) if not by]
            if own and untold and not found[own[0]].problem:
                found[own[0]] = replace(found[own[0]], problem=_problem(untold), is_only_copied=True)
        return found

    def concerned(self, claims: Iterable[Claim]) -> set[int]:
        """Positions of the passages of all sides of the things on which the claims' passages differ."""
        cited = {position for claim in claims for position in claim.cited}
        places = [{i for _, own in thing for i in own} for thing in self.things]
        return set().union(*(own for own in places if own & cited))


NOTHING_DIFFERS = Differing()


def contested(things: Iterable[tuple[Side, ...]], article: Article) -> tuple[Disagreement, ...]:
    """What the article tells of things on which its sources differ; those that it does not tell are left out.

    Of equal ones that with most sources counts, in whatever order they were found. The result is in reading order.
    """
    sentences = list(article.sentences())
    found: dict[frozenset[str], Disagreement] = {}
    for sides in sorted(things, key=lambda own: (-sum(len(side.source_ids) for side in own), repr(own))):
        telling = [_places(side, sentences, article.language) for side in sides]
        if any(telling):
            places = tuple(sorted({place for own in telling for place in own}))
            found.setdefault(frozenset(side.says for side in sides), Disagreement(sides, places, told=all(telling)))
    return tuple(sorted(found.values(), key=lambda own: (own.sentences, repr(own.sides))))


def _places(side: Side, sentences: Sequence[Sentence], language: str) -> list[int]:
    """The sentences that tell a side by its sources."""
    cites = (any(own.source_id in side.source_ids for own in one.citations) for one in sentences)
    return [
        i for i, (one, own) in enumerate(zip(sentences, cites, strict=True)) if own and _tells(one.text, side, language)
    ]


def _tells(text: str, side: Side, language: str) -> bool:
    return not missing(side.says, [text], language=language)


def _problem(untold: Sequence[tuple[Side, tuple[int, ...]]]) -> str:
    others = " and ".join(f"{numbers_shown(places)} “{side.says}”" for side, places in untold)
    return f"{others} differ from it: if it is on one thing, tell both and who says which"


def _side(
    shown: Sequence[Passage], told: Sequence[tuple[int, str]], by: dict[int, str]
) -> tuple[Side, tuple[int, ...]]:
    places = tuple(sorted({told[number][0] for number in by}))
    sources = dict.fromkeys(own.source_id for i in places for own in shown[i].citations())
    says = [(shown[told[number][0]].site, told[number][1]) for number in by]
    return Side(by[min(by)], tuple(sources), independent(says)), places


def _is_list(sides: Sequence[tuple[Side, tuple[int, ...]]]) -> bool:
    """Whether one source has several of the numbers: it counts several things, such as the games of a list."""
    sources = [source for side, _ in sides for source in side.source_ids]
    return len(sources) > len({*sources})


def independent(says: Iterable[tuple[str, str]]) -> int:
    """How many of some texts with their sites are of a site of their own, and no copy of an earlier one."""
    found: dict[str, str] = {}
    for site, text in says:
        if site not in found and not any(are_copies(text, other) for other in found.values()):
            found[site] = text
    return len(found)


def contradictions(
    sentences: Sequence[Sentence], topic: str, language: str, *, sources: Sequence[str] = ()
) -> list[tuple[int, int, str, str]]:
    """Pairs of sentences that count the same and differ: their positions, and the numbers as they spell them.

    Args:
        sentences: in order.
        topic: its words prove no likeness.
        language: ISO 639-1 code of both.
        sources: of each the page that it is from, if they are of pages, not of an article: then those of different
            pages alone are paired, differ too by their only date where they share most words, and both share the
            words. Menus, tables, rows of a series, and sentences without a name or with few of several figures in
            common speak of different things.

    Years and numbers in names count nothing. Sentences of an article speak of different events where no year, or at
    most half of the names, is in both; and of different things where one follows the other, or where one of them
    counts the same as three others.
    """
    known = stem_set(topic, language)
    stems = [stem_set(without_quantities(one.text, language), language) - known for one in sentences]
    found = []
    for i, j in combinations(range(len(sentences)), 2):
        if len(stems[i] & stems[j]) < _FEWEST or (sources and sources[i] == sources[j]):
            continue
        both = recall(stems[i], stems[j]), recall(stems[j], stems[i])
        if (min if sources else max)(both) < _SHARED:
            continue
        one, other = sentences[i].text, sentences[j].text
        if sources and (_is_row(stems[i], stems[j], min(both)) or _are_apart(one, other, topic, language)):
            continue
        if not sources and (j == i + 1 or _of_two_events(one, other, topic)):
            continue
        by_date = differing_dates(one, other, language) if sources and min(both) >= _SAME_EVENT else None
        two = by_date or differing(one, other, language)
        if two and not any(map(_counts_nothing, two, (one, other))):
            found.append((max(both), i, j, *two))
    pairs = Counter() if sources else Counter(number for _, i, j, *_ in found for number in (i, j))
    found = [pair for pair in found if max(pairs[pair[1]], pairs[pair[2]]) < _SERIES]
    best = sorted(found, key=lambda pair: (-pair[0], pair[1], pair[2]))[:_MOST_PAIRS]
    return sorted((i, j, one, other) for _, i, j, one, other in best)


def _counts_nothing(spelt: str, text: str) -> bool:
    """Whether a number of a text is a year, or part of a name or a word ("2019 Packers", "5 Dislike", "33-yard")."""
    number, _, counted = spelt.rpartition(" ")
    is_name = f"{number} {counted.capitalize()}" in text and detect(text) != "de"
    return bool(_YEAR.fullmatch(number) or (number and is_name) or f"{number}-{counted}" in text)


def _is_row(own: frozenset[str], other: frozenset[str], alike: float) -> bool:
    """Whether sentences with these stems are of one form, each with a word that the other lacks."""
    return alike >= _ONE_FORM and not (own <= other or other <= own)


def _of_two_events(one: str, other: str, topic: str) -> bool:
    """Whether both have years, none of them in common, or both name something, at most half of it in common."""
    years, names = [{*_YEAR.findall(text)} for text in (one, other)], [_names(text, topic) for text in (one, other)]
    if all(years) and years[0].isdisjoint(years[1]):
        return True
    both = frozenset.union(*names).intersection(*(folded_words(text) for text in (one, other)))
    return all(names) and 2 * len(both) <= min(map(len, names))


def _names(text: str, topic: str) -> frozenset[str]:
    return frozenset(name.casefold() for name in names_within(text)) - frozenset(folded_words(topic))


def _are_apart(one: str, other: str, topic: str, language: str) -> bool:
    """Whether both name something besides the topic or state several figures, few in common; or one is no prose."""
    first, second = (_names(text, topic) for text in (one, other))
    figures = quantities(one, language), quantities(other, language)
    if (fewest := min(map(len, figures))) >= _FIGURES and 2 * len(figures[0] & figures[1]) < fewest:
        return True
    told = all("|" not in text and is_prose(text) for text in (one, other))
    return not told or bool(first and second and first.isdisjoint(second))
