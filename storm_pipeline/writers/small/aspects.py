"""Aspects under which encyclopedias treat any topic: each gives a section its heading, which says what stands below."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.files import table_beside

Matrix = npt.NDArray[np.float32]

_FAMILIES: Mapping[str, Mapping[str, str]] = table_beside(__file__)
"""Family → aspect → words that texts on it are near to. A family's name is the heading of several of its aspects."""
_BY_TIME = re.compile(r"(?:History|War|Politics)(?:,| and |$)")
_SURE = 0.05  # how much nearer a page must be to an aspect than to those of other families
FOUNDS = 0.24  # least nearness of a page to an aspect that it founds a section on: to any text one aspect is nearest
_NEARLY = 0.08  # how much less near a section may be than the nearest aspect for a page to join it
_LISTED = 3  # maximum matters that a heading lists
_FAMILY_OF = {aspect: family for family, aspects in _FAMILIES.items() for aspect in aspects}


def descriptions(headings: Sequence[str] = ()) -> dict[str, str]:
    """Heading → text to embed: the user's own headings, or all aspects."""
    if headings:
        return {heading: heading for heading in headings}
    return {aspect: f"{aspect}: {said}" for own in _FAMILIES.values() for aspect, said in own.items()}


@dataclass(frozen=True)
class Group:
    """A section: its heading, the rows of the pages below it, and whether the heading fits most of them."""

    heading: str
    pages: tuple[int, ...]
    is_named: bool


def grouped(
    nearness: Matrix, sizes: Sequence[int], headings: Sequence[str], fewest: int, needed: Sequence[bool]
) -> tuple[Group, ...]:
    """Sections that have at least ``fewest`` statements each; none if no aspect has as many.

    A page goes to the aspect that it is nearest to, if those of other families are farther; one statement of a section
    may be of a page that is less surely nearest. Aspects with too few statements unite with others of their family
    under all their names, or that of the family. The other pages go to a section that they are nearly as near to, or if
    they are needed to the nearest.

    Args:
        nearness: of each page to each aspect, shape (pages, aspects).
        needed: whether a page may not be left out.
    """
    families = [_FAMILY_OF.get(heading, heading) for heading in headings]
    groups: dict[int, list[int]] = {}
    likely: Counter[int] = Counter()  # aspect → statements of pages that are nearest to it, and not surely
    for page, row in enumerate(nearness):
        best = int(np.argmax(row))
        others = [float(cosine) for cosine, family in zip(row, families, strict=True) if family != families[best]]
        least = FOUNDS if headings[best] in _FAMILY_OF else -1.0
        if row[best] >= max([least, *(other + _SURE for other in others)]):
            groups.setdefault(best, []).append(page)
        else:
            likely[best] += sizes[page]

    def size(aspects: Iterable[int]) -> int:
        return sum(sizes[page] for aspect in aspects for page in groups[aspect])

    sections = {headings[own]: [own] for own in groups if size([own]) + min(1, likely[own]) >= fewest}
    for family in dict.fromkeys(families[own] for own in groups):
        small = [one for one in groups if families[one] == family and headings[one] not in sections]
        large = max(
            (own for own in sections if _FAMILY_OF.get(own, own) == family),
            key=lambda own: size(sections[own]),
            default="",
        )
        if small and size(small) >= fewest:
            name = _listed([headings[one] for one in sorted(small)], family)
            sections[name] = [*sections.get(name, []), *small]
        elif small and large:
            own = [*sections.pop(large), *small]
            name = _listed([headings[one] for one in sorted(own)], family)
            sections[name] = [*sections.get(name, []), *own]
    placed = {page for own in sections.values() for aspect in own for page in groups[aspect]}
    joined: dict[str, list[int]] = {heading: [] for heading in sections}
    for page in (page for page in range(len(sizes)) if sections and page not in placed):
        near = {heading: float(nearness[page, own].max()) for heading, own in sections.items()}
        nearest = max(near, key=lambda heading: near[heading])
        if needed[page] or near[nearest] >= float(nearness[page].max()) - _NEARLY:
            joined[nearest].append(page)
    return tuple(
        Group(
            heading,
            (*(page for aspect in own for page in groups[aspect]), *joined[heading]),
            2 * sum(sizes[page] for page in joined[heading]) <= size(own),
        )
        for heading, own in sections.items()
    )


def is_by_time(heading: str) -> bool:
    """Whether time orders what stands below a heading."""
    return _BY_TIME.match(heading) is not None


def _listed(headings: Sequence[str], family: str) -> str:
    """War, Politics and law → ``War, politics and law``; the family's name if that would list more."""
    *first, last = [one if i == 0 else one.lower() for i, one in enumerate(" and ".join(headings).split(" and "))]
    if len(headings) >= _LISTED or len(first) >= _LISTED:
        return family
    return f"{', '.join(first)} and {last}" if first else last
