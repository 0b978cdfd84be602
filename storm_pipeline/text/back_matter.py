"""Headings of back matter in articles in English."""

from storm_pipeline.text.files import table_beside

_BELOW, _TOP = (frozenset(names) for names in table_beside(__file__).values())


def is_back_matter(heading: str, level: int = 1) -> bool:
    """Return whether a heading is one of back matter: references, notes, links or pictures. Underscores are spaces.

    ``level``: 1 for a section, more for a subsection, for which fewer headings match.
    """
    name = " ".join(heading.replace("_", " ").replace("&", "and").lower().split()).rstrip(":")
    parts = name.replace(", and ", ", ").replace(" and ", ", ").split(", ")
    is_list = len(parts) > 1 and all(part in _BELOW or part in {"sources", "bibliography"} for part in parts)
    return is_list or name in _BELOW or (level == 1 and name in _TOP)
