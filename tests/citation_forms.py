"""Forms of citations, as functions of text that cites by ``[n]``; and brackets that cite nothing."""

import re
from collections.abc import Callable

Form = Callable[[str], str]
_MARKER = re.compile(r" ?\[(\d+)\]")
_GROUP = re.compile(r"(?: ?\[\d+\])+")
_STOP = re.compile(r"((?: ?\[\d+\])+)([.。])")


def written(pattern: str) -> Form:
    """Each marker as the pattern, in which ``{}`` stands for its number."""
    return lambda text: _MARKER.sub(lambda found: pattern.replace("{}", found[1]), text)


def joined(before: str, between: str, behind: str) -> Form:
    """Markers that stand together as one."""

    def form(text: str) -> str:
        return _GROUP.sub(lambda found: f"{before}{between.join(re.findall(r'[0-9]+', found[0]))}{behind}", text)

    return form


def behind_stops(form: Form) -> Form:
    """The markers behind the full stop, written in a form."""
    return lambda text: form(_STOP.sub(r"\2\1", text))


def wide(text: str) -> str:
    """Full-width digits in full-width brackets."""
    digits = str.maketrans("0123456789", "０１２３４５６７８９")
    return _MARKER.sub(lambda found: f"［{found[1].translate(digits)}］", text)


FORMS: dict[str, Form] = {
    "[1]": str,
    "[1] behind the stop": behind_stops(str),
    "glued": written("[{}]"),
    "glued behind the stop": behind_stops(written("[{}]")),
    "[1, 2]": joined(" [", ", ", "]"),
    "[1;2]": joined(" [", ";", "]"),
    "[1], [2]": lambda text: re.sub(r"\]\s?\[", "], [", text),
    "[1] and [2]": lambda text: re.sub(r"\]\s?\[", "] and [", text),
    "[[1]]": written(" [[{}]]"),
    "escaped": written(r" \[{}\]"),
    "[^1]": written("[^{}]"),
    "[^1^]": written("[^{}^]"),
    "[#1]": written(" [#{}]"),
    "[1](url)": written(" [{}](https://a.example/x_(y))"),
    "[[1]](#1)": written(" [[{}]](#ref-{})"),
    "[Source 1]": written(" [Source {}]"),
    "[Sources 1 and 2]": joined(" [Sources ", " and ", "]"),
    "[Passage 1]": written(" [Passage {}]"),
    "[Passage 1, Passage 2]": joined(" [Passage ", ", Passage ", "]"),
    "[doc1]": written(" [doc{}]"),
    "[citation:1]": written("[citation:{}]"),
    "[cite: 1, 2]": joined(" [cite: ", ", ", "]"),
    "([1])": written(" ([{}])"),
    "([1], [2])": joined(" ([", "], [", "])"),
    "【1】": written("【{}】"),
    "【1†source】": written("【{}†source】"),
    "[1, p. 5]": written("[{}, p. 5]"),
    "[1, S. 5–7, 9]": written("[{}, S. 5–7, 9]"),
    "【3:0†source】": written("【{}:0†source】"),
    "【3†L1-L5】": written("【{}†L1-L5】"),
    "wide": wide,
    "<sup>[1]</sup>": written("<sup>[{}]</sup>"),
    "<cite>[1]</cite>": written("<cite>[{}]</cite>"),
    "^[1]": written("^[{}]"),
    "code": written(" `[{}]`"),
}
"""Name → form. What reads the text finds in each the citations that it finds in the text itself."""

STAYS = (
    *("The set [0, 1] is closed [1].", "All values in [1, 2] are allowed [1].", "The unit interval is [0, 1]."),
    *("A risk (95 % CI [1, 3]) was found [1].", "The year 1904³ is noted [1]."),
    *("Children aged [5-8] were examined [1].", "They examined children aged [5-8] [1]."),
    *("The molecule is [60]fullerene [1].", "[2]Catenanes have two rings [1]."),
    *("It rose. [2]Catenanes have two rings [1].", "A [2]-catenane has two rings [1]."),
    *("The [2+2] cycloaddition needs light [1].", "The tracer [18]F-FDG decays in hours [1]."),
    *("The first of them is a[0], not a[1] as in Fortran [1].", "The first item is `a[1]` there [1]."),
    *("The loop reads f[1, 2] twice [1].", "Let the range be x = [1, 2] here [1]."),
    *("He said that it [the dam] leaks [sic] [1].", "He said so in [1999] or later [1]."),
    *("The odds were [2:1] that day [1].", "He said so [on 3 May] in [3 May 1990] and [12 km] away [1]."),
    *("The lake covers 40 km² today [1].", "The lake covers 40 km².[1]", "About 10⁶ fish live there [1]."),
    *("The carbon is ¹⁴C, not ¹²C [1].", "It is (1) old and (2) deep [1].", "The set {1, 2} is finite [1]."),
    *("The formula is $x^2 + a[1]$ there [1].", "See [Table 1] and [Figure 2] there [1]."),
)
"""Sentences that cite by ``[1]`` alone, whose other brackets and raised numbers are text."""
