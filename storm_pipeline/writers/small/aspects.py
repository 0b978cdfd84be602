"""Aspects under which encyclopedias treat any topic: each gives a section its heading, which says what stands below."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]

FAMILIES: Mapping[str, Mapping[str, str]] = {
    "History": {
        "History": "history of a country or an age; origin, rise, decline and fall; dynasties, kings and empires",
        "War": "a war, battle, army, military campaign, conquest or invasion",
        "Politics and law": "government, state, law, courts, constitution, elections, parties, diplomacy",
    },
    "Society": {
        "Economy": "economy, trade, money, industry, business, markets, farming, labour",
        "Society": "society, families, social class, women and men, everyday life, clothing, customs",
        "Food": "food, cooking, dishes, drinks, cuisine, crops for eating",
        "Education and research": "schools, universities, teaching, students, scholars, academic disciplines",
        "Sport": "sport, games, players, athletes, competition",
    },
    "Religion and thought": {
        "Religion": "religion, gods, churches, saints, ritual, prayer, mythology",
        "Philosophy": "philosophy, philosophers, ethics, knowledge, reasoning",
        "Psychology": "psychology, mind, emotion, behaviour, memory, perception",
    },
    "Arts and language": {
        "Language": "a language, its speakers, dialects, grammar, writing and alphabet",
        "Literature": "literature, poetry, novels, plays, theatre, writers, books",
        "Art": "painting, sculpture, drawing, style of art, painters, photography",
        "Architecture": "architecture, buildings, towers, palaces, temples, architects",
        "Music": "music, songs, composers, instruments, opera, dance",
        "Film": "film, cinema, television, directors, actors",
    },
    "Geography and nature": {
        "Geography": "geography, land, mountains, rivers, seas, borders, cities, regions",
        "Climate": "climate, weather, atmosphere, rain, temperature of the air",
        "Plants and animals": "animals, plants, trees, species, birds, fish, habitat",
        "Evolution": "evolution, fossils, ancestors, natural selection, extinct species",
    },
    "Life": {
        "Cells and genes": "biology, cells, genes, DNA, proteins, metabolism, organisms",
        "Body": "the human body, organs, blood, brain, muscles, senses",
        "Health": "health, disease, medicine, drugs, symptoms, treatment, patients",
    },
    "Chemistry": {
        "Chemistry": "chemistry, chemical elements, compounds, reactions, acids, molecules",
        "Materials": "materials, metals, alloys, glass, minerals, rock, fuels",
    },
    "Physics": {
        "Physics": "physics, laws of nature, physicists, experiments, measurement, units",
        "Matter and particles": "atoms, electrons, nuclei, elementary particles, quarks",
        "Light and radiation": "light, radiation, waves, spectrum, optics, colour",
        "Heat and energy": "energy, heat, thermodynamics, temperature, work, power",
        "Motion and forces": "motion, force, mass, gravity, mechanics, speed",
        "Quantum theory": "quantum mechanics, quantum field theory, wave function, uncertainty",
        "Electricity": "electricity, electric current, charge, magnetism, circuits, semiconductors",
        "Astronomy": "astronomy, stars, planets, galaxies, the universe, telescopes",
        "Space flight": "space flight, spacecraft, rockets, astronauts, satellites",
    },
    "Mathematics": {
        "Algebra and numbers": "numbers, arithmetic, algebra, groups, rings, equations",
        "Geometry": "geometry, shapes, lines, angles, space, topology",
        "Analysis": "calculus, functions, derivatives, differential equations, dynamical systems",
        "Logic and sets": "logic, sets, proofs, computability, foundations of mathematics",
        "Probability and statistics": "probability, statistics, data, random variables",
    },
    "Technology": {
        "Technology": "technology, inventions, engines, factories, engineering",
        "Tools and machines": "hand tools, machines, devices, vehicles, weapons",
        "Computing": "computers, software, programming, the internet, artificial intelligence",
        "Transport": "transport, ships, railways, roads, cars, aircraft",
    },
}
"""Family → aspect → words that texts on it are near to. A family's name is the heading of several of its aspects."""
BY_TIME = frozenset({"History", "War", "Politics and law"})
"""Headings under which time orders what stands below."""
_SURE = 0.05  # how much nearer a page must be to an aspect than to those of other families
_NEARLY = 0.12  # how much less near a section may be than the nearest aspect for a page to join it
_LISTED = 2  # maximum aspects that a heading lists
_FAMILY_OF = {aspect: family for family, aspects in FAMILIES.items() for aspect in aspects}


def descriptions(headings: Sequence[str] = ()) -> dict[str, str]:
    """Heading → text to embed: the user's own headings, or all aspects."""
    if headings:
        return {heading: heading for heading in headings}
    return {aspect: f"{aspect}: {said}" for own in FAMILIES.values() for aspect, said in own.items()}


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

    A page goes to the aspect that it is nearest to, if those of other families are farther. Aspects with too few
    statements unite with others of their family under all their names, or that of the family. The other pages go to a
    section that they are nearly as near to, or if they are needed to the nearest.

    Args:
        nearness: of each page to each aspect, shape (pages, aspects).
        needed: whether a page may not be left out.
    """
    families = [_FAMILY_OF.get(heading, heading) for heading in headings]
    groups: dict[int, list[int]] = {}
    for page, row in enumerate(nearness):
        best = int(np.argmax(row))
        others = [float(cosine) for cosine, family in zip(row, families, strict=True) if family != families[best]]
        if not others or row[best] >= max(others) + _SURE:
            groups.setdefault(best, []).append(page)

    def size(aspects: Iterable[int]) -> int:
        return sum(sizes[page] for aspect in aspects for page in groups[aspect])

    sections = {headings[own]: [own] for own in groups if size([own]) >= fewest}
    for family in dict.fromkeys(families[own] for own in groups):
        small = [one for one in groups if families[one] == family and headings[one] not in sections]
        large = max(
            (own for own in sections if _FAMILY_OF.get(own, own) == family),
            key=lambda own: size(sections[own]),
            default="",
        )
        if small and size(small) >= fewest:
            name = _listed([headings[one] for one in small], family)
            sections[name] = [*sections.get(name, []), *small]
        elif small and large:
            own = sections.pop(large)
            sections[family] = [*sections.get(family, []), *own, *small]
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


def _listed(headings: Sequence[str], family: str) -> str:
    """Music, Architecture → ``Music and architecture``; the family's name if there are more, or longer ones."""
    if len(headings) > _LISTED or any(" " in heading for heading in headings):
        return family
    return " and ".join(one if i == 0 else one.lower() for i, one in enumerate(headings))
