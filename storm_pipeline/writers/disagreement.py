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
from storm_pipeline.references.introductions import names_within
from storm_pipeline.references.menus import is_prose
from storm_pipeline.references.passages import Passage, are_copies
from storm_pipeline.references.screen import Claim, Judged, numbers_shown
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Article, Disagreement, Sentence, Side

_MOST = 4
"""Maximum number of things on which the writer of a text is told that its passages differ."""
_TOLD = "Passages that differ; if it is on one thing, tell what each says and who says it:"
_SHARED = 0.4
"""Minimum share of the longer sentence's words, without topic and numbers, that both have."""
_FEWEST = 3
"""Minimum number of such words."""
_ONE_FORM = 0.8
"""Minimum share of each sentence's words that the other has, where each has another one: rows of a series."""
_MOST_TIMES, _FEW = 2, 3
"""How many times another number, or how many more, one may be that sources give of the same thing."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_SERIES = 3  # sentences of an article with which another one of a series counts the same


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
        things: list[dict[frozenset[object], dict[int, str]]] = []  # value → number of a sentence → how it spells it
        sources = [shown[i].source_id for i, _ in told]
        for one, other, says, otherwise in _pairs([text for _, text in told], topic, language, sources):
            thing = next((own for own in things if any({one, other} & side.keys() for side in own.values())), None)
            if thing is None:
                things.append(thing := {})
            for number, value in ((one, says), (other, otherwise)):
                thing.setdefault(quantities(value, language), {})[number] = value
        sided = (tuple(_side(shown, told, own) for own in thing.values()) for thing in things)
        told_of_one = (own for own in sided if not _is_list(own) and not _is_far([s.says for s, _ in own], language))
        return cls(tuple(islice(told_of_one, _MOST)))

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
    own = [told[number] for number in sorted(by)]
    return side_of(by[min(by)], [(shown[i], text) for i, text in own]), tuple(dict.fromkeys(i for i, _ in own))


def _is_list(sides: Sequence[tuple[Side, tuple[int, ...]]]) -> bool:
    """Whether one source has several of the numbers: it counts several things, such as the games of a list."""
    sources = [source for side, _ in sides for source in side.source_ids]
    return len(sources) > len({*sources})


def side_of(says: str, told: Sequence[tuple[Passage, str]]) -> Side:
    """A side that passages take, each with what it tells; independent are those of a site of their own, not copied."""
    sources = dict.fromkeys(own.source_id for passage, _ in told for own in passage.citations())
    independent: dict[str, str] = {}
    for passage, text in told:
        if passage.site not in independent and not any(are_copies(text, other) for other in independent.values()):
            independent[passage.site] = text
    return Side(says, tuple(sources), len(independent))


def contradictions(sentences: Sequence[Sentence], topic: str, language: str) -> list[tuple[int, int, str, str]]:
    """Pairs of an article's sentences that count the same and differ: their positions, and the numbers as spelt.

    Sentences speak of different things where one follows the other, or where one of them counts the same as three
    others. ``topic``: its words prove no likeness. ``language``: ISO 639-1 code of all.
    """
    found = [own for own in _pairs([one.text for one in sentences], topic, language) if own[1] != own[0] + 1]
    pairs = Counter(number for i, j, *_ in found for number in (i, j))
    alone = (own for own in found if max(pairs[own[0]], pairs[own[1]]) < _SERIES)
    return [own for own in alone if not _is_far(own[2:], language)]


def _pairs(
    texts: Sequence[str], topic: str, language: str, sources: Sequence[str] = ()
) -> list[tuple[int, int, str, str]]:
    """Pairs of sentences that count the same and differ: their positions, and the numbers as spelt.

    Years, numbers in names, and ordinals but of the same form count nothing. Menus, tables, rows of a series, and
    sentences that hardly name the same speak of different things.

    Args:
        sources: of each sentence the page that it is from, if they are of pages: then those of different pages alone
            are paired, and differ too by their only date where they share most words.
    """
    known = stem_set(topic, language)
    told = [(i, text) for i, text in enumerate(texts) if quantities(text, language)]
    stems = {i: stem_set(without_quantities(text, language), language) - known for i, text in told}
    found = []
    for (i, one), (j, other) in combinations(told, 2):
        alike = len(stems[i] & stems[j]) / (max(len(stems[i]), len(stems[j])) or 1)
        if len(stems[i] & stems[j]) < _FEWEST or alike < _SHARED or (sources and sources[i] == sources[j]):
            continue
        is_row = alike >= _ONE_FORM and not (stems[i] <= stems[j] or stems[j] <= stems[i])
        if is_row or _are_apart(one, other, topic):
            continue
        by_date = differing_dates(one, other, language) if sources and alike >= _ONE_FORM else None
        two = by_date or differing(one, other, language)
        if two and not any(_counts_nothing(says, text, alike) for says, text in zip(two, (one, other), strict=True)):
            found.append((i, j, *two))
    return found


def _is_far(says: Sequence[str], language: str) -> bool:
    """Whether a number is so much more than another one that it is hardly of the same thing."""
    values = [max((own.low for own in quantities(one, language)), default=0) for one in says]
    return max(values) > max(_MOST_TIMES * min(values), min(values) + _FEW)


def _counts_nothing(spelt: str, text: str, alike: float) -> bool:
    """Whether a number of a text is a year, an ordinal, or part of a name or a word ("2019 Packers", "33-yard")."""
    number, _, counted = spelt.rpartition(" ")
    is_ordinal = alike < _ONE_FORM and any(own.kind == "ordinal" for own in quantities(number))
    is_name = f"{number} {counted.capitalize()}" in text and detect(text) != "de"
    return bool(is_ordinal or _YEAR.fullmatch(number) or (number and is_name) or f"{number}-{counted}" in text)


def _are_apart(one: str, other: str, topic: str) -> bool:
    """Whether both name something besides the topic, at most half of it in common, or one of them is no prose."""
    names = [_names(text, topic) for text in (one, other)]
    both = frozenset.union(*names).intersection(folded_words(one), folded_words(other))
    told = all("|" not in text and is_prose(text) for text in (one, other))
    return not told or (all(names) and 2 * len(both) <= min(map(len, names)))


def _names(text: str, topic: str) -> frozenset[str]:
    return frozenset(name.casefold() for name in names_within(text)) - frozenset(folded_words(topic))
