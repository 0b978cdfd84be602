"""Back matter of human articles: what stands behind the body and holds no prose of its own. The one place that tells.

The papers' outlines, lengths and entities are those of what a system could have written; a list of references is not.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from storm_pipeline.evaluation.types import HumanSection

_ANYWHERE = r"""
    references? | (?:foot|end)?notes? | explanatory\ (?:foot)?notes | citations? | see\ also | external\ links? |
    further\ (?:reading|information) | (?:photo\ |image\ )?galler(?:y|ies) | reference\ list | list\ of\ references |
    (?:notes|citations|references|sources|footnotes|bibliography)
    (?:(?:,|,?\ and|\ &)\ (?:notes|citations|references|sources|footnotes|bibliography|further\ reading|
    external\ links))+
"""
# Below the first level these may be about the subject: where a legend comes from, what an author wrote.
_AT_THE_TOP = r"""
    sources? | (?:general\ |selected\ |cited\ )?bibliograph(?:y|ies) | works\ cited | literature | cited\ works |
    (?:general\ |primary\ |secondary\ |cited\ )(?:and\ cited\ )?(?:references|sources) | external\ (?:sources|resources)
"""
_BELOW = re.compile(_ANYWHERE, re.X | re.I)
_TOP = re.compile(f"{_ANYWHERE}|{_AT_THE_TOP}", re.X | re.I)


def is_back_matter(heading: str, level: int = 1) -> bool:
    """Whether a section of this heading holds references, notes, links or pictures.

    Args:
        heading: underscores count as spaces.
        level: 1 for a section of the article, more for a subsection: there fewer names count.
    """
    name = " ".join(heading.replace("_", " ").split()).rstrip(":")
    return bool((_TOP if level == 1 else _BELOW).fullmatch(name))


def without_back_matter(sections: Sequence[HumanSection]) -> tuple[tuple[HumanSection, ...], tuple[HumanSection, ...]]:
    """The body, and the first-level sections that were left out of it, whole.

    Back matter below a section that stays is left out too, and is in neither.
    """
    body = tuple(_pruned(section, 1) for section in sections if not is_back_matter(section.heading))
    return body, tuple(section for section in sections if is_back_matter(section.heading))


def _pruned(section: HumanSection, level: int) -> HumanSection:
    kept = (part for part in section.subsections if not is_back_matter(part.heading, level + 1))
    return replace(section, subsections=tuple(_pruned(part, level + 1) for part in kept))
