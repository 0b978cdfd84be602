"""Takes back matter out of human articles: references, notes, links and galleries after the body."""

from collections.abc import Sequence
from dataclasses import replace

from storm_bench.types import HumanSection
from storm_pipeline.api import is_back_matter


def without_back_matter(sections: Sequence[HumanSection]) -> tuple[tuple[HumanSection, ...], tuple[HumanSection, ...]]:
    """Split sections into the body and the first-level back matter.

    Back-matter subsections of body sections are dropped.
    """
    body = tuple(_pruned(section, 1) for section in sections if not is_back_matter(section.heading))
    return body, tuple(section for section in sections if is_back_matter(section.heading))


def _pruned(section: HumanSection, level: int) -> HumanSection:
    kept = (part for part in section.subsections if not is_back_matter(part.heading, level + 1))
    return replace(section, subsections=tuple(_pruned(part, level + 1) for part in kept))
