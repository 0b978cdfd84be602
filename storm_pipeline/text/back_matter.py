"""Headings that are no sections of an article's text, in the languages of the package: back matter, and the lead."""

import re

from storm_pipeline.files import table_beside


def _pattern(kind: str) -> re.Pattern[str]:
    names = " ".join(table_beside(__file__)[kind].values()).split()
    return re.compile("|".join(name.replace("_", r"\s") for name in names), re.I)


_IS_BACK_MATTER, _IS_LEAD = _pattern("back_matter"), _pattern("lead")


def is_back_matter(title: str) -> bool:
    """Whether a heading in another language than English is that of references, notes, links or a conclusion."""
    return bool(_IS_BACK_MATTER.fullmatch(title))


def is_lead(title: str) -> bool:
    """Whether a heading in another language than English stands for the lead: an introduction, a summary.

    English ones are matched in :mod:`storm_pipeline.text.outlines`.
    """
    return bool(_IS_LEAD.fullmatch(title))
