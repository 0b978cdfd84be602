"""Numbers and dates on which passages of independent sources differ: found by code, told to the writer, recorded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from storm_pipeline.languages import detect, split_sentences
from storm_pipeline.quantities import missing, quantities
from storm_pipeline.references.grounding import Claim, Judged, numbers_shown
from storm_pipeline.references.passages import Passage, are_copies
from storm_pipeline.types import Article, Disagreement, Sentence, Side
from storm_pipeline.writers.contradictions import contradictions

_MOST = 4
"""Maximum number of things on which the writer of a text is told that its passages differ."""
_TOLD = "Passages that differ; if it is on one thing, tell what each says and who says it:"


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
        return cls(tuple(tuple(_side(shown, told, own) for own in thing.values()) for thing in things[:_MOST]))

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


def independent(says: Iterable[tuple[str, str]]) -> int:
    """How many of some texts with their sites are of a site of their own, and no copy of an earlier one."""
    found: dict[str, str] = {}
    for site, text in says:
        if site not in found and not any(are_copies(text, other) for other in found.values()):
            found[site] = text
    return len(found)
