"""A world of grounded questions whose truth is known exactly: invented towns, and what each is said to do.

A question asks about one town (structure *parallel*) or compares three (*comparative*); three of its four materials
answer it. Demonstrations misstate values at a given rate, as answers of a teacher do, so that a model tuned on them is
not always true to its materials. A town does the same in every question, so that a model of 0.1 M parameters can know
it soon; drawn anew for each question, facts can only be read from the materials.

Departures from FoRAG: two of the paper's organisational patterns; a sentence has two subclaims, always; the outline's
points name one material each (as in appendix A).
"""

import random
from dataclasses import dataclass
from typing import Literal

TOWNS = "Orlan Brask Tevin Mirow Caldes Ustra Pelm Nagor".split()
COUNTS = "two three four five six seven eight nine".split()
THINGS = {
    "sells": "pots bells lamps rugs hats bowls".split(),
    "grows": "figs plums leeks beans pears limes".split(),
    "keeps": "bees goats swans mules hens eels".split(),
    "builds": "boats kilns mills looms carts drums".split(),
}
Structure = Literal["parallel", "comparative"]
"""The paper's organisational patterns that this world has."""
Style = Literal["outlined", "unplanned", "original"]
"""How an answer is written: after a structure and an outline; the same answer without them; or in the way of the data
sets before FoRAG, which leaves out points and has no order."""


@dataclass(frozen=True)
class Fact:
    """Facts about a town: a number and a means, its two subclaims."""

    town: str
    verb: str
    count: str
    thing: str

    @property
    def sentence(self) -> str:
        """The fact as materials and answers put it."""
        return f"{self.town} {self.verb} {self.count} {self.thing}."


@dataclass(frozen=True)
class Item:
    """A question and its materials.

    Attributes:
        question: what is asked.
        structure: the organisational pattern that suits it.
        materials: numbered from 1 in prompts.
        points: positions of the materials that answer it, in the order in which the structure puts them.
    """

    question: str
    structure: Structure
    materials: tuple[Fact, ...]
    points: tuple[int, ...]

    @property
    def prompt(self) -> str:
        """Question and numbered materials as the writer reads them."""
        lines = [f"[{number}] {fact.sentence}" for number, fact in enumerate(self.materials, 1)]
        return "\n".join([f"Question: {self.question}", "Materials:", *lines, ""])

    @property
    def outline(self) -> str:
        """The points with the material that each rests on."""
        facts = [(self.materials[at], at + 1) for at in self.points]
        return "; ".join(f"{fact.town} {fact.verb} [{number}]" for fact, number in facts)


def draw(rng: random.Random, *, anew: bool = False) -> Item:
    """Return a question about one town (three of its four verbs) or about three towns (one verb), with one distractor.

    Args:
        rng: draws everything that the question is about, and the order of its materials.
        anew: facts are drawn for this question alone; otherwise a town does the same in every question.
    """
    towns, verbs = rng.sample(TOWNS, 4), sorted(rng.sample(sorted(THINGS), 3))
    if rng.random() < 0.5:
        question, pairs = f"What is known of {towns[0]}?", [(towns[0], verb) for verb in verbs]
        structure: Structure = "parallel"
    else:
        question = f"Which of {towns[0]}, {towns[1]} and {towns[2]} {verbs[0]} what?"
        structure, pairs = "comparative", [(town, verbs[0]) for town in towns[:3]]
    facts = [_fact(town, verb, rng if anew else None) for town, verb in [*pairs, (towns[3], verbs[0])]]
    materials = tuple(rng.sample(facts, 4))
    return Item(question, structure, materials, tuple(materials.index(fact) for fact in facts[:3]))


def _fact(town: str, verb: str, rng: random.Random | None) -> Fact:
    drawn = rng or random.Random(f"{town} {verb}")  # noqa: S311 - the same at each call
    return Fact(town, verb, drawn.choice(COUNTS), drawn.choice(THINGS[verb]))


def items(count: int, seed: int, *, anew: bool = False) -> list[Item]:
    """As many questions; the same for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - a world to be drawn again
    return [draw(rng, anew=anew) for _ in range(count)]


def demonstrate(item: Item, style: Style, error_rate: float, rng: random.Random) -> str:
    """Return a teacher's answer.

    Args:
        item: the question.
        style: how it is written.
        error_rate: chance in [0, 1] that a value is misstated; half of these take another material's value.
        rng: draws errors, and what an ``original`` answer leaves out.
    """
    points = list(item.points)
    if style == "original":
        points = [at for at in points if rng.random() < 0.6] or points[:1]
        rng.shuffle(points)
    answer = "Answer: " + " ".join(_misstated(item, at, error_rate, rng).sentence for at in points)
    if style != "outlined":
        return answer
    return f"Structure: {item.structure}\nOutline: {item.outline}\n{answer}"


def _misstated(item: Item, at: int, error_rate: float, rng: random.Random) -> Fact:
    fact = item.materials[at]
    count = _wrong(fact.count, COUNTS, [other.count for other in item.materials], rng)
    thing = _wrong(fact.thing, THINGS[fact.verb], [other.thing for other in item.materials], rng)
    return Fact(
        fact.town,
        fact.verb,
        count if rng.random() < error_rate else fact.count,
        thing if rng.random() < error_rate else fact.thing,
    )


def _wrong(right: str, known: list[str], said: list[str], rng: random.Random) -> str:
    """Return another value: half of the time one that another material has, if one has."""
    confused = [value for value in said if value != right]
    return rng.choice(confused if confused and rng.random() < 0.5 else [value for value in known if value != right])
