"""Who rates what, and in which order: drawn at random by a seed, and balanced."""

import random
from collections import Counter, defaultdict, deque
from dataclasses import dataclass

from storm_bench.raters.study import Study
from storm_pipeline import SettingsError


@dataclass(frozen=True)
class Assigned:
    """An item for a rater, at a place in the rater's own order."""

    rater: str
    number: int  # place in the order, from 1
    articles: tuple[int, ...]  # places of its articles in the study, in the order shown; empty: a check of attention
    wanted: int = 0  # the choice that a check of attention asks for


def draw(study: Study) -> list[Assigned]:
    """Draw the assignments of a study, by rater and number; equal studies give equal ones.

    Each item has ``raters_per_item`` raters, none of whom wrote an article of it. Loads of raters differ by at most
    one if authors allow that, else by as little as they allow. Each pair is shown in both orders equally often, up to
    one, and so are the pairs of each rater. Raises SettingsError: an item has too few raters.
    """
    rng = random.Random(study.seed)  # noqa: S311 - repeatable, and no secret
    chosen = _balanced(study, _first_choice(study, rng))
    edges = [(item, rater) for item, raters in enumerate(chosen) for rater in raters]
    turned = _alternated(edges, rng)
    found = []
    for rater in (one.name for one in study.raters):
        shown = [study.items[item][:: -1 if turned[item, rater] else 1] for item, who in edges if who == rater]
        rng.shuffle(shown)
        for _ in range(study.attention):
            shown.insert(rng.randint(0, len(shown)), ())
        found += [
            Assigned(rater, number, articles, 0 if articles else rng.randint(1, 7))
            for number, articles in enumerate(shown, 1)
        ]
    return found


def _first_choice(study: Study, rng: random.Random) -> list[list[str]]:
    """Return the raters of each item: those with fewest items so far, at random among equals."""
    allowed = [_allowed(study, item) for item in range(len(study.items))]
    load: Counter[str] = Counter()
    chosen: list[list[str]] = [[] for _ in allowed]
    order = list(range(len(allowed)))
    rng.shuffle(order)
    for item in sorted(order, key=lambda item: len(allowed[item])):
        rng.shuffle(allowed[item])
        chosen[item] = sorted(allowed[item], key=lambda rater: load[rater])[: study.raters_per_item]
        load.update(chosen[item])
    return chosen


def _allowed(study: Study, item: int) -> list[str]:
    """Return the raters of an item who wrote none of its articles. Raises SettingsError: they are too few."""
    authors = {study.articles[place].author for place in study.items[item]}
    allowed = [rater.name for rater in study.raters if rater.name not in authors]
    if len(allowed) < study.raters_per_item:
        topic = study.articles[study.items[item][0]].topic
        raise SettingsError(
            f"raters_per_item: {topic!r} needs {study.raters_per_item} raters who wrote none of its articles, and has "
            f"{len(allowed)}"
        )
    return allowed


def _balanced(study: Study, chosen: list[list[str]]) -> list[list[str]]:
    """Return the choice with items passed on, over others if need be, from raters with more to those with less."""
    allowed = [set(_allowed(study, item)) for item in range(len(chosen))]
    load = Counter({rater.name: sum(rater.name in raters for raters in chosen) for rater in study.raters})
    while path := next(filter(None, (_path(giver, load, chosen, allowed) for giver in load)), None):
        for item, giving, taking in path:
            chosen[item][chosen[item].index(giving)] = taking
            load[giving] -= 1
            load[taking] += 1
    return chosen


def _path(
    giver: str, load: Counter[str], chosen: list[list[str]], allowed: list[set[str]]
) -> list[tuple[int, str, str]]:
    """Return the shortest passing on of items from a rater to one with two fewer or less; empty if there is none."""
    came: dict[str, tuple[int, str]] = {giver: (-1, "")}
    queue = deque([giver])
    while queue:
        rater = queue.popleft()
        if load[rater] <= load[giver] - 2:
            steps = []
            while rater != giver:
                item, before = came[rater]
                steps.append((item, before, rater))
                rater = before
            return steps[::-1]
        for item, raters in enumerate(chosen):
            if rater in raters:
                for other in sorted(allowed[item] - set(raters) - came.keys()):
                    came[other] = item, rater
                    queue.append(other)
    return []


def _alternated(edges: list[tuple[int, str]], rng: random.Random) -> dict[tuple[int, str], bool]:
    """Return for each item and rater whether the pair is turned round.

    Along trails through the graph of items and raters the values alternate. Trails begin where an odd number of edges
    meet, so at each item and each rater both values are equally frequent, up to one.
    """
    near = defaultdict[int | str, set[tuple[int, str]]](set)
    for edge in edges:
        for end in edge:
            near[end].add(edge)
    turned = dict[tuple[int, str], bool]()
    starts = list(near)
    rng.shuffle(starts)
    for place in [*(end for end in starts if len(near[end]) % 2), *starts]:
        is_turned = rng.random() < 0.5
        end = place
        while near[end]:
            edge = min(near[end])
            turned[edge] = is_turned
            near[edge[0]].discard(edge)
            near[edge[1]].discard(edge)
            end, is_turned = (edge[1] if end == edge[0] else edge[0]), not is_turned
    return turned
