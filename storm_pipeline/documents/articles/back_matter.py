"""Recognises back matter of human articles: references, notes, links and galleries after the body.

Outlines, lengths and entities should only count what a system could have written, so back matter is excluded.
"""

import re

_ANYWHERE = r"""
    references? | (?:foot|end)?notes? | explanatory\ (?:foot)?notes | citations? | see\ also | external\ links? |
    further\ (?:reading|information) | (?:photo\ |image\ )?galler(?:y|ies) | reference\ list | list\ of\ references |
    (?:notes|citations|references|sources|footnotes|bibliography)
    (?:(?:,|,?\ and|\ &)\ (?:notes|citations|references|sources|footnotes|bibliography|further\ reading|
    external\ links))+
"""
# In subsections these headings may be about the subject: sources of a legend, an author's bibliography.
_AT_THE_TOP = r"""
    sources? | (?:general\ |selected\ |cited\ )?bibliograph(?:y|ies) | works\ cited | literature | cited\ works |
    (?:general\ |primary\ |secondary\ |cited\ )(?:and\ cited\ )?(?:references|sources) | external\ (?:sources|resources)
"""
_BELOW = re.compile(_ANYWHERE, re.X | re.I)
_TOP = re.compile(f"{_ANYWHERE}|{_AT_THE_TOP}", re.X | re.I)


def is_back_matter(heading: str, level: int = 1) -> bool:
    """Whether a heading is that of references, notes, links or pictures.

    Args:
        heading: underscores count as spaces.
        level: 1 for a section, more for a subsection, where fewer headings match.
    """
    name = " ".join(heading.replace("_", " ").split()).rstrip(":")
    return bool((_TOP if level == 1 else _BELOW).fullmatch(name))
